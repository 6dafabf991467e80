"""Results whose number the data decide: NonMaxSuppression and Unique. The number is a dim of its own."""

from ... import functional as F
from ...errors import UnsupportedError
from ...shapes import size_of
from ..registry import operator
from .axes import scalar


def _corners(node, boxes):
    """Top, left, bottom, right of boxes (..., 4), each (...)."""
    a, b, c, d = (boxes[..., i] for i in range(4))
    if node.get("center_point_box", 0):  # centre x and y, width, height
        return b - d / 2.0, a - c / 2.0, b + d / 2.0, a + c / 2.0
    return F.minimum(a, c), F.minimum(b, d), F.maximum(a, c), F.maximum(b, d)


def _overlaps(node, boxes):
    """Intersection over union of all pairs: (..., N, 4) to (..., N, N)."""
    top, left, bottom, right = _corners(node, boxes)

    def pairs(function, x):
        return function(F.expand_dims(x, -1), F.expand_dims(x, -2))

    height = F.maximum(pairs(F.minimum, bottom) - pairs(F.maximum, top), 0.0)
    width = F.maximum(pairs(F.minimum, right) - pairs(F.maximum, left), 0.0)
    both, area = height * width, (bottom - top) * (right - left)
    union = pairs(F.add, area) - both
    return F.where(F.greater(union, 0.0), both / F.where(F.greater(union, 0.0), union, 1.0), 0.0)


@operator("NonMaxSuppression", since=10, host=(2,), note="the count is a dim of its own")
def suppress(node, boxes, scores, most=None, overlap=None, least=None):
    """The best boxes of each class, without those that overlap a better one: rows (batch, class, box).

    All pairs of boxes are compared, so time and memory grow with the square of their number.
    """
    most = 0 if most is None else scalar(most, "the largest number of boxes")
    overlap = F.zeros((), dtype="float32") if overlap is None else F.reshape(overlap, ())
    batch, classes, count = scores.shape
    sorted_scores, order = F.sort(scores, descending=True, axis=2)
    wide = F.broadcast_to(F.expand_dims(boxes, 1), (batch, classes, count, 4))
    index = F.broadcast_to(F.expand_dims(order, -1), (batch, classes, count, 4))
    overlapping = F.greater(_overlaps(node, F.gather(wide, 2, index)), overlap)
    allowed = F.ones(sorted_scores.shape, dtype="bool")
    if least is not None:
        allowed = F.greater(sorted_scores, F.reshape(least, ()))
    numbers = F.arange(count, dtype="int32")

    def step(state, items):
        kept, taken = state
        number, row, may = items
        beaten = F.any(F.logical_and(kept, row), -1)
        takes = F.logical_and(F.logical_and(may, F.logical_not(beaten)), F.less(taken, most))
        here = F.logical_and(F.expand_dims(takes, -1), F.equal(numbers, number))
        return (F.logical_or(kept, here), taken + takes.astype("int32")), None

    first = F.zeros((batch, classes, count), dtype="bool"), F.zeros((batch, classes), dtype="int32")
    slices = numbers, F.transpose(overlapping, (2, 0, 1, 3)), F.transpose(allowed, (2, 0, 1))
    (kept, _), _ = F.scan(step, first, slices)
    places = F.flatnonzero(kept)
    row, box = places // count, F.take(F.flatten(order), places)
    return F.stack([row // classes, row % classes, box], 1).astype("int64")


@operator("Unique", since=11, note="of all elements (no axis); the count is a dim of its own")
def unique(node, x):
    """Each value once, sorted or as first met; where it is first met, which one each element is, how often it occurs."""
    if node.get("axis") is not None:
        raise UnsupportedError("an axis: equal parts of a tensor are not looked for, only equal elements")
    flat, count = F.flatten(x), size_of(x.shape)
    values, places = F.sort(flat)
    numbers = F.arange(count, dtype="int32")
    before = F.take(values, F.maximum(numbers - 1, 0))
    begins = F.logical_or(F.equal(numbers, 0), F.not_equal(values, before))
    if node.get("sorted", 1):
        group, chosen = F.cumsum(begins.astype("int32"), 0) - 1, F.flatnonzero(begins)
        result, first = F.take(values, chosen), F.take(places, chosen)
    else:
        # The sort is stable: the first of equal elements in sorted order is the one that is met first.
        begin = F.cummax(F.where(begins, numbers, 0), 0)[0]
        met = F.scatter(F.zeros((count,), dtype="int32"), 0, places, begins.astype("int32"))
        group = F.take(F.cumsum(met, 0) - 1, F.take(places, begin))
        first = F.flatnonzero(met)
        result = F.take(flat, first)
    inverse = F.scatter(F.zeros((count,), dtype="int32"), 0, places, group)
    often = F.scatter_add(F.zeros((count,), dtype="int32"), 0, inverse, F.ones((count,), dtype="int32"))
    counts = F.take(often, F.take(inverse, first))
    return [result, *(each.astype("int64") for each in (first, inverse, counts))]
