"""Rows of a table by number: alone, or summed, averaged or compared over the members of a bag."""

from .._tensor import as_tensor
from ..errors import ShapeError, UnsupportedError
from ..location import user_location
from ..shapes import is_static, show
from .creation import arange, zeros
from .elementwise import equal, greater, logical_and, logical_not, maximum, stop_gradient, where
from .indexing import index_add, index_copy, indices, take
from .ordering import searchsorted
from .recording import as_wrapped_float, remembered
from .reduce import any as any_of
from .reduce import max as largest
from .reduce import norm
from .reduce import sum as sum_of
from .shape import expand_dims, flatten

__all__ = ["embedding", "embedding_bag"]


def embedding(inp, weight, padding_idx=None, max_norm=None, norm_type=None):
    """The rows of ``weight`` [rows, width] at ``inp`` (any shape of integers).

    Args:
        padding_idx: a row that gets no gradient; negative ones count from the end.
        max_norm: the rows at ``inp`` whose norm is larger are first scaled to it, *in* ``weight``, as PyTorch does; the
            gradient is that of the rows as they are then.
        norm_type: which norm, 2 unless given.
    """
    if max_norm is not None:
        inp, weight = _checked("embedding", inp, weight)
        weight = _limited(inp, weight, max_norm, 2.0 if norm_type is None else norm_type)
    elif norm_type is not None:
        raise UnsupportedError(f"embedding: norm_type {norm_type} without max_norm at {user_location()}")
    return _looked_up(inp, weight, padding_idx)


@remembered
def _looked_up(inp, weight, padding_idx):
    inp, weight = _checked("embedding", inp, weight)
    return _rows("embedding", inp, weight, padding_idx)[0]


def embedding_bag(
    inp,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2.0,
    mode="mean",
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """The rows of ``weight`` [rows, width] at the numbers of each bag, made one: (bags, width). An empty bag gives 0.

    Args:
        inp: (bags, members) integers, or all members one after another (N,) with ``offsets``.
        offsets: (bags,) ascending integers from 0: where each bag begins.
        max_norm, norm_type: as for `embedding`.
        mode: ``"sum"``, ``"mean"`` or ``"max"``.
        per_sample_weights: a factor for each member, in the shape of ``inp``; for ``"sum"``.
        include_last_offset: ``offsets`` has one more number, the end of the last bag.
        padding_idx: members of this number do not count.
    """
    op = "embedding_bag"
    inp, weight = _checked(op, inp, weight)
    if mode not in ("sum", "mean", "max"):
        raise UnsupportedError(f"{op}: mode {mode!r} at {user_location()}; allowed: 'sum', 'mean', 'max'")
    if per_sample_weights is not None and mode != "sum":
        raise UnsupportedError(f"{op}: per_sample_weights with mode {mode!r} at {user_location()}; 'sum' takes them")
    if inp.ndim != (2 if offsets is None else 1):
        raise ShapeError(
            f"{op}: inp of shape {show(inp.shape)} {'without' if offsets is None else 'with'} offsets at "
            f"{user_location()}; (bags, members), or (N,) with offsets, is needed"
        )
    if max_norm is not None:
        weight = _limited(inp, weight, max_norm, norm_type)
    rows, padded = _rows(op, inp, weight, padding_idx)
    rows = as_wrapped_float(rows)
    if per_sample_weights is not None:
        rows = rows * expand_dims(as_tensor(per_sample_weights), -1)
    counted = None if padded is None else logical_not(padded)
    if offsets is None:
        if counted is None:
            counted = equal(inp, inp)
        return _made_one(mode, rows, expand_dims(counted, -1), 1)
    bag, bags = _bags(op, inp, indices(op, offsets), include_last_offset)
    if mode == "max":
        member = equal(expand_dims(arange(bags, dtype="int32"), 1), bag)
        member = member if counted is None else logical_and(member, counted)
        return _made_one(mode, expand_dims(rows, 0), expand_dims(member, -1), 1)
    if counted is not None:
        rows = where(expand_dims(counted, -1), rows, 0.0)
    total = index_add(zeros((bags, weight.shape[1]), dtype=rows.dtype), 0, bag, rows)
    if mode == "sum":
        return total
    ones = equal(bag, bag) if counted is None else counted
    counts = index_add(zeros((bags,), dtype="int32"), 0, bag, ones.astype("int32"))
    return total / expand_dims(maximum(counts, 1), 1).astype(total.dtype)


def _checked(op, inp, weight):
    inp, weight = indices(op, inp), as_tensor(weight)
    if weight.ndim != 2:
        raise ShapeError(
            f"{op}: the weight has the shape {show(weight.shape)}, not [rows, width] at {user_location()}"
        )
    return inp, weight


def _rows(op, inp, weight, padding_idx):
    """The rows, without a gradient at ``padding_idx``, and where that stands (None without one)."""
    rows = take(weight, inp, 0)
    if padding_idx is None:
        return rows, None
    row = _padding_row(op, weight, padding_idx)
    padded = (inp == row) | (inp == row - weight.shape[0])
    return where(expand_dims(padded, -1), stop_gradient(rows), rows), padded


def _limited(inp, weight, max_norm, norm_type):
    """``weight`` with the rows at ``inp`` scaled down to the norm; written into the Tensor, with its gradient."""
    from ..autodiff.custom import custom_op

    def limit(weight):
        rows = take(weight, flatten(inp), 0)
        size = norm(rows, norm_type, -1, keepdims=True)
        # As PyTorch does it, so that the result is no longer than asked for.
        scaled = where(greater(size, max_norm), rows * (max_norm / (size + 1e-7)), rows)
        return index_copy(weight, 0, flatten(inp), scaled)

    limited = custom_op(limit, lambda inputs, outputs, cotangents: cotangents[0])(weight)
    weight.set_value(stop_gradient(limited))
    return limited


def _bags(op, inp, offsets, include_last_offset):
    """The number of each member's bag, and how many bags there are."""
    if offsets.ndim != 1:
        raise ShapeError(f"{op}: offsets of shape {show(offsets.shape)} at {user_location()}; (bags,) is needed")
    bags = offsets.shape[0] - 1 if include_last_offset else offsets.shape[0]
    position = arange(inp.shape[0], dtype=offsets.dtype)
    return searchsorted(offsets[:bags], position, right=True) - 1, bags


def _made_one(mode, rows, counted, axis):
    """The sum, mean or largest of the rows along ``axis`` that count."""
    if mode == "max":
        top = largest(where(counted, rows, float("-inf")), axis)
        return where(any_of(counted, axis), top, 0.0)
    total = sum_of(where(counted, rows, 0.0), axis)
    if mode == "sum":
        return total
    return total / maximum(sum_of(counted, axis), 1).astype(total.dtype)


def _padding_row(op, weight, padding_idx):
    """``padding_idx`` counted from the first row of ``weight``."""
    count, row = weight.shape[0], padding_idx.__index__()
    if is_static(count) and not -count <= row < count:
        raise ShapeError(
            f"{op}: padding_idx {row} is no row of a weight with {count} rows (allowed: {-count} to {count - 1}) "
            f"at {user_location()}"
        )
    return row + count if row < 0 else row
