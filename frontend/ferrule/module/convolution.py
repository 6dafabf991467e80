"""Convolutions of sequences (N, C, L), images (N, C, H, W) and volumes (N, C, D, H, W), and their transposes."""

import math

import numpy as np

from .. import functional as F
from .._tensor import Parameter
from ..errors import ShapeError, UnsupportedError
from ..functional.axes import per_axis
from . import init
from .module import Module

# PyTorch's and MegEngine's names for the ways to fill the border, and those of `F.pad`.
_PADDING_MODES = {"zeros": "constant", "reflect": "reflect", "replicate": "replicate", "circular": "circular"}


class _ConvolutionBase(Module):
    _rank = 0
    _function = ""  # its name in `functional`

    def _set_sizes(self, in_channels, out_channels, kernel_size, stride, padding, dilation, groups):
        kind = type(self).__name__
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ShapeError(f"{kind}: {in_channels} and {out_channels} channels do not divide into {groups} groups")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = tuple(per_axis(kind, "kernel_size", kernel_size, self._rank))
        self.stride = tuple(per_axis(kind, "stride", stride, self._rank))
        self.padding = _padding(kind, padding, self._rank)
        self.dilation = tuple(per_axis(kind, "dilation", dilation, self._rank))
        self.groups = groups

    def _set_parameters(self, weight_shape, bias):
        self.weight = Parameter(np.zeros(weight_shape, "float32"))
        self.bias = Parameter(np.zeros((1, self.out_channels) + (1,) * self._rank, "float32")) if bias else None
        self.reset_parameters()

    def _fan_in(self):
        return math.prod(self.weight.shape[1:])

    def reset_parameters(self):
        """Draws the weight with the variance 1 / fan_in and sets the bias to 0."""
        init.normal_(self.weight, 0.0, (1.0 / max(self._fan_in(), 1)) ** 0.5)
        if self.bias is not None:
            init.zeros_(self.bias)

    def extra_repr(self):
        return (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"padding={self.padding!r}, dilation={self.dilation}, groups={self.groups}, bias={self.bias is not None}"
        )


def _padding(kind, padding, rank):
    """``"same"``, ``"valid"``, ``rank`` ints or ``rank`` pairs (before, after)."""
    if isinstance(padding, str):
        if padding.lower() not in ("same", "valid"):
            raise UnsupportedError(f"{kind}: padding {padding!r}; allowed: 'same', 'valid', ints, pairs of ints")
        return padding.lower()
    if isinstance(padding, (tuple, list)) and any(isinstance(pair, (tuple, list)) for pair in padding):
        return tuple(tuple(per_axis(kind, "a pair of padding", pair, 2)) for pair in padding)
    return tuple(per_axis(kind, "padding", padding, rank))


class _Convolution(_ConvolutionBase):
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
        if padding_mode not in _PADDING_MODES:
            raise UnsupportedError(
                f"{type(self).__name__}: padding_mode {padding_mode!r}; allowed: {', '.join(_PADDING_MODES)}"
            )
        self._set_sizes(in_channels, out_channels, kernel_size, stride, padding, dilation, groups)
        self.conv_mode = conv_mode
        self.compute_mode = compute_mode
        self.padding_mode = padding_mode
        self._set_parameters((out_channels, in_channels // groups, *self.kernel_size), bias)

    def calc_conv(self, inp, weight, bias):
        """The convolution with this module's settings and other parameters."""
        padding = self.padding
        if self.padding_mode != "zeros":
            inp, padding = F.pad(inp, self._border(inp), mode=_PADDING_MODES[self.padding_mode]), 0
        return getattr(F, self._function)(
            inp, weight, bias, self.stride, padding, self.dilation, self.groups, self.conv_mode
        )

    def _border(self, inp):
        """(before, after) of each axis of the input."""
        pads = self.padding
        if pads == "valid":
            pads = (0,) * self._rank
        elif pads == "same":
            if any(stride != 1 for stride in self.stride):
                raise UnsupportedError(f"{type(self).__name__}: padding 'same' needs a stride of 1, not {self.stride}")
            whole = [dilation * (kernel - 1) for dilation, kernel in zip(self.dilation, self.kernel_size)]
            pads = [(total // 2, total - total // 2) for total in whole]
        pairs = [pair if isinstance(pair, tuple) else (pair, pair) for pair in pads]
        return [(0, 0)] * (inp.ndim - self._rank) + pairs

    def forward(self, inp):
        return self.calc_conv(inp, self.weight, self.bias)


_ARGUMENTS = """

    Args:
        in_channels, out_channels: channels before and after; both divisible by ``groups``.
        kernel_size, stride, dilation: an int, or one an axis.
        padding: an int, one an axis, a pair (before, after) an axis, ``"same"`` or ``"valid"``.
        groups: how many independent groups the channels form.
        bias: whether there is one.
        padding_mode: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
    """


class Conv1d(_Convolution):
    """The convolution of sequences (N, C, L); bias (1, out_channels, 1)."""

    __doc__ += _ARGUMENTS
    _rank = 1
    _function = "conv1d"


class Conv2d(_Convolution):
    """The convolution of images (N, C, H, W); bias (1, out_channels, 1, 1)."""

    __doc__ += _ARGUMENTS
    _rank = 2
    _function = "conv2d"


class Conv3d(_Convolution):
    """The convolution of volumes (N, C, D, H, W); bias (1, out_channels, 1, 1, 1)."""

    __doc__ += _ARGUMENTS
    _rank = 3
    _function = "conv3d"


class DeformableConv2d(_ConvolutionBase):
    """The convolution of images whose taps are moved by offsets; bias (1, out, 1, 1).

    Args:
        in_channels, out_channels: channels before and after; both divisible by ``groups``.
        kernel_size, stride, padding, dilation: an int or a pair (height, width).
        groups: how many independent groups the channels form.
        bias: whether there is one.
    """

    _rank = 2

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
        **kwargs,
    ):
        super().__init__(**kwargs)
        if isinstance(padding, str):
            raise UnsupportedError(f"DeformableConv2d: padding {padding!r}; allowed: ints")
        self._set_sizes(in_channels, out_channels, kernel_size, stride, padding, dilation, groups)
        self.conv_mode = conv_mode
        self.compute_mode = compute_mode
        self._set_parameters((out_channels, in_channels // groups, *self.kernel_size), bias)

    def forward(self, inp, offset, mask):
        """``offset`` and ``mask`` are those of `functional.deformable_conv2d`."""
        return F.nn.deformable_conv2d(
            inp,
            self.weight,
            offset,
            mask,
            self.bias,
            self.stride,
            self.padding,
            self.dilation,
            self.groups,
            self.conv_mode,
        )


class RegionRestrictedConv(_ConvolutionBase):
    """The convolution of images in which an element counts only for places of its own region; bias (1, out, 1, 1).

    Args:
        in_channels, out_channels: channels before and after; both divisible by ``groups``.
        kernel_size, stride, padding, dilation: an int or a pair (height, width).
        groups: how many independent groups the channels form.
        bias: whether there is one.
        padding_mode: ``"zeros"``.
    """

    _rank = 2

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        groups=1,
        bias=True,
        stride=1,
        padding=0,
        dilation=1,
        conv_mode="cross_correlation",
        compute_mode="default",
        padding_mode="zeros",
        **kwargs,
    ):
        super().__init__(**kwargs)
        if padding_mode != "zeros" or isinstance(padding, str):
            raise UnsupportedError(
                f"RegionRestrictedConv: padding {padding!r}, padding_mode {padding_mode!r}; allowed: ints, 'zeros'"
            )
        self._set_sizes(in_channels, out_channels, kernel_size, stride, padding, dilation, groups)
        self.conv_mode = conv_mode
        self.compute_mode = compute_mode
        self._set_parameters((out_channels, in_channels // groups, *self.kernel_size), bias)

    def forward(self, inp, rin, rout):
        """``rin`` (N, H, W) and ``rout`` (N, oh, ow) hold the regions of elements and of places of the result."""
        return F.nn.region_restricted_conv(
            inp,
            self.weight,
            rin,
            rout,
            self.bias,
            self.stride,
            self.padding,
            self.dilation,
            self.groups,
            self.conv_mode,
        )


class _TransposedConvolution(_ConvolutionBase):
    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        dilation=1,
        groups=1,
        bias=True,
        conv_mode="cross_correlation",
        compute_mode="default",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self._set_sizes(in_channels, out_channels, kernel_size, stride, padding, dilation, groups)
        kind = type(self).__name__
        if isinstance(self.padding, str):
            raise UnsupportedError(f"{kind}: padding {padding!r}; allowed: ints")
        self.output_padding = tuple(per_axis(kind, "output_padding", output_padding, self._rank))
        self.conv_mode = conv_mode
        self.compute_mode = compute_mode
        self._set_parameters((in_channels, out_channels // groups, *self.kernel_size), bias)

    def calc_conv_transpose(self, inp, weight, bias):
        """The transposed convolution with this module's settings and other parameters."""
        return getattr(F, self._function)(
            inp,
            weight,
            bias,
            stride=self.stride,
            padding=self.padding,
            output_padding=self.output_padding,
            dilation=self.dilation,
            groups=self.groups,
        )

    def forward(self, inp):
        return self.calc_conv_transpose(inp, self.weight, self.bias)


_TRANSPOSED_ARGUMENTS = """

    Args:
        in_channels, out_channels: channels before and after; both divisible by ``groups``.
        kernel_size, stride, dilation: an int, or one an axis.
        padding: how much of the border of the result is cut off; an int, or one an axis.
        output_padding: how much is added to the end of each axis of the result; below the stride or the dilation.
        groups: how many independent groups the channels form.
        bias: whether there is one.
    """


class ConvTranspose1d(_TransposedConvolution):
    """The transposed convolution of sequences: the gradient of `Conv1d` for its input."""

    __doc__ += _TRANSPOSED_ARGUMENTS
    _rank = 1
    _function = "conv_transpose1d"


class ConvTranspose2d(_TransposedConvolution):
    """The transposed convolution of images: the gradient of `Conv2d` for its input."""

    __doc__ += _TRANSPOSED_ARGUMENTS
    _rank = 2
    _function = "conv_transpose2d"


class ConvTranspose3d(_TransposedConvolution):
    """The transposed convolution of volumes: the gradient of `Conv3d` for its input."""

    __doc__ += _TRANSPOSED_ARGUMENTS
    _rank = 3
    _function = "conv_transpose3d"


class LocalConv2d(Module):
    """The convolution of images with weights of its own at every place of the result, and no bias.

    Args:
        in_channels, out_channels: channels before and after; both divisible by ``groups``.
        input_height, input_width: the size of the images.
        kernel_size, stride, padding, dilation: an int or a pair (height, width).
        groups: how many independent groups the channels form.

    The weight has the shape (groups, oh, ow, in_channels / groups, kh, kw, out_channels / groups).
    """

    def __init__(
        self,
        in_channels,
        out_channels,
        input_height,
        input_width,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        conv_mode="cross_correlation",
        **kwargs,
    ):
        super().__init__(**kwargs)
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ShapeError(
                f"LocalConv2d: {in_channels} and {out_channels} channels do not divide into {groups} groups"
            )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.input_height = input_height
        self.input_width = input_width
        self.kernel_size, self.stride, self.padding, self.dilation = (
            tuple(per_axis("LocalConv2d", name, value, 2))
            for name, value in (
                ("kernel_size", kernel_size),
                ("stride", stride),
                ("padding", padding),
                ("dilation", dilation),
            )
        )
        self.groups = groups
        self.conv_mode = conv_mode
        places = [
            (size + 2 * pad - (kernel - 1) * step - 1) // stride + 1
            for size, kernel, stride, pad, step in zip(
                (input_height, input_width), self.kernel_size, self.stride, self.padding, self.dilation
            )
        ]
        shape = (groups, *places, in_channels // groups, *self.kernel_size, out_channels // groups)
        self.weight = Parameter(np.zeros(shape, "float32"))
        self.reset_parameters()

    def reset_parameters(self):
        """Draws the weight with the variance 1 / (kernel's size times in_channels)."""
        fan_in = math.prod(self.kernel_size) * self.in_channels
        init.normal_(self.weight, 0.0, (1.0 / fan_in) ** 0.5)

    def forward(self, inp):
        return F.nn.local_conv2d(inp, self.weight, None, self.stride, self.padding, self.dilation, self.conv_mode)

    def extra_repr(self):
        return (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"padding={self.padding}, dilation={self.dilation}, groups={self.groups}"
        )
