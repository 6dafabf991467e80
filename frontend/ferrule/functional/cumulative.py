"""Running sums, products and extremes along an axis. Each runs serially from the start of it, one rounding a step.

They compute in float32, float64, int32 and int64; other types become one of these for the run, and its result is rounded
back once. All have gradients; that of `cumprod` is exact where factors are zero.
"""

from .._stream import apply
from .._tensor import Tensor, as_tensor
from .axes import resolve_axis
from .elementwise import exp, isfinite, isnan, log, logical_and, stop_gradient, where
from .recording import as_wrapped_float, remembered, rounded_once
from .shape import concat, flatten
from .widening import narrow, ordered, unordered, widen

__all__ = ["cummax", "cummin", "cumprod", "cumsum", "logcumsumexp", "nancumprod", "nancumsum"]


def _run(op, inp, axis, **flags):
    return Tensor._wrap(apply(op, [inp._handle], {"axis": axis, **flags})[0])


def _total(op, inp, axis, dtype, reverse, exclusive):
    inp = as_tensor(inp)
    if dtype is not None or inp.dtype == "bool":
        inp = inp.astype(dtype or "int32")
    if axis is None:
        inp, axis = flatten(inp), 0
    axis = resolve_axis(op, axis, inp.ndim)
    return narrow(_run(op, widen(inp), axis, reverse=bool(reverse), exclusive=bool(exclusive)), inp.dtype)


def _extreme(op, inp, axis):
    """The running extreme and its position; the op of the position is called cumarg..."""
    inp = as_tensor(inp)
    axis, keys = resolve_axis(op, axis, inp.ndim), ordered(inp)
    return unordered(_run(op, keys, axis), inp.dtype), _run(op.replace("cum", "cumarg"), keys, axis)


def cumsum(inp, axis=None, dtype=None, *, reverse=False, exclusive=False):
    """The sum of the elements up to each one along ``axis``; without one over the flattened tensor.

    Args:
        inp: any shape; bools are counted as int32. The result has its dtype, or ``dtype``.
        axis: negative axes count from the end.
        reverse: run from the end of the axis to its start.
        exclusive: leave each element out of its own sum; the first one is then 0.
    """
    return _total("cumsum", inp, axis, dtype, reverse, exclusive)


def cumprod(inp, axis=None, dtype=None, *, reverse=False, exclusive=False):
    """The product of the elements up to each one along ``axis``; arguments as in `cumsum`."""
    return _total("cumprod", inp, axis, dtype, reverse, exclusive)


@remembered
def cummax(inp, axis):
    """The largest element up to each one along ``axis`` and its position (int32, the lowest at ties).

    NaN wins from where it stands on. The gradient goes to the first of equal elements.
    """
    return _extreme("cummax", inp, axis)


@remembered
def cummin(inp, axis):
    """The smallest element up to each one along ``axis`` and its position; as `cummax`."""
    return _extreme("cummin", inp, axis)


def nancumsum(inp, axis=None):
    """`cumsum` with NaN as 0."""
    inp = as_tensor(inp)
    return cumsum(where(isnan(inp), 0, inp), axis)


def nancumprod(inp, axis=None):
    """`cumprod` with NaN as 1."""
    inp = as_tensor(inp)
    return cumprod(where(isnan(inp), 1, inp), axis)


@rounded_once
def logcumsumexp(inp, axis):
    """log of the running sum of exp(x) along ``axis``, without overflow.

    The running maximum is taken out of each sum, which takes in one element a step:
    y[i] = exp(max[i - 1] - max[i]) y[i - 1] + exp(x[i] - max[i]), log(y) + max.
    """
    inp = as_wrapped_float(inp)
    axis = resolve_axis("logcumsumexp", axis, inp.ndim)
    top = stop_gradient(cummax(inp, axis)[0])
    known = isfinite(top)
    lead = (slice(None),) * axis
    top_before, known_before = (
        concat([x[lead + (slice(0, 1),)], x[lead + (slice(None, -1),)]], axis) for x in (top, known)
    )
    # Where the maximum is infinite it is the result, and 0 stands in for it in the sums.
    both = logical_and(known, known_before)
    factors = where(both, exp(where(both, top_before - top, 0.0)), 0.0)
    terms = exp(where(known, inp - top, 0.0))
    total = Tensor._wrap(apply("linear_recurrence", [factors._handle, terms._handle], {"axis": axis})[0])
    return where(known, log(where(known, total, 1.0)) + top, top)
