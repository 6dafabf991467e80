"""Resize and Upsample: any axes, every coordinate transformation of the specification.

An axis of known sizes becomes a sum of its elements with weights that are computed while importing. An axis of symbolic
size can be repeated a whole number of times.
"""

import math

import numpy as np

from ... import functional as F
from ...errors import ModelError, UnsupportedError
from ...functional.shape import repeat_along
from ...shapes import is_static
from ..registry import operator
from .axes import ints


def _positions(mode, new, old, scale, roi):
    """Where each of ``new`` elements lies on an axis of ``old`` ones."""
    i = np.arange(new, dtype=np.float64)
    length = scale * old
    if mode == "align_corners":
        return i * ((old - 1) / (length - 1)) if length > 1 and new > 1 else i * 0.0
    if mode == "asymmetric":
        return i / scale
    if mode == "half_pixel":
        return (i + 0.5) / scale - 0.5
    if mode == "half_pixel_symmetric":
        # The elements stay centred where the size was rounded.
        center = old / 2
        return center * (1 - new / length) + (i + 0.5) / scale - 0.5
    if mode == "pytorch_half_pixel":
        return (i + 0.5) / scale - 0.5 if new > 1 else i * 0.0
    if mode == "tf_half_pixel_for_nn":
        return (i + 0.5) / scale
    if mode == "tf_crop_and_resize":
        start, end = roi
        if new == 1:
            return 0.5 * (start + end) * (old - 1) + i * 0.0
        return start * (old - 1) + i * (end - start) * (old - 1) / (new - 1)
    raise UnsupportedError(f"coordinate_transformation_mode {mode!r}")


_NEAREST = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


def _linear(distance):
    return np.maximum(1 - np.abs(distance), 0.0)


def _cubic(a):
    def weight(distance):
        x = np.abs(distance)
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return np.where(x <= 1, near, np.where(x < 2, far, 0.0))

    return weight


class _Filter:
    """The neighbours of each point and their weights.

    Args:
        kind: ``nearest``, ``linear`` or ``cubic``.
        node: with its attributes about rounding, edges and antialiasing.
    """

    def __init__(self, kind, node):
        self._kind = kind
        self._rounding = node.get("nearest_mode", "round_prefer_floor")
        self._exclude = bool(node.get("exclude_outside", 0))
        self._antialias = bool(node.get("antialias", 0))
        self._cubic = node.get("cubic_coeff_a", -0.75)

    def taps(self, position, old, scale):
        """(indices, weights), both points x neighbours; the weights are None if there is one neighbour."""
        if self._kind == "nearest":
            index = _NEAREST[self._rounding](position)
            return np.clip(index, 0, old - 1)[:, None].astype(np.int32), None
        support, weigh = (1, _linear) if self._kind == "linear" else (2, _cubic(self._cubic))
        stretch = 1 / scale if self._antialias and scale < 1 else 1.0
        reach = math.ceil(support * stretch)
        first = np.floor(position) - reach + 1
        index = first[:, None] + np.arange(2 * reach)[None, :]
        weight = weigh((index - position[:, None]) / stretch)
        outside = (index < 0) | (index >= old)
        if self._exclude:
            weight = np.where(outside, 0.0, weight)
        total = weight.sum(1, keepdims=True)
        weight = weight / np.where(total == 0, 1, total) if self._exclude or stretch != 1 else weight
        return np.clip(index, 0, old - 1).astype(np.int32), weight


def _weighted(x, axis, index, weight):
    """The sum over neighbours along one axis; whole columns of weights that are 0 are left out."""
    if weight is None:
        return F.take(x, index[:, 0], axis)
    total = None
    narrow = x.dtype
    for k in range(index.shape[1]):
        if not weight[:, k].any():
            continue
        column = weight[:, k].astype(np.float64 if narrow == "float64" else np.float32)
        term = F.take(x, index[:, k], axis) * column.reshape((-1,) + (1,) * (x.ndim - 1 - axis))
        total = term if total is None else total + term
    return total


class _Plan:
    """What a Resize does to each axis: its new size, its scale, and the part that is read."""

    def __init__(self, node, shape, roi, scales, sizes):
        self.axes = [axis % len(shape) for axis in node.get("axes") or range(len(shape))]
        self.mode = node.get("coordinate_transformation_mode", "half_pixel")
        self.roi = None
        if self.mode == "tf_crop_and_resize":
            bounds = roi.reshape(2, -1)
            self.roi = {axis: tuple(bounds[:, i]) for i, axis in enumerate(self.axes)}
        if sizes is not None:
            self._by_size(shape, ints(sizes), node.get("keep_aspect_ratio_policy", "stretch"))
        elif scales is not None:
            self.scales = [float(scale) for scale in scales.reshape(-1)]
            self.sizes = [self._scaled(shape[axis], axis, i) for i, axis in enumerate(self.axes)]
        else:
            raise ModelError("Resize: neither scales nor sizes")

    def _by_size(self, shape, wanted, policy):
        old = [shape[axis] for axis in self.axes]
        if not all(is_static(size) for size in old):
            raise UnsupportedError("sizes for an axis of symbolic size: fix it with shapes=")
        ratios = [new / size for new, size in zip(wanted, old)]
        if policy != "stretch":
            ratio = min(ratios) if policy == "not_larger" else max(ratios)
            wanted = [math.floor(ratio * size + 0.5) for size in old]
            ratios = [ratio] * len(old)
        self.scales, self.sizes = ratios, wanted

    def _scaled(self, size, axis, i):
        scale = self.scales[i]
        if not is_static(size):
            if scale != int(scale):
                raise UnsupportedError(f"the scale {scale} of an axis of symbolic size {size}: fix it with shapes=")
            return size * int(scale)
        if self.roi:
            start, end = self.roi[axis]
            return math.floor(size * (end - start) * scale)
        return math.floor(size * scale)


def _repeats(node, mode, kind, scale):
    """Whether each element is taken ``scale`` times in a row."""
    if kind != "nearest" or scale != int(scale) or scale < 1:
        return False
    rounding = node.get("nearest_mode", "round_prefer_floor")
    if mode == "asymmetric":
        return rounding == "floor"
    return mode in ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel") and rounding.startswith("round")


def _resized(node, x, plan, kind):
    filter_ = _Filter(kind, node)
    outside, repeated = None, {}
    for axis, new, scale in sorted(zip(plan.axes, plan.sizes, plan.scales), reverse=True):
        old = x.shape[axis]
        if scale == 1 and plan.roi is None:
            continue
        if plan.roi is None and _repeats(node, plan.mode, kind, scale):
            repeated[axis] = int(scale)
            continue
        if not is_static(old):
            raise UnsupportedError(f"mode {kind} along an axis of symbolic size {old}: fix it with shapes=")
        position = _positions(plan.mode, new, old, scale, plan.roi and plan.roi[axis])
        if plan.roi is not None:
            beyond = ((position < 0) | (position > old - 1)).reshape((-1,) + (1,) * (x.ndim - 1 - axis))
            outside = beyond if outside is None else outside | beyond
        x = _weighted(x, axis, *filter_.taps(position, old, scale))
    if repeated:
        x = repeat_along(x, repeated)
    if outside is not None and outside.any():
        x = F.where(outside, F.full((), node.get("extrapolation_value", 0.0), dtype=x.dtype), x)
    return x


@operator("Resize", since=11, host=(1, 2, 3), note="symbolic sizes: whole factors, mode nearest")
def resize(node, x, roi=None, scales=None, sizes=None):
    """Axes at other sizes, by the nearest element, two neighbours an axis, or four."""
    scales = None if scales is None or not scales.size else scales
    sizes = None if sizes is None or not sizes.size else sizes
    kind = node.get("mode", "nearest")
    narrow = x.dtype
    if kind != "nearest" and narrow not in ("float32", "float64"):
        y = _resized(node, x.astype("float32"), _Plan(node, x.shape, roi, scales, sizes), kind)
        return y.astype(narrow)
    return _resized(node, x, _Plan(node, x.shape, roi, scales, sizes), kind)


class _Asymmetric:
    """The attributes of a Resize before version 11: position i / scale, rounded down."""

    def __init__(self, node):
        self._node = node

    def get(self, name, default=None):
        """An attribute."""
        if name in ("mode", "scales"):
            return self._node.get(name, default)
        return {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}.get(name, default)


@operator("Resize", since=10, host=(1,))
@operator("Upsample", since=9, host=(1,))
def upsample(node, x, scales):
    """Scales by an input."""
    old = _Asymmetric(node)
    return _resized(old, x, _Plan(old, x.shape, None, scales, None), old.get("mode", "nearest"))


@operator("Upsample", since=7)
def upsample_by_attribute(node, x):
    """Scales by an attribute."""
    return upsample(node, x, np.array(node.get("scales")))
