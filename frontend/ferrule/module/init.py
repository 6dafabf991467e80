"""Initial values, drawn from the generator that `ferrule.random.seed` starts: the same seed gives the same values.

Each function writes into the tensor and returns it. PyTorch's names (``kaiming_uniform_``, ``constant_``, ...) are
aliases.
"""

import math

import numpy as np

from .. import dtypes
from .._tensor import Tensor
from ..errors import ShapeError
from ..random import generator
from ..shapes import show


def _set(tensor, values):
    tensor.set_value(Tensor(np.asarray(values).astype(dtypes.to_numpy(tensor.dtype))))
    return tensor


def fill_(tensor, val):
    """Sets every element to ``val``."""
    return _set(tensor, np.full(tensor.shape, val))


def zeros_(tensor):
    """Sets every element to 0."""
    return fill_(tensor, 0)


def ones_(tensor):
    """Sets every element to 1."""
    return fill_(tensor, 1)


def uniform_(tensor, a=0.0, b=1.0):
    """Draws from the uniform distribution on [a, b)."""
    return _set(tensor, generator().uniform(a, b, tensor.shape))


def normal_(tensor, mean=0.0, std=1.0):
    """Draws from the normal distribution."""
    return _set(tensor, generator().normal(mean, std, tensor.shape))


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0):
    """Draws from the normal distribution, again and again where a number falls outside [a, b].

    Raises ValueError if [a, b] lies more than 4 standard deviations from the mean, where that would not end.
    """
    if not a < b or mean + 4 * std < a or mean - 4 * std > b:
        raise ValueError(
            f"trunc_normal_: [{a}, {b}] and the mean {mean}, std {std}; allowed: a < b, within 4 std of the mean"
        )
    values = generator().normal(mean, std, tensor.shape)
    outside = (values < a) | (values > b)
    while outside.any():
        values[outside] = generator().normal(mean, std, np.count_nonzero(outside))
        outside = (values < a) | (values > b)
    return _set(tensor, values)


def calculate_gain(nonlinearity, param=None):
    """The factor by which a nonlinearity asks to widen the weights; ``param`` is the slope of ``leaky_relu``."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    gains = {"sigmoid": 1.0, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
    linear = ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
    gains.update((name, 1.0) for name in linear)
    if nonlinearity not in gains:
        raise ValueError(f"no gain is known for {nonlinearity!r}; known: leaky_relu, {', '.join(gains)}")
    return gains[nonlinearity]


def calculate_fan_in_and_fan_out(tensor):
    """How many inputs feed an output and how many outputs an input feeds, for weights (out, in, kernel...)."""
    if tensor.ndim < 2:
        raise ShapeError(f"fan in and fan out need a rank of 2 or more, not the shape {show(tensor.shape)}")
    taps = math.prod(tensor.shape[2:])
    return tensor.shape[1] * taps, tensor.shape[0] * taps


def calculate_correct_fan(tensor, mode):
    """The fan that ``mode`` names: fan_in or fan_out."""
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"mode {mode!r}; allowed: fan_in, fan_out")
    fan_in, fan_out = calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode.lower() == "fan_in" else fan_out


def xavier_uniform_(tensor, gain=1.0):
    """Uniform with the variance 2 / (fan_in + fan_out), times gain squared."""
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / sum(calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor, gain=1.0):
    """Normal with the variance 2 / (fan_in + fan_out), times gain squared."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(calculate_fan_in_and_fan_out(tensor))))


def msra_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu"):
    """Uniform with the standard deviation gain / sqrt(fan)."""
    std = calculate_gain(nonlinearity, a) / math.sqrt(calculate_correct_fan(tensor, mode))
    return uniform_(tensor, -math.sqrt(3.0) * std, math.sqrt(3.0) * std)


def msra_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu"):
    """Normal with the standard deviation gain / sqrt(fan)."""
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(calculate_correct_fan(tensor, mode)))


def eye_(tensor):
    """Sets a matrix to 1 on the diagonal and 0 elsewhere."""
    if tensor.ndim != 2:
        raise ShapeError(f"eye_: a matrix is needed, not the shape {show(tensor.shape)}")
    return _set(tensor, np.eye(*tensor.shape))


def dirac_(tensor, groups=1):
    """Sets the weight of a convolution, (out, in, kernel...), so that it gives its input's first channels."""
    if tensor.ndim not in (3, 4, 5) or tensor.shape[0] % groups:
        raise ShapeError(
            f"dirac_: the shape {show(tensor.shape)} with {groups} groups; (out, in, kernel...) is needed, "
            f"out a multiple of the groups"
        )
    values = np.zeros(tensor.shape)
    rows = tensor.shape[0] // groups
    middle = tuple(size // 2 for size in tensor.shape[2:])
    for group in range(groups):
        for channel in range(min(rows, tensor.shape[1])):
            values[(group * rows + channel, channel, *middle)] = 1
    return _set(tensor, values)


def orthogonal_(tensor, gain=1.0):
    """Draws a matrix (the first axis by all others) with orthogonal rows or columns of length ``gain``."""
    if tensor.ndim < 2:
        raise ShapeError(f"orthogonal_: a rank of 2 or more is needed, not the shape {show(tensor.shape)}")
    rows, columns = tensor.shape[0], math.prod(tensor.shape[1:])
    drawn = generator().normal(size=(rows, columns))
    q, r = np.linalg.qr(drawn if rows >= columns else drawn.T)
    q = q * np.sign(np.diag(r))  # makes the decomposition unique, and so the draw uniform
    return _set(tensor, gain * (q if rows >= columns else q.T).reshape(tensor.shape))


def sparse_(tensor, sparsity, std=0.01):
    """Draws a matrix from the normal distribution, and a share of each column is 0."""
    if tensor.ndim != 2:
        raise ShapeError(f"sparse_: a matrix is needed, not the shape {show(tensor.shape)}")
    rows, columns = tensor.shape
    values = generator().normal(0.0, std, (rows, columns))
    for column in range(columns):
        values[generator().permutation(rows)[: math.ceil(sparsity * rows)], column] = 0
    return _set(tensor, values)


constant_ = fill_
kaiming_uniform_ = msra_uniform_
kaiming_normal_ = msra_normal_
