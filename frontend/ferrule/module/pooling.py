"""`MaxPool2d` and `AvgPool2d`."""

from .. import functional as F
from .module import Module


class _Pool2d(Module):
    def __init__(self, kernel_size, stride=None, padding=0, **kwargs):
        super().__init__(**kwargs)
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxPool2d(_Pool2d):
    """The largest element of each window; the stride is the kernel's size unless given."""

    def forward(self, inp):
        return F.max_pool2d(inp, self.kernel_size, self.stride, self.padding)


class AvgPool2d(_Pool2d):
    """The mean of each window; ``mode="average"`` counts the padding as zeros."""

    def __init__(self, kernel_size, stride=None, padding=0, mode="average_count_exclude_padding", **kwargs):
        super().__init__(kernel_size, stride, padding, **kwargs)
        self.mode = mode

    def forward(self, inp):
        return F.avg_pool2d(inp, self.kernel_size, self.stride, self.padding, self.mode)
