"""Images resampled: interpolation, maps of coordinates, warps, regions of interest, neighbourhoods."""

import functools
import math

import numpy as np

from .._tensor import as_tensor
from ..errors import ShapeError, UnsupportedError
from ..location import user_location
from ..shapes import is_static, show
from .contraction import matmul
from .creation import arange
from .elementwise import abs as absolute
from .elementwise import clip, equal, floor, greater_equal, less, logical_and, maximum, where
from .elementwise import round as nearest_integer
from .indexing import gather_nd, take
from .pooling import avg_pool2d
from .recording import remembered
from .shape import broadcast_to, concat, expand_dims, repeat_along, reshape, stack, transpose
from .windows import pad_space

__all__ = [
    "affine_grid",
    "correlation",
    "grid_sample",
    "interpolate",
    "remap",
    "roi_align",
    "roi_pooling",
    "warp_affine",
    "warp_perspective",
]

_RANKS = {"linear": (1,), "bilinear": (2,), "trilinear": (3,), "bicubic": (2,), "nearest": (1, 2, 3)}


# --- interpolation ----------------------------------------------------------------------------------------------------


@remembered
def interpolate(inp, size=None, scale_factor=None, mode="bilinear", align_corners=None):
    """Sequences (N, C, L), images (N, C, H, W) or volumes at another size.

    Args:
        size, scale_factor: the new size, or the factor to it (rounded down): a number or one an axis of space; one of
            the two. Positions follow from the two sizes.
        mode: ``"nearest"``: position floor(i * old / new). ``"linear"``, ``"bilinear"``, ``"trilinear"``: the two
            neighbours along each axis, the last axis first. ``"bicubic"``: four of them, by the cubic with a = -0.75.
        align_corners: whether the first and last elements meet, position i * (old - 1) / (new - 1); else elements have
            width 1, position (i + 0.5) * old / new - 0.5. Not for ``"nearest"``.
    """
    op = "interpolate"
    inp = as_tensor(inp)
    rank = inp.ndim - 2
    if mode not in _RANKS or rank not in _RANKS[mode]:
        raise UnsupportedError(
            f"{op}: mode {mode!r} for an input of shape {show(inp.shape)} at {user_location()}; allowed: linear for "
            f"(N, C, L), bilinear and bicubic for (N, C, H, W), trilinear for (N, C, D, H, W), nearest for all"
        )
    if mode == "nearest" and align_corners:
        raise UnsupportedError(f"{op}: align_corners with mode 'nearest' at {user_location()}")
    repeated = {}
    for axis in range(rank + 1, 1, -1):
        old = inp.shape[axis]
        if not is_static(old):
            raise ShapeError(f"{op}: axis {axis} of {show(inp.shape)} has a symbolic size at {user_location()}")
        new = _new_size(op, rank, axis - 2, old, size, scale_factor)
        if mode == "nearest" and new != old and new % old == 0:
            repeated[axis] = new // old
        elif new != old:
            inp = _resized(inp, axis, old, new, mode, bool(align_corners))
    return repeat_along(inp, repeated) if repeated else inp


def _new_size(op, rank, axis, old, size, scale):
    if (size is None) == (scale is None):
        raise ShapeError(f"{op}: size {size!r} and scale_factor {scale!r} at {user_location()}; one of them is needed")
    given = scale if size is None else size
    given = list(given) if isinstance(given, (tuple, list)) else [given] * rank
    if len(given) != rank:
        raise ShapeError(f"{op}: {given!r} at {user_location()}; one number, or one for each of {rank} axes, is needed")
    new = math.floor(old * given[axis]) if size is None else given[axis].__index__()
    if new < 1 or old < 1:
        raise ShapeError(f"{op}: from size {old} to {new} at {user_location()}; 1 or more is needed")
    return new


def _resized(inp, axis, old, new, mode, align):
    """One axis at a new size: a sum of neighbours, each with its weight."""
    if mode == "nearest":
        return take(inp, (np.arange(new) * old // new).astype("int32"), axis)
    shape = (-1,) + (1,) * (inp.ndim - 1 - axis)
    total = None
    for index, weight in _neighbours(old, new, mode == "bicubic", align):
        term = take(inp, index, axis) * as_tensor(weight.reshape(shape), inp.dtype)
        total = term if total is None else total + term
    return total


@functools.lru_cache(maxsize=256)
def _neighbours(old, new, is_cubic, align):
    """[(which elements of an axis, clamped to it, their weights)]: their sum is the axis at its new size."""
    if align:
        position = np.arange(new) * ((old - 1) / (new - 1) if new > 1 else 0.0)
    else:
        position = (np.arange(new) + 0.5) * (old / new) - 0.5
    if not is_cubic:
        position = np.clip(position, 0, old - 1)
    first = np.floor(position)
    part = position - first
    first, weights = (first - 1, _cubic(part)) if is_cubic else (first, [1 - part, part])
    return [
        (np.clip(first + k, 0, old - 1).astype("int32"), weight) for k, weight in enumerate(weights) if weight.any()
    ]


def _cubic(t, a=-0.75):
    """The weights of the four neighbours of a point at t of 1 between the middle ones."""

    def near(x):
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x):
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


# --- sampling at points -----------------------------------------------------------------------------------------------

_BORDERS = ("replicate", "reflect", "reflect_101", "wrap", "constant")


def _check_sampling(op, border, interp):
    if border.lower() not in _BORDERS:
        raise UnsupportedError(f"{op}: border_mode {border!r} at {user_location()}; allowed: {', '.join(_BORDERS)}")
    if interp.lower() not in ("linear", "nearest"):
        raise UnsupportedError(f"{op}: interp_mode {interp!r} at {user_location()}; allowed: linear, nearest")


def _inside(position, size, border):
    """Positions brought into 0 .. size - 1, as floats that hold whole numbers."""
    last = float(size - 1)
    if border == "wrap":
        return position - floor(position / size) * size
    if border == "reflect":
        folded = position - floor(position / (2 * size)) * (2 * size)
        return where(less(folded, size), folded, 2 * size - 1 - folded)
    if border == "reflect_101" and size > 1:
        folded = position - floor(position / (2 * last)) * (2 * last)
        return where(less(folded, size), folded, 2 * last - folded)
    return clip(position, 0.0, last)


def _pixels(images, samples, x, y, border, value):
    """images (N, H, W, C) at whole positions; x, y and the sample numbers have one shape, to which C is appended."""
    height, width = images.shape[1], images.shape[2]
    index = stack([samples, *(_inside(p, n, border).astype("int32") for p, n in ((y, height), (x, width)))], -1)
    found = gather_nd(images, index)
    if border != "constant":
        return found
    rows = logical_and(greater_equal(y, 0.0), less(y, float(height)))
    columns = logical_and(greater_equal(x, 0.0), less(x, float(width)))
    return where(expand_dims(logical_and(rows, columns), -1), found, value)


def sampled(images, samples, x, y, border, value, interp):
    """images (N, H, W, C) at points in pixels, where pixel i has its centre at i."""
    border = border.lower()
    if interp.lower() == "nearest":
        return _pixels(images, samples, floor(x + 0.5), floor(y + 0.5), border, value)
    left, top = floor(x), floor(y)
    right_share, low_share = (expand_dims(p - q, -1).astype(images.dtype) for p, q in ((x, left), (y, top)))
    rows = []
    for row in (top, top + 1.0):
        a, b = (_pixels(images, samples, column, row, border, value) for column in (left, left + 1.0))
        rows.append(a * (1.0 - right_share) + b * right_share)
    return rows[0] * (1.0 - low_share) + rows[1] * low_share


def _sample_numbers(count, shape):
    return broadcast_to(reshape(arange(count, dtype="int32"), (count,) + (1,) * (len(shape) - 1)), shape)


@remembered
def remap(inp, map_xy, border_mode="replicate", scalar=0.0, interp_mode="linear"):
    """Images (N, C, H, W) at the points that ``map_xy`` names.

    Args:
        map_xy: (N, OH, OW, 2): x and y in pixels, where pixel i has its centre at i.
        border_mode: what stands outside: ``"replicate"``, ``"reflect"``, ``"reflect_101"``, ``"wrap"``, or
            ``"constant"``: ``scalar``.
        interp_mode: ``"linear"`` or ``"nearest"`` (halves upwards).
    """
    _check_sampling("remap", border_mode, interp_mode)
    inp, points = as_tensor(inp), as_tensor(map_xy)
    if inp.ndim != 4 or points.ndim != 4 or points.shape[3] != 2:
        raise ShapeError(
            f"remap: input of shape {show(inp.shape)} and map of shape {show(points.shape)} at {user_location()}; "
            f"(N, C, H, W) and (N, OH, OW, 2) are needed"
        )
    images = transpose(inp, (0, 2, 3, 1))
    samples = _sample_numbers(inp.shape[0], points.shape[:3])
    result = sampled(images, samples, points[..., 0], points[..., 1], border_mode, scalar, interp_mode)
    return transpose(result, (0, 3, 1, 2))


_PADDINGS = {"zeros": ("constant", "constant"), "border": ("replicate",) * 2, "reflection": ("reflect", "reflect_101")}


@remembered
def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=False):  # noqa: A002  (PyTorch's name)
    """Images (N, C, H, W) at the points that ``grid`` names, as in PyTorch.

    Args:
        grid: (N, OH, OW, 2): x and y, where -1 and 1 are the first and last pixels' centres with ``align_corners``,
            else the image's edges.
        mode: ``"bilinear"`` or ``"nearest"`` (the even pixel at a half).
        padding_mode: what stands outside: ``"zeros"``, ``"border"``, or ``"reflection"`` at the edges or centres that
            -1 and 1 name.
    """
    op = "grid_sample"
    inp, grid = as_tensor(input), as_tensor(grid)
    if mode not in ("bilinear", "nearest") or padding_mode not in _PADDINGS:
        raise UnsupportedError(
            f"{op}: mode {mode!r} with padding_mode {padding_mode!r} at {user_location()}; allowed: bilinear, nearest; "
            f"{', '.join(_PADDINGS)}"
        )
    if inp.ndim != 4 or grid.ndim != 4 or grid.shape[3] != 2:
        raise ShapeError(
            f"{op}: input of shape {show(inp.shape)} and grid of shape {show(grid.shape)} at {user_location()}; "
            f"(N, C, H, W) and (N, OH, OW, 2) are needed"
        )

    def pixels(axis, size):
        place = grid[..., axis] + 1.0
        return place * ((size - 1) * 0.5) if align_corners else (place * size - 1.0) * 0.5

    x, y = pixels(0, inp.shape[3]), pixels(1, inp.shape[2])
    if mode == "nearest":
        x, y = nearest_integer(x), nearest_integer(y)
    interp = "linear" if mode == "bilinear" else "nearest"
    samples = _sample_numbers(inp.shape[0], grid.shape[:3])
    border = _PADDINGS[padding_mode][bool(align_corners)]
    return transpose(sampled(transpose(inp, (0, 2, 3, 1)), samples, x, y, border, 0.0, interp), (0, 3, 1, 2))


@remembered
def affine_grid(theta, size, align_corners=False):
    """The grid (N, H, W, 2) for `grid_sample` that an affine map gives; ``theta`` is (N, 2, 3), ``size`` (N, C, H, W)."""
    theta = as_tensor(theta)
    size = tuple(size)
    if theta.ndim != 3 or tuple(theta.shape[1:]) != (2, 3) or len(size) != 4:
        raise ShapeError(
            f"affine_grid: theta of shape {show(theta.shape)} for size {show(size)} at {user_location()}; (N, 2, 3) and "
            f"(N, C, H, W) are needed"
        )

    def places(count):
        """From -1 to 1, between the ends or the elements' centres."""
        ends = 1.0 if align_corners else 1.0 - 1.0 / count
        return np.linspace(-ends, ends, count) if count > 1 else np.zeros(1)

    y, x = np.meshgrid(places(size[2]), places(size[3]), indexing="ij")
    points = as_tensor(np.stack([x, y, np.ones_like(x)], -1).reshape(-1, 3), theta.dtype)
    return reshape(matmul(points, transpose(theta, (0, 2, 1))), (size[0], size[2], size[3], 2))


@remembered
def warp_perspective(
    inp,
    mat,
    out_shape,
    mat_idx=None,
    border_mode="replicate",
    border_val=0.0,
    format="NCHW",  # noqa: A002  (MegEngine's name)
    interp_mode="linear",
):
    """Images whose pixel (x, y) is the input's at ((m00 x + m01 y + m02) / d, (m10 x + m11 y + m12) / d).

    Args:
        inp: (N, C, H, W), or (N, H, W, C) with ``format="NHWC"``.
        mat: (M, 3, 3), with d = m20 x + m21 y + m22.
        out_shape: height and width of the results, or an int for both.
        mat_idx: the number of the image that each matrix reads; image i for matrix i unless given.
        border_mode, border_val, interp_mode: as for `remap`.
    """
    return _warped("warp_perspective", inp, mat, out_shape, mat_idx, border_mode, border_val, format, interp_mode, 3)


@remembered
def warp_affine(
    inp,
    mat,
    out_shape,
    border_mode="replicate",
    border_val=0.0,
    format="NHWC",  # noqa: A002  (MegEngine's name)
    interp_mode="linear",
):
    """Images whose pixel (x, y) is the input's at (m00 x + m01 y + m02, m10 x + m11 y + m12); ``mat`` is (N, 2, 3)."""
    return _warped("warp_affine", inp, mat, out_shape, None, border_mode, border_val, format, interp_mode, 2)


def _warped(op, inp, mat, out_shape, mat_idx, border, value, layout, interp, rows):
    _check_sampling(op, border, interp)
    inp, mat = as_tensor(inp), as_tensor(mat)
    if layout not in ("NCHW", "NHWC"):
        raise UnsupportedError(f"{op}: format {layout!r} at {user_location()}; allowed: NCHW, NHWC")
    if inp.ndim != 4 or mat.ndim != 3 or tuple(mat.shape[1:]) != (rows, 3):
        raise ShapeError(
            f"{op}: input of shape {show(inp.shape)} and matrices of shape {show(mat.shape)} at {user_location()}; "
            f"rank 4 and (N, {rows}, 3) are needed"
        )
    height, width = out_shape if isinstance(out_shape, (tuple, list)) else (out_shape, out_shape)
    images = transpose(inp, (0, 2, 3, 1)) if layout == "NCHW" else inp
    x = reshape(arange(width, dtype=mat.dtype), (1, 1, width))
    y = reshape(arange(height, dtype=mat.dtype), (1, height, 1))
    count = mat.shape[0]

    def row(i):
        a, b, c = (reshape(mat[:, i, j], (count, 1, 1)) for j in range(3))
        return a * x + b * y + c

    points = [row(0), row(1)]
    if rows == 3:
        depth = row(2)
        points = [point / depth for point in points]
    shape = (count, height, width)
    if mat_idx is None:
        samples = _sample_numbers(count, shape)
    else:
        samples = broadcast_to(reshape(as_tensor(mat_idx).astype("int32"), (count, 1, 1)), shape)
    result = sampled(images, samples, *(broadcast_to(p, shape) for p in points), border, value, interp)
    return transpose(result, (0, 3, 1, 2)) if layout == "NCHW" else result


def _images_and_regions(op, inp, rois, mode):
    """The arguments that roi_align and roi_pooling share, checked, as Tensors."""
    inp, rois = as_tensor(inp), as_tensor(rois)
    if mode not in ("average", "max"):
        raise UnsupportedError(f"{op}: mode {mode!r} at {user_location()}; allowed: average, max")
    if inp.ndim != 4 or rois.ndim != 2 or rois.shape[1] != 5:
        raise ShapeError(
            f"{op}: input of shape {show(inp.shape)} and regions of shape {show(rois.shape)} at {user_location()}; "
            f"(N, C, H, W) and (R, 5) are needed"
        )
    return inp, rois


@remembered
def roi_align(inp, rois, output_shape, mode="average", spatial_scale=1.0, sample_points=2, aligned=True):
    """The mean or largest of some points in each cell of a grid over each region.

    Args:
        inp: (N, C, H, W).
        rois: (R, 5): the number of the image, then x and y of two corners.
        output_shape: cells along y and x, or an int for both.
        mode: ``"average"`` or ``"max"``.
        spatial_scale: pixels of ``inp`` for a unit of the corners.
        sample_points: points along y and x in each cell, or an int for both.
        aligned: whether corners name pixels' edges, half a pixel before their centres.

    Returns:
        (R, C, *output_shape); points more than one pixel outside count as 0.
    """
    op = "roi_align"
    inp, rois = _images_and_regions(op, inp, rois, mode)
    cells, points = (v if isinstance(v, (tuple, list)) else (v, v) for v in (output_shape, sample_points))
    count, height, width = rois.shape[0], inp.shape[2], inp.shape[3]
    offset = 0.5 if aligned else 0.0

    def along(axis, low, high):
        """Positions along y (axis 0) or x: (R, cells * points)."""
        begin, end = (rois[:, i] * spatial_scale - offset for i in (low, high))
        extent = end - begin if aligned else where(less(end - begin, 1.0), 1.0, end - begin)
        n, k = cells[axis], points[axis]
        share = (np.arange(n)[:, None] + (np.arange(k) + 0.5) / k).ravel() / n
        return expand_dims(begin, 1) + expand_dims(extent, 1) * as_tensor(share.astype("float64"), rois.dtype)

    y, x = along(0, 2, 4), along(1, 1, 3)
    shape = (count, y.shape[1], x.shape[1])
    y, x = broadcast_to(expand_dims(y, 2), shape), broadcast_to(expand_dims(x, 1), shape)
    inside = logical_and(
        logical_and(greater_equal(y, -1.0), y <= float(height)), logical_and(greater_equal(x, -1.0), x <= float(width))
    )
    samples = broadcast_to(reshape(rois[:, 0].astype("int32"), (count, 1, 1)), shape)
    x, y = clip(x, 0.0, float(width - 1)), clip(y, 0.0, float(height - 1))
    found = sampled(transpose(inp, (0, 2, 3, 1)), samples, x, y, "replicate", 0.0, "linear")
    found = where(expand_dims(inside, -1), found, 0.0)
    found = reshape(found, (count, cells[0], points[0], cells[1], points[1], inp.shape[1]))
    pooled = found.mean((2, 4)) if mode == "average" else found.max((2, 4))
    return transpose(pooled, (0, 3, 1, 2))


# --- pooled regions, neighbourhoods -----------------------------------------------------------------------------------


@remembered
def roi_pooling(inp, rois, output_shape, mode="max", scale=1.0):
    """The largest or the mean of the pixels in each cell of a grid over each region, whose corners are rounded first.

    Args:
        inp: (N, C, H, W).
        rois: (R, 5): the number of the image, then x and y of two corners, both inside.
        output_shape: cells along y and x, or an int for both.
        mode: ``"max"`` or ``"average"``.
        scale: pixels of ``inp`` for a unit of the corners.

    Returns:
        (R, C, *output_shape); cells outside the image are 0.
    """
    op = "roi_pooling"
    inp, rois = _images_and_regions(op, inp, rois, mode)
    cells = output_shape if isinstance(output_shape, (tuple, list)) else (output_shape, output_shape)

    def inside(axis, low, high):
        """Which of the positions along y (axis 0) or x belong to which cell: (R, 1, cells, positions)."""
        count = cells[axis]
        begin, end = (floor(rois[:, i] * scale + 0.5) for i in (low, high))
        extent = maximum(end - begin + 1.0, 1.0) / count
        cell = reshape(arange(count, dtype=rois.dtype), (1, 1, count, 1))
        begin, extent = (reshape(v, (-1, 1, 1, 1)) for v in (begin, extent))
        position = reshape(arange(inp.shape[2 + axis], dtype=rois.dtype), (1, 1, 1, -1))
        after = -floor(-((cell + 1.0) * extent))
        return logical_and(greater_equal(position, floor(cell * extent) + begin), less(position, after + begin))

    rows, columns = inside(0, 2, 4), inside(1, 1, 3)
    images = take(inp, rois[:, 0].astype("int32"), 0)
    if mode == "max":
        wide = where(expand_dims(columns, 2), expand_dims(images, 3), -math.inf).max(4)  # (R, C, H, cells)
        tall = where(expand_dims(rows, 4), expand_dims(wide, 2), -math.inf).max(3)
        return where(equal(tall, -math.inf), 0.0, tall)
    wide = where(expand_dims(columns, 2), expand_dims(images, 3), 0.0).sum(4)
    tall = where(expand_dims(rows, 4), expand_dims(wide, 2), 0.0).sum(3)
    count = expand_dims(where(rows, 1.0, 0.0).sum(3), 3) * expand_dims(where(columns, 1.0, 0.0).sum(3), 2)
    return tall / maximum(count, 1.0).astype(inp.dtype)


@remembered
def correlation(
    data1, data2, kernel_size=1, max_displacement=1, stride1=1, stride2=1, pad_size=0, is_multiply=True
):
    """How alike the windows of one image and displaced windows of another are.

    Args:
        data1, data2: (N, C, H, W).
        kernel_size: the odd size of the windows.
        max_displacement, stride2: displacements are the multiples of ``stride2`` up to ``max_displacement`` either way.
        stride1: the step between windows of ``data1``.
        pad_size: zeros around both images.
        is_multiply: the mean of products, else of absolute differences.

    Returns:
        (N, D * D, OH, OW): displacements along y, then x.
    """
    op = "correlation"
    data1, data2 = as_tensor(data1), as_tensor(data2)
    if data1.ndim != 4 or tuple(data1.shape) != tuple(data2.shape) or kernel_size % 2 == 0:
        raise ShapeError(
            f"{op}: images of shape {show(data1.shape)} and {show(data2.shape)} with kernel_size {kernel_size} at "
            f"{user_location()}; two of shape (N, C, H, W) and an odd size are needed"
        )
    first, second = (pad_space(x, [pad_size] * 2, [pad_size] * 2) for x in (data1, data2))
    reach = max_displacement // stride2 * stride2
    sizes = [size - 2 * max_displacement for size in first.shape[2:]]
    if min(sizes) < kernel_size:
        raise ShapeError(f"{op}: images of {show(data1.shape)} leave no window at {user_location()}")

    def cut(x, y0, x0):
        return x[:, :, y0 : y0 + sizes[0], x0 : x0 + sizes[1]]

    here, planes = cut(first, max_displacement, max_displacement), []
    for dy in range(-reach, reach + 1, stride2):
        for dx in range(-reach, reach + 1, stride2):
            there = cut(second, max_displacement + dy, max_displacement + dx)
            planes.append((here * there if is_multiply else absolute(here - there)).mean(1, keepdims=True))
    return avg_pool2d(concat(planes, 1), kernel_size, stride1)
