"""Reductions over axes. Sums run in the one order that `docs/numerics.md` defines, whatever the layout."""

from .. import dtypes
from .._stream import apply
from .._tensor import Tensor, as_tensor
from ..shapes import size_of
from .axes import resolve_axes, resolve_axis
from .elementwise import abs as absolute
from .elementwise import as_wrapped_float, exp, log, sqrt, stop_gradient
from .elementwise import pow as power
from .shape import flatten, reshape


def _reduce(op, inp, axis, keepdims):
    inp = as_tensor(inp)
    axes = resolve_axes(op, axis, inp.ndim)
    if not axes:
        return Tensor._wrap(inp._handle)
    return Tensor._wrap(apply(op, [inp._handle], {"axes": axes, "keepdims": bool(keepdims)})[0])


def sum(inp, axis=None, keepdims=False):  # noqa: A001  (MegEngine's names)
    """The sum; bools are counted as int32. Empty: 0."""
    inp = as_tensor(inp)
    return _reduce("reduce_sum", inp.astype("int32") if inp.dtype == "bool" else inp, axis, keepdims)


def prod(inp, axis=None, keepdims=False):
    """The product. Empty: 1."""
    return _reduce("reduce_prod", inp, axis, keepdims)


def max(inp, axis=None, keepdims=False):  # noqa: A001
    """The largest element; NaN wins."""
    return _reduce("reduce_max", inp, axis, keepdims)


def min(inp, axis=None, keepdims=False):  # noqa: A001
    """The smallest element; NaN wins."""
    return _reduce("reduce_min", inp, axis, keepdims)


def mean(inp, axis=None, keepdims=False):
    """sum / n; integers give float32. Empty: NaN."""
    inp = as_tensor(inp)
    if not dtypes.is_float(inp.dtype):
        inp = inp.astype(dtypes.DEFAULT_FLOAT)
    count = size_of(inp.shape[a] for a in resolve_axes("mean", axis, inp.ndim))
    return sum(inp, axis, keepdims) / count


def var(inp, axis=None, keepdims=False):
    """The mean squared distance from the mean (divided by n), from moments in float64. Empty: NaN."""
    inp = as_wrapped_float(inp)
    axes = resolve_axes("var", axis, inp.ndim)
    if not axes:
        return (inp - inp) * 0.0
    variance = Tensor._wrap(apply("moments", [inp._handle], {"axes": axes, "eps": 0.0})[1])
    return reshape(variance, [1 if i in axes else size for i, size in enumerate(inp.shape)]) if keepdims else variance


def std(inp, axis=None, keepdims=False):
    """The square root of `var`."""
    return sqrt(var(inp, axis, keepdims))


def norm(inp, ord=None, axis=None, keepdims=False):  # noqa: A002
    """The p-norm over ``axis`` (2 by default; inf is the largest absolute value)."""
    order = 2 if ord is None else ord
    size = absolute(inp)
    if order == float("inf"):
        return max(size, axis, keepdims)
    if order == 1:
        return sum(size, axis, keepdims)
    if order == 2:
        return sqrt(sum(inp * inp, axis, keepdims))
    return power(sum(power(size, order), axis, keepdims), 1.0 / order)


def normalize(inp, ord=None, axis=None, eps=1e-12):  # noqa: A002
    """The tensor divided by its norm over ``axis``, or by ``eps`` where the norm is smaller."""
    from .elementwise import maximum

    return inp / maximum(norm(inp, ord, axis, keepdims=axis is not None), eps)


def logsumexp(inp, axis=None, keepdims=False):
    """log(sum(exp(x))) without overflow."""
    inp = as_tensor(inp)
    axes = resolve_axes("logsumexp", axis, inp.ndim)
    top = stop_gradient(max(inp, axes, keepdims=True))
    total = log(sum(exp(inp - top), axes, keepdims=True)) + top
    if keepdims:
        return total
    return total.reshape([size for i, size in enumerate(inp.shape) if i not in axes])


def argmax(inp, axis=None, keepdims=False):
    """The position of the largest element along ``axis`` as int32, the lowest at ties; over all if axis is None."""
    return _position("argmax", inp, axis, keepdims)


def argmin(inp, axis=None, keepdims=False):
    """The position of the smallest element along ``axis`` as int32, the lowest at ties; over all if axis is None."""
    return _position("argmin", inp, axis, keepdims)


def _position(op, inp, axis, keepdims):
    inp = as_tensor(inp)
    if axis is None:
        result = _position(op, flatten(inp), 0, False)
        return result.reshape([1] * inp.ndim) if keepdims else result
    axis = resolve_axis(op, axis, inp.ndim)
    return Tensor._wrap(apply(op, [inp._handle], {"axis": axis, "keepdims": bool(keepdims)})[0])
