"""Initial values, drawn from the generator that `ferrule.random.seed` starts."""

import math

from .. import _tensor, dtypes
from ..errors import ShapeError
from ..random import generator


def _set(tensor, values):
    tensor.set_value(values.astype(dtypes.to_numpy(tensor.dtype)))


def fill_(tensor, val):
    """Sets every element to ``val``."""
    tensor._assign(_tensor.Tensor(_full(tensor, val))._handle)


def _full(tensor, val):
    import numpy as np

    return np.full(tensor.shape, val, dtypes.to_numpy(tensor.dtype))


def zeros_(tensor):
    """Sets every element to 0."""
    fill_(tensor, 0)


def ones_(tensor):
    """Sets every element to 1."""
    fill_(tensor, 1)


def uniform_(tensor, a=0.0, b=1.0):
    """Draws from the uniform distribution on [a, b)."""
    _set(tensor, generator().uniform(a, b, tensor.shape))


def normal_(tensor, mean=0.0, std=1.0):
    """Draws from the normal distribution."""
    _set(tensor, generator().normal(mean, std, tensor.shape))


def calculate_gain(nonlinearity, param=None):
    """The factor by which a nonlinearity asks to widen the weights; ``param`` is the slope of ``leaky_relu``."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    gains = {"sigmoid": 1.0, "tanh": 5.0 / 3, "relu": math.sqrt(2.0)}
    linear = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
    gains.update((name, 1.0) for name in linear)
    if nonlinearity not in gains:
        raise ValueError(f"no gain is known for {nonlinearity!r}; known: leaky_relu, {', '.join(gains)}")
    return gains[nonlinearity]


def calculate_fan_in_and_fan_out(tensor):
    """How many inputs feed an output and how many outputs an input feeds, for (out, in, ...) weights.

    Grouped convolutions of MegEngine's shape (groups, out, in, kh, kw) are understood.
    """
    shape = tensor.shape[1:] if tensor.ndim == 5 else tensor.shape
    if len(shape) < 2:
        raise ShapeError(f"fan in and fan out need a rank of 2 or more, not the shape {_tensor.show(tensor.shape)}")
    taps = math.prod(shape[2:])
    return shape[1] * taps, shape[0] * taps


def calculate_correct_fan(tensor, mode):
    """The fan that ``mode`` names: fan_in or fan_out."""
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"mode {mode!r}; allowed: fan_in, fan_out")
    fan_in, fan_out = calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode.lower() == "fan_in" else fan_out


def xavier_uniform_(tensor, gain=1.0):
    """Uniform with the variance 2 / (fan_in + fan_out), times gain squared."""
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / sum(calculate_fan_in_and_fan_out(tensor)))
    uniform_(tensor, -bound, bound)


def xavier_normal_(tensor, gain=1.0):
    """Normal with the variance 2 / (fan_in + fan_out), times gain squared."""
    normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(calculate_fan_in_and_fan_out(tensor))))


def msra_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu"):
    """Uniform with the standard deviation gain / sqrt(fan)."""
    std = calculate_gain(nonlinearity, a) / math.sqrt(calculate_correct_fan(tensor, mode))
    uniform_(tensor, -math.sqrt(3.0) * std, math.sqrt(3.0) * std)


def msra_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu"):
    """Normal with the standard deviation gain / sqrt(fan)."""
    normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(calculate_correct_fan(tensor, mode)))
