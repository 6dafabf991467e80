"""Arithmetic, comparison, logic and elementary functions, element by element with NumPy's broadcasting.

`%` and `mod` follow Python's floor rule, `round` goes to even at ties, a NaN operand of `maximum` and `minimum` wins.
"""

from .. import dtypes
from .._stream import compare
from .._tensor import Tensor, as_handle, as_tensor
from ..location import user_location
from . import elementary
from .elementary import *  # noqa: F403
from .recording import as_wrapped_float, remembered, rounded_once
from .recording import record as _op

__all__ = [
    "abs",
    "absolute",
    "add",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "clamp",
    "clip",
    "copy",
    "copysign",
    "div",
    "divide",
    "eq",
    "equal",
    "fix",
    "floor",
    "floor_div",
    "floor_divide",
    "fma",
    "fmod",
    "ge",
    "greater",
    "greater_equal",
    "gt",
    "isfinite",
    "isinf",
    "isnan",
    "le",
    "left_shift",
    "lerp",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "maximum",
    "minimum",
    "mod",
    "mul",
    "multiply",
    "nan_to_num",
    "ne",
    "neg",
    "negative",
    "not_equal",
    "pow",
    "power",
    "reciprocal",
    "remainder",
    "right_shift",
    "round",
    "sign",
    "square",
    "stop_gradient",
    "sub",
    "subtract",
    "true_divide",
    "trunc",
    "where",
    *elementary.__all__,
]


def _compare(name, x, y):
    return Tensor._wrap(compare(name, [as_handle(x), as_handle(y)])[0])


def _extreme(name, x, y):
    result = _compare(name, x, y)
    if result.dtype != "int32" or any([getattr(each, "dtype", type(each).__name__) != "bool" for each in (x, y)]):
        return result
    return result.astype("bool")


def add(x, y):
    """x + y."""
    return _op("add", x, y)


def sub(x, y):
    """x - y."""
    return _op("sub", x, y)


def mul(x, y):
    """x * y."""
    return _op("mul", x, y)


def div(x, y):
    """x / y; integers give float32."""
    return _op("div", x, y)


def floor_div(x, y):
    """x // y: rounded towards minus infinity; an integer divided by zero gives 0."""
    return _op("floor_div", x, y)


def mod(x, y):
    """x % y with the sign of y, as Python's."""
    return _op("mod", x, y)


def pow(x, y):  # noqa: A001  (MegEngine's name)
    """x to the power y. The exponents 2 and 3, given as numbers, are products: x * x and x * x * x."""
    if isinstance(y, (int, float)) and not isinstance(y, bool) and y in (2, 3) and isinstance(x, Tensor):
        square = _op("mul", x, x)
        return square if y == 2 else _op("mul", square, x)
    return _op("pow", x, y)


def fmod(x, y):
    """x - y * trunc(x / y), exact: C's remainder, with the sign of x; an integer by zero gives 0."""
    return _op("fmod", x, y)


def maximum(x, y):
    """The larger of the two; NaN wins, +0 is larger than -0."""
    return _extreme("maximum", x, y)


def minimum(x, y):
    """The smaller of the two; NaN wins, -0 is smaller than +0."""
    return _extreme("minimum", x, y)


def fma(a, b, c):
    """a * b + c with one rounding."""
    return _op("fma", a, b, c)


def neg(x):
    """-x."""
    return _op("neg", x)


def abs(x):  # noqa: A001
    """The absolute value."""
    return _op("abs", x)


def sign(x):
    """-1, 0 or 1."""
    return _op("sign", x)


def _to_integer(op, x):
    x = as_tensor(x)
    return _op(op, x) if dtypes.is_float(x.dtype) else copy(x)


def floor(x):
    """The largest integer not above x; integers stay as they are."""
    return _to_integer("floor", x)


def ceil(x):
    """The smallest integer not below x; integers stay as they are."""
    return _to_integer("ceil", x)


def round(x):  # noqa: A001
    """The nearest integer, to even at ties; integers stay as they are."""
    return _to_integer("round", x)


def trunc(x):
    """The integer part: rounded towards zero; integers stay as they are."""
    return _to_integer("trunc", x)


@remembered
def clip(x, lower=None, upper=None):
    """minimum(maximum(x, lower), upper); a bound of None is open. At a bound half the gradient passes."""
    if lower is None and upper is None:
        raise ValueError(f"clip: at least one of lower and upper is needed at {user_location()}")
    if lower is not None:
        x = maximum(x, lower)
    return x if upper is None else minimum(x, upper)


@remembered
def clamp(x, min=None, max=None):  # noqa: A002  (PyTorch's names)
    """`clip` with PyTorch's argument names."""
    return clip(x, min, max)


def square(x):
    """x * x."""
    return _op("mul", x, x)


@remembered
def reciprocal(x):
    """1 / x, correctly rounded; integers give float32."""
    return _op("div", 1, x)


def copysign(x, y):
    """|x| with the sign of y, also of zeros."""
    return _op("copysign", x, y)


@remembered
@rounded_once
def lerp(start, end, weight):
    """start + weight * (end - start), counted from the nearer end, so that a weight of 1 gives ``end`` exactly."""
    start, end = as_wrapped_float(start), as_wrapped_float(end)
    distance = end - start
    near = start + weight * distance
    far = end - (1.0 - weight) * distance
    return where(less(weight, 0.5), near, far)


@remembered
def nan_to_num(x, nan=0.0, posinf=None, neginf=None):
    """NaN and infinities replaced by numbers; None stands for the largest and the least finite value of the dtype."""
    x = as_tensor(x)
    if not dtypes.is_float(x.dtype):
        return copy(x)
    limits = dtypes.limits(x.dtype)
    infinity = float("inf")
    x = where(isnan(x), nan, x)
    x = where(equal(x, infinity), float(limits.max) if posinf is None else posinf, x)
    return where(equal(x, -infinity), float(limits.min) if neginf is None else neginf, x)


def equal(x, y):
    """x == y."""
    return _op("equal", x, y)


def not_equal(x, y):
    """x != y."""
    return _op("not_equal", x, y)


def less(x, y):
    """x < y."""
    return _compare("less", x, y)


def less_equal(x, y):
    """x <= y."""
    return _compare("less_equal", x, y)


def greater(x, y):
    """x > y."""
    return _compare("greater", x, y)


def greater_equal(x, y):
    """x >= y."""
    return _compare("greater_equal", x, y)


def isnan(x):
    """Where x is NaN."""
    return _op("not_equal", x, x)


@remembered
def isinf(x):
    """Where x is an infinity."""
    return equal(abs(x), float("inf"))


@remembered
def isfinite(x):
    """Where x is neither NaN nor an infinity."""
    return less(abs(x), float("inf"))


def _bitwise(name, x, y):
    if all(getattr(operand, "dtype", type(operand).__name__) == "bool" for operand in (x, y)):
        return _op("logical_" + name, x, y)
    return _op("bitwise_" + name, x, y)


def bitwise_and(x, y):
    """The bits set in both of two integers; of bools, x and y."""
    return _bitwise("and", x, y)


def bitwise_or(x, y):
    """The bits set in either of two integers; of bools, x or y."""
    return _bitwise("or", x, y)


def bitwise_xor(x, y):
    """The bits set in exactly one of two integers; of bools, x != y."""
    return _bitwise("xor", x, y)


def bitwise_not(x):
    """Every bit flipped: -1 - x for signed integers; of bools, not x."""
    x = as_tensor(x)
    return _op("logical_not" if x.dtype == "bool" else "bitwise_not", x)


def left_shift(x, y):
    """x * 2 ** y, wrapped; 0 where y is negative or not below the width of the dtype."""
    return _op("left_shift", x, y)


def right_shift(x, y):
    """x // 2 ** y; where y is negative or not below the width of the dtype 0, or -1 for a negative x."""
    return _op("right_shift", x, y)


def as_bool(x):
    """``x`` as a bool Tensor: whether each element is not 0."""
    tensor = as_tensor(x)
    return tensor if tensor.dtype == "bool" else not_equal(tensor, 0)


@remembered
def logical_and(x, y):
    """x and y; what is not bool counts as true unless it is 0."""
    return _op("logical_and", as_bool(x), as_bool(y))


@remembered
def logical_or(x, y):
    """x or y."""
    return _op("logical_or", as_bool(x), as_bool(y))


@remembered
def logical_xor(x, y):
    """Exactly one of x and y."""
    return _op("logical_xor", as_bool(x), as_bool(y))


@remembered
def logical_not(x):
    """not x."""
    return _op("logical_not", as_bool(x))


def where(mask, x, y):
    """x where the mask is true, else y."""
    return _op("where", as_bool(mask), x, y)


def stop_gradient(x):
    """x, through which no gradient flows."""
    return _op("stop_gradient", x)


def copy(inp, device=None):
    """The same value as a new Tensor."""
    del device
    return Tensor(inp)


# NumPy's and PyTorch's other spellings.
absolute, negative, subtract, multiply, divide, true_divide = abs, neg, sub, mul, div, div
floor_divide, remainder, power, fix = floor_div, mod, pow, trunc
eq, ne, lt, le, gt, ge = equal, not_equal, less, less_equal, greater, greater_equal
bitwise_left_shift, bitwise_right_shift = left_shift, right_shift
