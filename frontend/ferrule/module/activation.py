"""Activations as modules."""

import numpy as np

from .. import functional as F
from .._tensor import Parameter
from ..errors import ShapeError
from ..shapes import show
from .module import Module


class _Activation(Module):
    """A module without parameters. ``inplace`` is accepted for PyTorch programs; the compiler reuses memory by
    itself."""

    def __init__(self, inplace=False, name=None):
        # MegEngine's one argument is the name.
        super().__init__(name=inplace if isinstance(inplace, str) else name)


class ReLU(_Activation):
    """max(x, 0)."""

    def forward(self, inp):
        return F.relu(inp)


class ReLU6(_Activation):
    """min(max(x, 0), 6)."""

    def forward(self, inp):
        return F.relu6(inp)


class Sigmoid(_Activation):
    """1 / (1 + exp(-x))."""

    def forward(self, inp):
        return F.sigmoid(inp)


class Tanh(_Activation):
    """tanh(x)."""

    def forward(self, inp):
        return F.tanh(inp)


class SiLU(_Activation):
    """x * sigmoid(x)."""

    def forward(self, inp):
        return F.silu(inp)


class Mish(_Activation):
    """x * tanh(softplus(x))."""

    def forward(self, inp):
        return F.mish(inp)


class Hardsigmoid(_Activation):
    """relu6(x + 3) / 6."""

    def forward(self, inp):
        return F.hsigmoid(inp)


class Hardswish(_Activation):
    """x * relu6(x + 3) / 6."""

    def forward(self, inp):
        return F.hswish(inp)


class LogSigmoid(_Activation):
    """log(sigmoid(x))."""

    def forward(self, inp):
        return F.logsigmoid(inp)


class Softsign(_Activation):
    """x / (1 + |x|)."""

    def forward(self, inp):
        return F.softsign(inp)


class Tanhshrink(_Activation):
    """x - tanh(x)."""

    def forward(self, inp):
        return F.tanhshrink(inp)


class SELU(_Activation):
    """The scaled exponential linear unit."""

    def forward(self, inp):
        return F.selu(inp)


class GELU(Module):
    """x times the normal distribution's cumulative function; ``approximate="tanh"`` takes its approximation by tanh."""

    def __init__(self, approximate="none", name=None):
        if approximate not in ("none", "tanh"):  # MegEngine's one argument is the name
            approximate, name = "none", approximate
        super().__init__(name=name)
        self.approximate = approximate

    def forward(self, inp):
        return F.gelu(inp, self.approximate)

    def extra_repr(self):
        return "" if self.approximate == "none" else f"approximate={self.approximate!r}"


class LeakyReLU(Module):
    """x where x > 0, else negative_slope * x."""

    def __init__(self, negative_slope=0.01, inplace=False, **kwargs):
        del inplace
        super().__init__(**kwargs)
        self.negative_slope = negative_slope

    def forward(self, inp):
        return F.leaky_relu(inp, self.negative_slope)

    def extra_repr(self):
        return f"negative_slope={self.negative_slope}"


class _WithAlpha(Module):
    def __init__(self, alpha=1.0, inplace=False, **kwargs):
        del inplace
        super().__init__(**kwargs)
        self.alpha = alpha

    def extra_repr(self):
        return f"alpha={self.alpha}"


class ELU(_WithAlpha):
    """x where x > 0, else alpha * (exp(x) - 1)."""

    def forward(self, inp):
        return F.elu(inp, self.alpha)


class CELU(_WithAlpha):
    """x where x > 0, else alpha * (exp(x / alpha) - 1)."""

    def forward(self, inp):
        return F.celu(inp, self.alpha)


class PReLU(Module):
    """x where x > 0, else weight * x with a trained slope, one for all or one a channel (axis 1).

    Args:
        num_parameters: 1 or the number of channels.
        init: the first slope.
    """

    def __init__(self, num_parameters=1, init=0.25, **kwargs):
        super().__init__(**kwargs)
        self.num_parameters = num_parameters
        shape = (1,) if num_parameters == 1 else (1, num_parameters, 1, 1)
        self.weight = Parameter(np.full(shape, init, "float32"))

    def forward(self, inp):
        if self.num_parameters == 1 or inp.ndim == 4:
            return F.prelu(inp, self.weight)
        shape = [1] * inp.ndim
        shape[min(1, inp.ndim - 1)] = self.num_parameters
        return F.prelu(inp, F.reshape(self.weight, shape))

    def extra_repr(self):
        return f"num_parameters={self.num_parameters}"


class RReLU(Module):
    """x where x > 0, else x times a slope: drawn for each element in training, else the mean of ``lower`` and
    ``upper``."""

    def __init__(self, lower=1.0 / 8, upper=1.0 / 3, inplace=False, **kwargs):
        del inplace
        super().__init__(**kwargs)
        self.lower = lower
        self.upper = upper

    def forward(self, inp):
        return F.rrelu(inp, self.lower, self.upper, self.training)

    def extra_repr(self):
        return f"lower={self.lower}, upper={self.upper}"


class Softplus(Module):
    """log(1 + exp(beta * x)) / beta; x itself where beta * x is above ``threshold``, which None leaves out."""

    def __init__(self, beta=1.0, threshold=None, **kwargs):
        super().__init__(**kwargs)
        self.beta = beta
        self.threshold = threshold

    def forward(self, inp):
        return F.softplus(inp, self.beta, self.threshold)

    def extra_repr(self):
        return f"beta={self.beta}, threshold={self.threshold}"


class Hardtanh(Module):
    """min(max(x, min_val), max_val)."""

    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False, **kwargs):
        del inplace
        super().__init__(**kwargs)
        self.min_val = min_val
        self.max_val = max_val

    def forward(self, inp):
        return F.hardtanh(inp, self.min_val, self.max_val)

    def extra_repr(self):
        return f"min_val={self.min_val}, max_val={self.max_val}"


class _Shrink(Module):
    def __init__(self, lambd=0.5, **kwargs):
        super().__init__(**kwargs)
        self.lambd = lambd

    def extra_repr(self):
        return f"lambd={self.lambd}"


class Hardshrink(_Shrink):
    """x where |x| > lambd, else 0."""

    def forward(self, inp):
        return F.hardshrink(inp, self.lambd)


class Softshrink(_Shrink):
    """x moved by lambd towards 0, and 0 where |x| <= lambd."""

    def forward(self, inp):
        return F.softshrink(inp, self.lambd)


class Threshold(Module):
    """x where x > threshold, else value."""

    def __init__(self, threshold, value, inplace=False, **kwargs):
        del inplace
        super().__init__(**kwargs)
        self.threshold = threshold
        self.value = value

    def forward(self, inp):
        return F.threshold(inp, self.threshold, self.value)

    def extra_repr(self):
        return f"threshold={self.threshold}, value={self.value}"


class _OverAxis(Module):
    """A function over one axis: ``axis``, or ``dim`` as PyTorch spells it."""

    _default = None

    def __init__(self, axis=None, *, dim=None, **kwargs):
        super().__init__(**kwargs)
        given = axis if dim is None else dim
        self.axis = self._default if given is None else given

    def extra_repr(self):
        return f"axis={self.axis}"


class Softmax(_OverAxis):
    """exp(x - max) / sum over ``axis``; None takes axis 0 for rank 1 and 3, else axis 1."""

    def forward(self, inp):
        return F.softmax(inp, self.axis)


class Softmax2d(Module):
    """exp(x - max) / sum over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, inp):
        if inp.ndim not in (3, 4):
            raise ShapeError(f"Softmax2d: input of shape {show(inp.shape)}; (N, C, H, W) or (C, H, W) is needed")
        return F.softmax(inp, -3)


class LogSoftmax(_OverAxis):
    """log(softmax(x)) over ``axis``; None takes axis 0 for rank 1 and 3, else axis 1."""

    def forward(self, inp):
        return F.logsoftmax(inp, self.axis)


class Softmin(_OverAxis):
    """softmax(-x) over ``axis``; None takes axis 0 for rank 1 and 3, else axis 1."""

    def forward(self, inp):
        return F.softmin(inp, self.axis)


class GLU(_OverAxis):
    """a * sigmoid(b) for the halves a and b of ``axis``, the last one by default."""

    _default = -1

    def forward(self, inp):
        return F.glu(inp, self.axis)
