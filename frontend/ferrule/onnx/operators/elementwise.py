"""Arithmetic, comparison, logic and elementary functions, element by element."""

import functools

import numpy as np

from ... import dims, dtypes, functional as F
from ..._tensor import Tensor
from ...errors import UnsupportedError
from ..model import dtype_name
from ..registry import operator
from ..values import Known, tensor_of

# --- one operand ------------------------------------------------------------------------------------------------------

_UNARY = {
    "Abs": F.abs,
    "Acos": F.acos,
    "Acosh": F.acosh,
    "Asin": F.asin,
    "Asinh": F.asinh,
    "Atan": F.atan,
    "Atanh": F.atanh,
    "BitwiseNot": F.bitwise_not,
    "Ceil": F.ceil,
    "Cos": F.cos,
    "Cosh": F.cosh,
    "Erf": F.erf,
    "Exp": F.exp,
    "Floor": F.floor,
    "IsNaN": F.isnan,
    "Log": F.log,
    "Neg": F.neg,
    "Not": F.logical_not,
    "Reciprocal": F.reciprocal,
    "Round": F.round,
    "Sign": F.sign,
    "Sin": F.sin,
    "Sinh": F.sinh,
    "Sqrt": F.sqrt,
    "Tan": F.tan,
    "Tanh": F.tanh,
}

# Those whose result NumPy gives to the last bit.
_EXACT = {"Abs": np.abs, "Ceil": np.ceil, "Floor": np.floor, "Neg": np.negative, "Not": np.logical_not, "Sqrt": np.sqrt}


def _fold_unary(node, x):
    if x.dtype == object and node.operator in ("Ceil", "Floor"):
        return x  # sizes are whole numbers
    exact = _EXACT.get(node.operator)
    return None if exact is None else exact(x)


@operator(tuple(_UNARY), fold=_fold_unary)
def unary(node, x):
    """A function of one operand."""
    return _UNARY[node.operator](x)


@operator("IsInf", since=10)
def is_inf(node, x):
    """Where x is an infinity of a wanted sign."""
    infinity = float("inf")
    negative, positive = node.get("detect_negative", 1), node.get("detect_positive", 1)
    if negative and positive:
        return F.isinf(x)
    if not negative and not positive:
        return F.zeros(x.shape, dtype="bool")
    return F.equal(x, infinity if positive else -infinity)


# --- two operands -----------------------------------------------------------------------------------------------------


def _divide(x, y):
    """ONNX divides integers towards zero."""
    if dtypes.is_float(x.dtype):
        return F.div(x, y)
    if x.dtype in dtypes.UNSIGNED:
        return F.floor_div(x, y)
    return F.floor_div(x - F.fmod(x, y), y)


def _power(x, y):
    """The result has the type of the base; integers are exact below 2 ** 53."""
    if dtypes.is_float(x.dtype):
        return F.pow(x, y.astype(x.dtype))
    return F.round(F.pow(x.astype("float64"), y.astype("float64"))).astype(x.dtype)


_BINARY = {
    "Add": F.add,
    "And": F.logical_and,
    "BitwiseAnd": F.bitwise_and,
    "BitwiseOr": F.bitwise_or,
    "BitwiseXor": F.bitwise_xor,
    "Div": _divide,
    "Equal": F.equal,
    "Greater": F.greater,
    "GreaterOrEqual": F.greater_equal,
    "Less": F.less,
    "LessOrEqual": F.less_equal,
    "Mul": F.mul,
    "Or": F.logical_or,
    "Pow": _power,
    "Sub": F.sub,
    "Xor": F.logical_xor,
}


def _fold_divide(x, y):
    if x.dtype.kind == "f":
        return x / y
    if x.dtype == object or y.dtype == object:
        # The floor is the quotient towards zero where nothing is negative; a size that may be raises TraceError.
        if any(not (size >= 0) for size in (*x.flat, *y.flat)):
            return None
        return x // y
    return np.trunc(x / y).astype(x.dtype) if not (y == 0).any() and np.abs(x).max(initial=0) < 2**52 else None


_EXACT_BINARY = {
    "Add": np.add,
    "And": np.logical_and,
    "Div": _fold_divide,
    "Equal": np.equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "Mul": np.multiply,
    "Or": np.logical_or,
    "Sub": np.subtract,
    "Xor": np.logical_xor,
}
_COMPARISONS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")


def _fold_binary(node, x, y):
    exact = _EXACT_BINARY.get(node.operator)
    if exact is None or x.dtype.kind in "US" or (x.dtype == object and y.dtype.kind == "f"):
        return None
    result = exact(x, y)
    return result.astype(bool) if node.operator in _COMPARISONS and result is not None else result


@operator("Pow", since=7, host_if_known=(1,), fold=_fold_binary)
def power(node, x, y):
    """A power; an exponent that is one known number is that number."""
    if isinstance(y, np.ndarray):
        if y.size == 1 and y.ndim <= x.ndim and dtypes.is_float(x.dtype):
            return F.pow(x, float(y.reshape(())))
        y = Tensor(y)
    return _power(x, y)


@operator(tuple(name for name in _BINARY if name != "Pow"), since=7, fold=_fold_binary)
def binary(node, x, y):
    """A function of two operands that broadcast."""
    return _BINARY[node.operator](x, y)


@operator(("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less"))
def binary_aligned(node, x, y):
    """Before version 7 the second operand broadcasts only on request, aligned at an axis."""
    if node.get("broadcast", 0) and y.ndim:
        axis = node.get("axis", x.ndim - y.ndim) % max(x.ndim, 1)
        y = F.reshape(y, (*y.shape, *([1] * (x.ndim - axis - y.ndim))))
    return _BINARY[node.operator](x, y)


@operator("BitShift", since=11)
def bit_shift(node, x, y):
    """A shift in the direction that the node names."""
    return F.left_shift(x, y) if node.get("direction") == "LEFT" else F.right_shift(x, y)


def _fold_mod(node, x, y):
    if x.dtype == object or y.dtype == object:
        return None if node.get("fmod", 0) else x % y
    return None if x.dtype.kind == "f" or (y == 0).any() else (np.fmod if node.get("fmod", 0) else np.mod)(x, y)


@operator("Mod", since=10, fold=_fold_mod)
def mod(node, x, y):
    """The remainder: with the sign of the divisor, or of the dividend where ``fmod`` is set."""
    return F.fmod(x, y) if node.get("fmod", 0) else F.mod(x, y)


# --- several operands -------------------------------------------------------------------------------------------------


def _fold_extremum(node, *arrays):
    if any(array.dtype == object for array in arrays):
        if node.operator == "Min":
            return None
        return functools.reduce(np.frompyfunc(dims.maximum, 2, 1), arrays)
    return functools.reduce(np.maximum if node.operator == "Max" else np.minimum, arrays)


@operator(("Max", "Min"), since=6, fold=_fold_extremum)
def extremum(node, *operands):
    """The largest or smallest of operands that broadcast; NaN wins."""
    return functools.reduce(F.maximum if node.operator == "Max" else F.minimum, operands)


@operator("Sum", since=6)
def sum_of_operands(node, *operands):
    """The sum, from left to right."""
    return functools.reduce(F.add, operands)


@operator("Mean", since=6)
def mean_of_operands(node, *operands):
    """The sum from left to right, divided by the number of operands."""
    return functools.reduce(F.add, operands) / float(len(operands))


@operator("Clip", since=11)
def clip(node, x, lower=None, upper=None):
    """minimum(maximum(x, lower), upper)."""
    return x if lower is None and upper is None else F.clip(x, lower, upper)


@operator("Clip", since=6)
def clip_between_numbers(node, x):
    """Before version 11 the bounds are attributes."""
    lower, upper = node.get("min"), node.get("max")
    return x if lower is None and upper is None else F.clip(x, lower, upper)


def _fold_where(node, condition, x, y):
    return np.where(condition.astype(bool), x, y)


@operator("Where", since=9, fold=_fold_where)
def where(node, condition, x, y):
    """x where the condition holds, else y."""
    return F.where(condition, x, y)


# --- element types ----------------------------------------------------------------------------------------------------


def _cast(x, name):
    if name not in dtypes.ALL:
        raise UnsupportedError(f"the element type {name}; allowed are {', '.join(dtypes.ALL)}")
    return x.astype(name)


def _fold_cast(name, x):
    if name not in dtypes.ALL:
        return None
    if x.dtype == object:
        return Known(x, name) if dtypes.is_integer(name) or name in ("float32", "float64") else None
    if x.dtype.kind == "f" and dtypes.is_integer(name):
        limits = np.iinfo(name)
        if not (np.isfinite(x) & (x > limits.min) & (x < limits.max)).all():
            return None  # ours saturate
    return x.astype(dtypes.to_numpy(name))


def _target(node):
    return dtype_name(node.get("to"))


@operator("Cast", since=6, fold=lambda node, x: _fold_cast(_target(node), x))
def cast(node, x):
    """Another element type: floats to integers towards zero, saturated, NaN to 0."""
    return _cast(x, _target(node))


@operator("CastLike", since=15, raw=True)
def cast_like(node, x, like):
    """The element type of the second operand."""
    known = _fold_cast(like.dtype, x.array) if isinstance(x, Known) and not x.is_weight else None
    if known is not None:
        return known if isinstance(known, Known) else Known(known)
    return _cast(tensor_of(x), like.dtype)
