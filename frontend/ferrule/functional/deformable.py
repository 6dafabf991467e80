"""`deformable_conv2d`: a convolution whose windows are moved by offsets that the network computes."""

from .._stream import apply
from .._tensor import Tensor, as_tensor
from ..errors import ShapeError, UnsupportedError
from ..location import user_location
from ..shapes import show
from .contraction import matmul
from .elementwise import floor, logical_and, maximum, minimum, where
from .indexing import take_along_axis
from .recording import remembered
from .shape import expand_dims, reshape
from .windows import known_sizes, positive

__all__ = ["deformable_conv2d"]


@remembered
def deformable_conv2d(
    inp,
    weight,
    offset,
    mask,
    bias=None,
    stride=1,
    padding=0,
    dilation=1,
    groups=1,
    conv_mode="cross_correlation",
    compute_mode="default",
):
    """A convolution of images (N, C, H, W) whose taps lie at places moved by ``offset``, interpolated linearly.

    What lies outside the image is 0.

    Args:
        weight: (out, C / groups, kh, kw), or MegEngine's (groups, out / groups, C / groups, kh, kw).
        offset: (N, 2 * D * kh * kw, oh, ow) for D groups of channels that move alike: for each of them and each tap,
            row by row, how far down and how far right it is moved.
        mask: (N, D * kh * kw, oh, ow): a factor for each tap.
        bias: (1, out, 1, 1) or (out,), or None.
        stride, padding, dilation: an int or a pair (height, width).
    """
    del compute_mode
    op = "deformable_conv2d"
    if conv_mode not in ("cross_correlation", "CROSS_CORRELATION"):
        raise UnsupportedError(f"{op}: conv_mode {conv_mode!r} at {user_location()}; allowed is 'cross_correlation'")
    inp, weight, offset, mask = (as_tensor(tensor) for tensor in (inp, weight, offset, mask))
    if weight.ndim == 5:
        weight = reshape(weight, (weight.shape[0] * weight.shape[1], *weight.shape[2:]))
    if any(tensor.ndim != 4 for tensor in (inp, weight, offset, mask)) or inp.shape[1] != weight.shape[1] * groups:
        raise ShapeError(
            f"{op}: shapes {', '.join(show(tensor.shape) for tensor in (inp, weight, offset, mask))} in {groups} "
            f"groups at {user_location()}; (N, C, H, W), (out, C / groups, kh, kw) and two of rank 4 are needed"
        )
    out, channels, *kernel = weight.shape
    taps = kernel[0] * kernel[1]
    moving = mask.shape[1] // taps
    if mask.shape[1] != moving * taps or offset.shape[1] != 2 * moving * taps or inp.shape[1] % max(moving, 1):
        raise ShapeError(
            f"{op}: offset of shape {show(offset.shape)} and mask of shape {show(mask.shape)} for a kernel of "
            f"{tuple(kernel)} and {inp.shape[1]} channels at {user_location()}; 2 and 1 numbers a tap, for groups that "
            f"divide the channels, are needed"
        )
    rows, columns = _places(op, offset, kernel, moving, stride, padding, dilation)
    sampled = _sampled(op, inp, moving, rows, columns)  # (N, D, C / D, taps * places)
    samples, height, width = offset.shape[0], offset.shape[2], offset.shape[3]
    factors = reshape(mask, (samples, moving, 1, taps * height * width))
    windows = reshape(sampled * factors, (samples, groups, channels * taps, height * width))
    products = matmul(reshape(weight, (groups, out // groups, channels * taps)), windows)
    result = reshape(products, (samples, out, height, width))
    if bias is None:
        return result
    return result + (reshape(bias, (1, -1, 1, 1)) if bias.ndim == 1 else bias)


def _iota(shape, axis, dtype):
    return Tensor._wrap(apply("iota", [], {"shape": shape, "axis": axis, "dtype": "int32"})[0]).astype(dtype)


def _places(op, offset, kernel, moving, stride, padding, dilation):
    """The row and the column of each tap at each place, as floats (N, D, taps * places)."""
    strides, steps = positive(op, "stride", stride, 2), positive(op, "dilation", dilation, 2)
    pads = (padding, padding) if isinstance(padding, int) else tuple(padding)
    samples, _, height, width = offset.shape
    taps = kernel[0] * kernel[1]
    moved = reshape(offset, (samples, moving, *kernel, 2, height, width))
    found = []
    for axis in range(2):
        tap = _iota([1, 1, *kernel, 1, 1], 2 + axis, offset.dtype) * float(steps[axis])
        place = _iota([1, 1, 1, 1, height, width], 4 + axis, offset.dtype) * float(strides[axis]) - float(pads[axis])
        found.append(reshape(moved[:, :, :, :, axis] + tap + place, (samples, moving, taps * height * width)))
    return found


def _sampled(op, inp, moving, rows, columns):
    """The image at places between its elements: the four around each, by their nearness."""
    samples, channels = inp.shape[:2]
    height, width = known_sizes(op, inp, "sampling")
    flat = reshape(inp, (samples, moving, channels // moving, height * width))
    top, left = floor(rows), floor(columns)
    total = None
    for down in (0.0, 1.0):
        for right in (0.0, 1.0):
            row, column = top + down, left + right
            near_row = rows - top if down else 1.0 - (rows - top)
            near_column = columns - left if right else 1.0 - (columns - left)
            inside = logical_and(
                logical_and(row >= 0.0, row <= height - 1.0), logical_and(column >= 0.0, column <= width - 1.0)
            )
            index = _clamped(row, height) * width + _clamped(column, width)
            values = take_along_axis(flat, expand_dims(index, 2), 3)
            share = where(inside, near_row * near_column, 0.0)
            term = where(expand_dims(inside, 2), values, 0.0) * expand_dims(share, 2)
            total = term if total is None else total + term
    return total


def _clamped(place, size):
    return minimum(maximum(place, 0.0), size - 1.0).astype("int32")
