"""Pooling over windows of images (N, C, H, W)."""

from .._stream import apply
from .._tensor import Tensor
from ..errors import ShapeError, UnsupportedError
from ..location import user_location
from .axes import per_axis
from .contraction import window

_AVERAGE_MODES = {"average_count_exclude_padding": False, "average": True}


def _pool(op, inp, kernel_size, stride, padding, **attrs):
    kernel = per_axis(op, "kernel_size", kernel_size, 2)
    if min(kernel) < 1:
        raise ShapeError(f"{op}: kernel_size {kernel_size!r} at {user_location()}; sizes are 1 or more")
    attrs.update(window(op, 2, kernel if stride is None else stride, padding), kernel=kernel)
    return Tensor._wrap(apply(op, [inp._handle], attrs)[0])


def max_pool2d(inp, kernel_size, stride=None, padding=0):
    """The largest element of each window; NaN wins. The stride is the kernel's size unless given."""
    return _pool("max_pool", inp, kernel_size, stride, padding)


def avg_pool2d(inp, kernel_size, stride=None, padding=0, mode="average_count_exclude_padding"):
    """The mean of each window; ``mode="average"`` counts the padding as zeros."""
    if mode not in _AVERAGE_MODES:
        raise UnsupportedError(f"avg_pool2d: mode {mode!r} at {user_location()}; allowed: {', '.join(_AVERAGE_MODES)}")
    return _pool("avg_pool", inp, kernel_size, stride, padding, count_include_pad=_AVERAGE_MODES[mode])
