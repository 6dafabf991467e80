"""Subscripts of tensors: ``x[index]`` and ``x[index] = value`` with NumPy's meaning.

Ints, slices, Ellipsis and None give a view; an index that names every axis by an int gives a copy of one element.
Arrays, lists and tensors of ints or bools give a copy (`_advanced`).
"""

from . import _compiler
from ._advanced import MOST_INT32, Mask, masked_parts, parse, select, write_masked
from ._slices import bounds, is_whole, position
from ._stream import apply
from ._tensor import Tensor, converted
from ._views import Reshape, Slice, view, views
from .errors import ShapeError
from .location import user_location
from .shapes import is_one, is_static, same_shape, show


def read(inp, index):
    """``inp[index]``."""
    result = _read_plain(inp, index)
    if result is None and type(index) is Tensor:
        result = _read_rows(inp, index)
    if result is not None:
        return result
    parts, found = expanded(inp, index)
    if any(found):
        basic, selection = select(inp.shape, parts, found)
        value, _ = _basic(inp._handle, basic)
        return Tensor._wrap(selection(value.shape).read(value))
    value, steps = _basic(inp._handle, parts)
    if not steps or Ellipsis in _listed(index) or not all(hasattr(part, "__index__") for part in parts):
        return view(inp, value, steps, index)
    return Tensor._wrap(value)


def part_of(inp, index):
    """The elements of ``inp[index]`` in a tensor of its own."""
    taken = _read_plain(inp, index, shares=False)
    return Tensor._wrap(read(inp, index)._handle) if taken is None else taken


def _read_plain(inp, index, shares=True):
    """What `read` gives for an index of ints, slices, None and an Ellipsis on axes whose sizes are numbers, found in one
    pass; None for other indices, among them all that are wrong. Without ``shares`` the tensor is never a view.
    """
    plain = _compiler.read_plain_subscript(inp._handle, index)
    if plain is None:
        return None
    handle, cut, rows, is_view = plain
    return view(inp, handle, _plain_steps(cut, rows), index) if is_view and shares else Tensor._wrap(handle)


def _plain_steps(cut, rows):
    """The steps of the view that `_compiler.read_plain_subscript` describes so."""
    steps = () if cut is None else (Slice(*cut),)
    return steps if rows is None else (*steps, Reshape(rows))


def read_views(inp, indices):
    """``[inp[index] for index in indices]`` for indices that give views; one look at ``inp`` serves all."""
    handle = inp._handle
    found = [_compiler.read_plain_subscript(handle, index) for index in indices]
    if not all(found):
        return [read(inp, index) for index in indices]
    parts = [(value, _plain_steps(cut, rows), index) for (value, cut, rows, _), index in zip(found, indices)]
    return views(inp, parts)


def _read_rows(inp, index):
    """What `read` gives for a tensor of ints that is the whole index of an axis whose size is a number; None where the
    index or that axis needs another type of index.
    """
    places, handle = index._handle, inp._handle
    dtype, shape = places.dtype, handle.shape
    if not shape or not is_static(shape[0]) or not (dtype == "int64" or (dtype == "int32" and shape[0] <= MOST_INT32)):
        return None
    rows = apply("reshape", [places], {"shape": (*places.shape, 1)})[0]
    return Tensor._wrap(apply("take", [handle, rows], {"axis": 0})[0])


def write(inp, index, value):
    """``inp[index] = value``; the value is broadcast to what the index names and converted to the dtype."""
    made = value._view if isinstance(value, Tensor) else None
    if made is not None and made.index is index and inp._view is not None:
        if made.storage is inp._view.storage and made.outer is inp._view.steps:
            return  # the second half of x[index] += y, which has been written through the view x[index]
    if not isinstance(value, Tensor):
        value = Tensor(value, dtype=inp.dtype)
    parts, found = expanded(inp, index)
    if any(found):
        _write_selected(inp, parts, found, value)
        return
    target = view(inp, *_basic(inp._handle, parts))
    target.set_value(_fitted(value, target.shape))


def _write_selected(inp, parts, found, value):
    """The write at a subscript with arrays."""
    masked = masked_parts(inp.shape, parts, found)
    if masked is not None:
        basic, start, mask = masked
        if write_masked(view(inp, *_basic(inp._handle, basic)), start, mask, value):
            return
    basic, selection = select(inp.shape, parts, found)
    target = view(inp, *_basic(inp._handle, basic))
    places = selection(target.shape)
    value = converted(_fitted(value, places.shape), target)
    target._assign(places.write(target._handle, value._handle))


def _fitted(value, shape):
    """``value`` broadcast to ``shape``; as in NumPy it may have more axes if they are of size 1."""
    extra = value.ndim - len(shape)
    if extra > 0 and all(is_one(size) for size in value.shape[:extra]):
        value = value.reshape(value.shape[extra:])
    if same_shape(value.shape, shape):
        return value
    pairs = zip(reversed(value.shape), reversed(shape))
    if value.ndim > len(shape) or any(is_static(a) and is_static(b) and a not in (1, b) for a, b in pairs):
        raise ShapeError(
            f"a value of shape {show(value.shape)} is written to a place of shape {show(shape)} at {user_location()}; "
            f"it must broadcast to that"
        )
    return value.broadcast_to(shape)


def _listed(index):
    return index if isinstance(index, tuple) else (index,)


def expanded(inp, index):
    """The subscript as a list of parts with missing axes written out, and for each part what `parse` says of it.

    Where there are arrays, the Ellipsis is kept before the axes that it stands for: it separates them.

    Raises:
        ShapeError: more indices than axes, or two Ellipses.
        DtypeError, UnsupportedError: a kind of index that tensors do not know.
    """
    parts = list(_listed(index))
    found = [parse(part) for part in parts]
    used = sum(
        what.value.ndim if isinstance(what, Mask) else part is not None and part is not Ellipsis
        for part, what in zip(parts, found)
    )
    if used > inp.ndim:
        raise ShapeError(f"{used} indices for a tensor of shape {show(inp.shape)} at {user_location()}")
    places = [i for i, part in enumerate(parts) if part is Ellipsis]
    if len(places) > 1:
        raise ShapeError(f"an index may hold one Ellipsis at {user_location()}")
    cut = places[0] if places else len(parts)
    kept = parts[cut : cut + 1] if any(found) else []
    fill = kept + [slice(None)] * (inp.ndim - used)
    return parts[:cut] + fill + parts[cut + 1 :], found[:cut] + [None] * len(fill) + found[cut + 1 :]


def _basic(handle, parts):
    """(the value, the steps) that a written-out basic index takes from ``handle``."""
    shape, steps = handle.shape, []
    taken = [part for part in parts if part is not None]
    places = [_place(shape, axis, part) for axis, part in enumerate(taken)]
    if not all(is_whole(size, *place) for size, place in zip(shape, places)):
        starts, stops, strides = (list(each) for each in zip(*places))
        steps.append(Slice(starts, stops, strides))
        handle = steps[-1].read(handle)
    if not all(isinstance(part, slice) for part in parts):
        kept = iter([size for part, size in zip(taken, handle.shape) if isinstance(part, slice)])
        rows = [part for part in parts if part is None or isinstance(part, slice)]
        steps.append(Reshape([1 if part is None else next(kept) for part in rows]))
        handle = steps[-1].read(handle)
    return handle, tuple(steps)


def _place(shape, axis, part):
    if isinstance(part, slice):
        return bounds(shape, axis, part)
    start = position(shape, axis, part)
    return start, start + 1, 1
