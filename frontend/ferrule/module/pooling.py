"""Pooling over sequences (N, C, L), images (N, C, H, W) and volumes (N, C, D, H, W)."""

from .. import functional as F
from .module import Module


class _Pool(Module):
    _function = ""  # its name in `functional`
    _usual = {}  # the other settings and their defaults

    def __init__(self, kernel_size, stride=None, padding=0, **kwargs):
        super().__init__(**kwargs)
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding

    def _options(self):
        """The settings besides these three that are not the default."""
        return {name: getattr(self, name) for name, usual in self._usual.items() if getattr(self, name) != usual}

    def forward(self, inp):
        function = getattr(F, self._function)
        return function(inp, self.kernel_size, self.stride, self.padding, **self._options())

    def extra_repr(self):
        options = "".join(f", {name}={value!r}" for name, value in self._options().items())
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}{options}"


class _MaxPool(_Pool):
    """The largest element of each window.

    Args:
        kernel_size, stride, dilation: an int, or one an axis; the stride is the kernel's size unless given.
        padding: an int, or one an axis; padding never wins.
        ceil_mode: also take a last window that begins inside and reaches beyond the padding.
        return_indices: give the position of each element as well, which `MaxUnpool2d` takes.
    """

    _usual = {"dilation": 1, "ceil_mode": False, "return_indices": False}

    def __init__(
        self, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False, **kwargs
    ):
        super().__init__(kernel_size, stride, padding, **kwargs)
        self.dilation = dilation
        self.ceil_mode = ceil_mode
        self.return_indices = return_indices


class _AvgPool(_Pool):
    """The mean of each window.

    Args:
        kernel_size, stride: an int, or one an axis; the stride is the kernel's size unless given.
        padding: an int, or one an axis.
        mode: ``"average_count_exclude_padding"`` divides by the elements inside, ``"average"`` counts the padding.
        ceil_mode: also take a last window that begins inside and reaches beyond the padding.
        count_include_pad: PyTorch's word for ``mode``, which it overrides.
        divisor_override: divide by this number instead.
    """

    _usual = {
        "mode": "average_count_exclude_padding",
        "ceil_mode": False,
        "count_include_pad": None,
        "divisor_override": None,
    }

    def __init__(
        self,
        kernel_size,
        stride=None,
        padding=0,
        mode="average_count_exclude_padding",
        *,
        ceil_mode=False,
        count_include_pad=None,
        divisor_override=None,
        **kwargs,
    ):
        super().__init__(kernel_size, stride, padding, **kwargs)
        self.mode = mode
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override


class _AdaptivePool(Module):
    """Windows that cover each axis of space evenly: window i of n is floor(i * size / n) .. ceil((i + 1) * size / n).

    Args:
        oshp: the sizes of the result, an int or one an axis.
    """

    _function = ""  # its name in `functional`

    def __init__(self, oshp, **kwargs):
        super().__init__(**kwargs)
        self.oshp = oshp

    def forward(self, inp):
        return getattr(F, self._function)(inp, self.oshp)

    def extra_repr(self):
        return f"{self.oshp}"


class _AdaptiveMaxPool(_AdaptivePool):
    def __init__(self, oshp, return_indices=False, **kwargs):
        super().__init__(oshp, **kwargs)
        self.return_indices = return_indices

    def forward(self, inp):
        return getattr(F, self._function)(inp, self.oshp, self.return_indices)


class _PowerPool(Module):
    """(sum of x^p)^(1/p) of each window, with p = ``norm_type``.

    Args:
        norm_type: p.
        kernel_size, stride, ceil_mode: as for the mean pools.
    """

    _function = ""  # its name in `functional`

    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False, **kwargs):
        super().__init__(**kwargs)
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, inp):
        return getattr(F, self._function)(inp, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self):
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class _MaxUnpool(Module):
    """Elements at the positions that a max pool took them from, and 0 elsewhere: called with (inp, indices) and, if the
    size is not the one that follows, ``output_size``.

    Args:
        kernel_size, stride, padding: those of the pool.
    """

    _function = ""  # its name in `functional`

    def __init__(self, kernel_size, stride=None, padding=0, **kwargs):
        super().__init__(**kwargs)
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding

    def forward(self, inp, indices, output_size=None):
        return getattr(F, self._function)(inp, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxPool1d(_MaxPool):
    """The largest element of windows of (N, C, L)."""

    __doc__ += "\n" + _MaxPool.__doc__
    _function = "max_pool1d"


class MaxPool2d(_MaxPool):
    """The largest element of windows of (N, C, H, W)."""

    __doc__ += "\n" + _MaxPool.__doc__
    _function = "max_pool2d"


class MaxPool3d(_MaxPool):
    """The largest element of windows of (N, C, D, H, W)."""

    __doc__ += "\n" + _MaxPool.__doc__
    _function = "max_pool3d"


class AvgPool1d(_AvgPool):
    """The mean of windows of (N, C, L)."""

    __doc__ += "\n" + _AvgPool.__doc__
    _function = "avg_pool1d"


class AvgPool2d(_AvgPool):
    """The mean of windows of (N, C, H, W)."""

    __doc__ += "\n" + _AvgPool.__doc__
    _function = "avg_pool2d"


class AvgPool3d(_AvgPool):
    """The mean of windows of (N, C, D, H, W)."""

    __doc__ += "\n" + _AvgPool.__doc__
    _function = "avg_pool3d"


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The largest element of even windows of (N, C, L)."""

    __doc__ += "\n" + _AdaptivePool.__doc__
    _function = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The largest element of even windows of (N, C, H, W)."""

    __doc__ += "\n" + _AdaptivePool.__doc__
    _function = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The largest element of even windows of (N, C, D, H, W)."""

    __doc__ += "\n" + _AdaptivePool.__doc__
    _function = "adaptive_max_pool3d"


class AdaptiveAvgPool1d(_AdaptivePool):
    """The mean of even windows of (N, C, L)."""

    __doc__ += "\n" + _AdaptivePool.__doc__
    _function = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_AdaptivePool):
    """The mean of even windows of (N, C, H, W)."""

    __doc__ += "\n" + _AdaptivePool.__doc__
    _function = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_AdaptivePool):
    """The mean of even windows of (N, C, D, H, W)."""

    __doc__ += "\n" + _AdaptivePool.__doc__
    _function = "adaptive_avg_pool3d"


class LPPool1d(_PowerPool):
    """The p-norm of windows of (N, C, L)."""

    __doc__ += "\n" + _PowerPool.__doc__
    _function = "lp_pool1d"


class LPPool2d(_PowerPool):
    """The p-norm of windows of (N, C, H, W)."""

    __doc__ += "\n" + _PowerPool.__doc__
    _function = "lp_pool2d"


class LPPool3d(_PowerPool):
    """The p-norm of windows of (N, C, D, H, W)."""

    __doc__ += "\n" + _PowerPool.__doc__
    _function = "lp_pool3d"


class MaxUnpool1d(_MaxUnpool):
    """What a max pool left, in (N, C, L)."""

    __doc__ += "\n" + _MaxUnpool.__doc__
    _function = "max_unpool1d"


class MaxUnpool2d(_MaxUnpool):
    """What a max pool left, in (N, C, H, W)."""

    __doc__ += "\n" + _MaxUnpool.__doc__
    _function = "max_unpool2d"


class MaxUnpool3d(_MaxUnpool):
    """What a max pool left, in (N, C, D, H, W)."""

    __doc__ += "\n" + _MaxUnpool.__doc__
    _function = "max_unpool3d"
