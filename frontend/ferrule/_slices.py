"""Slices as the op `slice` takes them: bounds normalised, and the write that undoes a read."""

import operator

from . import _compiler
from ._stream import apply
from .errors import ShapeError, TraceError, UnsupportedError
from .location import user_location
from .shapes import is_static, same_shape, show

_FULL = (1 << 63) - 1  # a stop beyond every size: the whole of an axis, whatever its size


def bounds(shape, axis, part):
    """(start, stop, step) of the slice ``part`` of an axis; ints, or DimExprs where a size or a bound is symbolic.

    Raises:
        ShapeError: the step is 0.
        UnsupportedError: a symbolic bound of which its Dims do not say whether it counts from the end.
    """
    size = shape[axis]
    step = 1 if part.step is None else operator.index(part.step)
    if step == 0:
        raise ShapeError(f"a slice with step 0 at {user_location()}")
    if is_static(size) and is_static(part.start) and is_static(part.stop):
        start, stop, _ = part.indices(size)
        return (start, stop, step) if len(range(start, stop, step)) else (0, 0, 1)
    if step > 0 and part.stop is None and is_static(part.start) and (part.start or 0) >= 0:
        start = operator.index(part.start or 0)
        # Where the Dims say that it begins inside, its size is n - start: the same expression as that of [:-start].
        return start, size if start and _decided(operator.le, start, size) else _FULL, step
    low, high = (0, size) if step > 0 else (-1, size - 1)
    first, behind = (low, high) if step > 0 else (high, low)
    start = first if part.start is None else _cut(_counted(shape, axis, part.start, part), low, high)
    stop = behind if part.stop is None else _cut(_counted(shape, axis, part.stop, part), low, high)
    return (start, _at_least(stop, start), step) if step > 0 else (start, _at_most(stop, start), step)


def _counted(shape, axis, value, index):
    """A bound or position counted from the start."""
    value = value if not is_static(value) else operator.index(value)
    negative = _decided(operator.lt, value, 0)
    if negative is None:
        raise UnsupportedError(
            f"the index {index} of axis {axis} of {show(shape)} at {user_location()}: {value} may be negative, which counts "
            f"from the end; give its Dims bounds that decide it, or write maximum({value}, 0)"
        )
    return value + shape[axis] if negative else value


def _decided(comparison, a, b):
    """A comparison of sizes, or None if the bounds of their Dims leave it open."""
    try:
        return comparison(a, b)
    except TraceError:
        return None


def _at_least(value, low):
    """max(value, low), written such that the distance to ``low`` is max(value - low, 0)."""
    return value if _decided(operator.ge, value, low) else _compiler.max_(value - low, 0) + low


def _at_most(value, high):
    return value if _decided(operator.le, value, high) else _compiler.min_(value, high)


def _cut(value, low, high):
    """``value`` held between two bounds, of which ``low`` is never the larger."""
    if _decided(operator.le, value, high):
        return _at_least(value, low)
    return _at_most(_at_least(value, low), high)


def position(shape, axis, part):
    """The index ``part`` of an axis, counted from the start: an int or a DimExpr.

    Raises:
        ShapeError: it is out of range for some size that the Dims allow.
        UnsupportedError: a symbolic index of which its Dims do not say whether it counts from the end.
    """
    size = shape[axis]
    if is_static(size) and is_static(part):
        index = operator.index(part)
        if not -size <= index < size:
            allowed = f"{-size} to {size - 1}" if size else "none: the axis is empty"
            raise ShapeError(
                f"index {index} is out of range for axis {axis} of {show(shape)} (allowed: {allowed}) "
                f"at {user_location()}"
            )
        return index % size
    index = _counted(shape, axis, part, part)
    if not (_decided(operator.ge, index, 0) and _decided(operator.lt, index, size)):
        raise ShapeError(
            f"index {part} is out of range for axis {axis} of {show(shape)} for some sizes that the Dims allow, "
            f"at {user_location()}"
        )
    return index


def is_whole(size, start, stop, step):
    """Whether the bounds take a whole axis in order."""
    return is_static(start) and start == 0 and step == 1 and (
        same_shape((stop,), (size,)) or (is_static(stop) and stop == _FULL)
    )


def write_slice(handle, value, starts, steps):
    """``handle`` with the elements of the slice ``starts``, ``steps`` replaced by ``value``, which has its shape."""
    if any(is_static(size) and size == 0 for size in value.shape):
        return handle
    return apply("update_slice", [handle, value], {"offsets": starts, "steps": steps})[0]
