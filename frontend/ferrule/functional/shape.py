"""Shapes: reshape, transpose, broadcast, join and cut."""

import functools

import numpy as np

from .. import _compiler
from .._stream import apply
from .._subscript import read_views
from .._tensor import Tensor, as_tensor
from .._views import reshaped, transposed
from ..errors import ShapeError
from ..location import user_location
from ..shapes import is_one, is_static, same_shape, show, size_of
from .axes import resolve_axes, resolve_axis, resolve_shape
from .recording import remembered


def reshape(inp, target_shape):
    """The elements, in row-major order, in a new shape; one size may be -1."""
    handle = as_tensor(inp)._handle
    return Tensor._wrap(reshaped(handle, resolve_shape("reshape", target_shape, handle.shape)))


def flatten(inp, start_axis=0, end_axis=-1):
    """The axes from ``start_axis`` to ``end_axis``, both included, merged into one."""
    shape = inp.shape
    if not shape:
        return reshape(inp, (1,))
    start, end = resolve_axis("flatten", start_axis, len(shape)), resolve_axis("flatten", end_axis, len(shape))
    if end < start:
        raise ShapeError(f"flatten: start_axis {start_axis} lies after end_axis {end_axis} at {user_location()}")
    return reshape(inp, shape[:start] + (size_of(shape[start : end + 1]),) + shape[end + 1 :])


def transpose(inp, pattern):
    """The axes in the order ``pattern``."""
    handle = as_tensor(inp)._handle
    return Tensor._wrap(transposed(handle, resolve_pattern("transpose", pattern, handle.shape)))


def resolve_pattern(op, pattern, shape):
    """``pattern`` as axes in 0 .. rank-1; raises ShapeError unless it names each axis of ``shape`` once."""
    rank = len(shape)
    axes = [
        axis if type(axis) is int and 0 <= axis < rank else resolve_axis(op, axis, rank) for axis in pattern
    ]
    if sorted(axes) != list(range(rank)):
        raise ShapeError(
            f"{op}: the pattern {tuple(pattern)} must name each axis of {show(shape)} once, at {user_location()}"
        )
    return axes


def swapaxes(inp, axis1, axis2):
    """Two axes exchanged."""
    axes = list(range(inp.ndim))
    a, b = resolve_axis("swapaxes", axis1, inp.ndim), resolve_axis("swapaxes", axis2, inp.ndim)
    axes[a], axes[b] = axes[b], axes[a]
    return transpose(inp, axes)


def broadcast_to(inp, shape):
    """The value repeated along new axes and axes of size 1 by NumPy's rule."""
    inp = as_tensor(inp)
    sizes = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    if same_shape(sizes, inp.shape):
        return Tensor._wrap(inp._handle)
    return Tensor._wrap(apply("broadcast_to", [inp._handle], {"shape": sizes})[0])


def expand_dims(inp, axis):
    """New axes of size 1 at ``axis``, counted in the result."""
    return Tensor._wrap(reshaped(inp._handle, expanded_shape(inp.shape, axis)))


def expanded_shape(shape, axis):
    """The sizes of ``shape`` with new axes of size 1 at ``axis``, counted in the result."""
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    ndim = len(shape) + len(axes)
    sizes = list(shape)
    for place in resolve_axes("expand_dims", axes, ndim):
        sizes.insert(place, 1)
    return sizes


def squeeze(inp, axis=None):
    """Axes of size 1 removed: those named, or all."""
    return Tensor._wrap(reshaped(inp._handle, squeezed_shape(inp.shape, axis)))


def squeezed_shape(shape, axis):
    """The sizes of ``shape`` without axes of size 1: those named, or all."""
    if axis is None:
        return [size for size in shape if not is_one(size)]
    axes = resolve_axes("squeeze", axis, len(shape))
    for i in axes:
        if not is_one(shape[i]):
            raise ShapeError(f"squeeze: axis {i} of {show(shape)} has size {shape[i]}, not 1 at {user_location()}")
    return [size for i, size in enumerate(shape) if i not in axes]


def concat(inps, axis=0, device=None):
    """The tensors joined along an existing axis; the dtype is their promotion."""
    del device
    tensors = [as_tensor(inp) for inp in inps]
    if not tensors:
        raise ShapeError(f"concat: no tensors at {user_location()}")
    handles = [tensor._handle for tensor in tensors]
    found = {handle.dtype: None for handle in handles}
    if len(found) > 1:
        dtype = functools.reduce(_compiler.promote, found)
        handles = [as_tensor(tensor, dtype)._handle for tensor in tensors]
    axis = resolve_axis("concat", axis, handles[0].ndim)
    return Tensor._wrap(apply("concat", handles, {"axis": axis})[0])


@remembered
def stack(inps, axis=0, device=None):
    """The tensors joined along a new axis."""
    del device
    return concat([expand_dims(as_tensor(inp), axis) for inp in inps], axis)


def split(inp, nsplits_or_sections, axis=0):
    """A list of parts along ``axis``: so many equal ones, or cut before each of the given positions."""
    axis = resolve_axis("split", axis, inp.ndim)
    size = inp.shape[axis]
    if not is_static(size):
        raise ShapeError(f"split: axis {axis} of {show(inp.shape)} has a symbolic size at {user_location()}")
    if isinstance(nsplits_or_sections, int):
        if nsplits_or_sections < 1 or size % nsplits_or_sections:
            raise ShapeError(
                f"split: axis {axis} of size {size} does not divide into {nsplits_or_sections} parts "
                f"at {user_location()}"
            )
        step = size // nsplits_or_sections
        cuts = list(range(0, size + 1, step))
    else:
        cuts = [0, *nsplits_or_sections, size]
        if any([not 0 <= a <= b <= size for a, b in zip(cuts, cuts[1:])]):
            raise ShapeError(
                f"split: the positions {tuple(nsplits_or_sections)} must ascend within 0 to {size} at {user_location()}"
            )
    lead = (slice(None),) * axis
    return read_views(inp, [(*lead, slice(a, b)) for a, b in zip(cuts, cuts[1:])])


def _rolled(inp, shift, axis):
    """`roll` where the size of the axis is symbolic, so that nothing tells whether it is larger than the shift."""
    from .creation import arange
    from .elementwise import mod
    from .indexing import take

    size = inp.shape[axis]
    return take(inp, mod(arange(size, dtype="int64") - shift, size), axis)


@remembered
def repeat(inp, repeats, axis=None):
    """Each element repeated along ``axis``; without one the tensor is flattened first.

    ``repeats`` is a number for all elements, or a list with one for each.
    """
    inp = as_tensor(inp)
    if axis is None:
        inp, axis = flatten(inp), 0
    axis = resolve_axis("repeat", axis, inp.ndim)
    shape = inp.shape
    if isinstance(repeats, (tuple, list, np.ndarray)):
        return _repeat_each(inp, np.asarray(repeats), axis)
    if is_static(repeats) and repeats < 0:
        raise ShapeError(f"repeat: {repeats} is negative at {user_location()}")
    return repeat_along(inp, {axis: repeats})


def repeat_along(inp, counts):
    """Each element repeated ``counts[axis]`` times along the axes of ``counts``, all at once."""
    apart, wide, joined = [], [], []
    for axis, size in enumerate(inp.shape):
        count = counts.get(axis, 1)
        apart += [size, 1] if axis in counts else [size]
        wide += [size, count] if axis in counts else [size]
        joined.append(size * count)
    return reshape(broadcast_to(reshape(inp, apart), wide), joined)


def _repeat_each(inp, repeats, axis):
    size = inp.shape[axis]
    if not is_static(size) or repeats.size not in (1, size) or repeats.ndim != 1 or (repeats < 0).any():
        raise ShapeError(
            f"repeat: {repeats.tolist()} must hold one number, not negative, for each of the {size} elements of axis "
            f"{axis} of {show(inp.shape)} at {user_location()}"
        )
    from .indexing import take

    return take(inp, np.repeat(np.arange(size, dtype=np.int32), repeats), axis)


@remembered
def tile(inp, reps):
    """The whole tensor repeated ``reps[i]`` times along axis i, aligned at the last axis."""
    inp = as_tensor(inp)
    reps = list(reps) if isinstance(reps, (tuple, list)) else [reps]
    shape = [1] * (len(reps) - inp.ndim) + list(inp.shape)
    reps = [1] * (len(shape) - len(reps)) + reps
    apart = [part for size in shape for part in (1, size)]
    wide = [part for rep, size in zip(reps, shape) for part in (rep, size)]
    return reshape(broadcast_to(reshape(inp, apart), wide), [rep * size for rep, size in zip(reps, shape)])


@remembered
def roll(inp, shift, axis=None):
    """Elements moved along ``axis`` by ``shift``, those that leave coming in at the other end."""
    inp = as_tensor(inp)
    if axis is None:
        return reshape(roll(flatten(inp), shift, 0), inp.shape)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    if len(shifts) == 1:
        shifts = tuple(shifts) * len(axes)
    if len(shifts) != len(axes):
        raise ShapeError(f"roll: {len(shifts)} shifts for {len(axes)} axes at {user_location()}")
    for s, a in zip(shifts, axes):
        a = resolve_axis("roll", a, inp.ndim)
        size = inp.shape[a]
        if is_static(s) and s == 0:
            continue
        if not is_static(size):
            inp = _rolled(inp, s, a)
        elif size and s % size:
            tail, head = split(inp, [size - s % size], a)
            inp = concat([head, tail], a)
    return Tensor(inp)
