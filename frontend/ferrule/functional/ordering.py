"""Sorting. -0 equals +0 and NaN is the largest; equal elements keep their order, also descending, so that the lower
index comes first. Positions are int32. Values carry gradients back to where they came from.
"""

import numpy as np

from .. import dtypes
from .._stream import apply
from .._tensor import Tensor, as_tensor
from ..errors import DtypeError, ShapeError
from ..location import user_location
from ..shapes import is_static, show
from .axes import resolve_axis
from .recording import remembered
from .reduce import mean
from .shape import broadcast_to, expand_dims, squeeze
from .widening import ordered

__all__ = ["argsort", "bucketize", "digitize", "searchsorted", "sort", "topk", "topk_accuracy"]


def _positions(op, inp, axis, descending, k=None):
    if not isinstance(descending, (bool, np.bool_)):
        # PyTorch has the axis in this place.
        raise TypeError(f"{op}: descending is {descending!r} at {user_location()}; a bool is needed (axis=... is the axis)")
    axis = resolve_axis(op, axis, inp.ndim)
    attrs = {"axis": axis, "descending": bool(descending)}
    if k is not None:
        attrs["k"] = [k]
    return Tensor._wrap(apply("argsort", [ordered(inp)._handle], attrs)[0])


def _values(inp, axis, positions):
    """gather without its check of sizes: positions of fewer elements have the other axes of inp."""
    attrs = {"axis": resolve_axis("sort", axis, inp.ndim)}
    return Tensor._wrap(apply("gather", [inp._handle, positions._handle], attrs)[0])


@remembered
def argsort(inp, descending=False, axis=-1):
    """The positions of the elements along ``axis`` in ascending or descending order."""
    return _positions("argsort", as_tensor(inp), axis, descending)


@remembered
def sort(inp, descending=False, axis=-1):
    """The elements along ``axis`` in ascending or descending order, and their positions."""
    inp = as_tensor(inp)
    positions = _positions("sort", inp, axis, descending)
    return _values(inp, axis, positions), positions


@remembered
def topk(inp, k, descending=True, kth_only=False, no_sort=False, axis=-1):
    """The ``k`` largest elements along ``axis``, the largest first, and their positions.

    Args:
        descending: False gives the smallest ones, the smallest first.
        kth_only: only the last of them, without the axis.
        no_sort: they may come in any order; they are sorted all the same.
    """
    del no_sort
    inp = as_tensor(inp)
    axis = resolve_axis("topk", axis, inp.ndim)
    size = inp.shape[axis]
    if (is_static(k) and k < (1 if kth_only else 0)) or not k <= size:
        raise ShapeError(f"topk: k is {k}, axis {axis} of {show(inp.shape)} has {size} elements at {user_location()}")
    positions = _positions("topk", inp, axis, descending, k)
    if kth_only:
        last = (slice(None),) * axis + (slice(k - 1, k),)
        positions = positions[last]
    values = _values(inp, axis, positions)
    return (squeeze(values, axis), squeeze(positions, axis)) if kth_only else (values, positions)


@remembered
def topk_accuracy(logits, target, topk=1):
    """The share of rows of ``logits`` [N, classes] whose ``target`` [N] is among their ``topk`` largest.

    One value, or a list of them where ``topk`` is a list.
    """
    logits, target = as_tensor(logits), as_tensor(target)
    wanted = list(topk) if isinstance(topk, (tuple, list)) else [topk]
    order = _positions("topk_accuracy", logits, -1, True, max(wanted))
    hits = (order == expand_dims(target, 1)).astype("float32")
    shares = [mean(hits[:, :k].sum(1)) for k in wanted]
    return shares if isinstance(topk, (tuple, list)) else shares[0]


@remembered
def searchsorted(sorted_sequence, values, right=False):
    """How many elements of the ascending last axis lie before each value (with ``right`` before or equal), as int32.

    ``sorted_sequence`` has one axis, or agrees with ``values`` in all but the last.
    """
    sequence, values = as_tensor(sorted_sequence), as_tensor(values)
    flat = values.ndim == 0
    if flat:
        values = expand_dims(values, 0)
    if sequence.ndim == 1 and values.ndim > 1:
        sequence = broadcast_to(sequence, values.shape[:-1] + sequence.shape)
    sequence, values = map(ordered, _comparable("searchsorted", sequence, values))
    handles = [sequence._handle, values._handle]
    result = Tensor._wrap(apply("searchsorted", handles, {"right": bool(right)})[0])
    return squeeze(result, 0) if flat else result


def bucketize(inp, boundaries, right=False):
    """`searchsorted` with PyTorch's order of arguments: the number of each element's interval between ``boundaries``."""
    return searchsorted(boundaries, inp, right)


def digitize(inp, bins, right=False):
    """NumPy's `bucketize`, whose ``right`` is the other way round: whether an interval holds its upper end. ``bins``
    ascend."""
    return searchsorted(bins, inp, not right)


def _comparable(op, first, second):
    """Both in one element type that keeps their order."""
    if first.dtype == second.dtype:
        return first, second
    floats = [x.dtype for x in (first, second) if dtypes.is_float(x.dtype)]
    if floats:
        common = floats[0] if len(set(floats)) == 1 else "float64" if "float64" in floats else "float32"
    elif "uint64" in (first.dtype, second.dtype):
        raise DtypeError(f"{op}: {first.dtype} and {second.dtype} at {user_location()}; convert one of them to the other")
    else:
        common = "int64"
    return first.astype(common), second.astype(common)
