"""`Conv1d` and `Conv2d`."""

import math

import numpy as np

from .. import functional as F
from .._tensor import Parameter
from ..errors import ShapeError, UnsupportedError
from ..functional.axes import per_axis
from . import init
from .module import Module


class _Convolution(Module):
    _rank = 0
    _function = None

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        conv_mode="cross_correlation",
        compute_mode="default",
        padding_mode="zeros",
        **kwargs,
    ):
        super().__init__(**kwargs)
        kind = type(self).__name__
        if in_channels % groups or out_channels % groups:
            raise ShapeError(f"{kind}: {in_channels} and {out_channels} channels do not divide into {groups} groups")
        if padding_mode != "zeros":
            raise UnsupportedError(f"{kind}: padding_mode {padding_mode!r}; allowed is 'zeros'")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = tuple(per_axis(kind, "kernel_size", kernel_size, self._rank))
        self.stride = tuple(per_axis(kind, "stride", stride, self._rank))
        self.padding = tuple(per_axis(kind, "padding", padding, self._rank))
        self.dilation = tuple(per_axis(kind, "dilation", dilation, self._rank))
        self.groups = groups
        self.conv_mode = conv_mode
        self.compute_mode = compute_mode
        self.padding_mode = padding_mode
        self.weight = Parameter(np.zeros((out_channels, in_channels // groups, *self.kernel_size), "float32"))
        self.bias = Parameter(np.zeros((1, out_channels) + (1,) * self._rank, "float32")) if bias else None
        self.reset_parameters()

    def reset_parameters(self):
        """Draws the weight with the variance 1 / fan_in and sets the bias to 0."""
        fan_in = math.prod(self.weight.shape[1:])
        init.normal_(self.weight, 0.0, (1.0 / fan_in) ** 0.5)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, inp):
        return type(self)._function(
            inp,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self.dilation,
            self.groups,
            self.conv_mode,
            self.compute_mode,
        )

    def extra_repr(self):
        return (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"padding={self.padding}, dilation={self.dilation}, groups={self.groups}, bias={self.bias is not None}"
        )


class Conv1d(_Convolution):
    """The 1-d convolution of sequences (N, C, L).

    Args:
        in_channels, out_channels: channels before and after; both divisible by ``groups``.
        kernel_size, stride, padding, dilation: ints.
        groups: how many independent groups the channels form.
        bias: whether there is one, of shape (1, out_channels, 1).
        padding_mode: ``"zeros"``.
    """

    _rank = 1
    _function = staticmethod(F.conv1d)


class Conv2d(_Convolution):
    """The 2-d convolution of images (N, C, H, W).

    Args:
        in_channels, out_channels: channels before and after; both divisible by ``groups``.
        kernel_size, stride, padding, dilation: an int or a pair (height, width).
        groups: how many independent groups the channels form.
        bias: whether there is one, of shape (1, out_channels, 1, 1).
        padding_mode: ``"zeros"``.
    """

    _rank = 2
    _function = staticmethod(F.conv2d)
