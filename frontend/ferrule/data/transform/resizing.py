"""Resizing of arrays (H, W, ...) along their first two axes."""

import numpy as np

from ...errors import UnsupportedError

INTERPOLATIONS = ("nearest", "linear")


def check_interpolation(kind, interpolation):
    """Refuses other names; returns the name."""
    if interpolation not in INTERPOLATIONS:
        raise UnsupportedError(f"{kind}: interpolation {interpolation!r}; allowed: {', '.join(INTERPOLATIONS)}")
    return interpolation


def resize(array, height, width, interpolation="linear"):
    """``array`` in another height and width, with pixel centres at half numbers; integers are rounded to even."""
    if interpolation == "nearest":
        rows = np.minimum((np.arange(height) * (array.shape[0] / height)).astype(np.int64), array.shape[0] - 1)
        columns = np.minimum((np.arange(width) * (array.shape[1] / width)).astype(np.int64), array.shape[1] - 1)
        return array[rows][:, columns]
    result = array.astype(np.float64)
    for axis, size in enumerate((height, width)):
        before = result.shape[axis]
        position = np.clip((np.arange(size) + 0.5) * (before / size) - 0.5, 0, before - 1)
        low = np.floor(position).astype(np.int64)
        high = np.minimum(low + 1, before - 1)
        share = (position - low).reshape([-1 if i == axis else 1 for i in range(result.ndim)])
        result = result.take(low, axis) * (1 - share) + result.take(high, axis) * share
    return np.rint(result).astype(array.dtype) if np.issubdtype(array.dtype, np.integer) else result.astype(array.dtype)
