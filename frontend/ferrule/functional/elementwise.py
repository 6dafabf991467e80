"""Arithmetic, comparison, logic and elementary functions, element by element with NumPy's broadcasting.

`%` and `mod` follow Python's floor rule, `round` goes to even at ties, a NaN operand of `maximum` and `minimum` wins.
"""

from .. import dtypes
from .._stream import apply
from .._tensor import Tensor, as_handle

__all__ = [
    "abs",
    "add",
    "ceil",
    "clip",
    "copy",
    "cos",
    "cosh",
    "div",
    "equal",
    "erf",
    "exp",
    "expm1",
    "floor",
    "floor_div",
    "fma",
    "greater",
    "greater_equal",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log1p",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "mul",
    "neg",
    "not_equal",
    "pow",
    "round",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "stop_gradient",
    "sub",
    "tan",
    "tanh",
    "where",
]


def _op(name, *operands):
    return Tensor._wrap(apply(name, [as_handle(operand) for operand in operands])[0])


def _float(x):
    """``x`` as a handle of a floating-point type: integers and bools become float32."""
    handle = as_handle(x if isinstance(x, Tensor) else Tensor(x))
    if dtypes.is_float(handle.dtype):
        return handle
    return apply("cast", [handle], {"dtype": dtypes.DEFAULT_FLOAT})[0]


def _function(name, x):
    return Tensor._wrap(apply(name, [_float(x)])[0])


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
    """x to the power y. The exponent 2, given as a number, is x * x, exact to one rounding."""
    if isinstance(y, (int, float)) and not isinstance(y, bool) and y == 2 and isinstance(x, Tensor):
        return _op("mul", x, x)
    return _op("pow", x, y)


def maximum(x, y):
    """The larger of the two; NaN wins, +0 is larger than -0."""
    return _op("maximum", x, y)


def minimum(x, y):
    """The smaller of the two; NaN wins, -0 is smaller than +0."""
    return _op("minimum", x, y)


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


def floor(x):
    """The largest integer not above x."""
    return _op("floor", x)


def ceil(x):
    """The smallest integer not below x."""
    return _op("ceil", x)


def round(x):  # noqa: A001
    """The nearest integer, to even at ties."""
    return _op("round", x)


def clip(x, lower=None, upper=None):
    """minimum(maximum(x, lower), upper); a bound of None is open."""
    if lower is None and upper is None:
        raise ValueError("clip: at least one of lower and upper is needed")
    if lower is not None:
        x = maximum(x, lower)
    return x if upper is None else minimum(x, upper)


def square(x):
    """x * x."""
    return _op("mul", x, x)


def sqrt(x):
    """The square root, correctly rounded."""
    return _function("sqrt", x)


def exp(x):
    """e to the power x."""
    return _function("exp", x)


def expm1(x):
    """exp(x) - 1, exact near 0."""
    return _function("expm1", x)


def log(x):
    """The natural logarithm."""
    return _function("log", x)


def log1p(x):
    """log(1 + x), exact near 0."""
    return _function("log1p", x)


def sin(x):
    """The sine."""
    return _function("sin", x)


def cos(x):
    """The cosine."""
    return _function("cos", x)


def tan(x):
    """The tangent, sin(x) / cos(x)."""
    x = as_wrapped_float(x)
    return sin(x) / cos(x)


def tanh(x):
    """The hyperbolic tangent."""
    return _function("tanh", x)


def sinh(x):
    """The hyperbolic sine, from expm1 so that it is exact near 0."""
    e = expm1(x)
    return 0.5 * (e + e / (e + 1.0))


def cosh(x):
    """The hyperbolic cosine."""
    e = exp(abs(x))
    return 0.5 * (e + 1.0 / e)


def erf(x):
    """The error function."""
    return _function("erf", x)


def logaddexp(x, y):
    """log(exp(x) + exp(y)) without overflow."""
    x, y = as_wrapped_float(x), as_wrapped_float(y)
    return maximum(x, y) + log1p(exp(-abs(x - y)))


def as_wrapped_float(x):
    """``x`` as a Tensor of a floating-point type."""
    return Tensor._wrap(_float(x))


def equal(x, y):
    """x == y."""
    return _op("equal", x, y)


def not_equal(x, y):
    """x != y."""
    return _op("not_equal", x, y)


def less(x, y):
    """x < y."""
    return _op("less", x, y)


def less_equal(x, y):
    """x <= y."""
    return _op("less_equal", x, y)


def greater(x, y):
    """x > y."""
    return _op("greater", x, y)


def greater_equal(x, y):
    """x >= y."""
    return _op("greater_equal", x, y)


def isnan(x):
    """Where x is NaN."""
    return _op("not_equal", x, x)


def isinf(x):
    """Where x is an infinity."""
    return equal(abs(x), float("inf"))


def _bool(x):
    tensor = x if isinstance(x, Tensor) else Tensor(x)
    return tensor if tensor.dtype == "bool" else not_equal(tensor, 0)


def logical_and(x, y):
    """x and y; what is not bool counts as true unless it is 0."""
    return _op("logical_and", _bool(x), _bool(y))


def logical_or(x, y):
    """x or y."""
    return _op("logical_or", _bool(x), _bool(y))


def logical_xor(x, y):
    """Exactly one of x and y."""
    return _op("logical_xor", _bool(x), _bool(y))


def logical_not(x):
    """not x."""
    return _op("logical_not", _bool(x))


def where(mask, x, y):
    """x where the mask is true, else y."""
    return _op("where", _bool(mask), x, y)


def stop_gradient(x):
    """x, through which no gradient flows."""
    return _op("stop_gradient", x)


def copy(inp, device=None):
    """The same value as a new Tensor."""
    del device
    return Tensor(inp)
