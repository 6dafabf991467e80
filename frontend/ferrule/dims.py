"""Symbolic dims and input specifications."""

from . import _compiler, _stream  # noqa: F401  (the stream registers the error classes)
from .dtypes import canonical
from .errors import ShapeError

DimExpr = _compiler.DimExpr


def Dim(name, min=1, max=None, multiple_of=1):  # noqa: N802, A002  (reads as a type; the bounds' names are the API)
    """A named dim with bounds, usable wherever a size is.

    Args:
        name: an identifier; entries that use the same name mean the same dim.
        min: the smallest size allowed at run time.
        max: the largest one; None leaves it open: memory is planned at ``plan_at``, and a session grows beyond it.
        multiple_of: every size must be a multiple of it.

    Arithmetic (+ - * // %) gives a DimExpr. A comparison is answered if the bounds decide it, else TraceError.
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise ShapeError(f"a Dim's name must be an identifier, not {name!r}")
    if min < 0 or multiple_of < 1 or (max is not None and max < min):
        raise ShapeError(
            f"Dim {name!r}: min={min}, max={max}, multiple_of={multiple_of}; allowed: 0 <= min <= max, multiple_of >= 1"
        )
    return _compiler.dim(name, min=min, max=max, multiple_of=multiple_of)


def maximum(a, b):
    """The larger of two sizes, each an int or a DimExpr."""
    if isinstance(a, int) and isinstance(b, int):
        return a if a >= b else b
    return _compiler.max_(a, b)


class Spec:
    """The shape, dtype and name of one input of an entry.

    Args:
        shape: ints and Dims (or expressions of them).
        dtype: an element type.
        name: the input's name in the artifact; None takes the parameter's name.
    """

    __slots__ = ("shape", "dtype", "name")

    def __init__(self, shape, dtype="float32", name=None):
        shape = (shape,) if isinstance(shape, (int, DimExpr)) else tuple(shape)
        for size in shape:
            if isinstance(size, bool) or not isinstance(size, (int, DimExpr)):
                raise ShapeError(f"Spec: a size is an int or a Dim, not {size!r} in {shape}")
            if isinstance(size, int) and size < 0:
                raise ShapeError(f"Spec: negative size {size} in {shape}")
        self.shape = shape
        self.dtype = canonical(dtype)
        self.name = name

    def __repr__(self):
        named = "" if self.name is None else f", name={self.name!r}"
        return f"Spec({self.shape}, {self.dtype!r}{named})"
