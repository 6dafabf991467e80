"""Slices as the op `slice` takes them: bounds normalised, and the write that undoes a read."""

import operator

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


def write_slice(handle, value, starts, steps):
    """``handle`` with the elements of the slice ``starts``, ``steps`` replaced by ``value``, which has its shape."""
    if any(is_static(size) and size == 0 for size in value.shape):
        return handle
    return apply("update_slice", [handle, value], {"offsets": starts, "steps": steps})[0]
