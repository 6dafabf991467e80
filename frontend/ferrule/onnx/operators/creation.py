"""Values from attributes and sizes."""

import numpy as np

from ... import dtypes, functional as F
from ...errors import UnsupportedError
from ...shapes import is_static
from ..model import constant_array, dtype_name
from ..registry import operator
from ..values import Known, dtype_of, shape_of


@operator("Constant", raw=True)
def constant(node):
    """What the node holds."""
    return node.importer.stored(constant_array(node.node), node.outputs[0])


def _fill(node):
    value = node.get("value")
    return np.zeros((1,), np.float32) if value is None else value


def _fold_constant_of_shape(node, shape):
    if shape.dtype == object or np.prod(shape, dtype=np.int64) > 64:
        return None
    value = _fill(node)
    return np.full(tuple(shape), value.reshape(-1)[0], value.dtype)


@operator("ConstantOfShape", since=9, host=(0,), fold=_fold_constant_of_shape)
def constant_of_shape(node, shape):
    """One value in every place."""
    value = _fill(node)
    return F.full(list(shape), value.reshape(-1)[0].item(), dtype=dtypes.canonical(value.dtype))


def _fold_range(node, start, limit, delta):
    if any(each.dtype == object for each in (start, limit, delta)):
        return None
    return np.arange(start.reshape(-1)[0], limit.reshape(-1)[0], delta.reshape(-1)[0], dtype=start.dtype)


@operator("Range", since=11, host=(0, 1, 2), raw=True, fold=_fold_range, note="sizes that the shapes decide")
def range_of(node, start, limit, delta, *stash):
    """start, start + delta, ... before limit."""
    for value in (start, limit, delta):
        if not isinstance(value, Known):
            raise UnsupportedError("the number of its elements depends on the data")
    first, last, step = (value.array.reshape(-1)[0] for value in (start, limit, delta))
    if not is_static(step) or not is_static(first):
        raise UnsupportedError(f"it runs from {first} by {step}; with a symbolic limit both must be numbers")
    return F.arange(int(first), last, int(step), dtype=dtype_of(start))


@operator("Shape", raw=True)
def shape(node, x):
    """The sizes from axis ``start`` to ``end``."""
    sizes = shape_of(x)
    begin, end, _ = slice(node.get("start", 0), node.get("end")).indices(len(sizes))
    return _sizes(sizes[begin:end])


@operator("Size", raw=True)
def size(node, x):
    """The number of elements."""
    total = 1
    for each in shape_of(x):
        total = total * each
    return Known(np.array(total, object), "int64")


def _sizes(sizes):
    array = np.empty(len(sizes), object)
    array[:] = sizes
    return Known(array, "int64")


@operator("EyeLike", since=9)
def eye_like(node, x):
    """Ones on a diagonal of a matrix of the operand's sizes."""
    dtype = dtype_name(node.get("dtype", 0)) or x.dtype
    rows, columns = x.shape
    if is_static(rows) and is_static(columns):
        return F.copy(np.eye(rows, columns, node.get("k", 0)).astype(dtypes.to_numpy(dtype)))
    ones = F.ones((rows, columns), dtype="int32")
    return F.triu(F.tril(ones, node.get("k", 0)), node.get("k", 0)).astype(dtype)
