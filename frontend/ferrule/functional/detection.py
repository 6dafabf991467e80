"""What detectors of objects need: boxes that overlap are dropped, and regions are pooled at moved places."""

import numpy as np

from .._tensor import as_tensor
from ..errors import ShapeError
from ..location import user_location
from ..shapes import is_static, same_shape, show
from .control_flow import scan
from .creation import arange, full
from .cumulative import cumsum
from .elementwise import clip, floor, greater_equal, less, logical_and, logical_not, logical_or, maximum, minimum, where
from .indexing import take
from .ordering import argsort
from .recording import remembered
from .selection import flatnonzero
from .shape import broadcast_to, expand_dims, reshape, transpose
from .resampling import sampled

__all__ = ["deformable_psroi_pooling", "nms"]


def nms(boxes, scores, iou_thresh, max_output=None):
    """The positions of the boxes that stay when each, the best first, drops those that overlap it (int32).

    It takes N steps of N boxes and memory for N, on one thread.

    Args:
        boxes: (N, 4): x and y of two corners, the smaller ones first.
        scores: (N,). Of equal ones the lower position comes first.
        iou_thresh: two boxes overlap if the area of both together is more than this share of the area of either.
        max_output: how many positions to give at most.

    Returns:
        The positions by falling score. How many is known when the values are: as with `nonzero`, a dim of its own in
        a traced function.
    """
    boxes, scores = as_tensor(boxes), as_tensor(scores)
    if (
        boxes.ndim != 2 or not same_shape(boxes.shape[1:], (4,)) or not same_shape(scores.shape, boxes.shape[:1])
    ):  # fmt: skip
        raise ShapeError(
            f"nms: boxes of shape {show(boxes.shape)} and scores of shape {show(scores.shape)} at {user_location()}; "
            f"(N, 4) and (N,) are needed"
        )
    if max_output is not None and max_output < 0:
        raise ShapeError(f"nms: max_output {max_output} at {user_location()}; 0 or more is needed")
    order, stays = _visited(boxes, scores, iou_thresh, max_output)
    return take(order, flatnonzero(stays))


@remembered
def _visited(boxes, scores, iou_thresh, max_output):
    """The positions by falling score, and which of them stay."""
    order = argsort(scores, descending=True)
    boxes = take(boxes, order, 0)
    left, top, right, bottom = (boxes[:, i] for i in range(4))
    areas = (right - left) * (bottom - top)
    places = arange(boxes.shape[0], dtype="int32")

    def visit(dropped, best):
        box, area, place = best
        width = maximum(minimum(right, box[2]) - maximum(left, box[0]), 0)
        height = maximum(minimum(bottom, box[3]) - maximum(top, box[1]), 0)
        both = width * height
        overlap = logical_and(both > (areas + area - both) * iou_thresh, places > place)
        stays = logical_not(take(dropped, place))
        return logical_or(dropped, logical_and(overlap, stays)), stays

    _, stays = scan(visit, full(scores.shape, False, dtype="bool"), (boxes, areas, places))
    if max_output is not None:
        stays = logical_and(stays, cumsum(stays, 0) <= max_output)
    return order, stays


@remembered
def deformable_psroi_pooling(
    inp,
    rois,
    trans,
    no_trans,
    part_size,
    pooled_h,
    pooled_w,
    sample_per_part,
    spatial_scale,
    trans_std=0.1,
):
    """The mean of points in each cell of a grid over each region, where cells are moved by offsets.

    Args:
        inp: (N, C, H, W).
        rois: (R, 5): the number of the image, then x and y of two corners, which are rounded (halves away from 0) and
            belong to the region.
        trans: (R, 2 * K, part_size, part_size): for each of K groups of channels that move alike, how far right and how
            far down, in widths and heights of the region times ``trans_std``. Not read if ``no_trans``.
        pooled_h, pooled_w: cells along y and x.
        sample_per_part: points along each side of a cell.
        spatial_scale: pixels of ``inp`` for a unit of the corners.

    Returns:
        (R, C, pooled_h, pooled_w); points more than half a pixel outside do not count, a cell of only such is 0.
    """
    op = "deformable_psroi_pooling"
    inp, rois = as_tensor(inp), as_tensor(rois)
    trans = None if no_trans else as_tensor(trans)
    groups = _moving_groups(op, inp, rois, trans, part_size)
    cells = (pooled_h, pooled_w)
    shape = (rois.shape[0], groups, pooled_h, pooled_w, sample_per_part, sample_per_part)

    def along(axis, low, high):
        """Positions along y (axis 0) or x of all points."""
        begin, end = (_rounded(rois[:, i]) for i in (low, high))
        begin, end = begin * spatial_scale - 0.5, (end + 1.0) * spatial_scale - 0.5
        extent = reshape(maximum(end - begin, 0.1), (-1, 1, 1, 1, 1, 1))
        ones = [1] * 6
        ones[2 + axis] = cells[axis]
        cell = np.arange(cells[axis]).reshape(ones) / cells[axis]
        ones = [1] * 6
        ones[4 + axis] = sample_per_part
        point = np.arange(sample_per_part).reshape(ones) / (cells[axis] * sample_per_part)
        place = reshape(begin, (-1, 1, 1, 1, 1, 1)) + extent * as_tensor(cell + point, rois.dtype)
        if trans is not None:
            place = place + _moved(trans, groups, 1 - axis, part_size, cells) * trans_std * extent
        return broadcast_to(place, shape)

    y, x = along(0, 2, 4), along(1, 1, 3)
    height, width = inp.shape[2:]
    inside = logical_and(
        logical_and(greater_equal(y, -0.5), y <= height - 0.5), logical_and(greater_equal(x, -0.5), x <= width - 0.5)
    )
    # Each group of channels is an image of its own.
    images = reshape(inp, (inp.shape[0] * groups, inp.shape[1] // groups, height, width))
    numbers = expand_dims(rois[:, 0].astype("int32") * groups, 1) + expand_dims(arange(groups, dtype="int32"), 0)
    numbers = broadcast_to(reshape(numbers, (-1, groups, 1, 1, 1, 1)), shape)
    x, y = clip(x, 0.0, width - 1.0), clip(y, 0.0, height - 1.0)
    found = sampled(transpose(images, (0, 2, 3, 1)), numbers, x, y, "replicate", 0.0, "linear")
    total = where(expand_dims(inside, -1), found, 0.0).sum((4, 5))
    count = maximum(where(inside, 1.0, 0.0).sum((4, 5)), 1.0).astype(inp.dtype)
    pooled = transpose(total / expand_dims(count, -1), (0, 1, 4, 2, 3))
    return reshape(pooled, (-1, inp.shape[1], pooled_h, pooled_w))


def _moving_groups(op, inp, rois, trans, part_size):
    """How many groups of channels move alike, of arguments that fit each other."""
    fits = inp.ndim == 4 and rois.ndim == 2 and same_shape(rois.shape[1:], (5,)) and all(map(is_static, inp.shape[1:]))
    groups = 1
    if fits and trans is not None:
        fits = trans.ndim == 4 and is_static(trans.shape[1]) and trans.shape[1] >= 2 and trans.shape[1] % 2 == 0
        groups = trans.shape[1] // 2 if fits else 1
        fits = fits and same_shape(trans.shape, (rois.shape[0], 2 * groups, part_size, part_size))
    if not fits or inp.shape[1] % groups:
        offsets = "none" if trans is None else show(trans.shape)
        raise ShapeError(
            f"{op}: input of shape {show(inp.shape)}, regions of shape {show(rois.shape)} and offsets of shape {offsets} "
            f"at {user_location()}; (N, C, H, W), (R, 5) and (R, 2 * K, {part_size}, {part_size}) with C a multiple of K "
            f"are needed"
        )
    return groups


def _rounded(x):
    """Halves away from 0, as C rounds."""
    return where(less(x, 0.0), -floor(0.5 - x), floor(x + 0.5))


def _moved(trans, groups, direction, part_size, cells):
    """The offsets of every cell in one direction: (R, K, pooled_h, pooled_w, 1, 1)."""
    trans = reshape(trans, (trans.shape[0], groups, 2, part_size, part_size))[:, :, direction]
    for axis, count in enumerate(cells):
        part = np.floor(np.arange(count, dtype="float32") / np.float32(count) * np.float32(part_size))
        trans = take(trans, part.astype("int32"), 2 + axis)
    return expand_dims(trans, (4, 5))
