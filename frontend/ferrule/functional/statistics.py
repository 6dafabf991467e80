"""What a sample says of its distribution: the middle, quantiles, how two of them go together. As in NumPy."""

import numpy as np

from .._tensor import as_tensor
from ..errors import ShapeError, UnsupportedError
from ..location import user_location
from ..shapes import is_static, same_shape, show, size_of
from .axes import resolve_axes, resolve_axis
from .contraction import matmul
from .elementwise import ceil, clip, floor, isnan, maximum, round, sqrt, where
from .indexing import gather, take
from .ordering import argsort, sort
from .recording import as_wrapped_float, remembered, rounded_once
from .reduce import max as largest
from .reduce import mean
from .reduce import min as smallest
from .reduce import sum as sum_of
from .shape import concat, expand_dims, reshape, squeeze, stack, transpose

__all__ = [
    "aminmax",
    "average",
    "corrcoef",
    "cov",
    "kthvalue",
    "median",
    "msort",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "percentile",
    "quantile",
]

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
    shares = _shares("quantile", q, interpolation)
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


def _shares(op, q, interpolation):
    """``q`` as an array."""
    if interpolation not in _METHODS:
        raise UnsupportedError(
            f"{op}: interpolation {interpolation!r} at {user_location()}; allowed: {', '.join(_METHODS)}"
        )
    shares = np.asarray(q, "float64")
    if shares.ndim > 1 or not ((shares >= 0) & (shares <= 1)).all():
        raise ShapeError(f"{op}: q is {q!r} at {user_location()}; allowed: numbers from 0 to 1, in one sequence")
    return shares


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


@rounded_once
def nanquantile(inp, q, axis=None, keepdims=False, interpolation="linear"):
    """`quantile` of the elements that are not NaN; NaN if there is none. The axes may be symbolic."""
    shares = _shares("nanquantile", q, interpolation)
    inp = as_wrapped_float(inp)
    # NaN stands last, so that what counts comes first.
    ordered, axes = _ascending("nanquantile", inp, axis)
    count = sum_of(~isnan(ordered), -1, keepdims=True)
    last = maximum(count - 1, 0).astype("float64")
    results = [_kept(inp, axes, keepdims, _within(ordered, last * float(q), interpolation)) for q in shares.ravel()]
    return stack(results, 0) if shares.ndim else results[0]


def _within(ordered, position, interpolation):
    """The value at a place (a float64 tensor) between the elements of the last axis."""
    low, high = floor(position), ceil(position)
    if interpolation == "nearest":
        low = high = round(position)
    elif interpolation in ("lower", "higher"):
        low = high = low if interpolation == "lower" else high
    below, above = (gather(ordered, -1, place.astype("int32")) for place in (low, high))
    if low is high:
        return squeeze(below, -1)
    share = (position - low).astype(ordered.dtype) if interpolation == "linear" else where(low < high, 0.5, 0.0)
    step = above - below
    near, far = below + step * share, above - step * (1.0 - share)
    value = where(share < 0.5, near, far)
    return squeeze(where(low < high, value, below), -1)


def nanmedian(inp, axis=None, keepdims=False):
    """`median` of the elements that are not NaN; NaN if there is none."""
    return nanquantile(inp, 0.5, axis, keepdims, "midpoint")


def nanpercentile(inp, q, axis=None, keepdims=False, interpolation="linear"):
    """`nanquantile` at ``q`` of 100."""
    return nanquantile(inp, np.asarray(q, "float64") / 100.0, axis, keepdims, interpolation)


@rounded_once
def average(inp, axis=None, weights=None, keepdims=False):
    """The mean over ``axis``, of elements that count as ``weights`` says: a vector along the one axis, or the shape of
    ``inp``."""
    inp = as_wrapped_float(inp)
    if weights is None:
        return mean(inp, axis, keepdims)
    weights = as_tensor(weights)
    if not same_shape(weights.shape, inp.shape):
        if weights.ndim != 1 or axis is None or isinstance(axis, (tuple, list)):
            raise ShapeError(
                f"average: weights of shape {show(weights.shape)} for {show(inp.shape)} over axis {axis!r} at "
                f"{user_location()}; that shape, or a vector along one axis, is needed"
            )
        place = resolve_axis("average", axis, inp.ndim)
        weights = reshape(weights, [weights.shape[0] if i == place else 1 for i in range(inp.ndim)])
    total = sum_of(inp * 0.0 + weights, axis, keepdims)
    return sum_of(inp * weights, axis, keepdims) / total


@rounded_once
def cov(inp, y=None, rowvar=True, correction=1, fweights=None, aweights=None):
    """How variables go together: [i, j] is the mean of (x_i - mean x_i) (x_j - mean x_j).

    Args:
        inp: (variables, observations), or one variable (observations,).
        y: more variables, as ``inp``.
        rowvar: False takes the columns as variables.
        correction: the sum is divided by the number of observations less this one.
        fweights, aweights: (observations,): how often each one was seen, and how much it counts.
    """
    rows = [_variables("cov", x, rowvar) for x in (inp, y) if x is not None]
    inp = concat(rows, 0) if len(rows) > 1 else rows[0]
    parts = [as_tensor(w).astype(inp.dtype) for w in (fweights, aweights) if w is not None]
    if not parts:
        centred = inp - mean(inp, 1, keepdims=True)
        divisor = maximum(as_tensor(0.0, inp.dtype) + inp.shape[1] - correction, 0.0)
        return _alone(matmul(centred, centred, transpose_b=True) / divisor)
    weights = parts[0] if len(parts) == 1 else parts[0] * parts[1]
    total = sum_of(weights)
    centred = inp - expand_dims(sum_of(inp * weights, 1) / total, 1)
    excess = correction if aweights is None else sum_of(weights * parts[-1]) / total * correction
    return _alone(matmul(centred * weights, centred, transpose_b=True) / maximum(total - excess, 0.0))


def _variables(op, inp, rowvar):
    inp = as_wrapped_float(inp)
    if inp.ndim > 2:
        raise ShapeError(f"{op}: {show(inp.shape)} at {user_location()}; (variables, observations) is needed")
    inp = reshape(inp, (1, -1)) if inp.ndim < 2 else inp
    return inp if rowvar or inp.shape[0] == 1 else transpose(inp, (1, 0))


def _alone(matrix):
    """A matrix of one element as a tensor of rank 0."""
    return reshape(matrix, ()) if matrix.shape[0] == 1 else matrix


@rounded_once
def corrcoef(inp, y=None, rowvar=True):
    """`cov` divided by both standard deviations, within -1 and 1."""
    c = cov(inp, y, rowvar)
    if not c.ndim:
        return c / c
    size = c.shape[0]
    spread = sqrt(gather(c, 1, np.arange(size, dtype="int32")[:, None]))
    return clip(c / spread / reshape(spread, (1, size)), -1.0, 1.0)


def kthvalue(inp, k, axis=-1, keepdims=False):
    """The ``k``-th smallest element along ``axis``, from 1 on, and its position (int32)."""
    inp = as_tensor(inp)
    axis = resolve_axis("kthvalue", axis, inp.ndim)
    size = inp.shape[axis]
    if not 1 <= k or not k <= size:
        raise ShapeError(f"kthvalue: k is {k}, axis {axis} of {show(inp.shape)} has {size} elements at {user_location()}")
    place = argsort(inp, axis=axis)[(slice(None),) * axis + (slice(k - 1, k),)]
    value = gather(inp, axis, place)
    return (value, place) if keepdims else (squeeze(value, axis), squeeze(place, axis))


def msort(inp):
    """The elements along the first axis in ascending order."""
    return sort(inp, axis=0)[0]


def aminmax(inp, axis=None, keepdims=False):
    """The smallest and the largest element."""
    return smallest(inp, axis, keepdims), largest(inp, axis, keepdims)
