"""Axes and sizes as arguments: negative ones resolved, wrong ones refused with the range that is allowed."""

from .. import _compiler
from ..errors import ShapeError
from ..location import user_location
from ..shapes import is_static, show, size_of


def resolve_axis(op, axis, ndim):
    """``axis`` in 0 .. ndim-1; raises ShapeError outside -ndim .. ndim-1."""
    if type(axis) is int and 0 <= axis < ndim:
        return axis
    if isinstance(axis, bool) or not hasattr(axis, "__index__"):
        raise ShapeError(f"{op}: an axis is an int, not {axis!r} at {user_location()}")
    index = axis.__index__()
    if not -ndim <= index < ndim:
        allowed = f"{-ndim} to {ndim - 1}" if ndim else "none: the tensor has no axes"
        raise ShapeError(
            f"{op}: axis {index} is out of range for a tensor of rank {ndim} (allowed: {allowed}) at {user_location()}"
        )
    return index % ndim


def resolve_axes(op, axis, ndim):
    """``axis`` (an int, several, or None for all) as ascending axes; raises ShapeError for repeated ones."""
    if axis is None:
        return list(range(ndim))
    if type(axis) is int:
        return [resolve_axis(op, axis, ndim)]
    axes = [resolve_axis(op, a, ndim) for a in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    if len(set(axes)) != len(axes):
        raise ShapeError(f"{op}: an axis stands twice in {axis!r} at {user_location()}")
    return sorted(axes)


def resolve_shape(op, shape, source):
    """``shape`` as a list of sizes, where one -1 takes what is left of the elements of ``source``."""
    sizes = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    place, known = None, 1  # of the open axis; the product of the other sizes
    for axis, size in enumerate(sizes):
        if type(size) is not int:
            if isinstance(size, _compiler.DimExpr):
                known = known * size
                continue
            size = sizes[axis] = size.__index__()
        if size >= 0:
            known = known * size
        elif size == -1 and place is None:
            place = axis
        else:
            sizes = [size if isinstance(size, _compiler.DimExpr) else size.__index__() for size in sizes]
            _refuse_shape(op, source, sizes, "one size may be -1, the others are not negative")
    if place is None:
        return sizes
    total = size_of(source)
    if is_static(known) and known == 0:
        _refuse_shape(op, source, sizes, "the size for -1 is not decided, as the others multiply to 0")
    if is_static(total) and is_static(known) and total % known:
        _refuse_shape(op, source, sizes, f"{total} elements do not divide by {known}")
    sizes[place] = total // known
    return sizes


def _refuse_shape(op, source, sizes, reason):
    raise ShapeError(f"{op}: {show(source)} to {show(sizes)} at {user_location()}: {reason}")


_INTS = {int}


def per_axis(op, name, value, rank):
    """An int, or ``rank`` ints, as a list of ``rank``."""
    if type(value) is int:
        return [value] * rank
    values = list(value) if isinstance(value, (tuple, list)) else [value] * rank
    if set(map(type, values)) == _INTS and len(values) == rank:
        return values
    if len(values) != rank or any([isinstance(v, bool) or not hasattr(v, "__index__") for v in values]):
        wanted = "an int" if rank == 1 else f"an int or {rank} ints"
        raise ShapeError(f"{op}: {name} is {wanted}, not {value!r} at {user_location()}")
    return [v.__index__() for v in values]
