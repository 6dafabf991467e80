"""Subscripts of tensors: ``x[index]`` and ``x[index] = value`` with NumPy's meaning.

Ints, slices, Ellipsis and None give a view; an index that names every axis by an int gives a copy of one element.
"""

from ._slices import bounds, is_whole, position
from ._tensor import Tensor
from ._views import Reshape, Slice, view
from .errors import ShapeError, UnsupportedError
from .location import user_location
from .shapes import is_one, is_static, same_shape, show


def read(inp, index):
    """``inp[index]``."""
    parts = expanded(inp, index)
    value, steps = _basic(inp._handle, parts)
    if not steps or parts != _listed(index) or not all(hasattr(part, "__index__") for part in parts):
        return view(inp, value, steps, index)
    return Tensor._wrap(value)


def write(inp, index, value):
    """``inp[index] = value``; the value is broadcast to what the index names and converted to the dtype."""
    made = value._view if isinstance(value, Tensor) else None
    if made is not None and made.index is index and inp._view is not None:
        if made.storage is inp._view.storage and made.outer is inp._view.steps:
            return  # the second half of x[index] += y, which has been written through the view x[index]
    target = view(inp, *_basic(inp._handle, expanded(inp, index)))
    if not isinstance(value, Tensor):
        value = Tensor(value, dtype=inp.dtype)
    target.set_value(_fitted(value, target.shape))


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
    """The index as a tuple with Ellipsis and missing axes written out.

    Raises:
        ShapeError: more indices than axes, or two Ellipses.
        UnsupportedError: a kind of index that tensors do not know.
    """
    index = _listed(index)
    for part in index:
        basic = part is None or part is Ellipsis or isinstance(part, slice)
        if not basic and (isinstance(part, (bool, Tensor)) or not hasattr(part, "__index__")):
            raise UnsupportedError(
                f"indexing with {type(part).__name__} at {user_location()}: ints, slices, Ellipsis and None are allowed"
            )
    used = sum(part is not None and part is not Ellipsis for part in index)
    if used > inp.ndim:
        raise ShapeError(f"{used} indices for a tensor of shape {show(inp.shape)} at {user_location()}")
    places = [i for i, part in enumerate(index) if part is Ellipsis]
    if len(places) > 1:
        raise ShapeError(f"an index may hold one Ellipsis at {user_location()}")
    cut = places[0] if places else len(index)
    return index[:cut] + (slice(None),) * (inp.ndim - used) + index[cut + 1 :]


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
    return handle, steps


def _place(shape, axis, part):
    if isinstance(part, slice):
        return bounds(shape, axis, part)
    start = position(shape, axis, part)
    return start, start + 1, 1
