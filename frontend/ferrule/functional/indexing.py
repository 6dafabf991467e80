"""Reading parts: basic slices, one-hot codes and picks along an axis."""

import operator

from .._stream import apply
from .._tensor import Tensor, as_tensor
from ..errors import ShapeError, UnsupportedError
from ..location import user_location
from ..shapes import is_static, show
from .axes import resolve_axis
from .shape import expand_dims, reshape

_FULL = (1 << 63) - 1  # a stop beyond every size: the whole of an axis, whatever its size


def take_slices(inp, index):
    """NumPy's basic indexing: ints, slices, Ellipsis and None.

    An axis of symbolic size can be taken whole, or from a fixed start that its smallest size allows, forwards.
    """
    parts = _expand(inp, index if isinstance(index, tuple) else (index,))
    taken = [part for part in parts if part is not None]
    starts, stops, steps = [], [], []
    for axis, (part, size) in enumerate(zip(taken, inp.shape)):
        if isinstance(part, slice):
            start, stop, step = _slice_bounds(inp, axis, size, part)
        else:
            start = _position(inp, axis, size, part)
            stop, step = start + 1, 1
        starts.append(start)
        stops.append(stop)
        steps.append(step)
    whole = all(
        start == 0 and step == 1 and (stop == _FULL or (is_static(size) and stop == size))
        for start, stop, step, size in zip(starts, stops, steps, inp.shape)
    )
    handle = inp._handle
    if not whole:
        handle = apply("slice", [handle], {"starts": starts, "stops": stops, "steps": steps})[0]
    result = Tensor._wrap(handle)
    if all(isinstance(part, slice) for part in parts):
        return result
    kept = iter([size for part, size in zip(taken, result.shape) if isinstance(part, slice)])
    return reshape(
        result, [1 if part is None else next(kept) for part in parts if part is None or isinstance(part, slice)]
    )


def _expand(inp, index):
    """The index with Ellipsis and missing axes written out; raises for what basic indexing does not know."""
    for part in index:
        basic = part is None or part is Ellipsis or isinstance(part, slice)
        if not basic and (isinstance(part, (bool, Tensor)) or not hasattr(part, "__index__")):
            raise UnsupportedError(
                f"indexing with {type(part).__name__} at {user_location()}: ints, slices, Ellipsis and None are allowed"
            )
    used = sum(part is not None and part is not Ellipsis for part in index)
    if used > inp.ndim:
        raise ShapeError(f"{used} indices for a tensor of shape {show(inp.shape)} at {user_location()}")
    fill = (slice(None),) * (inp.ndim - used)
    places = [i for i, part in enumerate(index) if part is Ellipsis]
    if len(places) > 1:
        raise ShapeError(f"an index may hold one Ellipsis at {user_location()}")
    cut = places[0] if places else len(index)
    return index[:cut] + fill + index[cut + 1 :]


def _slice_bounds(inp, axis, size, part):
    step = 1 if part.step is None else operator.index(part.step)
    if step == 0:
        raise ShapeError(f"a slice with step 0 at {user_location()}")
    if is_static(size):
        start, stop, _ = part.indices(size)
        return (start, stop, step) if len(range(start, stop, step)) else (0, 0, 1)
    start = 0 if part.start is None else operator.index(part.start)
    if part.stop is not None or start < 0 or step < 0:
        raise UnsupportedError(
            f"the slice {part} of axis {axis} with the symbolic size {size} of {show(inp.shape)} at {user_location()}: "
            f"such an axis can be taken whole or from a fixed start, forwards"
        )
    return start, _FULL, step


def _position(inp, axis, size, part):
    position = operator.index(part)
    if is_static(size):
        if not -size <= position < size:
            raise ShapeError(
                f"index {position} is out of range for axis {axis} of {show(inp.shape)} "
                f"(allowed: {-size} to {size - 1}) at {user_location()}"
            )
        return position % size
    if position < 0:
        raise UnsupportedError(
            f"the index {position} of axis {axis} with the symbolic size {size} at {user_location()}: "
            f"count from the start"
        )
    if not position < size:
        raise ShapeError(f"index {position} is out of range for axis {axis} of {show(inp.shape)} at {user_location()}")
    return position


def one_hot(inp, num_classes):
    """A new last axis of size ``num_classes`` with 1 at the position that each element names, else 0 (int32)."""
    inp = as_tensor(inp)
    positions = apply("iota", [], {"shape": [num_classes], "axis": 0, "dtype": inp.dtype})[0]
    return (expand_dims(inp, -1) == Tensor._wrap(positions)).astype("int32")


def indexing_one_hot(src, index, axis=1, keepdims=False):
    """Along ``axis`` the element of ``src`` that ``index`` names; that has the shape of ``src`` without it."""
    axis = resolve_axis("indexing_one_hot", axis, src.ndim)
    sizes = [1] * src.ndim
    sizes[axis] = src.shape[axis]
    positions = Tensor._wrap(apply("iota", [], {"shape": sizes, "axis": axis, "dtype": index.dtype})[0])
    from .elementwise import where

    return where(expand_dims(index, axis) == positions, src, 0).sum(axis, keepdims)
