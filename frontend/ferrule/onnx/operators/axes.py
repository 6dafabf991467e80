"""Axes, sizes and lists of numbers as operators give them: by attribute in old versions, by an input in new ones."""

from ...errors import ShapeError, UnsupportedError
from ...shapes import is_static


def ints(array, what="a size"):
    """The elements of a host array as a list of ints; UnsupportedError if one is symbolic."""
    values = array.reshape(-1).tolist()
    for value in values:
        if not is_static(value):
            raise UnsupportedError(f"{what} is {value}, which only the data decide: fix it with shapes={{...}}")
    return [int(value) for value in values]


def sizes(array):
    """The elements of a host array as a list of ints and DimExprs."""
    return [value if not is_static(value) else int(value) for value in array.reshape(-1).tolist()]


def scalar(array, what="a number"):
    """The only element of a host array as an int."""
    values = ints(array, what)
    if len(values) != 1:
        raise ShapeError(f"{what} must be one number, not {values}")
    return values[0]


def axis_of(axis, rank):
    """``axis`` counted from the first; ShapeError outside of -rank to rank - 1."""
    if not -rank <= axis < max(rank, 1):
        raise ShapeError(f"axis {axis} for a tensor of rank {rank}; allowed: {-rank} to {rank - 1}")
    return axis % rank if rank else 0


def axes_of(node, array, rank, name="axes"):
    """The axes from an input (``array``) or else the attribute, counted from the first; None where neither says any."""
    found = node.get(name) if array is None else ints(array, "an axis")
    return None if found is None else [axis_of(axis, rank) for axis in found]


def broadcast_shapes(a, b):
    """The common shape of two by NumPy's rule. Of two sizes that may differ the first is taken; the op checks it."""
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + tuple(a), (1,) * (rank - len(b)) + tuple(b)
    return tuple(q if is_static(p) and p == 1 else p for p, q in zip(a, b))
