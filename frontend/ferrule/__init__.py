"""Ferrule: a Python model definition, compiled to one artifact that a small C++ runtime trains and runs.

Names are loaded when first used: a machine that only runs artifacts (`load`, `Session`) needs no compiler.
"""

import importlib

_HOME = {
    "_tensor": ("Parameter", "Tensor", "from_dlpack"),
    "functional": ("arange", "eye", "full", "linspace", "ones", "zeros"),
    "dims": ("Dim", "DimExpr", "Spec"),
    "compilation": ("compile",),
    "external": ("external_op",),
    "program": ("Arena", "Program", "Session", "load"),
    "autodiff": (
        "checkpoint", "custom_op", "explain_gradient", "grad", "hessian", "hvp", "jacobian", "jvp", "value_and_grad", "vjp",
    ),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
_SUBMODULES = ("autodiff", "data", "encryption", "errors", "functional", "jit", "kernels", "module", "onnx", "optimizer", "program_cache", "random")

__all__ = [*_MODULE_OF, "tensor", *_SUBMODULES]


def __getattr__(name):
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name == "tensor":  # MegEngine's spelling of the constructor
        value = __getattr__("Tensor")
    elif name in _MODULE_OF:
        value = getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
