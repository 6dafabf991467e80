"""Reductions over axes: None for all axes, an int, or several. Negative axes count from the end.

Sums run in the one order that `docs/numerics.md` defines, whatever the layout. Integers keep their dtype and wrap; bools
are counted as int32. Reductions made of several ops compute float16 and bfloat16 in float32 and round once.
"""

from .. import dtypes
from .._stream import apply
from .._tensor import Tensor, as_tensor
from ..shapes import is_static, size_of
from .axes import resolve_axes
from .elementwise import abs as absolute
from .elementwise import as_bool, equal, exp, isfinite, isnan, log, maximum, not_equal, sqrt, stop_gradient, where
from .elementwise import pow as power
from .recording import as_wrapped_float, rounded_once
from .shape import reshape, transpose

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "logsumexp",
    "max",
    "mean",
    "min",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nansum",
    "norm",
    "normalize",
    "prod",
    "ptp",
    "std",
    "sum",
    "var",
]

_INFINITY = float("inf")


def _reduce(op, inp, axis, keepdims):
    handle = as_tensor(inp)._handle
    axes = resolve_axes(op, axis, handle.ndim)
    if not axes:
        return Tensor._wrap(handle)
    return Tensor._wrap(apply(op, [handle], {"axes": axes, "keepdims": bool(keepdims)})[0])


def _counted(inp):
    """Bools as int32."""
    inp = as_tensor(inp)
    return inp.astype("int32") if inp.dtype == "bool" else inp


def _count(op, inp, axis):
    """How many elements of ``inp`` each result element has."""
    return size_of(inp.shape[a] for a in resolve_axes(op, axis, inp.ndim))


def _drop_axes(op, inp, axis, kept, keepdims):
    """``kept``, a result with the axes kept, without them unless ``keepdims``."""
    if keepdims:
        return kept
    axes = resolve_axes(op, axis, inp.ndim)
    return reshape(kept, [size for i, size in enumerate(inp.shape) if i not in axes])


def sum(inp, axis=None, keepdims=False):  # noqa: A001  (MegEngine's names)
    """The sum. Empty: 0."""
    return _reduce("reduce_sum", _counted(inp), axis, keepdims)


def prod(inp, axis=None, keepdims=False):
    """The product. Empty: 1."""
    return _reduce("reduce_prod", _counted(inp), axis, keepdims)


def max(inp, axis=None, keepdims=False):  # noqa: A001
    """The largest element; NaN wins. Equal largest elements share the gradient. Empty: an error."""
    return _reduce("reduce_max", inp, axis, keepdims)


def min(inp, axis=None, keepdims=False):  # noqa: A001
    """The smallest element; NaN wins. Equal smallest elements share the gradient. Empty: an error."""
    return _reduce("reduce_min", inp, axis, keepdims)


amax, amin = max, min


def ptp(inp, axis=None, keepdims=False):
    """max - min."""
    return max(inp, axis, keepdims) - min(inp, axis, keepdims)


def any(inp, axis=None, keepdims=False):  # noqa: A001
    """Whether an element is true (not 0). Empty: false."""
    return not_equal(count_nonzero(inp, axis, keepdims), 0)


def all(inp, axis=None, keepdims=False):  # noqa: A001
    """Whether every element is true (not 0). Empty: true."""
    inp = as_tensor(inp)
    return equal(count_nonzero(~as_bool(inp), axis, keepdims), 0)


def count_nonzero(inp, axis=None, keepdims=False):
    """How many elements are not 0, as int32."""
    return sum(as_bool(as_tensor(inp)), axis, keepdims)


@rounded_once
def mean(inp, axis=None, keepdims=False):
    """sum / n; integers give float32. Empty: NaN."""
    inp = as_wrapped_float(inp)
    return sum(inp, axis, keepdims) / _count("mean", inp, axis)


def nansum(inp, axis=None, keepdims=False):
    """The sum of the elements that are not NaN."""
    inp = as_tensor(inp)
    return sum(where(isnan(inp), 0, inp), axis, keepdims)


def nanprod(inp, axis=None, keepdims=False):
    """The product of the elements that are not NaN."""
    inp = as_tensor(inp)
    return prod(where(isnan(inp), 1, inp), axis, keepdims)


@rounded_once
def nanmean(inp, axis=None, keepdims=False):
    """The mean of the elements that are not NaN; NaN if there is none."""
    inp = as_wrapped_float(inp)
    return nansum(inp, axis, keepdims) / sum(~isnan(inp), axis, keepdims)


def nanmax(inp, axis=None, keepdims=False):
    """The largest element that is not NaN; NaN if there is none."""
    return _skipping_nan(max, -_INFINITY, inp, axis, keepdims)


def nanmin(inp, axis=None, keepdims=False):
    """The smallest element that is not NaN; NaN if there is none."""
    return _skipping_nan(min, _INFINITY, inp, axis, keepdims)


def _skipping_nan(extremum, neutral, inp, axis, keepdims):
    inp = as_tensor(inp)
    if not dtypes.is_float(inp.dtype):
        return extremum(inp, axis, keepdims)
    missing = isnan(inp)
    result = extremum(where(missing, neutral, inp), axis, keepdims)
    return where(all(missing, axis, keepdims), float("nan"), result)


@rounded_once
def var(inp, axis=None, keepdims=False):
    """The mean squared distance from the mean (divided by n), from moments in float64. Empty: NaN."""
    inp = as_wrapped_float(inp)
    axes = resolve_axes("var", axis, inp.ndim)
    if not axes:
        return (inp - inp) * 0.0
    variance = Tensor._wrap(apply("moments", [inp._handle], {"axes": axes, "eps": 0.0})[1])
    return reshape(variance, [1 if i in axes else size for i, size in enumerate(inp.shape)]) if keepdims else variance


@rounded_once
def std(inp, axis=None, keepdims=False):
    """The square root of `var`; its gradient is 0 where it is 0."""
    return _sqrt_flat_at_zero(var(inp, axis, keepdims))


def _sqrt_flat_at_zero(x):
    """sqrt(x) with the subgradient 0 at 0, where the derivative is infinite."""
    zero = equal(x, 0)
    return where(zero, x, sqrt(where(zero, 1, x)))


@rounded_once
def norm(inp, ord=None, axis=None, keepdims=False):  # noqa: A002
    """The p-norm over ``axis``: 2 by default; inf and -inf are the largest and smallest |x|, 0 counts what is not 0.

    At 0 the gradient of the norm is 0.
    """
    inp = as_wrapped_float(inp)
    order = 2 if ord is None else ord
    size = absolute(inp)
    if order == _INFINITY:
        return max(size, axis, keepdims)
    if order == -_INFINITY:
        return min(size, axis, keepdims)
    if order == 0:
        return count_nonzero(stop_gradient(inp), axis, keepdims).astype(inp.dtype)
    if order == 1:
        return sum(size, axis, keepdims)
    if order == 2:
        return _sqrt_flat_at_zero(sum(inp * inp, axis, keepdims))
    if order < 0:
        return power(sum(power(size, order), axis, keepdims), 1.0 / order)
    # Powers have no finite derivative at 0: there a 1 takes the place of the base.
    zero = equal(size, 0)
    total = sum(where(zero, 0, power(where(zero, 1, size), order)), axis, keepdims)
    nothing = equal(total, 0)
    return where(nothing, 0, power(where(nothing, 1, total), 1.0 / order))


@rounded_once
def normalize(inp, ord=None, axis=None, eps=1e-12):  # noqa: A002
    """The tensor divided by its norm over ``axis``, or by ``eps`` where the norm is smaller."""
    inp = as_wrapped_float(inp)
    return inp / maximum(norm(inp, ord, axis, keepdims=axis is not None), eps)


@rounded_once
def logsumexp(inp, axis=None, keepdims=False):
    """log(sum(exp(x))) without overflow; -inf where every element is, or where there is none."""
    inp = as_wrapped_float(inp)
    sizes = [inp.shape[a] for a in resolve_axes("logsumexp", axis, inp.ndim)]
    if [size for size in sizes if is_static(size) and size == 0]:
        return log(sum(exp(inp), axis, keepdims))
    top = stop_gradient(max(inp, axis, keepdims=True))
    # An infinite maximum would leave inf - inf.
    top = where(isfinite(top), top, 0)
    total = sum(exp(inp - top), axis, keepdims=True)
    nothing = equal(total, 0)
    result = where(nothing, -_INFINITY, log(where(nothing, 1, total)) + top)
    return _drop_axes("logsumexp", inp, axis, result, keepdims)


def argmax(inp, axis=None, keepdims=False):
    """The position of the largest element as int32, the lowest at ties; NaN counts as the largest.

    Over several axes, or all if ``axis`` is None, the position counts row-major over them.
    """
    return _position("argmax", inp, axis, keepdims)


def argmin(inp, axis=None, keepdims=False):
    """The position of the smallest element as int32, the lowest at ties; NaN counts as the largest.

    Over several axes, or all if ``axis`` is None, the position counts row-major over them.
    """
    return _position("argmin", inp, axis, keepdims)


def _position(op, inp, axis, keepdims):
    inp = as_tensor(inp)
    axes = resolve_axes(op, axis, inp.ndim)
    if len(axes) == 1:
        return Tensor._wrap(apply(op, [inp._handle], {"axis": axes[0], "keepdims": bool(keepdims)})[0])
    others = [i for i in range(inp.ndim) if i not in axes]
    merged = [*(inp.shape[i] for i in others), size_of(inp.shape[i] for i in axes)]
    result = _position(op, reshape(transpose(inp, (*others, *axes)), merged), len(others), False)
    return reshape(result, [1 if i in axes else size for i, size in enumerate(inp.shape)]) if keepdims else result
