"""Convolutions followed by a batch norm, a relu, or both. The compiler fuses them in any case; these are the names."""

from .. import functional as F
from .convolution import Conv2d, ConvTranspose2d
from .module import Module
from .normalization import BatchNorm2d


class _WithBatchNorm(Module):
    _convolution = None

    def __init__(self, *args, eps=1e-5, momentum=0.9, affine=True, track_running_stats=True, name=None, **kwargs):
        super().__init__(name=name)
        self.conv = self._convolution(*args, **kwargs)
        self.bn = BatchNorm2d(self.conv.out_channels, eps, momentum, affine, track_running_stats)

    def calc_conv_bn(self, inp):
        """The convolution and the batch norm."""
        return self.bn(self.conv(inp))


class ConvBn2d(_WithBatchNorm):
    """`Conv2d`, as ``conv``, then `BatchNorm2d`, as ``bn``; the arguments of both."""

    _convolution = Conv2d

    def forward(self, inp):
        return self.calc_conv_bn(inp)


class ConvBnRelu2d(_WithBatchNorm):
    """`Conv2d`, as ``conv``, then `BatchNorm2d`, as ``bn``, then relu; the arguments of both."""

    _convolution = Conv2d

    def forward(self, inp):
        return F.relu(self.calc_conv_bn(inp))


class ConvRelu2d(Conv2d):
    """`Conv2d`, then relu."""

    def forward(self, inp):
        return F.relu(super().forward(inp))


class ConvTransposeBn2d(_WithBatchNorm):
    """`ConvTranspose2d`, as ``conv``, then `BatchNorm2d`, as ``bn``; the arguments of both."""

    _convolution = ConvTranspose2d

    def forward(self, inp):
        return self.calc_conv_bn(inp)


class ConvTransposeBnRelu2d(_WithBatchNorm):
    """`ConvTranspose2d`, as ``conv``, then `BatchNorm2d`, as ``bn``, then relu; the arguments of both."""

    _convolution = ConvTranspose2d

    def forward(self, inp):
        return F.relu(self.calc_conv_bn(inp))


class ConvTransposeRelu2d(ConvTranspose2d):
    """`ConvTranspose2d`, then relu."""

    def forward(self, inp):
        return F.relu(super().forward(inp))
