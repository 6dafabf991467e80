"""One-hot codes and picks along an axis."""

from .._stream import apply
from .._tensor import Tensor, as_tensor
from .axes import resolve_axis
from .shape import expand_dims


def one_hot(inp, num_classes):
    """A new last axis of size ``num_classes`` with 1 at the position that each element names, else 0 (int32)."""
    inp = as_tensor(inp)
    positions = apply("iota", [], {"shape": [num_classes], "axis": 0, "dtype": inp.dtype})[0]
    return (expand_dims(inp, -1) == Tensor._wrap(positions)).astype("int32")


def indexing_one_hot(src, index, axis=1, keepdims=False):
    """Along ``axis`` the element of ``src`` that ``index`` names; that has the shape of ``src`` without it."""
    axis = resolve_axis("indexing_one_hot", axis, src.ndim)
    sizes = [1] * src.ndim
    sizes[axis] = src.shape[axis]
    positions = Tensor._wrap(apply("iota", [], {"shape": sizes, "axis": axis, "dtype": index.dtype})[0])
    from .elementwise import where

    return where(expand_dims(index, axis) == positions, src, 0).sum(axis, keepdims)
