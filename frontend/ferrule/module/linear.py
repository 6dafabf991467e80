"""`Linear`, `Flatten` and `Identity`."""

import numpy as np

from .. import functional as F
from .._tensor import Parameter
from . import init
from .module import Module


class Linear(Module):
    """x @ weight.T + bias over the last axis.

    Args:
        in_features, out_features: the sizes of the last axis before and after.
        bias: whether there is one.
    """

    def __init__(self, in_features, out_features, bias=True, compute_mode="default", **kwargs):
        super().__init__(**kwargs)
        self.in_features = in_features
        self.out_features = out_features
        self.compute_mode = compute_mode
        self.weight = Parameter(np.zeros((out_features, in_features), "float32"))
        self.bias = Parameter(np.zeros((out_features,), "float32")) if bias else None
        self.reset_parameters()

    def reset_parameters(self):
        """Draws the weight with the variance 1 / in_features and sets the bias to 0."""
        init.normal_(self.weight, 0.0, (1.0 / self.in_features) ** 0.5)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, inp):
        return F.linear(inp, self.weight, self.bias)

    def _describe(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class Flatten(Module):
    """The axes from ``start_axis`` to ``end_axis`` merged into one; by default all but the batch."""

    def __init__(self, start_axis=1, end_axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.start_axis = start_axis
        self.end_axis = end_axis

    def forward(self, inp):
        return F.flatten(inp, self.start_axis, self.end_axis)


class Identity(Module):
    """Its input."""

    def forward(self, inp):
        return inp
