"""Activations. The ones that are not primitive ops are stated by their formula; fusion makes one kernel of each."""

from .. import dtypes
from .._stream import apply
from .._tensor import Tensor
from .axes import resolve_axis
from .elementwise import _function, abs, as_wrapped_float, clip, erf, exp, log1p, maximum, where

__all__ = [
    "gelu",
    "hsigmoid",
    "hswish",
    "leaky_relu",
    "logsigmoid",
    "logsoftmax",
    "prelu",
    "relu",
    "relu6",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
]


def relu(x):
    """x where x > 0, else +0; NaN stays."""
    tensor = x if isinstance(x, Tensor) else Tensor(x)
    return Tensor._wrap(apply("relu", [tensor._handle])[0])


def sigmoid(x):
    """1 / (1 + exp(-x))."""
    return _function("sigmoid", x)


def relu6(x):
    """min(max(x, 0), 6)."""
    return clip(x, 0.0, 6.0)


def leaky_relu(inp, negative_slope=0.01):
    """x where x > 0, else negative_slope * x."""
    return where(inp > 0, inp, inp * negative_slope)


def prelu(x, y):
    """x where x > 0, else y * x; y is one slope or one a channel."""
    if y.ndim == 1 and x.ndim > 1 and y.shape[0] != 1:
        y = y.reshape(1, -1, *([1] * (x.ndim - 2)))
    return where(x > 0, x, x * y)


def hsigmoid(x):
    """relu6(x + 3) / 6."""
    return relu6(x + 3.0) / 6.0


def hswish(x):
    """x * relu6(x + 3) / 6."""
    return x * relu6(x + 3.0) / 6.0


def silu(x):
    """x * sigmoid(x)."""
    return x * sigmoid(x)


def gelu(x):
    """x times the normal distribution's cumulative function, by erf."""
    x = as_wrapped_float(x)
    return 0.5 * x * (1.0 + erf(x * 0.7071067811865476))


def softplus(inp):
    """log(1 + exp(x)) without overflow."""
    inp = as_wrapped_float(inp)
    return maximum(inp, 0.0) + log1p(exp(-abs(inp)))


def logsigmoid(inp):
    """log(sigmoid(x)) without overflow."""
    return -softplus(-inp)


def _default_axis(ndim):
    """MegEngine's choice when no axis is given: the first for rank 0, 1 and 3, else the channels."""
    return 0 if ndim in (0, 1, 3) else 1


def softmax(inp, axis=None):
    """exp(x - max) / sum over ``axis``; None takes axis 0 for rank 1 and 3, else axis 1."""
    return _rowwise("softmax", inp, axis)


def logsoftmax(inp, axis=None):
    """log(softmax(x)), computed as (x - max) - log(sum)."""
    return _rowwise("log_softmax", inp, axis)


def _rowwise(op, inp, axis):
    x = as_wrapped_float(inp) if not dtypes.is_float(inp.dtype) else inp
    axis = resolve_axis(op, _default_axis(x.ndim) if axis is None else axis, x.ndim)
    return Tensor._wrap(apply(op, [x._handle], {"axis": axis})[0])
