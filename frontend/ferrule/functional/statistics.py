"""What a sample says of its distribution: the middle, quantiles, how often each number occurs. As in NumPy."""

import numpy as np

from .. import dtypes
from .._tensor import as_tensor
from ..errors import DtypeError, ShapeError, UnsupportedError
from ..location import user_location
from ..shapes import is_static, same_shape, show, size_of
from .axes import resolve_axes
from .creation import zeros
from .elementwise import isnan, logical_and, where
from .indexing import index_add, take
from .ordering import sort
from .recording import as_wrapped_float, remembered, rounded_once
from .reduce import max as largest
from .shape import reshape, stack, transpose

__all__ = ["bincount", "median", "percentile", "quantile"]

_METHODS = ("linear", "lower", "higher", "nearest", "midpoint")


def _ascending(op, inp, axis):
    """The elements over ``axis`` in ascending order along a new last axis, and the axes that were merged."""
    axes = resolve_axes(op, axis, inp.ndim)
    others = [i for i in range(inp.ndim) if i not in axes]
    count = size_of(inp.shape[i] for i in axes)
    if is_static(count) and count == 0:
        raise ShapeError(f"{op}: axes {axes} of {show(inp.shape)} have no elements at {user_location()}")
    merged = reshape(transpose(inp, (*others, *axes)), [*(inp.shape[i] for i in others), count])
    return sort(merged)[0], axes


def _kept(inp, axes, keepdims, result):
    """``result``, with the reduced axes of ``inp`` as ones if they are kept."""
    return reshape(result, [1 if i in axes else size for i, size in enumerate(inp.shape)]) if keepdims else result


@remembered
@rounded_once
def median(inp, axis=None, keepdims=False):
    """The middle element over ``axis`` (all unless given), of an even number the mean of the middle two.

    NaN if one is among them. Integers give float32. The gradient goes to the elements in the middle. PyTorch's
    ``median`` gives the lower of two: that is ``quantile(inp, 0.5, axis, interpolation="lower")``.
    """
    inp = as_wrapped_float(inp)
    ordered, axes = _ascending("median", inp, axis)
    count = ordered.shape[-1]
    low, high = (count - 1) // 2, count // 2
    middle = (_element(ordered, low) + _element(ordered, high)) * 0.5
    last = ordered[..., count - 1]
    return _kept(inp, axes, keepdims, where(isnan(last), last, middle))


def _element(ordered, place):
    """An element of the last axis; a symbolic place is one only the run knows to be inside."""
    return ordered[..., place] if is_static(place) else take(ordered, as_tensor(np.int32(0)) + place, -1)


@remembered
@rounded_once
def quantile(inp, q, axis=None, keepdims=False, interpolation="linear"):
    """The value below which the share ``q`` of the elements over ``axis`` lies, at position q * (count - 1) of them.

    Args:
        q: a number from 0 to 1, or a sequence of them: the results then stand along a new first axis.
        interpolation: between two elements: ``"linear"``, ``"lower"``, ``"higher"``, ``"nearest"`` (the even one at a
            half) or ``"midpoint"``.

    NaN if one is among the elements. Integers give float32.
    """
    if interpolation not in _METHODS:
        raise UnsupportedError(
            f"quantile: interpolation {interpolation!r} at {user_location()}; allowed: {', '.join(_METHODS)}"
        )
    shares = np.asarray(q, "float64")
    if shares.ndim > 1 or not ((shares >= 0) & (shares <= 1)).all():
        raise ShapeError(f"quantile: q is {q!r} at {user_location()}; allowed: numbers from 0 to 1, in one sequence")
    inp = as_wrapped_float(inp)
    ordered, axes = _ascending("quantile", inp, axis)
    count = ordered.shape[-1]
    if not is_static(count):
        raise ShapeError(
            f"quantile: axes {axes} of {show(inp.shape)} have a symbolic size at {user_location()}; median serves it"
        )
    results = [
        _kept(inp, axes, keepdims, _at(ordered, share * (count - 1), count, interpolation)) for share in shares.ravel()
    ]
    return stack(results, 0) if shares.ndim else results[0]


def _at(ordered, position, count, interpolation):
    """The value at a place between the elements of the last axis; NaN if the last one is."""
    low, high = int(np.floor(position)), int(np.ceil(position))
    share = position - low
    below, above, last = (ordered[..., i] for i in (low, high, count - 1))
    if interpolation == "nearest":
        value = ordered[..., int(np.rint(position))]
    elif interpolation == "lower" or low == high:
        value = below
    elif interpolation == "higher":
        value = above
    else:
        # From the nearer end, so that a share of 1 gives the upper element exactly.
        share = 0.5 if interpolation == "midpoint" else share
        step = above - below
        value = below + step * share if share < 0.5 else above - step * (1.0 - share)
    return where(isnan(last), last, value)


@remembered
def percentile(inp, q, axis=None, keepdims=False, interpolation="linear"):
    """`quantile` at ``q`` of 100."""
    return quantile(inp, np.asarray(q, "float64") / 100.0, axis, keepdims, interpolation)


def bincount(inp, weights=None, minlength=0, *, length=None):
    """How often each of 0, 1, 2, ... occurs (int32), or the sum of the weights that belong to it.

    Args:
        inp: (N,) integers, not negative.
        weights: (N,), with a gradient.
        minlength: the least number of results; without ``length`` there is one more than the largest element.
        length: the number of results; elements from there on are not counted. Needed in a traced function, where
            elements have no values.
    """
    inp = as_tensor(inp)
    if not dtypes.is_integer(inp.dtype):
        raise DtypeError(f"bincount: {inp.dtype} at {user_location()}; integers are needed")
    weights = None if weights is None else as_tensor(weights)
    if inp.ndim != 1 or (weights is not None and not same_shape(weights.shape, inp.shape)):
        shapes = show(inp.shape) if weights is None else f"{show(inp.shape)} with weights {show(weights.shape)}"
        raise ShapeError(f"bincount: {shapes} at {user_location()}; (N,), and as many weights, are needed")
    if length is None:
        empty = is_static(inp.shape[0]) and inp.shape[0] == 0
        length = max(int(minlength), 0 if empty else int(largest(inp).item()) + 1)
    elif length < minlength:
        raise ShapeError(f"bincount: length {length} below minlength {minlength} at {user_location()}")
    return _bincount(inp, weights, length)


@remembered
def _bincount(inp, weights, length):
    counted = logical_and(inp >= 0, inp < length)
    # What is not counted goes to one more place at the end.
    place = where(counted, inp, length)
    amounts = where(counted, 1, 0).astype("int32") if weights is None else weights
    totals = index_add(zeros((length + 1,), dtype=amounts.dtype), 0, place, amounts)
    return totals[:length]
