"""How often numbers occur, and which ones. Where a result has as many elements as the values say, it is found out when
they are known: at the call in dynamic mode, as a dim of its own in a traced function (see `selection`)."""

from .. import dtypes
from .._tensor import as_tensor
from ..errors import DtypeError, ShapeError
from ..location import user_location
from ..shapes import is_static, same_shape, show, size_of
from .arrangement import moveaxis
from .axes import resolve_axis
from .control_flow import scan
from .creation import arange, full, linspace, zeros
from .cumulative import cumsum
from .elementwise import equal, floor, isnan, logical_and, logical_not, minimum, not_equal, where
from .indexing import index_add, index_copy, take
from .ordering import argsort, searchsorted, sort
from .recording import remembered
from .reduce import any as any_of
from .reduce import max as largest
from .reduce import min as smallest
from .selection import flatnonzero
from .shape import concat, expand_dims, flatten, reshape, transpose

__all__ = ["bincount", "histc", "histogram", "isin", "unique", "unique_consecutive"]


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
    inp = inp.astype("int32") if inp.dtype == "bool" else inp
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


def histc(inp, bins=100, min=0, max=0):  # noqa: A002  (PyTorch's names)
    """How many elements lie in each of ``bins`` intervals of one width from ``min`` to ``max``, the upper end included.

    Where both ends are equal they are the smallest and the largest element. The result has the type of ``inp``; what
    lies outside, and NaN, does not count.
    """
    inp = as_tensor(inp)
    if bins < 1 or max < min:
        raise ShapeError(f"histc: {bins} bins from {min} to {max} at {user_location()}; 1 or more, upwards, are needed")
    flat = flatten(inp)
    low, high = (as_tensor(each, inp.dtype) for each in (min, max))
    if min == max:
        low, high = smallest(flat), largest(flat)
        # Of one value the interval is widened by 1 on either side.
        alone = equal(low, high)
        low, high = where(alone, low - 1, low), where(alone, high + 1, high)
    inside = logical_and(flat >= low, flat <= high)
    place = floor((where(inside, flat, low) - low) / (high - low) * bins).astype("int32")
    place = where(inside, minimum(place, bins - 1), bins)
    ones = full(flat.shape, 1, dtype=inp.dtype)
    return index_add(zeros((bins + 1,), dtype=inp.dtype), 0, place, ones)[:bins]


def histogram(inp, bins=10, range=None, density=False, weights=None):  # noqa: A002  (NumPy's names)
    """How many elements lie in each interval, and the edges of the intervals, as NumPy's.

    Args:
        bins: a number of intervals of one width, or their ascending edges; each interval holds its lower edge, the last
            one both.
        range: (lower, upper): where the intervals begin and end; the smallest and the largest element unless given.
        density: the share of each interval by its width, instead of the count.
        weights: what each element counts, in its shape; the counts are int32 without them.

    Integers of 32 and 64 bits are compared as float64, smaller ones as float32, which are the types of the edges, too.
    """
    flat = flatten(as_tensor(inp))
    narrow = flat.dtype in ("bool", "int8", "uint8", "int16", "uint16")
    floats = flat if dtypes.is_float(flat.dtype) else flat.astype("float32" if narrow else "float64")
    if isinstance(bins, int):
        edges = _edges(floats, bins, range)
    else:
        edges = as_tensor(bins)
        if edges.ndim != 1 or (is_static(edges.shape[0]) and edges.shape[0] < 2):
            raise ShapeError(f"histogram: edges of shape {show(edges.shape)} at {user_location()}; 2 or more are needed")
        edges = edges.astype(floats.dtype)
    count = edges.shape[0] - 1
    place = searchsorted(edges, floats, right=True) - 1
    place = where(equal(floats, edges[-1]), count - 1, place)
    inside = logical_and(floats >= edges[0], floats <= edges[-1])
    amounts = full(flat.shape, 1, dtype="int32") if weights is None else flatten(as_tensor(weights))
    totals = index_add(zeros((count + 1,), dtype=amounts.dtype), 0, where(inside, place, count), amounts)[:count]
    if density:
        totals = totals / (edges[1:] - edges[:-1]) / totals.sum()
    return totals, edges


def _edges(floats, bins, ends):
    if bins < 1:
        raise ShapeError(f"histogram: {bins} bins at {user_location()}; 1 or more are needed")
    if ends is not None:
        low, high = ends
        if not low <= high:
            raise ShapeError(f"histogram: the range {ends!r} at {user_location()}; it ascends")
        low, high = (low - 0.5, high + 0.5) if low == high else (low, high)
        return linspace(low, high, bins + 1, dtype=floats.dtype)
    low, high = smallest(floats), largest(floats)
    alone = equal(low, high)
    low, high = where(alone, low - 0.5, low), where(alone, high + 0.5, high)
    inner = low + (high - low) * linspace(0, 1, bins + 1, dtype=floats.dtype)[:-1]
    return concat([inner, reshape(high, (1,))], 0)


def unique(inp, return_inverse=False, return_counts=False, axis=None):
    """The values that occur, ascending; NaN once, at the end.

    Args:
        inp: any shape.
        return_inverse: also the position of each element in the result, in the shape of ``inp`` (int32).
        return_counts: also how often each value occurs (int32).
        axis: the parts along this axis are compared instead of the elements: those that occur, in the order of their
            first elements that differ. Inverse and counts then have one element a part. As in NumPy and PyTorch a part
            with a NaN equals no other.

    The values carry no gradient.
    """
    inp = as_tensor(inp)
    if axis is None:
        ordered, places = sort(flatten(inp))
        return _runs(ordered, inp.shape, return_inverse, return_counts, places)
    axis, rows = _rows("unique", inp, axis)
    places = _row_order(rows)
    found = _runs(take(rows, places, 0), rows.shape[:1], return_inverse, return_counts, places)
    return _as_parts(found, inp, axis)


def unique_consecutive(inp, return_inverse=False, return_counts=False, axis=None):
    """The elements of the flattened ``inp``, or its parts along ``axis``, that differ from the one before them; arguments
    as for `unique`."""
    inp = as_tensor(inp)
    if axis is None:
        return _runs(flatten(inp), inp.shape, return_inverse, return_counts, None)
    axis, rows = _rows("unique_consecutive", inp, axis)
    return _as_parts(_runs(rows, rows.shape[:1], return_inverse, return_counts, None), inp, axis)


def _rows(op, inp, axis):
    """(the axis from 0 on, its parts as rows of a matrix)"""
    axis = resolve_axis(op, axis, inp.ndim)
    sizes = inp.shape[:axis] + inp.shape[axis + 1 :]
    return axis, reshape(moveaxis(inp, axis, 0), (inp.shape[axis], size_of(sizes)))


def _row_order(rows):
    """The positions of the rows in the order of their first columns that differ: sorted by one column after the other,
    from the last to the first, where equal ones keep their order."""
    start = arange(rows.shape[0], dtype="int32")
    columns = transpose(rows, (1, 0))
    return scan(lambda order, column: (take(order, argsort(take(column, order, 0)), 0), None), start, columns, reverse=True)[0]


def _as_parts(found, inp, axis):
    """The results of `_runs` with the rows as parts of ``inp`` along ``axis`` again."""
    rows, *rest = found if isinstance(found, tuple) else (found,)
    parts = moveaxis(reshape(rows, rows.shape[:1] + inp.shape[:axis] + inp.shape[axis + 1 :]), 0, axis)
    return (parts, *rest) if rest else parts


def _runs(line, shape, return_inverse, return_counts, places):
    """The first of each run of equal elements (or rows) of ``line``, which stood at ``places`` of a tensor of ``shape``."""
    before, after = line[:-1], line[1:]
    differ = not_equal(after, before)
    if line.ndim > 1:
        differ = any_of(differ, 1)
    elif dtypes.is_float(line.dtype):
        differ = logical_and(differ, logical_not(logical_and(isnan(after), isnan(before))))
    size = size_of(shape)
    first = full((1,), True, dtype="bool")
    starts = concat([first, differ], 0) if not (is_static(size) and size == 0) else full((0,), True, dtype="bool")
    values = take(line, flatnonzero(starts), 0)
    results = [values]
    if return_inverse or return_counts:
        run = cumsum(starts.astype("int32"), 0) - 1
    if return_inverse:
        back = run if places is None else index_copy(zeros((size,), dtype="int32"), 0, places, run)
        results.append(reshape(back, shape))
    if return_counts:
        ones = full((size,), 1, dtype="int32")
        results.append(index_add(zeros((values.shape[0],), dtype="int32"), 0, run, ones))
    return tuple(results) if len(results) > 1 else values


def isin(elements, test_elements, invert=False):
    """Whether each element is among ``test_elements``; with ``invert`` whether it is not."""
    elements, wanted = as_tensor(elements), flatten(as_tensor(test_elements))
    found = any_of(equal(expand_dims(elements, -1), wanted), -1)
    return logical_not(found) if invert else found
