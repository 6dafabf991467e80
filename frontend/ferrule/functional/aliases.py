"""Functions under the names that PyTorch and NumPy give them, where MegEngine has another one or none.

Arguments are Ferrule's: ``axis`` for PyTorch's ``dim``. Each is recorded as ops that exist.
"""

import math

from .._tensor import as_tensor
from ..errors import ShapeError
from ..location import user_location
from ..shapes import show
from .arrangement import diagonal
from .axes import resolve_axis
from .elementary import log
from .elementwise import abs as absolute
from .elementwise import (
    bitwise_not,
    clip,
    equal,
    isnan,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    round,
    where,
)
from .recording import rounded_once
from .reduce import all as all_of
from .shape import concat, flatten, repeat
from .views import broadcast_to

__all__ = [
    "addcdiv",
    "addcmul",
    "allclose",
    "cat",
    "concatenate",
    "deg2rad",
    "degrees",
    "diff",
    "expand",
    "fmax",
    "fmin",
    "frac",
    "invert",
    "isclose",
    "logit",
    "masked_fill",
    "positive",
    "rad2deg",
    "radians",
    "ravel",
    "repeat_interleave",
    "rint",
    "trace",
    "xlogy",
]

cat = concatenate = concat
repeat_interleave = repeat
rint = round
invert = bitwise_not


def positive(x):
    """``x`` itself."""
    return as_tensor(x)


def ravel(inp):
    """All elements along one axis."""
    return flatten(inp)


def expand(inp, *sizes):
    """`broadcast_to`, where a size of -1 keeps that of ``inp``; sizes one by one or as one sequence."""
    inp = as_tensor(inp)
    sizes = list(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else list(sizes)
    new = len(sizes) - inp.ndim
    if new < 0 or any(type(size) is int and size == -1 for size in sizes[:new]):
        raise ShapeError(
            f"expand: {show(inp.shape)} to {show(sizes)} at {user_location()}; a size for every axis is needed, and -1 "
            f"stands for an axis that there is"
        )
    kept = [None] * new + list(inp.shape)
    return broadcast_to(inp, [old if type(size) is int and size == -1 else size for size, old in zip(sizes, kept)])


def masked_fill(inp, mask, value):
    """``inp`` with ``value`` where ``mask``, broadcast to it, is set."""
    inp = as_tensor(inp)
    return where(broadcast_to(as_tensor(mask), inp.shape), as_tensor(value, inp.dtype), inp)


@rounded_once
def addcmul(inp, x, y, value=1):
    """inp + value * x * y."""
    return inp + x * y * value


@rounded_once
def addcdiv(inp, x, y, value=1):
    """inp + value * x / y."""
    return inp + x / y * value


def fmax(x, y):
    """The larger of two; the other one where one of them is NaN."""
    x, y = as_tensor(x), as_tensor(y)
    return where(isnan(x), y, where(isnan(y), x, maximum(x, y)))


def fmin(x, y):
    """The smaller of two; the other one where one of them is NaN."""
    x, y = as_tensor(x), as_tensor(y)
    return where(isnan(x), y, where(isnan(y), x, minimum(x, y)))


def frac(x):
    """What is left of ``x`` without its whole part, with its sign."""
    x = as_tensor(x)
    return x - where(x < 0, -1.0, 1.0).astype(x.dtype) * (absolute(x) // 1)


def deg2rad(x):
    """Degrees as radians."""
    return as_tensor(x) * (math.pi / 180)


def rad2deg(x):
    """Radians as degrees."""
    return as_tensor(x) * (180 / math.pi)


radians, degrees = deg2rad, rad2deg


def isclose(x, y, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether |x - y| <= atol + rtol |y|, or both are the same infinity, or with ``equal_nan`` both NaN."""
    x, y = as_tensor(x), as_tensor(y)
    # An infinite y would make the bound infinite.
    finite = absolute(y) < math.inf
    near = logical_and(absolute(x - y) <= absolute(y) * rtol + atol, finite)
    result = logical_or(near, equal(x, y))
    return logical_or(result, logical_and(isnan(x), isnan(y))) if equal_nan else result


def allclose(x, y, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether all elements are close, as a tensor of rank 0; see `isclose`."""
    return all_of(isclose(x, y, rtol, atol, equal_nan))


def diff(inp, n=1, axis=-1):
    """The differences of neighbours along ``axis``, taken ``n`` times."""
    inp = as_tensor(inp)
    axis = resolve_axis("diff", axis, inp.ndim)
    if n < 0:
        raise ShapeError(f"diff: n {n} at {user_location()}; 0 or more is needed")
    lead = (slice(None),) * axis
    for _ in range(n):
        inp = inp[lead + (slice(1, None),)] - inp[lead + (slice(None, -1),)]
    return inp


def trace(inp, offset=0, axis1=0, axis2=1):
    """The sum of a diagonal, see `diagonal`."""
    return diagonal(inp, offset, axis1, axis2).sum(-1)


@rounded_once
def logit(x, eps=None):
    """log(x / (1 - x)), of ``x`` held within eps and 1 - eps if one is given."""
    x = as_tensor(x)
    x = x if eps is None else clip(x, eps, 1.0 - eps)
    return log(x / (1.0 - x))


@rounded_once
def xlogy(x, y):
    """x log(y); 0 where x is 0 and y no NaN."""
    x, y = as_tensor(x), as_tensor(y)
    nothing = logical_and(equal(x, 0), equal(y, y))
    # Only what would be 0 * inf is replaced: elsewhere the gradient for x is log(y), also at x = 0.
    infinite = logical_and(nothing, logical_not(logical_and(y > 0, y < math.inf)))
    return where(infinite, 0.0, x * log(where(infinite, 1.0, y)))
