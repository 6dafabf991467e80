"""Writes docs/pytorch_names.md: which of PyTorch's names are there, and which are left out and why.

    ./dev python frontend/ferrule/tests/make_names_table.py
"""

import importlib
import pathlib
import textwrap

import ferrule as fer
from ferrule._absent import ABSENT

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "pytorch_names.md"
NAMES = pathlib.Path(__file__).parent / "oracle" / "torch_names.txt"

HEAD = """# PyTorch's names

Made by `./dev python frontend/ferrule/tests/make_names_table.py`; a test fails when it is old. The names are those of
{version}. A name that is there has PyTorch's meaning unless its documentation says otherwise; arguments are Ferrule's (`axis`
for `dim`), MegEngine's where it has the function too. Asking for a name that is left out raises an AttributeError with the reason.
"""
TITLES = {
    "module": "`torch.nn`: `ferrule.module`",
    "functional": "`torch.nn.functional`: `ferrule.functional`",
    "optimizer": "`torch.optim`: `ferrule.optimizer`",
    "optimizer.lr_scheduler": "`torch.optim.lr_scheduler`: `ferrule.optimizer.lr_scheduler`",
    "module.init": "`torch.nn.init`: `ferrule.module.init`",
    "Tensor": "`torch.Tensor`: `ferrule.Tensor`",
}


def torch_names():
    """(what made them, {section: names}) of torch_names.txt."""
    sections, version = {}, ""
    for line in NAMES.read_text().splitlines():
        if line.startswith("# "):
            version = line[len("# Names of ") :].split(",")[0]
        elif line.startswith("["):
            section = sections.setdefault(line[1:-1], [])
        elif line:
            section += line.split()
    return version, sections


def home(section):
    """What holds the names of a section."""
    return fer.Tensor if section == "Tensor" else importlib.import_module(f"ferrule.{section}")


def page():
    version, sections = torch_names()
    lines = [HEAD.format(version=version)]
    for section, names in sections.items():
        there = [name for name in names if hasattr(home(section), name)]
        lines += [f"## {TITLES[section]}", "", f"{len(there)} of {len(names)}:", "", _wrapped(there), ""]
        if section in ABSENT:
            lines += ["| left out | why |", "|---|---|"]
            lines += [f"| {' '.join(sorted(text.split()))} | {why} |" for why, text in ABSENT[section].items()]
            lines.append("")
    return "\n".join(lines)


def _wrapped(names):
    return "\n".join(textwrap.wrap(" ".join(names), 120, break_on_hyphens=False))


if __name__ == "__main__":
    PAGE.write_text(page())
    print(PAGE)
