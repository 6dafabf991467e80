"""Elementary functions, element by element. Integers and bools are computed in float32.

Each is one op with at most 3 units in the last place of error in float32 and 4 in float64, or a composition that says so.
"""

from .recording import as_wrapped_float, record, remembered, rounded_once

__all__ = [
    "acos",
    "acosh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "hypot",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "rsqrt",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]


def sqrt(x):
    """The square root, correctly rounded; NaN below 0."""
    return record("sqrt", x)


@remembered
@rounded_once
def rsqrt(x):
    """1 / sqrt(x), both steps correctly rounded."""
    return 1.0 / sqrt(x)


def cbrt(x):
    """The cube root, with the sign of x."""
    return record("cbrt", x)


def hypot(x, y):
    """sqrt(x * x + y * y) without overflow; its gradient is 0 at the origin."""
    return record("hypot", x, y)


def exp(x):
    """e to the power x."""
    return record("exp", x)


def exp2(x):
    """2 to the power x, exact for integers."""
    return record("exp2", x)


def expm1(x):
    """exp(x) - 1, exact near 0."""
    return record("expm1", x)


def log(x):
    """The natural logarithm; -inf at 0, NaN below."""
    return record("log", x)


def log2(x):
    """The logarithm to base 2, exact for powers of 2."""
    return record("log2", x)


def log10(x):
    """The logarithm to base 10, exact for powers of 10."""
    return record("log10", x)


def log1p(x):
    """log(1 + x), exact near 0."""
    return record("log1p", x)


@remembered
@rounded_once
def logaddexp(x, y):
    """log(exp(x) + exp(y)) without overflow, also of two infinities."""
    from .elementwise import abs, equal, maximum, where

    x, y = as_wrapped_float(x), as_wrapped_float(y)
    # inf - inf would be NaN: equal operands have the distance 0.
    same = equal(x, y)
    distance = where(same, 0.0, x) - where(same, 0.0, y)
    return maximum(x, y) + log1p(exp(-abs(distance)))


def sin(x):
    """The sine of x in radians."""
    return record("sin", x)


def cos(x):
    """The cosine of x in radians."""
    return record("cos", x)


def tan(x):
    """The tangent of x in radians."""
    return record("tan", x)


def asin(x):
    """The arc sine, -pi/2 to pi/2; NaN outside -1 to 1."""
    return record("asin", x)


def acos(x):
    """The arc cosine, 0 to pi; NaN outside -1 to 1."""
    return record("acos", x)


def atan(x):
    """The arc tangent, -pi/2 to pi/2."""
    return record("atan", x)


def atan2(y, x):
    """The angle of the point with abscissa x and ordinate y, -pi to pi."""
    return record("atan2", y, x)


def sinh(x):
    """The hyperbolic sine."""
    return record("sinh", x)


def cosh(x):
    """The hyperbolic cosine."""
    return record("cosh", x)


def tanh(x):
    """The hyperbolic tangent."""
    return record("tanh", x)


def asinh(x):
    """The inverse of `sinh`."""
    return record("asinh", x)


def acosh(x):
    """The inverse of `cosh`, not negative; NaN below 1."""
    return record("acosh", x)


def atanh(x):
    """The inverse of `tanh`; infinite at -1 and 1, NaN outside."""
    return record("atanh", x)


def erf(x):
    """The error function."""
    return record("erf", x)


def erfc(x):
    """1 - erf(x), accurate where that is small."""
    return record("erfc", x)


# NumPy's and PyTorch's other spellings.
arcsin, arccos, arctan, arctan2 = asin, acos, atan, atan2
arcsinh, arccosh, arctanh = asinh, acosh, atanh
