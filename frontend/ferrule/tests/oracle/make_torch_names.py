"""Writes torch_names.txt: the public names of PyTorch's layers, functions, optimizers and tensors.

    ~/.cache/ferrule/torch/bin/python frontend/ferrule/tests/oracle/make_torch_names.py
"""

import pathlib
import textwrap

import torch


def functions():
    names = dir(torch.nn.functional)
    return [name for name in names if callable(getattr(torch.nn.functional, name)) and "torch" in _home(name)]


def _home(name):
    value = getattr(torch.nn.functional, name)
    return f"{getattr(value, '__module__', None)} {value!r}"


NOT_NAMES = {  # imported there for typing and scripting
    "Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Callable", "DType", "Optional", "TYPE_CHECKING",
    "Tensor", "Union", "boolean_dispatch", "overload",
}  # fmt: skip


def main():
    sections = {
        "module": torch.nn.modules.__all__,
        "functional": set(functions()) - NOT_NAMES,
        "optimizer": [name for name in dir(torch.optim) if isinstance(getattr(torch.optim, name), type)],
        "optimizer.lr_scheduler": torch.optim.lr_scheduler.__all__,
        "module.init": [name for name in dir(torch.nn.init) if name.endswith("_")],
        "Tensor": dir(torch.Tensor),
    }
    lines = [f"# Names of torch {torch.__version__}, by where Ferrule has them; made by make_torch_names.py."]
    for section, names in sections.items():
        shown = " ".join(sorted(name for name in names if not name.startswith("_")))
        lines += ["", f"[{section}]", *textwrap.wrap(shown, 118, break_on_hyphens=False)]
    (pathlib.Path(__file__).parent / "torch_names.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
