"""Reductions over axes, which are an attribute in old versions and an input in new ones."""

import numpy as np

from ... import dtypes, functional as F
from ...shapes import is_static
from ..registry import operator
from .axes import axes_of


def _float(x):
    return x if dtypes.is_float(x.dtype) else x.astype("float32")


def _l2(x, axes, keep):
    x = _float(x)
    return F.sqrt(F.sum(x * x, axes, keep))


def _log_sum_exp(x, axes, keep):
    return F.logsumexp(_float(x), axes, keep)


_REDUCTIONS = {
    "ReduceL1": lambda x, axes, keep: F.sum(F.abs(x), axes, keep),
    "ReduceL2": _l2,
    "ReduceLogSum": lambda x, axes, keep: F.log(F.sum(_float(x), axes, keep)),
    "ReduceLogSumExp": _log_sum_exp,
    "ReduceMax": F.max,
    "ReduceMean": F.mean,
    "ReduceMin": F.min,
    "ReduceProd": F.prod,
    "ReduceSum": F.sum,
    "ReduceSumSquare": lambda x, axes, keep: F.sum(x * x, axes, keep),
}

_FOLDED = {"ReduceMax": np.max, "ReduceMin": np.min, "ReduceProd": np.prod, "ReduceSum": np.sum}


def _axes(node, array, rank):
    """The axes to reduce; None if the operand stays as it is."""
    axes = axes_of(node, array, rank)
    if axes:
        return tuple(axes)
    return None if node.get("noop_with_empty_axes", 0) else tuple(range(rank))


def _fold_reduce(node, x, axes=None):
    fold = _FOLDED.get(node.operator)
    over = _axes(node, axes, x.ndim)
    if fold is None or over is None or x.size == 0 or x.dtype.kind in "fb":
        return None
    result = fold(x, axis=over, keepdims=bool(node.get("keepdims", 1)))
    return np.asarray(result, x.dtype)


@operator(tuple(_REDUCTIONS), host=(1,), fold=_fold_reduce)
def reduce(node, x, axes=None):
    """A reduction; of nothing it is the neutral element."""
    over, keep = _axes(node, axes, x.ndim), bool(node.get("keepdims", 1))
    if over is None:
        return _elementwise(node, x)
    empty = any(is_static(x.shape[axis]) and x.shape[axis] == 0 for axis in over)
    if empty and node.operator in ("ReduceMax", "ReduceMin", "ReduceLogSumExp"):
        return _of_nothing(node, x, over, keep)
    return _REDUCTIONS[node.operator](x, over, keep).astype(x.dtype)


def _elementwise(node, x):
    """What is left of a reduction over no axes."""
    return x if node.operator in ("ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum") else _REDUCTIONS[
        node.operator
    ](F.expand_dims(x, 0), (0,), False).astype(x.dtype)


def _of_nothing(node, x, over, keep):
    if dtypes.is_float(x.dtype):
        value = float("inf") if node.operator == "ReduceMin" else float("-inf")
    else:
        limits = dtypes.limits(x.dtype) if x.dtype != "bool" else None
        low, high = (False, True) if limits is None else (limits.min, limits.max)
        value = low if node.operator == "ReduceMax" else high
    shape = [1 if i in over else size for i, size in enumerate(x.shape) if keep or i not in over]
    return F.full(shape, value, dtype=x.dtype)
