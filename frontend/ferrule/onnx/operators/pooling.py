"""Pools over 1 to 3 axes of space, and over all of it."""

import numpy as np

from ... import dtypes, functional as F
from ...errors import UnsupportedError
from ...shapes import is_static, show, size_of
from ..registry import operator
from .windows import cropped, for_rank, window_of

_MAX = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}
_AVERAGE = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}


@operator("MaxPool", note="1 to 3 axes of space")
def max_pool(node, x):
    """The largest element of each window, and its position in the whole tensor where that is read."""
    window = window_of(node, x.shape[2:], None)
    if node.wants(1):
        return _max_pool_with_positions(node, x, window)
    function = for_rank(_MAX, x.ndim - 2)
    narrow = x.dtype
    x = x if dtypes.is_float(narrow) else x.astype("float32")  # exact for the 8-bit types that are allowed
    x, padding = cropped(x, window.padding)
    y = function(x, window.kernel, window.strides, padding, window.dilations, bool(node.get("ceil_mode", 0)))
    return y.astype(narrow)


@operator("AveragePool", note="1 to 3 axes of space")
def average_pool(node, x):
    """The mean of each window; padding counts only with ``count_include_pad``."""
    window = window_of(node, x.shape[2:], None)
    function = for_rank(_AVERAGE, x.ndim - 2)
    x, padding = cropped(x, window.padding)
    return function(
        x,
        window.kernel,
        window.strides,
        padding,
        ceil_mode=bool(node.get("ceil_mode", 0)),
        count_include_pad=bool(node.get("count_include_pad", 0)),
        dilation=window.dilations,
    )


@operator("LpPool", since=2, note="1 to 3 axes of space")
def lp_pool(node, x):
    """The p-norm of each window."""
    window = window_of(node, x.shape[2:], None)
    function = for_rank(_AVERAGE, x.ndim - 2)
    order = node.get("p", 2)
    powers = _power(F.abs(x), order)
    total = function(
        powers,
        window.kernel,
        window.strides,
        window.padding,
        ceil_mode=bool(node.get("ceil_mode", 0)),
        divisor_override=1,
        dilation=window.dilations,
    )
    return _root(total, order)


def _power(x, order):
    return x if order == 1 else x * x if order == 2 else F.pow(x, float(order))


def _root(x, order):
    return x if order == 1 else F.sqrt(x) if order == 2 else F.pow(x, 1.0 / order)


@operator(("GlobalAveragePool", "GlobalMaxPool"))
def global_pool(node, x):
    """The mean or the largest element of each channel."""
    axes = tuple(range(2, x.ndim))
    return (F.mean if node.operator == "GlobalAveragePool" else F.max)(x, axes, True)


@operator("GlobalLpPool", since=2)
def global_lp_pool(node, x):
    """The p-norm of each channel."""
    order = node.get("p", 2)
    return _root(F.sum(_power(F.abs(x), order), tuple(range(2, x.ndim)), True), order)


# --- positions --------------------------------------------------------------------------------------------------------


def _taps(size, kernel, stride, dilation, padding, ceil):
    """The positions that each window reads on one axis, outputs x kernel; outside of the axis is padding."""
    span = size + sum(padding) - dilation * (kernel - 1) - 1
    count = (-(-span // stride) if ceil else span // stride) + 1
    if ceil and (count - 1) * stride >= size + padding[0]:
        count -= 1  # the window would begin in the padding behind the axis
    return np.arange(count)[:, None] * stride - padding[0] + np.arange(kernel)[None, :] * dilation


def _max_pool_with_positions(node, x, window):
    space = x.shape[2:]
    if not all(is_static(size) for size in x.shape):
        raise UnsupportedError(f"positions (its second output) of a tensor with symbolic sizes {show(x.shape)}")
    ceil, column_major = bool(node.get("ceil_mode", 0)), bool(node.get("storage_order", 0))
    taps = [
        _taps(*axis, ceil)
        for axis in zip(space, window.kernel, window.strides, window.dilations, window.padding)
    ]
    rank, counts = len(space), [len(each) for each in taps]
    grid = []  # for each axis the positions [outputs..., taps...]
    for i, each in enumerate(taps):
        shape = [1] * 2 * rank
        shape[i], shape[rank + i] = each.shape
        grid.append(each.reshape(shape))
    inside = np.ones((), bool)
    for each, size in zip(grid, space):
        inside = inside & (each >= 0) & (each < size)
    places = [np.clip(each, 0, size - 1) for each, size in zip(grid, space)]
    read = np.zeros((), np.int64)
    named = np.zeros((), np.int64)
    for i in range(rank):
        read = read + places[i] * size_of(space[i + 1 :])
        named = named + places[i] * (size_of(space[:i]) if column_major else size_of(space[i + 1 :]))
    windows = size_of(window.kernel)
    rows = [np.broadcast_to(each, (*counts, *window.kernel)).reshape(-1, windows) for each in (read, named, inside)]
    flat = F.reshape(x, (*x.shape[:2], size_of(space)))
    found = F.take(flat, rows[0].astype(np.int32), 2)
    lowest = -np.inf if dtypes.is_float(x.dtype) else dtypes.limits(x.dtype).min
    found = F.where(rows[2], found, F.full((), lowest, dtype=x.dtype))
    best = F.argmax(found, 3, keepdims=True)
    values = F.squeeze(F.gather(found, 3, best), 3)
    names = F.broadcast_to(rows[1], (*x.shape[:2], *rows[1].shape))
    base = np.arange(x.shape[0] * x.shape[1], dtype=np.int64).reshape(*x.shape[:2], 1) * size_of(space)
    positions = F.squeeze(F.gather(names, 3, best), 3) + base
    return [F.reshape(each, (*x.shape[:2], *counts)) for each in (values, positions)]


@operator("MaxUnpool", since=9, host=(2,))
def max_unpool(node, x, positions, output_shape=None):
    """The elements at the positions that a MaxPool gave, zeros elsewhere."""
    rank = x.ndim - 2
    kernel, strides = node.get("kernel_shape"), node.get("strides") or [1] * rank
    pads = node.get("pads") or [0] * 2 * rank
    shape = [*x.shape[:2]]
    for i, size in enumerate(x.shape[2:]):
        shape.append((size - 1) * strides[i] + kernel[i] - pads[i] - pads[rank + i])
    wanted = shape if output_shape is None else [int(size) for size in output_shape.reshape(-1)]
    flat = F.zeros((size_of(shape),), dtype=x.dtype)
    flat = F.scatter(flat, 0, F.flatten(positions), F.flatten(x))
    result = F.reshape(flat, shape)
    if wanted != shape:
        result = F.pad(result, [(0, target - size) for target, size in zip(wanted, shape)])
    return result
