"""Elements in other places: mirrored, turned, cut from diagonals and windows, put together on grids."""

import math

import numpy as np

from .._stream import apply
from .._subscript import part_of, read_views
from .._tensor import Tensor, as_tensor
from ..errors import ShapeError
from ..location import user_location
from ..shapes import is_static, show
from . import views
from .axes import per_axis, resolve_axes, resolve_axis
from .elementwise import where
from .creation import zeros
from .indexing import scatter_nd, take
from .padding import pad
from .recording import remembered
from .shape import broadcast_to, concat, expand_dims, reshape, transpose

__all__ = [
    "broadcast_arrays",
    "broadcast_tensors",
    "chunk",
    "diag",
    "diagonal",
    "flip",
    "fliplr",
    "flipud",
    "fold",
    "meshgrid",
    "moveaxis",
    "movedim",
    "permute",
    "pixel_shuffle",
    "pixel_unshuffle",
    "rot90",
    "sliding_window",
    "sliding_window_transpose",
    "swapdims",
    "tril",
    "triu",
    "unbind",
    "unflatten",
    "unfold",
    "unsqueeze",
    "unstack",
    "vstack",
    "hstack",
]


_WHOLE, _REVERSED = slice(None), slice(None, None, -1)


def flip(inp, axis=None):
    """The elements in reverse order along ``axis`` (all axes by default)."""
    inp = as_tensor(inp)
    ndim = inp.ndim
    axes = resolve_axes("flip", axis, ndim)
    return part_of(inp, tuple([_REVERSED if i in axes else _WHOLE for i in range(ndim)]))


@remembered
def fliplr(inp):
    """Columns in reverse order."""
    return flip(inp, 1)


@remembered
def flipud(inp):
    """Rows in reverse order."""
    return flip(inp, 0)


@remembered
def rot90(inp, k=1, axes=(0, 1)):
    """Turned ``k`` times by 90 degrees, from the first of ``axes`` towards the second."""
    inp = as_tensor(inp)
    first, second = (resolve_axis("rot90", axis, inp.ndim) for axis in axes)
    if first == second:
        raise ShapeError(f"rot90: the axes {tuple(axes)} are the same at {user_location()}")
    order = list(range(inp.ndim))
    order[first], order[second] = second, first
    turns = k % 4
    if turns == 0:
        return Tensor._wrap(inp._handle)
    if turns == 2:
        return flip(inp, (first, second))
    return transpose(flip(inp, second), order) if turns == 1 else flip(transpose(inp, order), second)


def moveaxis(inp, source, destination):
    """The axes ``source`` moved to the places ``destination``; the others keep their order (a view)."""
    ndim = as_tensor(inp).ndim
    sources = _axes("moveaxis", source, ndim)
    places = _axes("moveaxis", destination, ndim)
    if len(sources) != len(places) or (len(sources) > 1 and not len(set(sources)) == len(set(places)) == len(sources)):
        raise ShapeError(
            f"moveaxis: {source!r} to {destination!r} must name as many axes, each once, "
            f"at {user_location()}"
        )
    order = [axis for axis in range(ndim) if axis not in sources]
    for place, axis in sorted(zip(places, sources)):
        order.insert(place, axis)
    return views.permuted(inp, order)


def _axes(op, axes, ndim):
    """An int or several as a list of axes in 0 .. ndim-1, in their order."""
    if isinstance(axes, (tuple, list)):
        return [resolve_axis(op, axis, ndim) for axis in axes]
    return [resolve_axis(op, axes, ndim)]


movedim = moveaxis
swapdims = views.swapaxes


def permute(inp, *dims):
    """PyTorch's name for `transpose`."""
    return views.transpose(inp, dims[0] if len(dims) == 1 and isinstance(dims[0], (tuple, list)) else dims)


def unsqueeze(inp, axis):
    """PyTorch's name for `expand_dims`."""
    return views.expand_dims(inp, axis)


def unflatten(inp, axis, sizes):
    """One axis split into several; one of ``sizes`` may be -1 (a view)."""
    inp = as_tensor(inp)
    axis = resolve_axis("unflatten", axis, inp.ndim)
    sizes = list(sizes)
    if sizes.count(-1) == 1:
        rest = math.prod([size for size in sizes if size != -1])
        if rest == 0 or (is_static(inp.shape[axis]) and inp.shape[axis] % rest):
            raise ShapeError(
                f"unflatten: axis {axis} of {show(inp.shape)} does not split into {sizes} "
                f"at {user_location()}"
            )
        sizes[sizes.index(-1)] = inp.shape[axis] // rest
    return views.reshape(inp, inp.shape[:axis] + tuple(sizes) + inp.shape[axis + 1 :])


def chunk(inp, chunks, axis=0):
    """At most ``chunks`` parts along ``axis`` (views), each of ceil(size / chunks) elements but for the last."""
    inp = as_tensor(inp)
    axis = resolve_axis("chunk", axis, inp.ndim)
    size = inp.shape[axis]
    if not is_static(size) or chunks < 1:
        raise ShapeError(
            f"chunk: {chunks} parts of axis {axis} of {show(inp.shape)}; a static size "
            f"at {user_location()}"
        )
    step = -(-size // chunks) or 1
    return views.split(inp, list(range(step, size, step)), axis)


def unstack(inp, axis=0):
    """The parts along ``axis`` without it (views); the inverse of `stack`."""
    inp = as_tensor(inp)
    axis = resolve_axis("unstack", axis, inp.ndim)
    shape = inp.shape
    if not is_static(shape[axis]):
        raise ShapeError(f"unstack: axis {axis} of {show(shape)} has a symbolic size at {user_location()}")
    if len(shape) == 1:
        return [inp[i] for i in range(shape[0])]
    lead = (slice(None),) * axis
    return read_views(inp, [(*lead, i) for i in range(shape[axis])])


unbind = unstack


def _joined(inps, axis, least):
    return concat([reshape(x, (1,) * (least - x.ndim) + x.shape) for x in map(as_tensor, inps)], axis)


@remembered
def vstack(inps):
    """Joined along the first axis; vectors become rows."""
    return _joined(inps, 0, 2)


@remembered
def hstack(inps):
    """Joined along the second axis, vectors along their only one."""
    tensors = [as_tensor(x) for x in inps]
    return _joined(tensors, 1 if all(x.ndim > 1 for x in tensors) else 0, 1)


def broadcast_tensors(*inputs):
    """The tensors repeated to their common shape."""
    tensors = [as_tensor(x) for x in inputs]
    shape = ()
    for tensor in tensors:
        shape = _common(shape, tensor.shape)
    return [broadcast_to(tensor, shape) for tensor in tensors]


broadcast_arrays = broadcast_tensors


def _common(a, b):
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b)
    return tuple(q if is_static(p) and p == 1 else p for p, q in zip(a, b))


@remembered
def meshgrid(*inputs, indexing="xy"):
    """Each vector repeated over the grid of all; with ``xy`` the first two axes of the grid are exchanged."""
    if indexing not in ("xy", "ij"):
        raise ShapeError(f"meshgrid: indexing is {indexing!r}, allowed are 'xy' and 'ij' at {user_location()}")
    vectors = [reshape(as_tensor(x), (-1,)) for x in inputs]
    places = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        places[:2] = 1, 0
    shape = [None] * len(vectors)
    for place, vector in zip(places, vectors):
        shape[place] = vector.shape[0]
    grids = []
    for place, vector in zip(places, vectors):
        sizes = [1] * len(vectors)
        sizes[place] = vector.shape[0]
        grids.append(broadcast_to(reshape(vector, sizes), shape))
    return grids


# Diagonals and triangles.


def _distances(rows, columns):
    """column - row of each element of a matrix, int32."""
    row = apply("iota", [], {"shape": [rows, columns], "axis": 0, "dtype": "int32"})[0]
    column = apply("iota", [], {"shape": [rows, columns], "axis": 1, "dtype": "int32"})[0]
    return Tensor._wrap(apply("sub", [column, row])[0])


def _matrices(op, inp):
    inp = as_tensor(inp)
    if inp.ndim < 2:
        raise ShapeError(f"{op}: a tensor of shape {show(inp.shape)} has no matrices at {user_location()}")
    return inp


@remembered
def tril(inp, k=0):
    """The last two axes with zeros above diagonal ``k`` (counted upwards)."""
    inp = _matrices("tril", inp)
    return where(_distances(*inp.shape[-2:]) <= k, inp, 0)


@remembered
def triu(inp, k=0):
    """The last two axes with zeros below diagonal ``k`` (counted upwards)."""
    inp = _matrices("triu", inp)
    return where(_distances(*inp.shape[-2:]) >= k, inp, 0)


@remembered
def diagonal(inp, offset=0, axis1=0, axis2=1):
    """The elements [i, i + offset] of two axes, as a new last axis."""
    inp = _matrices("diagonal", inp)
    first, second = resolve_axis("diagonal", axis1, inp.ndim), resolve_axis("diagonal", axis2, inp.ndim)
    if first == second:
        raise ShapeError(f"diagonal: the axes {axis1} and {axis2} are the same at {user_location()}")
    rest = [axis for axis in range(inp.ndim) if axis not in (first, second)]
    inp = transpose(inp, [*rest, first, second])
    rows, columns = inp.shape[-2:]
    if not (is_static(rows) and is_static(columns)):
        raise ShapeError(f"diagonal: the axes of size {rows} and {columns} must be static at {user_location()}")
    count = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    if count == 0:
        return part_of(reshape(inp, inp.shape[:-2] + (rows * columns,)), (..., slice(0, 0)))
    start = max(offset, 0) + max(-offset, 0) * columns
    flat = reshape(inp, inp.shape[:-2] + (rows * columns,))
    return part_of(flat, (..., slice(start, start + (count - 1) * (columns + 1) + 1, columns + 1)))


@remembered
def diag(inp, k=0):
    """A matrix with a vector on diagonal ``k``, or that diagonal of a matrix."""
    inp = as_tensor(inp)
    if inp.ndim == 2:
        return diagonal(inp, k)
    if inp.ndim != 1:
        raise ShapeError(f"diag: a vector or a matrix, not {show(inp.shape)} at {user_location()}")
    size = inp.shape[0] + abs(k)
    ends = pad(inp, ((0, abs(k)),)) if k else inp
    # Above the diagonal an element's row names it, below its column.
    spread = broadcast_to(expand_dims(ends, 1 if k >= 0 else 0), (size, size))
    return where(_distances(size, size) == k, spread, 0)


# Windows of images [N, C, H, W].


def _window_positions(size, kernel, stride, dilation):
    """Where the taps of each window lie on an axis: outputs x kernel."""
    count = (size - dilation * (kernel - 1) - 1) // stride + 1
    return np.arange(count)[:, None] * stride + np.arange(kernel)[None, :] * dilation


def _window_arguments(op, kernel_size, padding, stride, dilation):
    return [
        per_axis(op, name, value, 2)
        for name, value in (
            ("kernel_size", kernel_size), ("padding", padding), ("stride", stride), ("dilation", dilation)
        )
    ]


def _window_grid(op, shape, sizes, kernel, stride, dilation):
    if len(shape) != 4 or not all(is_static(size) for size in sizes):
        raise ShapeError(f"{op}: images [N, C, H, W] with static H and W, not {show(shape)} at {user_location()}")
    grid = [_window_positions(*axis) for axis in zip(sizes, kernel, stride, dilation)]
    if any(len(positions) < 1 for positions in grid):
        raise ShapeError(f"{op}: the kernel {tuple(kernel)} does not fit into {tuple(sizes)} at {user_location()}")
    return grid


@remembered
def sliding_window(inp, kernel_size, padding=0, stride=1, dilation=1):
    """The windows of images [N, C, H, W] as [N, C, OH, OW, kernel rows, kernel columns]; padding is 0."""
    inp = as_tensor(inp)
    op = "sliding_window"
    kernel, padding, stride, dilation = _window_arguments(op, kernel_size, padding, stride, dilation)
    if inp.ndim == 4:
        inp = pad(inp, ((0, 0), (0, 0), (padding[0], padding[0]), (padding[1], padding[1])))
    rows, columns = _window_grid(op, inp.shape, inp.shape[2:], kernel, stride, dilation)
    windows = take(take(inp, rows.astype("int32"), 2), columns.astype("int32"), 4)
    return transpose(windows, (0, 1, 2, 4, 3, 5))


@remembered
def sliding_window_transpose(inp, output_size, kernel_size, padding=0, stride=1, dilation=1):
    """The inverse of `sliding_window`: images [N, C, *output_size] in which every window's elements are added."""
    inp = as_tensor(inp)
    op = "sliding_window_transpose"
    kernel, padding, stride, dilation = _window_arguments(op, kernel_size, padding, stride, dilation)
    height, width = per_axis(op, "output_size", output_size, 2)
    padded = [height + 2 * padding[0], width + 2 * padding[1]]
    if inp.ndim != 6:
        raise ShapeError(f"{op}: windows [N, C, OH, OW, KH, KW], not {show(inp.shape)} at {user_location()}")
    rows, columns = _window_grid(op, inp.shape[:4], padded, kernel, stride, dilation)
    if not (inp.shape[2:] == (len(rows), len(columns), *kernel)):
        raise ShapeError(
            f"{op}: the windows are {show(inp.shape[2:])}, wanted {(len(rows), len(columns), *kernel)} for the output "
            f"{(height, width)} at {user_location()}"
        )
    windows = transpose(inp, (0, 1, 2, 4, 3, 5))
    lines = _add_windows(windows, 4, columns, padded[1])
    images = _add_windows(lines, 2, rows, padded[0])
    rows, columns = (slice(pad, pad + size) for pad, size in zip(padding, (height, width)))
    return part_of(images, (_WHOLE, _WHOLE, rows, columns))


def _add_windows(windows, axis, positions, size):
    """Axes ``axis`` (windows) and the next one (taps) added up on one axis of ``size`` elements."""
    shape = windows.shape
    target = zeros(shape[:axis] + (size,) + shape[axis + 2 :], dtype=windows.dtype)
    return scatter_nd(target, positions.astype("int32")[..., None], windows, axis, accumulate=True)


@remembered
def unfold(inp, kernel_size, dilation=1, padding=0, stride=1):
    """PyTorch's windows: [N, C * kernel elements, number of windows]."""
    windows = sliding_window(inp, kernel_size, padding, stride, dilation)
    n, c, rows, columns, kernel_rows, kernel_columns = windows.shape
    taps = transpose(windows, (0, 1, 4, 5, 2, 3))
    return reshape(taps, (n, c * kernel_rows * kernel_columns, rows * columns))


@remembered
def fold(inp, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The inverse of `unfold`: overlapping elements are added."""
    inp = as_tensor(inp)
    op = "fold"
    kernel, pads, strides, dilations = _window_arguments(op, kernel_size, padding, stride, dilation)
    size = per_axis(op, "output_size", output_size, 2)
    counts = [
        len(_window_positions(s + 2 * p, k, t, d)) for s, p, k, t, d in zip(size, pads, kernel, strides, dilations)
    ]
    channels = inp.shape[1] // (kernel[0] * kernel[1])
    taps = reshape(inp, (inp.shape[0], channels, kernel[0], kernel[1], counts[0], counts[1]))
    windows = transpose(taps, (0, 1, 4, 5, 2, 3))
    return sliding_window_transpose(windows, size, kernel, pads, strides, dilations)


@remembered
def pixel_shuffle(inp, upscale_factor):
    """[.., C * r * r, H, W] to [.., C, H * r, W * r]."""
    inp = as_tensor(inp)
    r = upscale_factor
    if inp.ndim < 3 or inp.shape[-3] % (r * r) != 0:
        raise ShapeError(
            f"pixel_shuffle: {show(inp.shape)} has no [C * {r * r}, H, W] at its end at {user_location()}"
        )
    lead, (c, h, w) = inp.shape[:-3], inp.shape[-3:]
    k = len(lead)
    apart = reshape(inp, lead + (c // (r * r), r, r, h, w))
    mixed = transpose(apart, (*range(k), k, k + 3, k + 1, k + 4, k + 2))
    return reshape(mixed, lead + (c // (r * r), h * r, w * r))


@remembered
def pixel_unshuffle(inp, downscale_factor):
    """The inverse of `pixel_shuffle`."""
    inp = as_tensor(inp)
    r = downscale_factor
    if inp.ndim < 3 or inp.shape[-1] % r != 0 or inp.shape[-2] % r != 0:
        raise ShapeError(f"pixel_unshuffle: H and W of {show(inp.shape)} do not divide by {r} at {user_location()}")
    lead, (c, h, w) = inp.shape[:-3], inp.shape[-3:]
    k = len(lead)
    apart = reshape(inp, lead + (c, h // r, r, w // r, r))
    mixed = transpose(apart, (*range(k), k, k + 2, k + 4, k + 1, k + 3))
    return reshape(mixed, lead + (c * r * r, h // r, w // r))
