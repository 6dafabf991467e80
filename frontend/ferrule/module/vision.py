"""Modules that rearrange images: pixels to channels and back, windows, borders, sizes."""

from .. import functional as F
from ..errors import ShapeError
from ..shapes import show
from .module import Module


class PixelShuffle(Module):
    """(N, C * r * r, H, W) to (N, C, H * r, W * r) with the factor r."""

    def __init__(self, upscale_factor, **kwargs):
        super().__init__(**kwargs)
        self.upscale_factor = upscale_factor

    def forward(self, inp):
        return F.nn.pixel_shuffle(inp, self.upscale_factor)

    def extra_repr(self):
        return f"upscale_factor={self.upscale_factor}"


class DeformablePSROIPooling(Module):
    """Regions pooled at places that offsets move: called with (inp, rois, trans), see the function of this name.

    Args:
        no_trans, part_size, pooled_h, pooled_w, sample_per_part, spatial_scale, trans_std: as for
            `functional.nn.deformable_psroi_pooling`.
    """

    def __init__(
        self, no_trans, part_size, pooled_h, pooled_w, sample_per_part, spatial_scale, trans_std=0.1, **kwargs
    ):
        super().__init__(**kwargs)
        self.no_trans = no_trans
        self.part_size = part_size
        self.pooled_h = pooled_h
        self.pooled_w = pooled_w
        self.sample_per_part = sample_per_part
        self.spatial_scale = spatial_scale
        self.trans_std = trans_std

    def forward(self, inp, rois, trans):
        return F.nn.deformable_psroi_pooling(
            inp,
            rois,
            trans,
            self.no_trans,
            self.part_size,
            self.pooled_h,
            self.pooled_w,
            self.sample_per_part,
            self.spatial_scale,
            self.trans_std,
        )

    def extra_repr(self):
        return f"{self.pooled_h}, {self.pooled_w}, part_size={self.part_size}, spatial_scale={self.spatial_scale}"


class Unfold(Module):
    """The windows of images as columns: (N, C, H, W) to (N, C * kernel elements, windows).

    Args:
        kernel_size, dilation, padding, stride: an int or a pair (height, width).
    """

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1, **kwargs):
        super().__init__(**kwargs)
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, inp):
        return F.unfold(inp, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"


class Fold(Unfold):
    """The sum of windows at their places: (N, C * kernel elements, windows) to (N, C, H, W).

    Args:
        output_size: (H, W), an int or a pair.
        kernel_size, dilation, padding, stride: as for `Unfold`.
    """

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1, **kwargs):
        super().__init__(kernel_size, dilation, padding, stride, **kwargs)
        self.output_size = output_size

    def forward(self, inp):
        return F.fold(inp, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self):
        return f"output_size={self.output_size}, {super().extra_repr()}"


class PixelUnshuffle(Module):
    """(N, C, H * r, W * r) to (N, C * r * r, H, W) with the factor r: undoes `PixelShuffle`."""

    def __init__(self, downscale_factor, **kwargs):
        super().__init__(**kwargs)
        self.downscale_factor = downscale_factor

    def forward(self, inp):
        return F.nn.pixel_unshuffle(inp, self.downscale_factor)

    def extra_repr(self):
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Takes the channels of ``groups`` groups in turn, one of each."""

    def __init__(self, groups, **kwargs):
        super().__init__(**kwargs)
        self.groups = groups

    def forward(self, inp):
        return F.nn.channel_shuffle(inp, self.groups)

    def extra_repr(self):
        return f"groups={self.groups}"


class Upsample(Module):
    """Sequences, images or volumes in another size of space.

    Args:
        size, scale_factor: the new size, or new by old; one of them.
        mode, align_corners: as for `functional.nn.interpolate`.
    """

    def __init__(self, size=None, scale_factor=None, mode="nearest", align_corners=None, **kwargs):
        super().__init__(**kwargs)
        self.size = size
        self.scale_factor = scale_factor
        self.mode = mode
        self.align_corners = align_corners

    def forward(self, inp):
        return F.nn.interpolate(inp, self.size, self.scale_factor, self.mode, self.align_corners)

    def extra_repr(self):
        size = f"scale_factor={self.scale_factor}" if self.size is None else f"size={self.size}"
        return f"{size}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Images in another size, each element as the nearest one."""

    def __init__(self, size=None, scale_factor=None, **kwargs):
        super().__init__(size, scale_factor, "nearest", **kwargs)


class UpsamplingBilinear2d(Upsample):
    """Images in another size, bilinear, with the corners on each other."""

    def __init__(self, size=None, scale_factor=None, **kwargs):
        super().__init__(size, scale_factor, "bilinear", True, **kwargs)


class SlidingWindow(Module):
    """The windows that a convolution looks at: (N, C, H, W) to (N, C, oh, ow, kh, kw).

    Args:
        kernel_size, padding, stride, dilation: an int or a pair (height, width).
    """

    def __init__(self, kernel_size, padding=0, stride=1, dilation=1, **kwargs):
        super().__init__(**kwargs)
        self.kernel_size = kernel_size
        self.padding = padding
        self.stride = stride
        self.dilation = dilation

    def forward(self, inp):
        return F.nn.sliding_window(inp, self.kernel_size, self.padding, self.stride, self.dilation)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, padding={self.padding}, stride={self.stride}, dilation={self.dilation}"


class SlidingWindowTranspose(SlidingWindow):
    """The sum of windows at their places: (N, C, oh, ow, kh, kw) to (N, C, H, W).

    Args:
        output_size: (H, W), an int or a pair.
        kernel_size, padding, stride, dilation: as for `SlidingWindow`.
    """

    def __init__(self, output_size, kernel_size, padding=0, stride=1, dilation=1, **kwargs):
        super().__init__(kernel_size, padding, stride, dilation, **kwargs)
        self.output_size = output_size

    def forward(self, inp):
        return F.nn.sliding_window_transpose(
            inp, self.output_size, self.kernel_size, self.padding, self.stride, self.dilation
        )

    def extra_repr(self):
        return f"output_size={self.output_size}, {super().extra_repr()}"


class Pad(Module):
    """A border around the tensor.

    Args:
        pad_width: (before, after) of each axis.
        mode: ``"constant"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        constant_val: what the border holds with ``"constant"``.
    """

    def __init__(self, pad_width, mode="constant", constant_val=0.0, **kwargs):
        super().__init__(**kwargs)
        self.pad_width = tuple(tuple(pair) for pair in pad_width)
        self.mode = mode
        self.constant_val = constant_val

    def forward(self, inp):
        return F.nn.pad(inp, self.pad_width, self.mode, self.constant_val)

    def extra_repr(self):
        return f"{self.pad_width}, mode={self.mode!r}, constant_val={self.constant_val}"


class _SpatialPad(Module):
    """A border around the last axes.

    Args:
        padding: an int, or PyTorch's list: before and after the last axis, then the axis before it, and so on.
    """

    _rank = 0
    _mode = "constant"

    def __init__(self, padding, **kwargs):
        super().__init__(**kwargs)
        flat = (padding,) * (2 * self._rank) if isinstance(padding, int) else tuple(padding)
        if len(flat) != 2 * self._rank:
            raise ShapeError(f"{type(self).__name__}: padding {padding!r}; an int or {2 * self._rank} ints are needed")
        self.padding = flat

    def forward(self, inp):
        if inp.ndim < self._rank + 1:
            raise ShapeError(
                f"{type(self).__name__}: input of shape {show(inp.shape)}; rank {self._rank + 1} or more is needed"
            )
        pairs = [(self.padding[2 * i], self.padding[2 * i + 1]) for i in reversed(range(self._rank))]
        return F.nn.pad(inp, [(0, 0)] * (inp.ndim - self._rank) + pairs, self._mode, self._value())

    def _value(self):
        return 0.0

    def extra_repr(self):
        return f"{self.padding}"


class _ConstantPad(_SpatialPad):
    def __init__(self, padding, value=0.0, **kwargs):
        super().__init__(padding, **kwargs)
        self.value = value

    def _value(self):
        return self.value

    def extra_repr(self):
        return f"{self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """A border of one value around the last axis."""

    __doc__ += "\n" + _SpatialPad.__doc__
    _rank = 1


class ConstantPad2d(_ConstantPad):
    """A border of one value around the last two axes."""

    __doc__ += "\n" + _SpatialPad.__doc__
    _rank = 2


class ConstantPad3d(_ConstantPad):
    """A border of one value around the last three axes."""

    __doc__ += "\n" + _SpatialPad.__doc__
    _rank = 3


class ZeroPad1d(_SpatialPad):
    """A border of zeros around the last axis."""

    __doc__ += "\n" + _SpatialPad.__doc__
    _rank = 1


class ZeroPad2d(_SpatialPad):
    """A border of zeros around the last two axes."""

    __doc__ += "\n" + _SpatialPad.__doc__
    _rank = 2


class ZeroPad3d(_SpatialPad):
    """A border of zeros around the last three axes."""

    __doc__ += "\n" + _SpatialPad.__doc__
    _rank = 3


class ReflectionPad1d(_SpatialPad):
    """A border that mirrors what lies inside the edge around the last axis."""

    __doc__ += "\n" + _SpatialPad.__doc__
    _rank = 1
    _mode = "reflect"


class ReflectionPad2d(_SpatialPad):
    """A border that mirrors what lies inside the edge around the last two axes."""

    __doc__ += "\n" + _SpatialPad.__doc__
    _rank = 2
    _mode = "reflect"


class ReflectionPad3d(_SpatialPad):
    """A border that mirrors what lies inside the edge around the last three axes."""

    __doc__ += "\n" + _SpatialPad.__doc__
    _rank = 3
    _mode = "reflect"


class ReplicationPad1d(_SpatialPad):
    """A border that repeats the edge around the last axis."""

    __doc__ += "\n" + _SpatialPad.__doc__
    _rank = 1
    _mode = "replicate"


class ReplicationPad2d(_SpatialPad):
    """A border that repeats the edge around the last two axes."""

    __doc__ += "\n" + _SpatialPad.__doc__
    _rank = 2
    _mode = "replicate"


class ReplicationPad3d(_SpatialPad):
    """A border that repeats the edge around the last three axes."""

    __doc__ += "\n" + _SpatialPad.__doc__
    _rank = 3
    _mode = "replicate"


class CircularPad1d(_SpatialPad):
    """A border that goes on at the other side around the last axis."""

    __doc__ += "\n" + _SpatialPad.__doc__
    _rank = 1
    _mode = "circular"


class CircularPad2d(_SpatialPad):
    """A border that goes on at the other side around the last two axes."""

    __doc__ += "\n" + _SpatialPad.__doc__
    _rank = 2
    _mode = "circular"


class CircularPad3d(_SpatialPad):
    """A border that goes on at the other side around the last three axes."""

    __doc__ += "\n" + _SpatialPad.__doc__
    _rank = 3
    _mode = "circular"
