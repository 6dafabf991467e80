"""Functions of samples along an axis: slopes, integrals, what lies between."""

from ..errors import ShapeError
from ..location import user_location
from ..shapes import is_static, same_shape, show
from .axes import resolve_axis
from .cumulative import cumsum
from .elementwise import equal, greater, isnan, less, stop_gradient, where
from .indexing import take
from .ordering import searchsorted
from .recording import as_wrapped_float, rounded_once
from .reduce import sum as sum_of
from .shape import concat, reshape

__all__ = ["cumulative_trapezoid", "gradient", "interp", "trapezoid", "trapz"]


def _pairs(op, y, x, dx, axis):
    """The areas between neighbours along ``axis``, and the axis."""
    y = as_wrapped_float(y)
    axis = resolve_axis(op, axis, y.ndim)
    before, after = (_part(y, axis, slice(*ends)) for ends in ((None, -1), (1, None)))
    if x is None:
        return (before + after) * (0.5 * dx), axis
    x = as_wrapped_float(x)
    if x.ndim == 1:
        x = reshape(x, [x.shape[0] if i == axis else 1 for i in range(y.ndim)])
    at = axis - y.ndim + x.ndim
    steps = _part(x, at, slice(1, None)) - _part(x, at, slice(None, -1))
    return (before + after) * 0.5 * steps, axis


def _part(x, axis, part):
    return x[(slice(None),) * axis + (part,)]


@rounded_once
def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral along ``axis`` by the rule of trapezoids.

    Args:
        y: samples.
        x: where they were taken: a vector, or the shape of ``y``; ``dx`` apart unless given.
    """
    areas, axis = _pairs("trapezoid", y, x, dx, axis)
    return sum_of(areas, axis)


trapz = trapezoid


@rounded_once
def cumulative_trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral from the first sample to each other one along ``axis``, see `trapezoid`."""
    areas, axis = _pairs("cumulative_trapezoid", y, x, dx, axis)
    return cumsum(areas, axis)


def gradient(inp, *spacing, axis=None, edge_order=1):
    """NumPy's differences: (f(x + h) - f(x - h)) / 2h inside and one-sided ones at the ends, along ``axis``.

    Args:
        spacing: the distance of the samples: one for all axes, or one an axis.
        axis: an int, several, or None for all. A list of tensors comes back unless there is one axis.
        edge_order: 1 or 2: the order of the one-sided differences.
    """
    inp = as_wrapped_float(inp)
    axes = list(range(inp.ndim)) if axis is None else [axis] if not isinstance(axis, (tuple, list)) else list(axis)
    axes = [resolve_axis("gradient", each, inp.ndim) for each in axes]
    steps = list(spacing) or [1.0]
    steps = steps * len(axes) if len(steps) == 1 else steps
    if len(steps) != len(axes) or not all(isinstance(step, (int, float)) for step in steps):
        raise ShapeError(
            f"gradient: spacing {spacing!r} for {len(axes)} axes at {user_location()}; a number for all of them, or one "
            f"for each, is needed"
        )
    if edge_order not in (1, 2):
        raise ShapeError(f"gradient: edge_order is {edge_order!r} at {user_location()}; allowed: 1, 2")
    results = [_slopes(inp, each, float(step), edge_order) for each, step in zip(axes, steps)]
    return results[0] if len(results) == 1 else results


def _slopes(inp, axis, step, order):
    size = inp.shape[axis]
    if not (is_static(size) and size > order):
        raise ShapeError(
            f"gradient: axis {axis} of {show(inp.shape)} at {user_location()}; {order + 1} samples or more are needed"
        )

    def at(begin, end=None):
        return _part(inp, axis, slice(begin, end))

    def one(i):
        return at(i, i + 1 if i != -1 else None)

    inner = (at(2) - at(0, -2)) / (2.0 * step)
    if order == 1:
        first, last = (one(1) - one(0)) / step, (one(-1) - one(-2)) / step
    else:
        first = (one(0) * -1.5 + one(1) * 2.0 - one(2) * 0.5) / step
        last = (one(-3) * 0.5 - one(-2) * 2.0 + one(-1) * 1.5) / step
    return concat([first, inner, last], axis)


@rounded_once
def interp(x, xp, fp, left=None, right=None):
    """The function that is linear between the points (xp, fp), at ``x``.

    Args:
        x: any shape.
        xp: (N,) ascending, N at least 1; without a gradient for the choice of the interval.
        fp: (N,).
        left, right: what lies below the first and above the last point: their values unless given.
    """
    x, xp, fp = as_wrapped_float(x), as_wrapped_float(xp), as_wrapped_float(fp)
    if xp.ndim != 1 or not same_shape(xp.shape, fp.shape) or (is_static(xp.shape[0]) and xp.shape[0] == 0):
        raise ShapeError(
            f"interp: xp of shape {show(xp.shape)} and fp of shape {show(fp.shape)} at {user_location()}; both (N,) with "
            f"one point or more are needed"
        )
    last = xp.shape[0] - 1
    above = searchsorted(xp, stop_gradient(x), right=True)
    # Outside the points both ends of the interval are the nearest one.
    high = where(greater(above, last), last, above)
    low = where(equal(above, 0), 0, above - 1)
    start, end = take(fp, low), take(fp, high)
    width = take(xp, high) - take(xp, low)
    flat = equal(width, 0)
    share = where(flat, 0.0, (x - take(xp, low)) / where(flat, 1.0, width))
    result = start + (end - start) * share
    if left is not None:
        result = where(less(x, xp[0]), left, result)
    if right is not None:
        result = where(greater(x, xp[-1]), right, result)
    return where(isnan(x), x, result)
