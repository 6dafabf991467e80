"""Parts of tensors, and tensors made of parts, under NumPy's and PyTorch's names. Parts are views."""

import itertools

import numpy as np

from .._subscript import read_views
from .._tensor import as_tensor
from ..errors import DtypeError, ShapeError
from ..location import user_location
from ..shapes import is_static, show, size_of
from . import views
from .arrangement import diag, meshgrid, vstack
from .axes import resolve_axis
from .creation import zeros
from .cumulative import cumsum
from .elementwise import maximum, where
from .indexing import index_copy, take, take_along_axis, update_slice
from .recording import remembered
from .shape import broadcast_to, concat, expand_dims, flatten, reshape, stack, transpose

__all__ = [
    "append",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "cartesian_prod",
    "column_stack",
    "combinations",
    "diag_embed",
    "diagflat",
    "diagonal_scatter",
    "dsplit",
    "dstack",
    "expand_as",
    "hsplit",
    "index_fill",
    "masked_scatter",
    "matrix_transpose",
    "narrow",
    "reshape_as",
    "row_stack",
    "select",
    "select_scatter",
    "slice_scatter",
    "take_along_dim",
    "tensor_split",
    "unravel_index",
    "view_as",
    "vsplit",
]


def _along(axis, part):
    return (slice(None),) * axis + (part,)


def narrow(inp, axis, start, length):
    """``length`` elements along ``axis`` from ``start`` on."""
    inp = as_tensor(inp)
    axis = resolve_axis("narrow", axis, inp.ndim)
    size = inp.shape[axis]
    begin = start + size if is_static(start) and start < 0 else start
    if not (begin >= 0 and length >= 0 and begin + length <= size):
        raise ShapeError(
            f"narrow: {length} elements from {start} on of axis {axis} of {show(inp.shape)} at {user_location()}"
        )
    return inp[_along(axis, slice(begin, begin + length))]


def select(inp, axis, index):
    """The part at ``index`` of ``axis``, without that axis."""
    inp = as_tensor(inp)
    return inp[_along(resolve_axis("select", axis, inp.ndim), index)]


def tensor_split(inp, sections, axis=0):
    """Parts along ``axis``: a number of them, the first ones one element larger where it does not divide, or the
    positions where to cut."""
    inp = as_tensor(inp)
    axis = resolve_axis("tensor_split", axis, inp.ndim)
    size = inp.shape[axis]
    if not is_static(size):
        raise ShapeError(f"tensor_split: axis {axis} of {show(inp.shape)} has a symbolic size at {user_location()}")
    if isinstance(sections, int):
        if sections < 1:
            raise ShapeError(f"tensor_split: {sections} parts at {user_location()}; 1 or more are needed")
        share, rest = divmod(size, sections)
        sections = list(itertools.accumulate([share + (i < rest) for i in range(sections)]))[:-1]
    ends = [slice(begin, end) for begin, end in zip([None, *sections], [*sections, None])]
    return read_views(inp, [_along(axis, end) for end in ends])


def hsplit(inp, sections):
    """`tensor_split` of columns, or of a vector."""
    inp = as_tensor(inp)
    return _even("hsplit", inp, sections, 1 if inp.ndim > 1 else 0)


def vsplit(inp, sections):
    """`tensor_split` of rows."""
    return _even("vsplit", as_tensor(inp), sections, 0, 2)


def dsplit(inp, sections):
    """`tensor_split` along the third axis."""
    return _even("dsplit", as_tensor(inp), sections, 2, 3)


def _even(op, inp, sections, axis, least=1):
    if inp.ndim < least or (isinstance(sections, int) and is_static(inp.shape[axis]) and inp.shape[axis] % sections):
        raise ShapeError(
            f"{op}: {show(inp.shape)} into {sections!r} at {user_location()}; rank {least} or more is needed, and a "
            f"number that divides axis {axis}"
        )
    return tensor_split(inp, sections, axis)


def _each(function, inputs):
    """A function of one tensor, of each of several, or of those in one sequence."""
    if len(inputs) == 1 and not isinstance(inputs[0], (tuple, list)):
        return function(as_tensor(inputs[0]))
    return [function(as_tensor(x)) for x in (inputs[0] if len(inputs) == 1 else inputs)]


def atleast_1d(*inputs):
    """Each with one axis or more."""
    return _each(lambda x: x if x.ndim else views.reshape(x, (1,)), inputs)


def atleast_2d(*inputs):
    """Each with two axes or more: a vector is a row."""
    return _each(lambda x: x if x.ndim > 1 else views.reshape(x, (1, -1)), inputs)


def _three(x):
    if x.ndim > 2:
        return x
    return views.expand_dims(x, -1) if x.ndim == 2 else views.reshape(x, (1, -1, 1))


def atleast_3d(*inputs):
    """Each with three axes or more: a vector lies along the second, a matrix along the first two."""
    return _each(_three, inputs)


def column_stack(inps):
    """Joined along the second axis; vectors become columns."""
    return concat([x if x.ndim > 1 else reshape(x, (-1, 1)) for x in map(as_tensor, inps)], 1)


def dstack(inps):
    """Joined along the third axis, each with three axes as `atleast_3d` makes them."""
    return concat([_three(as_tensor(x)) for x in inps], 2)


def row_stack(inps):
    """NumPy's and PyTorch's older name for `vstack`."""
    return vstack(inps)


def append(inp, values, axis=None):
    """``values`` behind ``inp`` along ``axis``; both flattened without one."""
    inp, values = as_tensor(inp), as_tensor(values)
    if axis is None:
        return concat([flatten(inp), flatten(values)], 0)
    return concat([inp, values], resolve_axis("append", axis, inp.ndim))


def expand_as(inp, other):
    """`broadcast_to` the shape of another tensor."""
    return views.broadcast_to(inp, as_tensor(other).shape)


def view_as(inp, other):
    """`reshape` to the shape of another tensor."""
    return views.reshape(inp, as_tensor(other).shape)


reshape_as = view_as


def matrix_transpose(inp):
    """The last two axes exchanged."""
    return views.swapaxes(inp, -1, -2)


def take_along_dim(inp, index, axis=None):
    """PyTorch's `take_along_axis`; without an axis of the flattened tensor."""
    if axis is None:
        return take(flatten(as_tensor(inp)), flatten(as_tensor(index)), 0)
    return take_along_axis(inp, index, axis)


# Diagonals and blocks.


def diagflat(inp, offset=0):
    """A matrix with all elements on diagonal ``offset``."""
    return diag(flatten(as_tensor(inp)), offset)


@remembered
def diag_embed(inp, offset=0, axis1=-2, axis2=-1):
    """The last axis as diagonal ``offset`` of two new axes, and zeros."""
    inp = as_tensor(inp)
    rank = inp.ndim + 1
    first, second = resolve_axis("diag_embed", axis1, rank), resolve_axis("diag_embed", axis2, rank)
    if first == second:
        raise ShapeError(f"diag_embed: the axes {axis1} and {axis2} are the same at {user_location()}")
    count, size = inp.shape[-1], inp.shape[-1] + abs(offset)
    places = _diagonal(count, offset)
    blank = zeros((*inp.shape[:-1], size * size), dtype=inp.dtype)
    matrix = reshape(index_copy(blank, inp.ndim - 1, places[0] * size + places[1], inp), (*inp.shape[:-1], size, size))
    order = [axis for axis in range(rank) if axis not in (first, second)]
    back = [0] * rank
    for i, axis in enumerate([*order, first, second]):
        back[axis] = i
    return transpose(matrix, back)


def _diagonal(count, offset):
    """The rows and columns of a diagonal, as int32 arrays."""
    if not is_static(count):
        raise ShapeError(f"a diagonal of the symbolic size {count} at {user_location()}; a number is needed")
    index = np.arange(count, dtype=np.int32)
    return index + max(-offset, 0), index + max(offset, 0)


@remembered
def diagonal_scatter(inp, source, offset=0, axis1=0, axis2=1):
    """``inp`` with ``source`` on a diagonal of two axes; the shape of ``source`` is that of `diagonal`."""
    inp, source = as_tensor(inp), as_tensor(source)
    first, second = (resolve_axis("diagonal_scatter", axis, inp.ndim) for axis in (axis1, axis2))
    order = [axis for axis in range(inp.ndim) if axis not in (first, second)] + [first, second]
    moved = transpose(inp, order)
    rows, columns = moved.shape[-2:]
    places = _diagonal(source.shape[-1], offset)
    flat = reshape(moved, (*moved.shape[:-2], rows * columns))
    written = reshape(index_copy(flat, inp.ndim - 2, places[0] * columns + places[1], source), moved.shape)
    return transpose(written, [order.index(axis) for axis in range(inp.ndim)])


def block_diag(*blocks):
    """The blocks (matrices, vectors as rows, numbers) along the diagonal of a matrix of zeros."""
    blocks = [atleast_2d(block) for block in blocks]
    width, rows, left = sum(block.shape[1] for block in blocks), [], 0
    for block in blocks:
        if block.ndim != 2:
            raise ShapeError(f"block_diag: {show(block.shape)} at {user_location()}; matrices are needed")
        height, size = block.shape
        sides = [zeros((height, count), dtype=block.dtype) for count in (left, width - left - size)]
        rows.append(concat([sides[0], block, sides[1]], 1))
        left = left + size
    return concat(rows, 0)


def cartesian_prod(*inputs):
    """All rows with one element of each vector, the last one changing fastest; of one vector itself."""
    if len(inputs) == 1:
        return as_tensor(inputs[0])
    return stack([flatten(grid) for grid in meshgrid(*inputs, indexing="ij")], 1)


@remembered
def combinations(inp, r=2, with_replacement=False):
    """All rows of ``r`` elements of a vector in its order, each element once or, with replacement, any number of
    times."""
    inp = as_tensor(inp)
    if inp.ndim != 1 or not is_static(inp.shape[0]) or r < 0:
        raise ShapeError(f"combinations: {r} of {show(inp.shape)} at {user_location()}; a vector of a known size is needed")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(range(inp.shape[0]), r))
    return take(inp, np.array(rows, "int32").reshape(len(rows), r), 0)


def unravel_index(indices, shape):
    """The position on each axis of ``shape`` that a position of the flattened tensor stands for."""
    rest, axes = as_tensor(indices), []
    for size in reversed(list(shape)[1:]):
        axes.append(rest % size)
        rest = rest // size
    return (rest, *reversed(axes))


# Writes that give a new tensor.


def select_scatter(inp, source, axis, index):
    """``inp`` with ``source`` at ``index`` of ``axis``."""
    inp = as_tensor(inp)
    axis = resolve_axis("select_scatter", axis, inp.ndim)
    size = inp.shape[axis]
    if not -size <= index or not index < size:
        raise ShapeError(f"select_scatter: index {index} of axis {axis} of {show(inp.shape)} at {user_location()}")
    begin = index + size if index < 0 else index
    return _written(inp, expand_dims(as_tensor(source), axis), axis, begin, begin + 1, 1)


def slice_scatter(inp, source, axis=0, start=None, end=None, step=1):
    """``inp`` with ``source`` at start:end:step of ``axis``."""
    inp = as_tensor(inp)
    return _written(inp, source, resolve_axis("slice_scatter", axis, inp.ndim), start, end, step)


def _written(inp, source, axis, start, end, step):
    rank = inp.ndim
    bounds = [[value if i == axis else usual for i in range(rank)] for value, usual in ((start, None), (end, None), (step, 1))]
    return update_slice(inp, source, *bounds)


def index_fill(inp, axis, index, value):
    """``inp`` with ``value`` at the positions ``index`` of ``axis``."""
    inp, index = as_tensor(inp), as_tensor(index)
    axis = resolve_axis("index_fill", axis, inp.ndim)
    parts = (*inp.shape[:axis], size_of(index.shape), *inp.shape[axis + 1 :])
    return index_copy(inp, axis, reshape(index, (-1,)), broadcast_to(as_tensor(value, inp.dtype), parts))


def masked_scatter(inp, mask, source):
    """``inp`` with the elements of ``source``, one after another, where ``mask``, broadcast to it, is set."""
    inp, source = as_tensor(inp), flatten(as_tensor(source))
    if source.dtype != inp.dtype:
        raise DtypeError(f"masked_scatter: {source.dtype} into {inp.dtype} at {user_location()}; one type is needed")
    mask = broadcast_to(as_tensor(mask), inp.shape)
    flat = flatten(mask)
    place = maximum(cumsum(flat.astype("int32"), 0) - 1, 0)
    return where(mask, reshape(take(source, place, 0), inp.shape), inp)
