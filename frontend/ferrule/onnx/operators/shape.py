"""Shapes: reshape, transpose, join, cut, repeat and pad. On known values they work on the host."""

import numpy as np

from ... import dtypes, functional as F
from ..._tensor import Tensor
from ...errors import ModelError, ShapeError, UnsupportedError
from ...shapes import is_static, size_of
from ..registry import operator
from ..values import shape_of
from .axes import axes_of, axis_of, broadcast_shapes, ints, sizes

# --- new shapes -------------------------------------------------------------------------------------------------------


def _target(node, source, wanted):
    """The sizes of a Reshape: 0 keeps a size (unless ``allowzero``), -1 takes what is left."""
    kept = not node.get("allowzero", 0)
    return [source[i] if kept and is_static(size) and size == 0 else size for i, size in enumerate(wanted)]


def _fold_reshape(node, data, shape):
    target = _target(node, data.shape, sizes(shape))
    return data.reshape(target) if all(is_static(size) for size in target) else None


@operator("Reshape", since=5, host=(1,), fold=_fold_reshape)
def reshape(node, data, shape):
    """The elements in another shape."""
    return F.reshape(data, _target(node, data.shape, sizes(shape)))


@operator("Reshape")
def reshape_by_attribute(node, data):
    """Before version 5 the shape is an attribute."""
    return F.reshape(data, _target(node, data.shape, node.get("shape")))


@operator("Flatten", fold=lambda node, x: x.reshape(_flat(node, x.shape)))
def flatten(node, x):
    """The axes before ``axis`` and those from it on, each merged into one."""
    return F.reshape(x, _flat(node, x.shape))


def _flat(node, shape):
    axis = node.get("axis", 1)
    axis = axis + len(shape) if axis < 0 else axis
    return [size_of(shape[:axis]), size_of(shape[axis:])]


def _order(node, rank):
    return node.get("perm") or list(range(rank))[::-1]


@operator("Transpose", fold=lambda node, x: x.transpose(_order(node, x.ndim)))
def transpose(node, x):
    """The axes in another order, reversed by default."""
    order = _order(node, x.ndim)
    result = F.transpose(x, order)
    if order == [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2]:
        node.importer.note_transposed(result, x)
    return result


def _squeezed(node, shape, axes):
    axes = axes_of(node, axes, len(shape))
    if axes is None:
        return [size for size in shape if not (is_static(size) and size == 1)]
    return [size for i, size in enumerate(shape) if i not in axes]


@operator("Squeeze", host=(1,), fold=lambda node, x, axes=None: x.reshape(_squeezed(node, x.shape, axes)))
def squeeze(node, x, axes=None):
    """Axes of size 1 removed. A symbolic size that is removed must be 1 when the program runs."""
    return F.reshape(x, _squeezed(node, x.shape, axes))


def _unsqueezed(node, shape, axes):
    given = node.get("axes") if axes is None else ints(axes, "an axis")
    rank = len(shape) + len(given)
    places = {axis_of(axis, rank) for axis in given}
    if len(places) != len(given):
        raise ModelError(f"Unsqueeze: an axis stands twice in {given}")
    rest = iter(shape)
    return [1 if i in places else next(rest) for i in range(rank)]


@operator("Unsqueeze", host=(1,), fold=lambda node, x, axes=None: x.reshape(_unsqueezed(node, x.shape, axes)))
def unsqueeze(node, x, axes=None):
    """New axes of size 1."""
    return F.reshape(x, _unsqueezed(node, x.shape, axes))


@operator("Identity", raw=True)
def identity(node, x):
    """The value itself."""
    return x


@operator("Dropout", since=12, host=(1, 2), note="at inference")
def dropout(node, x, ratio=None, training_mode=None):
    """The value itself: nothing is dropped at inference."""
    if training_mode is not None and training_mode.all() and (ratio is None or ratio.all()):
        raise UnsupportedError("training_mode is set: dropping at random belongs to a training")
    return [x, F.ones(x.shape, dtype="bool")] if node.wants(1) else x


@operator("Dropout", note="at inference")
def dropout_before_12(node, x):
    """The value itself; the mask has the type of the value before version 10."""
    mask = "bool" if node.version >= 10 else x.dtype
    return [x, F.ones(x.shape, dtype=mask)] if node.wants(1) else x


# --- joined and cut ---------------------------------------------------------------------------------------------------


def _fold_concat(node, *arrays):
    return np.concatenate(arrays, axis=node.get("axis", 1))


@operator("Concat", since=4, fold=_fold_concat)
def concat(node, *tensors):
    """The tensors joined along an axis."""
    return F.concat(tensors, node.get("axis"))


@operator("Concat")
def concat_before_4(node, *tensors):
    """Before version 4 the axis is 1 by default."""
    return F.concat(tensors, node.get("axis", 1))


def _lengths(node, size, lengths):
    """The sizes of the parts of a Split."""
    given = node.get("split") if lengths is None else ints(lengths, "the length of a part")
    if given is not None:
        return given
    count = node.get("num_outputs", len(node.outputs))
    part = -(-size // count) if is_static(size) else size // count
    parts = [part] * count
    if is_static(size):
        parts[-1] = size - part * (count - 1)
    return parts


def _parts(node, shape, lengths):
    axis = axis_of(node.get("axis", 0), len(shape))
    begin = 0
    for length in _lengths(node, shape[axis], lengths):
        yield (slice(None),) * axis + (slice(begin, begin + length),)
        begin = begin + length


@operator("Split", since=2, host=(1,), fold=lambda node, x, n=None: [x[part] for part in _parts(node, x.shape, n)])
def split(node, x, lengths=None):
    """Parts along an axis: of given lengths, or equal ones, of which the last may be shorter."""
    return [_cut(x, part) for part in _parts(node, x.shape, lengths)]


# Exporters write such a bound for "to the end of the axis".
_FAR = 10**8


def _slice_of(size, start, stop, step):
    """One axis of a Slice as Python's slice, with the bounds clamped as the specification says."""
    if step == 0:
        raise ModelError("Slice: a step is 0")
    if is_static(size) and is_static(start) and is_static(stop):
        start, stop = (value + size if value < 0 else value for value in (start, stop))
        if step > 0:
            return slice(min(max(start, 0), size), min(max(stop, 0), size), step)
        start, stop = min(max(start, 0), size - 1), min(max(stop, -1), size - 1)
        return slice(start, None if stop < 0 else stop, step) if start > stop else slice(0, 0, 1)
    if is_static(start) and abs(start) > _FAR or is_static(start) and start == 0 and step > 0:
        start = None
    if is_static(stop) and abs(stop) > _FAR:
        stop = None
    return slice(start, stop, step)


def _slices(node, shape, starts, ends, axes, steps):
    starts = sizes(starts) if starts is not None else node.get("starts")
    ends = sizes(ends) if ends is not None else node.get("ends")
    axes = axes_of(node, axes, len(shape)) or list(range(len(starts)))
    steps = [1] * len(starts) if steps is None else ints(steps, "a step")
    cuts = [slice(None)] * len(shape)
    for axis, start, end, step in zip(axes, starts, ends, steps):
        cuts[axis] = _slice_of(shape[axis], start, end, step)
    return tuple(cuts)


def _fold_slice(node, x, starts=None, ends=None, axes=None, steps=None):
    return x[_slices(node, x.shape, starts, ends, axes, steps)]


@operator("Slice", host=(1, 2, 3, 4), fold=_fold_slice)
def slice_axes(node, x, starts=None, ends=None, axes=None, steps=None):
    """Parts of axes, also backwards; bounds beyond an axis are clamped."""
    return _cut(x, _slices(node, x.shape, starts, ends, axes, steps))


def _cut(x, cuts):
    """``x`` sliced; between bounds of which one is a Dim the elements are taken by their positions."""
    positions = {}
    for axis, part in enumerate(cuts):
        if not (is_static(part.start) and is_static(part.stop)):
            positions[axis] = part
    x = F.copy(x[tuple(slice(None) if axis in positions else part for axis, part in enumerate(cuts))])
    for axis, part in positions.items():
        x = F.take(x, F.arange(*_bounds(x.shape[axis], part), dtype="int64"), axis)
    return x


def _bounds(size, part):
    """The start and stop of a slice with step 1 of an axis, counted from its beginning."""
    start = 0 if part.start is None else part.start
    stop = size if part.stop is None else part.stop
    if part.step != 1:
        raise UnsupportedError(f"a step of {part.step} between {start} and {stop}, of which one is symbolic")
    start, stop = (bound + size if is_static(bound) and bound < 0 else bound for bound in (start, stop))
    if not 0 <= start or not start <= stop or not stop <= size:
        raise ShapeError(f"the part from {start} to {stop} of an axis of size {size}")
    return start, stop


# --- repeated and padded ----------------------------------------------------------------------------------------------


def _fold_expand(node, x, shape):
    target = broadcast_shapes(x.shape, sizes(shape))
    if not all(is_static(size) for size in target) or size_of(target) > 1024:
        return None
    return np.broadcast_to(x, target)


@operator("Expand", since=8, host=(1,), fold=_fold_expand)
def expand(node, x, shape):
    """Repeated to the common shape of both, by the rule of broadcasting."""
    return F.copy(F.broadcast_to(x, broadcast_shapes(x.shape, sizes(shape))))


def _fold_tile(node, x, repeats):
    repeats = sizes(repeats)
    if not all(is_static(count) for count in repeats) or size_of(repeats) * x.size > 1024:
        return None
    return np.tile(x, repeats)


@operator("Tile", since=6, host=(1,), fold=_fold_tile)
def tile(node, x, repeats):
    """The whole tensor repeated along each axis."""
    return F.tile(x, sizes(repeats))


@operator("Pad", since=11, host=(1, 3), host_if_known=(2,), note="widths that the shapes decide")
def pad(node, x, pads, value=None, axes=None):
    """Elements around a tensor; negative widths take elements away."""
    widths = ints(pads, "the width of a padding")
    axes = list(range(x.ndim)) if axes is None else axes_of(node, axes, x.ndim)
    mode = node.get("mode", "constant")
    if isinstance(value, Tensor) and mode == "constant":
        inside = _padded(F.ones(x.shape, dtype="int32"), axes, widths, mode, 0)
        return F.where(inside, _padded(x, axes, widths, mode, 0), F.reshape(value, ()))
    number = 0 if value is None or not value.size else value.reshape(-1)[0].item()
    return _padded(x, axes, widths, mode, number)


@operator("Pad", since=2)
def pad_by_attributes(node, x):
    """Before version 11 the widths are attributes."""
    widths = node.get("pads")
    return _padded(x, list(range(x.ndim)), widths, node.get("mode", "constant"), node.get("value", 0.0))


def _padded(x, axes, widths, mode, value):
    if len(widths) != 2 * len(axes):
        raise ModelError(f"Pad: {len(widths)} widths for {len(axes)} axes; two an axis are needed")
    pairs = [(0, 0)] * x.ndim
    for i, axis in enumerate(axes):
        pairs[axis] = widths[i], widths[len(axes) + i]
    crop = tuple(
        slice(max(-before, 0), None if after >= 0 else size + after)
        for (before, after), size in zip(pairs, shape_of(x))
    )
    if any(min(pair) < 0 for pair in pairs):
        x = F.copy(x[crop])
    pairs = [(max(before, 0), max(after, 0)) for before, after in pairs]
    if mode == "constant" and x.dtype == "bool":
        return F.pad(x.astype("int32"), pairs, mode, int(value)).astype("bool")
    if mode == "reflect":
        return _reflected(x, pairs)
    return F.pad(x, pairs, mode, dtypes.to_numpy(x.dtype).type(value))


def _reflected(x, pairs):
    """Mirrored at both ends, as often as the widths need it."""
    while any(max(pair) for pair in pairs):
        step = []
        for (before, after), size in zip(pairs, x.shape):
            most = size - 1 if is_static(size) else max(before, after)
            step.append((min(before, most), min(after, most)))
        if not any(max(pair) for pair in step):
            raise ModelError(f"Pad: an axis of size 1 of {tuple(x.shape)} has nothing to mirror")
        x = F.pad(x, step, "reflect")
        pairs = [(before - done[0], after - done[1]) for (before, after), done in zip(pairs, step)]
    return x
