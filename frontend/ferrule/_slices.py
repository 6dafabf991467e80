"""Slices as the op `slice` takes them: bounds normalised, and the write that undoes a read."""

import operator

import numpy as np

from ._stream import apply
from .errors import ShapeError, UnsupportedError
from .location import user_location
from .shapes import is_static, show

_FULL = (1 << 63) - 1  # a stop beyond every size: the whole of an axis, whatever its size


def bounds(shape, axis, part):
    """(start, stop, step) of the slice ``part`` of an axis.

    Raises:
        ShapeError: the step is 0.
        UnsupportedError: the axis has a symbolic size and the slice neither takes it whole nor from a fixed start on.
    """
    size = shape[axis]
    step = 1 if part.step is None else operator.index(part.step)
    if step == 0:
        raise ShapeError(f"a slice with step 0 at {user_location()}")
    if is_static(size):
        start, stop, _ = part.indices(size)
        return (start, stop, step) if len(range(start, stop, step)) else (0, 0, 1)
    start = 0 if part.start is None else operator.index(part.start)
    if part.stop is not None or start < 0 or step < 0:
        raise UnsupportedError(
            f"the slice {part} of axis {axis} with the symbolic size {size} of {show(shape)} at {user_location()}: "
            f"such an axis can be taken whole or from a fixed start, forwards"
        )
    return start, _FULL, step


def position(shape, axis, part):
    """The int index ``part`` of an axis, counted from the start.

    Raises:
        ShapeError: it is out of range.
        UnsupportedError: it counts from the end of an axis of symbolic size.
    """
    size = shape[axis]
    index = operator.index(part)
    if is_static(size):
        if not -size <= index < size:
            allowed = f"{-size} to {size - 1}" if size else "none: the axis is empty"
            raise ShapeError(
                f"index {index} is out of range for axis {axis} of {show(shape)} (allowed: {allowed}) "
                f"at {user_location()}"
            )
        return index % size
    if index < 0:
        raise UnsupportedError(
            f"the index {index} of axis {axis} with the symbolic size {size} at {user_location()}: count from the start"
        )
    if not index < size:
        raise ShapeError(f"index {index} is out of range for axis {axis} of {show(shape)} at {user_location()}")
    return index


def is_whole(size, start, stop, step):
    """Whether the bounds take a whole axis in order."""
    return start == 0 and step == 1 and (stop == _FULL or (is_static(size) and stop == size))


def write_slice(handle, value, starts, stops, steps):
    """``handle`` with the elements of a slice replaced by ``value``, which has the shape of the slice.

    Composed of what is differentiable for both: ``value`` is spread to the shape of ``handle``, and a constant mask
    chooses.
    """
    mask = np.ones((1,) * len(handle.shape), bool)
    for axis, (size, start, stop, step) in enumerate(zip(handle.shape, starts, stops, steps)):
        if is_whole(size, start, stop, step):
            continue
        if not is_static(size):
            raise UnsupportedError(
                f"a write into a part of axis {axis} with the symbolic size {size} of {show(handle.shape)} "
                f"at {user_location()}: build the new value with F.where or F.concat"
            )
        places = range(start, stop, step)
        if not places:
            return handle
        value = _spread(value, axis, places, size)
        chosen = np.zeros(size, bool)
        chosen[places.start : None if places.stop < 0 else places.stop : places.step] = True
        mask = mask & chosen.reshape([-1 if i == axis else 1 for i in range(len(handle.shape))])
    if mask.all():
        return value
    return apply("where", [apply("constant", [], {"value": mask})[0], value, handle])[0]


def _spread(value, axis, places, size):
    """``value`` with its elements along ``axis`` at ``places`` of an axis of ``size``; anything in between."""
    if places.step < 0:
        value = _along(value, axis, len(places) - 1, -1, -1)
        places = places[::-1]
    if places.step > 1:
        lead, rest = list(value.shape[:axis]), list(value.shape[axis + 1 :])
        apart = apply("reshape", [value], {"shape": [*lead, len(places), 1, *rest]})[0]
        gaps = _filler(value, [*lead, len(places), places.step - 1, *rest])
        joined = apply("concat", [apart, gaps], {"axis": axis + 1})[0]
        value = apply("reshape", [joined], {"shape": [*lead, len(places) * places.step, *rest]})[0]
        value = _along(value, axis, 0, places[-1] - places[0] + 1, 1)
    pieces = [value]
    for before, count in ((True, places[0]), (False, size - 1 - places[-1])):
        if count:
            filler = _filler(value, [count if i == axis else n for i, n in enumerate(value.shape)])
            pieces = [filler, *pieces] if before else [*pieces, filler]
    return apply("concat", pieces, {"axis": axis})[0] if len(pieces) > 1 else value


def _along(handle, axis, start, stop, step):
    """A slice of one axis."""
    rank = len(handle.shape)
    starts, stops, steps = [0] * rank, [_FULL] * rank, [1] * rank
    starts[axis], stops[axis], steps[axis] = start, stop, step
    stops = [size if stop == _FULL and is_static(size) else stop for size, stop in zip(handle.shape, stops)]
    return apply("slice", [handle], {"starts": starts, "stops": stops, "steps": steps})[0]


def _filler(handle, shape):
    return apply("full", [], {"shape": shape, "value": 0, "dtype": handle.dtype})[0]
