"""Activations. The ones that are not primitive ops are stated by their formula; fusion makes one kernel of each.

The formulas neither overflow nor cancel, and their gradients are finite, wherever the function itself is; float16 and
bfloat16 are computed in float32 and rounded once. At a kink the gradient is that of the left side, or that of the flat
side where an activation saturates at both ends (relu6, the hard variants).
"""

from .._stream import apply
from .._tensor import Tensor, as_tensor
from ..errors import ShapeError
from ..location import user_location
from ..shapes import is_static, show
from .axes import resolve_axes, resolve_axis
from .elementwise import (
    abs,
    equal,
    erfc,
    exp,
    expm1,
    greater,
    greater_equal,
    less,
    less_equal,
    log,
    log1p,
    maximum,
    minimum,
    tanh,
    where,
)
from .recording import as_wrapped_float, record, rounded_once
from .reduce import argmax

__all__ = [
    "celu",
    "elu",
    "gelu",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hsigmoid",
    "hswish",
    "leaky_relu",
    "logsigmoid",
    "logsoftmax",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "rrelu",
    "selu",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "swish",
    "tanhshrink",
    "threshold",
]


def relu(x):
    """x where x > 0, else +0; NaN stays."""
    return record("relu", x)


def sigmoid(x):
    """1 / (1 + exp(-x))."""
    return record("sigmoid", x)


def relu6(x):
    """min(max(x, 0), 6)."""
    return _held(x, 0.0, 6.0)


def _held(x, lower, upper):
    """`clip`, but without a gradient at the bounds, as beyond them; NaN stays."""
    return where(less_equal(x, lower), lower, where(greater_equal(x, upper), upper, x))


@rounded_once
def leaky_relu(inp, negative_slope=0.01):
    """x where x > 0, else negative_slope * x."""
    inp = as_wrapped_float(inp)
    return where(greater(inp, 0), inp, inp * negative_slope)


@rounded_once
def prelu(x, y):
    """x where x > 0, else y * x. A ``y`` of rank 1 with several slopes belongs to axis 1; any other shape broadcasts."""
    if y.ndim == 1 and x.ndim > 1 and y.shape[0] != 1:
        if y.shape[0] != x.shape[1]:
            raise ShapeError(
                f"prelu: {show(y.shape)} slopes for x of shape {show(x.shape)} at {user_location()}: one slope, or one "
                f"for each of axis 1"
            )
        y = y.reshape(1, -1, *([1] * (x.ndim - 2)))
    return where(greater(x, 0), x, x * y)


@rounded_once
def rrelu(inp, lower=1.0 / 8, upper=1.0 / 3, training=False):
    """x where x > 0, else x times a slope: drawn for each element from ``lower`` to ``upper`` in training, else their
    mean. The numbers come from `fer.random`."""
    inp = as_wrapped_float(inp)
    if not lower <= upper:
        raise ShapeError(f"rrelu: lower is {lower}, upper {upper} at {user_location()}; lower <= upper is needed")
    if not training:
        return leaky_relu(inp, (lower + upper) / 2)
    from ..random import uniform

    return where(greater(inp, 0), inp, inp * uniform(lower, upper, size=inp.shape).astype(inp.dtype))


def elu(inp, alpha=1.0):
    """x where x > 0, else alpha * (exp(x) - 1)."""
    inp = as_wrapped_float(inp)
    positive = greater(inp, 0)
    # The branch that is not taken must stay finite, else its gradient is 0 * inf.
    return where(positive, inp, alpha * expm1(where(positive, 0.0, inp)))


@rounded_once
def celu(inp, alpha=1.0):
    """x where x > 0, else alpha * (exp(x / alpha) - 1): `elu` with a continuous derivative."""
    inp = as_wrapped_float(inp)
    positive = greater(inp, 0)
    return where(positive, inp, alpha * expm1(where(positive, 0.0, inp) / alpha))


@rounded_once
def selu(inp):
    """The self-normalising `elu`: 1.0507009873554805 * elu(x, 1.6732632423543772)."""
    return 1.0507009873554805 * elu(inp, 1.6732632423543772)


@rounded_once
def hsigmoid(x):
    """relu6(x + 3) / 6."""
    return relu6(as_wrapped_float(x) + 3.0) / 6.0


@rounded_once
def hswish(x):
    """x * relu6(x + 3) / 6."""
    x = as_wrapped_float(x)
    return x * relu6(x + 3.0) / 6.0


@rounded_once
def silu(x):
    """x * sigmoid(x)."""
    x = as_wrapped_float(x)
    return x * sigmoid(x)


@rounded_once
def mish(inp):
    """x * tanh(softplus(x))."""
    inp = as_wrapped_float(inp)
    return inp * tanh(softplus(inp))


@rounded_once
def gelu(x, approximate="none"):
    """x times the normal distribution's cumulative function: x * erfc(-x / sqrt(2)) / 2.

    Args:
        approximate: ``"tanh"`` takes x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3))) instead.
    """
    x = as_wrapped_float(x)
    if approximate == "tanh":
        return 0.5 * x * (1.0 + tanh(0.7978845608028654 * (x + 0.044715 * (x * x * x))))
    if approximate != "none":
        raise ValueError(f"gelu: approximate is 'none' or 'tanh', not {approximate!r} at {user_location()}")
    return 0.5 * x * erfc(x * -0.7071067811865476)


@rounded_once
def softplus(inp, beta=1.0, threshold=None):
    """log(1 + exp(beta * x)) / beta without overflow; x itself where beta * x > threshold, if there is one."""
    inp = as_wrapped_float(inp)
    scaled = inp if beta == 1 else inp * beta
    result = maximum(scaled, 0.0) + log1p(exp(-abs(scaled)))
    if beta != 1:
        result = result / beta
    return result if threshold is None else where(greater(scaled, threshold), inp, result)


@rounded_once
def logsigmoid(inp):
    """log(sigmoid(x)) without overflow."""
    inp = as_wrapped_float(inp)
    return minimum(inp, 0.0) - log1p(exp(-abs(inp)))


@rounded_once
def softsign(inp):
    """x / (1 + |x|)."""
    inp = as_wrapped_float(inp)
    return inp / (1.0 + abs(inp))


def hardtanh(inp, min_val=-1.0, max_val=1.0):
    """x held between two bounds."""
    return _held(inp, min_val, max_val)


def hardshrink(inp, lambd=0.5):
    """x where |x| > lambd, else 0."""
    inp = as_wrapped_float(inp)
    return where(less_equal(abs(inp), lambd), 0.0, inp)


@rounded_once
def softshrink(inp, lambd=0.5):
    """x moved by lambd towards 0, and 0 where |x| <= lambd."""
    inp = as_wrapped_float(inp)
    # x - x is 0, but keeps NaN.
    return where(greater(inp, lambd), inp - lambd, where(less(inp, -lambd), inp + lambd, inp - inp))


@rounded_once
def tanhshrink(inp):
    """x - tanh(x)."""
    inp = as_wrapped_float(inp)
    return inp - tanh(inp)


def threshold(inp, threshold, value):
    """x where x > threshold, else value; NaN stays."""
    return where(less_equal(inp, threshold), value, inp)


def glu(inp, axis=-1):
    """a * sigmoid(b), where a and b are the two halves of x along ``axis``."""
    inp = as_wrapped_float(inp)
    axis = resolve_axis("glu", axis, inp.ndim)
    size = inp.shape[axis]
    if is_static(size) and size % 2:
        raise ShapeError(f"glu: axis {axis} of {show(inp.shape)} has an odd size, so no halves at {user_location()}")
    before = (slice(None),) * axis
    return _gate(inp[(*before, slice(None, size // 2))], inp[(*before, slice(size // 2, None))])


@rounded_once
def _gate(value, gate):
    return value * sigmoid(gate)


def _default_axis(ndim):
    """MegEngine's choice when no axis is given: the first for rank 0, 1 and 3, else the channels."""
    return 0 if ndim in (0, 1, 3) else 1


def softmax(inp, axis=None):
    """exp(x - max) / sum over ``axis``; None takes axis 0 for rank 1 and 3, else axis 1."""
    return _rowwise("softmax", inp, axis)


def softmin(inp, axis=None):
    """softmax(-x)."""
    return softmax(-as_wrapped_float(inp), axis)


def logsoftmax(inp, axis=None):
    """log(softmax(x)), computed as (x - max) - log(sum). Several axes are normalised together."""
    if isinstance(axis, (tuple, list)):
        return _log_softmax_over(as_wrapped_float(inp), axis)
    return _rowwise("log_softmax", inp, axis)


@rounded_once
def _log_softmax_over(x, axis):
    from .reduce import log, max, sum  # noqa: A004

    axes = resolve_axes("logsoftmax", axis, x.ndim)
    shifted = x - max(x, axes, keepdims=True)
    return shifted - log(sum(exp(shifted), axes, keepdims=True))


def _rowwise(op, inp, axis):
    x = as_wrapped_float(as_tensor(inp))
    axis = resolve_axis(op, _default_axis(x.ndim) if axis is None else axis, x.ndim)
    return Tensor._wrap(apply(op, [x._handle], {"axis": axis})[0])


# PyTorch's other spellings.
hardsigmoid, hardswish, swish = hsigmoid, hswish, silu


def gumbel_softmax(logits, tau=1.0, hard=False, axis=-1):
    """A draw from the classes of ``logits`` along ``axis``, as a softmax of (logits + Gumbel noise) / tau.

    Args:
        tau: above 0; the smaller, the nearer to one class.
        hard: give 1 for the drawn class and 0 for the others, with the gradient of the softmax.
    """
    from ..random import uniform

    logits = as_wrapped_float(logits)
    noise = -log(-log(uniform(size=logits.shape)))
    soft = softmax((logits + noise.astype(logits.dtype)) / tau, axis)
    if not hard:
        return soft
    axis = resolve_axis("gumbel_softmax", axis, logits.ndim)
    drawn = argmax(soft, axis, keepdims=True)
    positions = Tensor._wrap(apply("iota", [], {"shape": list(logits.shape), "axis": axis, "dtype": "int32"})[0])
    from ..autodiff.custom import custom_op

    one = equal(positions, drawn).astype(logits.dtype)
    return custom_op(lambda soft: one, lambda inputs, outputs, cotangents: cotangents[0])(soft)
