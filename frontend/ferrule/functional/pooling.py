"""Pooling over windows of sequences (N, C, L), images (N, C, H, W) and volumes (N, C, D, H, W)."""

from .. import dtypes
from .._stream import apply
from .._tensor import Tensor
from ..errors import ShapeError, UnsupportedError
from ..location import user_location
from ..shapes import is_static, size_of
from .creation import arange
from .elementwise import stop_gradient
from .indexing import take
from .ordering import searchsorted, sort
from .recording import remembered
from .shape import broadcast_to, flatten, reshape
from .windows import batched, known_sizes, pad_space, paddings, positive, unbatched

__all__ = [
    f"{kind}_pool{rank}d" for kind in ("max", "avg", "adaptive_max", "adaptive_avg") for rank in (1, 2, 3)
]

_AVERAGE_MODES = {"average_count_exclude_padding": False, "average": True}


@remembered
def max_pool1d(inp, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """`max_pool2d` over one axis of space."""
    return _max_pool("max_pool1d", 1, inp, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@remembered
def max_pool2d(inp, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The largest element of each window; NaN wins. Its gradient goes to the first largest element in scan order.

    Args:
        kernel_size, stride, dilation: an int or one an axis; the stride is the kernel's size unless given.
        padding: an int, one an axis, or a pair (before, after) an axis; padding never wins.
        ceil_mode: also take a last window that begins inside and reaches beyond the padding.
        return_indices: give the position of each element too, row-major over the axes of space (int32): what
            `max_unpool2d` takes.
    """
    return _max_pool("max_pool2d", 2, inp, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@remembered
def max_pool3d(inp, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """`max_pool2d` over three axes of space."""
    return _max_pool("max_pool3d", 3, inp, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


@remembered
def avg_pool1d(
    inp,
    kernel_size,
    stride=None,
    padding=0,
    mode="average_count_exclude_padding",
    *,
    ceil_mode=False,
    count_include_pad=None,
    divisor_override=None,
    dilation=1,
):
    """`avg_pool2d` over one axis of space."""
    include = _includes_padding("avg_pool1d", mode, count_include_pad)
    window = kernel_size, stride, padding, dilation, ceil_mode
    return _avg_pool("avg_pool1d", 1, inp, window, include, divisor_override)


@remembered
def avg_pool2d(
    inp,
    kernel_size,
    stride=None,
    padding=0,
    mode="average_count_exclude_padding",
    *,
    ceil_mode=False,
    count_include_pad=None,
    divisor_override=None,
    dilation=1,
):
    """The mean of each window.

    Args:
        kernel_size, stride, padding, dilation, ceil_mode: as for `max_pool2d`.
        mode: ``"average_count_exclude_padding"`` divides by the elements inside, ``"average"`` counts the padding.
        count_include_pad: PyTorch's word for ``mode``, which it overrides.
        divisor_override: divide by this number instead.
    """
    include = _includes_padding("avg_pool2d", mode, count_include_pad)
    window = kernel_size, stride, padding, dilation, ceil_mode
    return _avg_pool("avg_pool2d", 2, inp, window, include, divisor_override)


@remembered
def avg_pool3d(
    inp,
    kernel_size,
    stride=None,
    padding=0,
    mode="average_count_exclude_padding",
    *,
    ceil_mode=False,
    count_include_pad=None,
    divisor_override=None,
    dilation=1,
):
    """`avg_pool2d` over three axes of space."""
    include = _includes_padding("avg_pool3d", mode, count_include_pad)
    window = kernel_size, stride, padding, dilation, ceil_mode
    return _avg_pool("avg_pool3d", 3, inp, window, include, divisor_override)


@remembered
def adaptive_max_pool1d(inp, oshp, return_indices=False):
    """`adaptive_max_pool2d` over one axis of space."""
    return _adaptive("adaptive_max_pool1d", "max_pool", 1, inp, oshp, return_indices)


@remembered
def adaptive_max_pool2d(inp, oshp, return_indices=False):
    """The largest element of each of ``oshp`` windows; output i of n reads [floor(i * s / n), ceil((i + 1) * s / n)).

    Args:
        oshp: the size of the result, an int or one an axis; None keeps the size of that axis. 1 pools all of it.
        return_indices: as for `max_pool2d`.
    """
    return _adaptive("adaptive_max_pool2d", "max_pool", 2, inp, oshp, return_indices)


@remembered
def adaptive_max_pool3d(inp, oshp, return_indices=False):
    """`adaptive_max_pool2d` over three axes of space."""
    return _adaptive("adaptive_max_pool3d", "max_pool", 3, inp, oshp, return_indices)


@remembered
def adaptive_avg_pool1d(inp, oshp):
    """`adaptive_avg_pool2d` over one axis of space."""
    return _adaptive("adaptive_avg_pool1d", "avg_pool", 1, inp, oshp)


@remembered
def adaptive_avg_pool2d(inp, oshp):
    """The mean of each of ``oshp`` windows, which are those of `adaptive_max_pool2d`."""
    return _adaptive("adaptive_avg_pool2d", "avg_pool", 2, inp, oshp)


@remembered
def adaptive_avg_pool3d(inp, oshp):
    """`adaptive_avg_pool2d` over three axes of space."""
    return _adaptive("adaptive_avg_pool3d", "avg_pool", 3, inp, oshp)


def _window(op, rank, inp, kernel_size, stride, padding, dilation, ceil_mode):
    """The attributes of a pool, and the part of its padding that only the ceiling asks for, an axis."""
    kernel = positive(op, "kernel_size", kernel_size, rank)
    strides = kernel if stride is None else positive(op, "stride", stride, rank)
    dilations = positive(op, "dilation", dilation, rank)
    begin, end = paddings(op, padding, rank)
    beyond = [0] * rank
    if ceil_mode and max(strides) > 1:
        sizes = known_sizes(op, inp, "ceil_mode with a stride")
        for axis, size in enumerate(sizes):
            reach = dilations[axis] * (kernel[axis] - 1) + 1
            count = -(-(size + begin[axis] + end[axis] - reach) // strides[axis]) + 1
            if (count - 1) * strides[axis] >= size + begin[axis]:
                count -= 1  # The last window would begin in the padding after the input.
            beyond[axis] = max((count - 1) * strides[axis] + reach - size - begin[axis] - end[axis], 0)
    attrs = {"kernel": kernel, "strides": strides, "pads_begin": begin, "pads_end": end, "dilations": dilations}
    return attrs, beyond


def _record(op, inp, alone, attrs):
    return unbatched(Tensor._wrap(apply(op, [inp._handle], attrs)[0]), alone)


def _max_pool(op, rank, inp, kernel_size, stride, padding, dilation, ceil_mode, indices):
    inp, alone = batched(op, inp, rank)
    attrs, beyond = _window(op, rank, inp, kernel_size, stride, padding, dilation, ceil_mode)
    attrs["pads_end"] = [end + more for end, more in zip(attrs["pads_end"], beyond)]
    values = _largest(inp, alone, attrs)
    return (values, _positions(inp, alone, attrs)) if indices else values


def _largest(inp, alone, attrs):
    comparable, restore = _comparable(inp)
    return restore(_record("max_pool", comparable, alone, attrs))


def _comparable(inp):
    """(``inp`` in a float type that keeps the order of its elements, the function that takes such floats back)"""
    if dtypes.is_float(inp.dtype):
        return inp, lambda floats: floats
    if inp.dtype not in ("int64", "uint64"):
        return inp.astype("float64" if inp.dtype in ("int32", "uint32") else "float32"), lambda floats: floats.astype(inp.dtype)
    # No float type holds these exactly: their ranks are compared, and equal elements have one.
    flat = flatten(inp)
    ascending, _ = sort(flat)
    ranks = reshape(searchsorted(ascending, flat), inp.shape).astype("float64")
    return ranks, lambda floats: take(ascending, floats.astype("int32"), 0)


def _positions(inp, alone, attrs):
    """Where the elements that `max_pool` takes stand, row-major over the axes of space."""
    space = inp.shape[2:]
    count = size_of(space)
    comparable, _ = _comparable(stop_gradient(inp))
    # Whole numbers that the pool's type holds exactly.
    narrow = is_static(count) and count <= 1 << 24 and comparable.dtype != "float64"
    dtype = "float32" if narrow else "float64"
    numbers = broadcast_to(reshape(arange(count, dtype=dtype), space), inp.shape)
    handles = [comparable.astype(dtype)._handle, numbers._handle]
    return unbatched(Tensor._wrap(apply("max_pool_select", handles, attrs)[0]), alone).astype("int32")


def _includes_padding(op, mode, count_include_pad):
    if mode not in _AVERAGE_MODES:
        raise UnsupportedError(f"{op}: mode {mode!r} at {user_location()}; allowed: {', '.join(_AVERAGE_MODES)}")
    return _AVERAGE_MODES[mode] if count_include_pad is None else bool(count_include_pad)


def _avg_pool(op, rank, inp, window, include, divisor):
    inp, alone = batched(op, inp, rank)
    attrs, beyond = _window(op, rank, inp, *window)
    if include and divisor is None and any(beyond):
        # Padding counts and what the ceiling adds does not: the padding becomes part of the input.
        inp = pad_space(inp, attrs["pads_begin"], attrs["pads_end"])
        attrs.update(pads_begin=[0] * rank, pads_end=beyond)
        include = False
    else:
        attrs["pads_end"] = [end + more for end, more in zip(attrs["pads_end"], beyond)]
    attrs["count_include_pad"] = include or divisor is not None
    result = _record("avg_pool", inp, alone, attrs)
    if divisor is None:
        return result
    count = 1
    for size in attrs["kernel"]:
        count *= size
    return result * (count / divisor)


def _adaptive(op, kind, rank, inp, oshp, indices=False):
    inp, alone = batched(op, inp, rank)
    wanted = list(oshp) if isinstance(oshp, (tuple, list)) else [oshp] * rank
    if len(wanted) != rank:
        raise ShapeError(f"{op}: output size {oshp!r} at {user_location()}; an int or {rank} of them are needed")
    if None in wanted:
        sizes = known_sizes(op, inp, "an output size of None")
        wanted = [size if want is None else want for want, size in zip(wanted, sizes)]
    attrs = {"output_sizes": positive(op, "output size", wanted, rank)}
    values = _largest(inp, alone, attrs) if kind == "max_pool" else _record(kind, inp, alone, attrs)
    return (values, _positions(inp, alone, attrs)) if indices else values
