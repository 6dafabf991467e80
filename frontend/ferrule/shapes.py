"""Shapes: tuples of ints and DimExprs. Nothing here asks a comparison that the dims' bounds may leave undecided."""

from . import _compiler


def is_static(size):
    """Whether a size is a number."""
    return type(size) is int or not isinstance(size, _compiler.DimExpr)


def is_one(size):
    """Whether a size is the number 1; a symbolic one is not."""
    return is_static(size) and size == 1


def size_of(sizes):
    """The product of sizes: an int, or a DimExpr if one of them is symbolic."""
    product = 1
    for size in sizes:
        product = product * size
    return product


def same_shape(a, b):
    """Whether two shapes are written alike, size by size."""
    if len(a) != len(b):
        return False
    for p, q in zip(a, b):
        if p is not q and (p != q if type(p) is int and type(q) is int else str(p) != str(q)):
            return False
    return True


def show(shape):
    """A shape for messages, as Python writes tuples."""
    return "(" + ", ".join(str(size) for size in shape) + ("," if len(shape) == 1 else "") + ")"
