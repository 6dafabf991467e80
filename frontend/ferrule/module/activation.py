"""Activations as modules."""

import numpy as np

from .. import functional as F
from .._tensor import Parameter
from .module import Module


class ReLU(Module):
    """max(x, 0)."""

    def forward(self, inp):
        return F.relu(inp)


class Sigmoid(Module):
    """1 / (1 + exp(-x))."""

    def forward(self, inp):
        return F.sigmoid(inp)


class SiLU(Module):
    """x * sigmoid(x)."""

    def forward(self, inp):
        return F.silu(inp)


class GELU(Module):
    """x times the normal distribution's cumulative function."""

    def forward(self, inp):
        return F.gelu(inp)


class LeakyReLU(Module):
    """x where x > 0, else negative_slope * x."""

    def __init__(self, negative_slope=0.01, **kwargs):
        super().__init__(**kwargs)
        self.negative_slope = negative_slope

    def forward(self, inp):
        return F.leaky_relu(inp, self.negative_slope)


class PReLU(Module):
    """x where x > 0, else weight * x with a trained slope, one for all or one a channel."""

    def __init__(self, num_parameters=1, init=0.25, **kwargs):
        super().__init__(**kwargs)
        self.num_parameters = num_parameters
        shape = (1,) if num_parameters == 1 else (1, num_parameters, 1, 1)
        self.weight = Parameter(np.full(shape, init, "float32"))

    def forward(self, inp):
        return F.prelu(inp, self.weight)


class Softmax(Module):
    """exp(x - max) / sum over ``axis``; None takes axis 0 for rank 1 and 3, else axis 1."""

    def __init__(self, axis=None, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis

    def forward(self, inp):
        return F.softmax(inp, self.axis)
