"""Convolutions followed by a batch norm, a relu, or both. The compiler fuses them in any case; these are the names."""

from .. import functional as F
from .convolution import Conv2d, ConvTranspose2d
from .module import Module
from .normalization import BatchNorm2d


class _Normed(Module):
    """A convolution of some kind, as ``conv``, then a batch norm, as ``bn``."""

    def calc_conv_bn(self, inp):
        """The convolution and the batch norm."""
        return self.bn(self.conv(inp))

    def forward(self, inp):
        return self.calc_conv_bn(inp)


class _ConvBn(_Normed):
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
        eps=1e-5,
        momentum=0.9,
        affine=True,
        track_running_stats=True,
        padding_mode="zeros",
        **kwargs,
    ):
        super().__init__(**kwargs)
        window = (kernel_size, stride, padding, dilation, groups, bias, conv_mode, compute_mode, padding_mode)
        self.conv = Conv2d(in_channels, out_channels, *window)
        self.bn = BatchNorm2d(out_channels, eps, momentum, affine, track_running_stats)


class _ConvTransposeBn(_Normed):
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
        eps=1e-5,
        momentum=0.9,
        affine=True,
        track_running_stats=True,
        **kwargs,
    ):
        super().__init__(**kwargs)
        window = (kernel_size, stride, padding, output_padding, dilation, groups, bias, conv_mode, compute_mode)
        self.conv = ConvTranspose2d(in_channels, out_channels, *window)
        self.bn = BatchNorm2d(out_channels, eps, momentum, affine, track_running_stats)


class ConvBn2d(_ConvBn):
    """`Conv2d`, as ``conv``, then `BatchNorm2d`, as ``bn``; the arguments of both."""


class ConvBnRelu2d(_ConvBn):
    """`Conv2d`, as ``conv``, then `BatchNorm2d`, as ``bn``, then relu; the arguments of both."""

    def forward(self, inp):
        return F.relu(self.calc_conv_bn(inp))


class ConvRelu2d(Conv2d):
    """`Conv2d`, then relu."""

    def forward(self, inp):
        return F.relu(super().forward(inp))


class ConvTransposeBn2d(_ConvTransposeBn):
    """`ConvTranspose2d`, as ``conv``, then `BatchNorm2d`, as ``bn``; the arguments of both."""


class ConvTransposeBnRelu2d(_ConvTransposeBn):
    """`ConvTranspose2d`, as ``conv``, then `BatchNorm2d`, as ``bn``, then relu; the arguments of both."""

    def forward(self, inp):
        return F.relu(self.calc_conv_bn(inp))


class ConvTransposeRelu2d(ConvTranspose2d):
    """`ConvTranspose2d`, then relu."""

    def forward(self, inp):
        return F.relu(super().forward(inp))
