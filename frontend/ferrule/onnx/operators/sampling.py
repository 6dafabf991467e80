"""Images read at points that the data decide: GridSample, RoiAlign, DeformConv."""

from ... import functional as F
from ...errors import UnsupportedError
from ...shapes import is_static, size_of
from ..registry import operator
from .windows import window_of

# --- GridSample -------------------------------------------------------------------------------------------------------

_KINDS = {"bilinear": "linear", "linear": "linear", "nearest": "nearest", "bicubic": "cubic", "cubic": "cubic"}


class _Grid:
    """How positions beyond the image are read, and where the elements of an axis lie.

    Args:
        images: (N, C, space...), of known sizes of space.
    """

    def __init__(self, node, images):
        self._padding = node.get("padding_mode", "zeros")
        self._align = bool(node.get("align_corners", 0))
        self.space = images.shape[2:]
        if not all(is_static(size) for size in self.space):
            raise UnsupportedError(f"sizes {tuple(self.space)} of which one is symbolic: fix it with shapes=")
        self._images = F.reshape(images, (*images.shape[:2], size_of(self.space)))

    def position(self, normalized, axis):
        """-1 to 1 as a position on an axis, brought inside where the padding says so."""
        size = self.space[axis]
        place = (normalized + 1.0) * (size / 2.0) - 0.5
        if self._align:
            place = (normalized + 1.0) * ((size - 1) / 2.0)
        return self._inside(place, size)

    def _inside(self, place, size):
        if self._padding == "border":
            return F.clip(place, 0.0, float(size - 1))
        if self._padding != "reflection":
            return place
        low, high = (0.0, size - 1.0) if self._align else (-0.5, size - 0.5)
        if high == low:
            return F.zeros_like(place)
        # There and back again has twice the length.
        distance = F.mod(F.abs(place - low), 2 * (high - low))
        return F.where(F.greater(distance, high - low), high + (high - low) - distance, distance + low)

    def elements(self, places):
        """The elements at whole positions, one tensor an axis of space, each (N, points): (N, C, points)."""
        flat, outside = 0, None
        for axis, place in enumerate(places):
            size = self.space[axis]
            place = self._inside(place, size)
            within = F.clip(F.round(place), 0.0, float(size - 1))
            beyond = F.logical_or(F.less(place, -0.5), F.greater(place, size - 0.5))
            outside = beyond if outside is None else F.logical_or(outside, beyond)
            flat = flat * size + within.astype("int32")
        index = F.broadcast_to(F.expand_dims(flat, 1), (flat.shape[0], self._images.shape[1], flat.shape[1]))
        found = F.gather(self._images, 2, index)
        return F.where(F.expand_dims(outside, 1), 0.0, found) if self._padding == "zeros" else found


def _linear_weights(part):
    return [1.0 - part, part]


def _cubic_weights(part, a=-0.75):
    def near(x):
        return ((a + 2) * x - (a + 3)) * x * x + 1.0

    def far(x):
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(part + 1.0), near(part), near(1.0 - part), far(2.0 - part)]


def _interpolated(grid, places, first, weigh):
    """The weighted sum over neighbours, axis by axis: the first one is ``first`` from the floor of the position."""
    floors = [F.floor(place) for place in places]
    weights = [weigh(place - floor) for place, floor in zip(places, floors)]

    def over(axis, chosen):
        if axis == len(places):
            return grid.elements(chosen)
        total = None
        for step, weight in enumerate(weights[axis]):
            inner = over(axis + 1, [*chosen, floors[axis] + float(first + step)])
            term = inner * F.expand_dims(weight, 1)
            total = term if total is None else total + term
        return total

    return over(0, [])


@operator("GridSample", since=16, note="known sizes of space")
def grid_sample(node, images, points):
    """The images at points -1 to 1, given from the last axis to the first, with 1, 2 or 4 neighbours an axis."""
    kind = _KINDS.get(node.get("mode", "bilinear" if node.version < 20 else "linear"))
    if kind is None:
        raise UnsupportedError(f"mode {node.get('mode')!r}; allowed are {', '.join(_KINDS)}")
    grid, rank = _Grid(node, images), images.ndim - 2
    count = size_of(points.shape[1:-1])
    flat = F.reshape(points, (points.shape[0], count, rank))
    places = [grid.position(flat[..., rank - 1 - axis], axis) for axis in range(rank)]
    if kind == "nearest":
        found = grid.elements([F.round(place) for place in places])
    elif kind == "linear":
        found = _interpolated(grid, places, 0, _linear_weights)
    else:
        found = _interpolated(grid, places, -1, _cubic_weights)
    return F.reshape(found, (*images.shape[:2], *points.shape[1:-1]))


# --- regions and moved windows ----------------------------------------------------------------------------------------


@operator("RoiAlign", since=10, note="mode avg with a fixed sampling_ratio")
def roi_align(node, images, regions, batch):
    """The mean of samples in each cell of each region."""
    samples, mode = node.get("sampling_ratio", 0), node.get("mode", "avg")
    if samples < 1 or mode != "avg":
        raise UnsupportedError(f"mode {mode!r} with sampling_ratio {samples}; allowed are 'avg' and 1 or more samples")
    default = "half_pixel" if node.version >= 16 else "output_half_pixel"
    aligned = node.get("coordinate_transformation_mode", default) == "half_pixel"
    rows = F.concat([F.expand_dims(batch.astype(regions.dtype), 1), regions], 1)
    shape = node.get("output_height", 1), node.get("output_width", 1)
    return F.vision.roi_align(
        images, rows, shape, "average", node.get("spatial_scale", 1.0), samples, aligned
    )


@operator("DeformConv", since=19, note="images")
def deformable_convolution(node, x, weight, offset, bias=None, mask=None):
    """The convolution whose taps are moved by offsets that the network computes."""
    if x.ndim != 4:
        raise UnsupportedError(f"it has {x.ndim - 2} axes of space; allowed are 2")
    window = window_of(node, x.shape[2:], weight.shape[2:])
    if mask is None:
        mask = F.ones((offset.shape[0], offset.shape[1] // 2, *offset.shape[2:]), dtype=x.dtype)
    # What lies outside is 0, so padding may be a part of the image.
    x = F.pad(x, [(0, 0), (0, 0), *window.padding])
    return F.deformable_conv2d(
        x, weight, offset, mask, bias, window.strides, 0, window.dilations, node.get("group", 1)
    )
