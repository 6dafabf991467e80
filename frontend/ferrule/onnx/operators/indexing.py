"""Reading and writing at positions, sorting, and positions as results (int64, as the specification says)."""

import numpy as np

from ... import functional as F
from ...shapes import size_of
from ..registry import operator
from .axes import axis_of, scalar

# --- reading ----------------------------------------------------------------------------------------------------------


def _fold_gather(node, data, indices):
    axis = node.get("axis", 0)
    if indices.dtype == object or data.size == 0:
        return None
    return np.take(data, indices, axis=axis)


@operator("Gather", fold=_fold_gather)
def gather(node, data, indices):
    """The parts at the indices along an axis."""
    return F.take(data, indices, axis_of(node.get("axis", 0), data.ndim))


@operator("GatherElements", since=11, fold=lambda node, x, i: np.take_along_axis(x, i, node.get("axis", 0)))
def gather_elements(node, data, indices):
    """Along an axis the elements that the indices name, place by place."""
    return F.gather(data, axis_of(node.get("axis", 0), data.ndim), indices)


@operator("GatherND", since=11)
def gather_nd(node, data, indices):
    """The parts at index vectors; the first ``batch_dims`` axes of both belong together."""
    count = node.get("batch_dims", 0)
    if count == 0:
        return F.gather_nd(data, indices)
    batch = data.shape[:count]
    data = F.reshape(data, (size_of(batch), *data.shape[count:]))
    indices = F.reshape(indices, (size_of(batch), *indices.shape[count:]))
    rows = F.arange(data.shape[0], dtype=indices.dtype)
    rows = F.broadcast_to(F.reshape(rows, (-1,) + (1,) * (indices.ndim - 1)), (*indices.shape[:-1], 1))
    found = F.gather_nd(data, F.concat([rows, indices], -1))
    return F.reshape(found, (*batch, *found.shape[1:]))


@operator("Compress", since=9, note="the count of a condition that depends on the data is a dim")
def compress(node, data, condition):
    """The parts along an axis (of all elements without one) where the condition holds."""
    axis = node.get("axis")
    if axis is None:
        data, axis = F.flatten(data), 0
    axis = axis_of(axis, data.ndim)
    return F.take(data, F.flatnonzero(condition), axis)


@operator("ReverseSequence", since=10)
def reverse_sequence(node, x, lengths):
    """Each sequence of a batch reversed over its own length."""
    batch, time = node.get("batch_axis", 1), node.get("time_axis", 0)
    step = F.reshape(F.arange(x.shape[time], dtype="int64"), [-1 if i == time else 1 for i in range(x.ndim)])
    length = F.reshape(lengths, [-1 if i == batch else 1 for i in range(x.ndim)])
    position = F.where(F.less(step, length), length - 1 - step, step)
    return F.gather(x, time, F.broadcast_to(position, x.shape))


# --- writing ----------------------------------------------------------------------------------------------------------


def _combined(node, target, source):
    return {"mul": F.mul, "max": F.maximum, "min": F.minimum}[node.get("reduction")](target, source)


def _one_by_one(node, data, places, updates):
    """Writes elements of ``updates`` into the flattened data in turn, each combined with what is there.

    Serial: for the reductions that no operation of the graph computes.
    """

    def step(state, item):
        place, value = item
        current = F.take(state, F.reshape(place, (1,)))
        return F.scatter_nd(state, F.reshape(place, (1, 1)), _combined(node, current, F.reshape(value, (1,)))), None

    flat, _ = F.scan(step, F.flatten(data), (F.flatten(places), F.flatten(updates)))
    return F.reshape(flat, data.shape)


def _row_major(shape):
    """What one step along each axis means in the flattened tensor."""
    return [size_of(shape[i + 1 :]) for i in range(len(shape))]


def _counted_from_start(indices, size):
    return F.where(F.less(indices, 0), indices + size, indices)


@operator(("ScatterElements", "Scatter"), since=9)
def scatter_elements(node, data, indices, updates):
    """The data with elements written, added, multiplied or compared at indices along an axis, place by place."""
    axis = axis_of(node.get("axis", 0), data.ndim)
    reduction = node.get("reduction", "none")
    if reduction == "none":
        return F.scatter(data, axis, indices, updates)
    if reduction == "add":
        return F.scatter_add(data, axis, indices, updates)
    places = _counted_from_start(indices, data.shape[axis]).astype("int64")
    flat = 0
    for i, stride in enumerate(_row_major(data.shape)):
        along = F.reshape(F.arange(indices.shape[i], dtype="int64"), [-1 if j == i else 1 for j in range(data.ndim)])
        flat = flat + (places if i == axis else along) * stride
    return _one_by_one(node, data, flat, updates)


@operator("ScatterND", since=11)
def scatter_nd(node, data, indices, updates):
    """The data with parts written, added, multiplied or compared at index vectors."""
    reduction = node.get("reduction", "none")
    if reduction in ("none", "add"):
        return F.scatter_nd(data, indices, updates, accumulate=reduction == "add")
    count = indices.shape[-1]
    strides = _row_major(data.shape)
    start = sum(
        _counted_from_start(indices[..., i], data.shape[i]).astype("int64") * strides[i] for i in range(count)
    )
    inner = size_of(data.shape[count:])
    places = F.expand_dims(start, -1) + F.arange(inner, dtype="int64")
    return _one_by_one(node, data, places, F.reshape(updates, places.shape))


@operator("TensorScatter", since=24)
def tensor_scatter(node, past, update, write_indices=None):
    """A cache with new steps written from an index of each batch row on, also around its end."""
    axis = axis_of(node.get("axis", -2), past.ndim)
    size, count = past.shape[axis], update.shape[axis]
    start = F.zeros((past.shape[0],), dtype="int64") if write_indices is None else write_indices
    rows = [-1] + [1] * (past.ndim - 1)
    steps = F.reshape(F.arange(count, dtype="int64"), [-1 if i == axis else 1 for i in range(past.ndim)])
    places = F.reshape(start, rows) + steps
    if node.get("mode", "linear") == "circular":
        places = F.mod(places, size)
    return F.scatter(past, axis, F.broadcast_to(places, update.shape), update)


@operator("OneHot", since=9, host=(1,))
def one_hot(node, indices, depth, values):
    """The second of two values where a new axis names the index, else the first."""
    depth = scalar(depth, "the depth")
    rank = indices.ndim + 1
    axis = axis_of(node.get("axis", -1), rank)
    indices = indices.astype("int64")
    wanted = F.expand_dims(F.where(F.less(indices, 0), indices + depth, indices), axis)
    places = F.reshape(F.arange(depth, dtype="int64"), [-1 if i == axis else 1 for i in range(rank)])
    return F.where(F.equal(wanted, places), values[1], values[0])


# --- positions --------------------------------------------------------------------------------------------------------


@operator(("ArgMax", "ArgMin"))
def extreme_position(node, x):
    """The position of the largest or smallest element; the first of equal ones unless the node wants the last."""
    axis, keep = axis_of(node.get("axis", 0), x.ndim), bool(node.get("keepdims", 1))
    find = F.argmax if node.operator == "ArgMax" else F.argmin
    if not node.get("select_last_index", 0):
        return find(x, axis, keep).astype("int64")
    return x.shape[axis] - 1 - find(F.flip(x, axis), axis, keep).astype("int64")


@operator("TopK", since=10, host=(1,))
def top_k(node, x, k):
    """The k largest or smallest elements along an axis and their positions, sorted."""
    values, positions = F.topk(
        x, scalar(k, "k"), descending=bool(node.get("largest", 1)), axis=axis_of(node.get("axis", -1), x.ndim)
    )
    return [values, positions.astype("int64")]


@operator("TopK")
def top_k_by_attribute(node, x):
    """Before version 10 k is an attribute."""
    values, positions = F.topk(x, node.get("k"), axis=axis_of(node.get("axis", -1), x.ndim))
    return [values, positions.astype("int64")]


def _fold_non_zero(node, x):
    return None if x.dtype == object else np.stack(np.nonzero(np.atleast_1d(x))).astype(np.int64)


@operator("NonZero", since=9, fold=_fold_non_zero, note="the count is a dim of its own")
def non_zero(node, x):
    """The positions of the elements that are not zero: [rank, count]."""
    x = F.reshape(x, (1,)) if x.ndim == 0 else x
    return F.transpose(F.non_zero(x), (1, 0)).astype("int64")


@operator(("CumSum", "CumProd"), since=11, host=(1,))
def running(node, x, axis):
    """Running sums or products along an axis."""
    run = F.cumsum if node.operator == "CumSum" else F.cumprod
    along = axis_of(scalar(axis, "the axis"), x.ndim)
    return run(x, along, reverse=bool(node.get("reverse", 0)), exclusive=bool(node.get("exclusive", 0)))


@operator("Trilu", since=14, host=(1,))
def triangle(node, x, k=None):
    """The upper or lower triangle of matrices, zeros elsewhere."""
    offset = 0 if k is None else scalar(k, "k")
    if x.dtype == "bool":
        return _triangle_of(node, x.astype("int32"), offset).astype("bool")
    return _triangle_of(node, x, offset)


def _triangle_of(node, x, offset):
    """The triangle that the node's attribute ``upper`` names."""
    return F.triu(x, offset) if node.get("upper", 1) else F.tril(x, offset)
