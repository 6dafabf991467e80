"""Convolutions of images whose weights or windows depend on the place; `channel_shuffle`."""

from .._tensor import as_tensor
from ..errors import ShapeError, UnsupportedError
from ..location import user_location
from ..shapes import is_static, show
from .arrangement import sliding_window
from .contraction import matmul
from .elementwise import equal, where
from .recording import remembered
from .shape import expand_dims, reshape, transpose

__all__ = ["channel_shuffle", "local_conv2d", "region_restricted_conv"]


@remembered
def channel_shuffle(inp, groups):
    """The channels (axis 1) of ``groups`` groups in turn, one of each."""
    inp = as_tensor(inp)
    channels = inp.shape[1] if inp.ndim > 1 else 0
    if inp.ndim < 2 or groups < 1 or (is_static(channels) and channels % groups):
        raise ShapeError(
            f"channel_shuffle: input of shape {show(inp.shape)} with {groups} groups at {user_location()}; rank 2 or "
            f"more is needed, and channels (axis 1) that divide into the groups"
        )
    parts = reshape(inp, (inp.shape[0], groups, channels // groups, *inp.shape[2:]))
    return reshape(transpose(parts, (0, 2, 1, *range(3, parts.ndim))), inp.shape)


def _check_mode(op, conv_mode):
    if conv_mode not in ("cross_correlation", "CROSS_CORRELATION"):
        raise UnsupportedError(f"{op}: conv_mode {conv_mode!r} at {user_location()}; allowed is 'cross_correlation'")


@remembered
def local_conv2d(inp, weight, bias=None, stride=1, padding=0, dilation=1, conv_mode="cross_correlation"):
    """A convolution of images (N, C, H, W) with weights of its own at every place.

    Args:
        weight: (groups, oh, ow, C / groups, kh, kw, out / groups).
        bias: anything that broadcasts to (N, out, oh, ow), or None.
        stride, padding, dilation: as for `sliding_window`.
    """
    op = "local_conv2d"
    _check_mode(op, conv_mode)
    inp, weight = as_tensor(inp), as_tensor(weight)
    if weight.ndim != 7:
        raise ShapeError(
            f"{op}: weight of shape {show(weight.shape)} at {user_location()}; "
            f"(groups, oh, ow, C / groups, kh, kw, out / groups) is needed"
        )
    groups, height, width, channels, rows, columns, out = weight.shape
    windows = sliding_window(inp, (rows, columns), padding, stride, dilation)  # (N, C, oh, ow, kh, kw)
    samples, taps = inp.shape[0], channels * rows * columns
    if tuple(windows.shape[2:4]) != (height, width) or inp.shape[1] != groups * channels:
        raise ShapeError(
            f"{op}: weight of shape {show(weight.shape)} for {show(inp.shape)} at {user_location()}; the result has "
            f"{show(windows.shape[2:4])} places and the input {inp.shape[1]} channels"
        )
    # One product of (N, taps) and (taps, out) for each group and place; taps are channel, row, column.
    windows = reshape(windows, (samples, groups, channels, height, width, rows, columns))
    windows = reshape(transpose(windows, (1, 3, 4, 0, 2, 5, 6)), (groups, height, width, samples, taps))
    products = matmul(windows, reshape(weight, (groups, height, width, taps, out)))
    result = reshape(transpose(products, (3, 0, 4, 1, 2)), (samples, groups * out, height, width))
    return result if bias is None else result + bias


@remembered
def region_restricted_conv(
    inp,
    weight,
    rin,
    rout,
    bias=None,
    stride=1,
    padding=0,
    dilation=1,
    groups=1,
    conv_mode="cross_correlation",
    compute_mode="default",
):
    """A convolution of images (N, C, H, W) in which an element counts only for places of its own region.

    Args:
        weight: (out, C / groups, kh, kw), or MegEngine's (groups, out / groups, C / groups, kh, kw).
        rin: (N, H, W) whole numbers, the region of each element.
        rout: (N, oh, ow) whole numbers, the region of each place of the result.
        bias: (1, out, 1, 1) or (out,), or None.
        stride, padding, dilation, groups: as for `conv2d`.
    """
    del compute_mode
    op = "region_restricted_conv"
    _check_mode(op, conv_mode)
    inp, weight, rin, rout = (as_tensor(tensor) for tensor in (inp, weight, rin, rout))
    if inp.ndim != 4 or weight.ndim not in (4, 5) or rin.ndim != 3 or rout.ndim != 3:
        raise ShapeError(
            f"{op}: shapes {', '.join(show(tensor.shape) for tensor in (inp, weight, rin, rout))} at "
            f"{user_location()}; (N, C, H, W), (out, C / groups, kh, kw), (N, H, W) and (N, oh, ow) are needed"
        )
    if weight.ndim == 5:
        weight = reshape(weight, (weight.shape[0] * weight.shape[1], *weight.shape[2:]))
    out, channels, *kernel = weight.shape
    if inp.shape[1] != channels * groups or out % groups:
        raise ShapeError(
            f"{op}: weight of shape {show(weight.shape)} for {show(inp.shape)} in {groups} groups at {user_location()}"
        )
    windows = sliding_window(inp, kernel, padding, stride, dilation)  # (N, C, oh, ow, kh, kw)
    samples, _, height, width = windows.shape[:4]
    # Padding is 0 whatever its region.
    regions = sliding_window(expand_dims(rin.astype("int32"), 1), kernel, padding, stride, dilation)
    counts = equal(regions, reshape(rout.astype("int32"), (samples, 1, height, width, 1, 1)))
    windows = where(counts, windows, 0.0)
    taps = channels * kernel[0] * kernel[1]
    windows = reshape(transpose(windows, (0, 1, 4, 5, 2, 3)), (samples, groups, taps, height * width))
    products = matmul(reshape(weight, (groups, out // groups, taps)), windows)
    result = reshape(products, (samples, out, height, width))
    if bias is None:
        return result
    return result + (reshape(bias, (1, -1, 1, 1)) if bias.ndim == 1 else bias)
