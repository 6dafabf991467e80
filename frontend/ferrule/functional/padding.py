"""Padding: what stands around a tensor. Negative widths are refused; a part is taken with a slice."""

import numpy as np

from .. import dtypes
from .._stream import apply
from .._tensor import Tensor, as_tensor
from ..errors import ShapeError
from ..location import user_location
from ..shapes import is_static, show
from .indexing import take
from .recording import remembered
from .shape import broadcast_to, concat

__all__ = ["pad"]

_MODES = {
    "constant": "constant",
    "reflect": "reflect",
    "symmetric": "symmetric",
    "edge": "edge",
    "replicate": "edge",
    "circular": "circular",
    "wrap": "circular",
}


def _reflect(position, size):
    return -abs(abs(position) - (size - 1)) + (size - 1)


def _symmetric(position, size):
    # 2p + 1 is odd, so that its absolute value mirrors between -1 and 0; the same at the other end.
    inside = (abs(2 * position + 1) - 1) // 2
    return -((abs(inside * -2 + (2 * size - 1)) - 1) // 2) + (size - 1)


def _edge(position, size):
    return (abs(position) - abs(position - (size - 1)) + (size - 1)) // 2


def _circular(position, size):
    return position % size


# From positions around the tensor, counted from its first element, to those whose values they take (arrays or tensors).
_SOURCES = {"reflect": _reflect, "symmetric": _symmetric, "edge": _edge, "circular": _circular}


def _pairs(src, pad_width):
    """(before, after) for each axis."""
    ndim = src.ndim
    if isinstance(pad_width, int):
        pad_width = [(pad_width, pad_width)] * ndim
    widths = list(pad_width)
    if len(widths) == 2 and isinstance(widths[0], int) and isinstance(widths[1], int):
        widths = [tuple(widths)] * ndim
    fits = len(widths) <= ndim and all([isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in widths])
    if not fits:
        raise ShapeError(
            f"pad: pad_width {pad_width!r} is an int, a pair, or at most {ndim} pairs (before, after) for "
            f"{show(src.shape)}, the first axis first, at {user_location()}"
        )
    pairs = [(before.__index__(), after.__index__()) for before, after in widths]
    for axis, pair in enumerate(pairs):
        if min(pair) < 0:
            raise ShapeError(f"pad: the width {pair} of axis {axis} is negative at {user_location()}; take a slice")
    return pairs + [(0, 0)] * (ndim - len(pairs))


@remembered
def pad(src, pad_width, mode="constant", constant_value=0.0):
    """``src`` with elements around it.

    Args:
        pad_width: (before, after) for each axis, the first axis first; axes left out are not padded. One pair or an int
            stands for all axes.
        mode: ``constant`` (of ``constant_value``), ``reflect`` (mirrored at the last element, which is not repeated:
            widths below the size), ``symmetric`` (mirrored with it: at most the size), ``edge`` or ``replicate`` (the
            last element), ``circular`` or ``wrap`` (from the other end).
    """
    src = as_tensor(src)
    name = _MODES.get(str(mode).lower())
    if name is None:
        raise ShapeError(f"pad: the mode {mode!r} is none of {', '.join(_MODES)} at {user_location()}")
    pairs = _pairs(src, pad_width)
    if name == "constant":
        return _constant(src, pairs, constant_value)
    for axis, pair in enumerate(pairs):
        if pair != (0, 0):
            src = take(src, _source(name, src, axis, *pair), axis)
    return src


def _source(mode, src, axis, before, after):
    """For each place of the padded axis the position that it repeats."""
    size = src.shape[axis]
    most = {"reflect": size - 1, "symmetric": size}.get(mode)
    if not 1 <= size:
        raise ShapeError(f"pad: axis {axis} of {show(src.shape)} is empty at {user_location()}; only constants fill it")
    if most is not None and not max(before, after) <= most:
        raise ShapeError(
            f"pad: {mode} takes at most {most} elements from axis {axis} of {show(src.shape)}, not ({before}, {after}) "
            f"at {user_location()}"
        )
    if is_static(size):
        return Tensor(_SOURCES[mode](np.arange(-before, size + after), size).astype("int32"))
    count = apply("iota", [], {"shape": [before + size + after], "axis": 0, "dtype": "int32"})[0]
    return _SOURCES[mode](Tensor._wrap(count) - before, size)


def _constant(src, pairs, value):
    padded = [axis for axis, pair in enumerate(pairs) if pair != (0, 0)]
    if not padded:
        return Tensor._wrap(src._handle)
    fill = Tensor(dtypes.array_of(value, src.dtype))
    sizes = src.shape
    if len(padded) > 1:
        # One pass for the filling and one for the tensor, however many axes there are.
        shape = [before + size + after for size, (before, after) in zip(sizes, pairs)]
        attrs = {"offsets": [before for before, _ in pairs], "steps": [1] * len(sizes)}
        return Tensor._wrap(apply("update_slice", [broadcast_to(fill, shape)._handle, src._handle], attrs)[0])
    axis = padded[0]

    def filling(width):
        return broadcast_to(fill, sizes[:axis] + (width,) + sizes[axis + 1 :])

    before, after = pairs[axis]
    return concat([*([filling(before)] if before else []), src, *([filling(after)] if after else [])], axis)
