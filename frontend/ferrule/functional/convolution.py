"""Convolutions over 1 to 3 axes of space, and transposed ones."""

from .._stream import apply
from .._tensor import Tensor, as_tensor
from ..errors import ShapeError, UnsupportedError
from ..location import user_location
from ..shapes import is_static, show
from .axes import per_axis
from .recording import remembered
from .shape import reshape
from .windows import batched, known_sizes, pad_space, paddings, positive, unbatched

__all__ = ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"]


@remembered
def conv1d(
    inp,
    weight,
    bias=None,
    stride=1,
    padding=0,
    dilation=1,
    groups=1,
    conv_mode="cross_correlation",
    compute_mode="default",
):
    """The convolution of sequences (N, C, L) with a weight (out, C / groups, k); arguments as for `conv2d`."""
    del compute_mode
    return _convolution("conv1d", 1, inp, weight, bias, stride, padding, dilation, groups, conv_mode)


@remembered
def conv2d(
    inp,
    weight,
    bias=None,
    stride=1,
    padding=0,
    dilation=1,
    groups=1,
    conv_mode="cross_correlation",
    compute_mode="default",
):
    """The convolution of images (N, C, H, W).

    Args:
        inp: images, or one image (C, H, W).
        weight: (out, C / groups, kh, kw), or MegEngine's (groups, out / groups, C / groups, kh, kw).
        bias: (1, out, 1, 1) or (out,).
        stride, dilation: an int or one an axis of space.
        padding: an int, one an axis, a pair (before, after) an axis, ``"valid"`` for none, or ``"same"`` for results of
            ceil(size / stride); an odd total has the larger part after.
        groups: channels are cut into so many groups that do not meet; as many as channels is a depthwise convolution.
        conv_mode: ``"cross_correlation"``, or ``"convolution"`` to turn the kernel around.
        compute_mode: accepted for MegEngine's sake; float16 and bfloat16 always accumulate in float32.
    """
    del compute_mode
    return _convolution("conv2d", 2, inp, weight, bias, stride, padding, dilation, groups, conv_mode)


@remembered
def conv3d(
    inp, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, conv_mode="cross_correlation"
):
    """The convolution of volumes (N, C, D, H, W) with a weight (out, C / groups, kd, kh, kw); as `conv2d`."""
    return _convolution("conv3d", 3, inp, weight, bias, stride, padding, dilation, groups, conv_mode)


@remembered
def conv_transpose1d(
    inp,
    weight,
    bias=None,
    stride=1,
    padding=0,
    output_padding=0,
    groups=1,
    dilation=1,
    conv_mode="cross_correlation",
    compute_mode="default",
):
    """The transposed convolution of sequences (N, C, L), weight (C, out / groups, k); as `conv_transpose2d`.

    MegEngine has no such function, so the order of arguments is PyTorch's.
    """
    del compute_mode
    return _transposed(
        "conv_transpose1d", 1, inp, weight, bias, stride, padding, output_padding, dilation, groups, conv_mode
    )


@remembered
def conv_transpose2d(
    inp,
    weight,
    bias=None,
    stride=1,
    padding=0,
    output_padding=0,
    dilation=1,
    groups=1,
    conv_mode="cross_correlation",
    compute_mode="default",
):
    """The transposed convolution of images (N, C, H, W): the gradient of a convolution to its input.

    A result axis has (size - 1) * stride - padding before - padding after + dilation * (k - 1) + 1 + output_padding.

    Args:
        weight: (C, out / groups, kh, kw), or MegEngine's (groups, C / groups, out / groups, kh, kw).
        padding: positions that are cut from each end of the result; also pairs, as for `conv2d`.
        output_padding: positions added at the end, fewer than the stride or the dilation.
    """
    del compute_mode
    return _transposed(
        "conv_transpose2d", 2, inp, weight, bias, stride, padding, output_padding, dilation, groups, conv_mode
    )


@remembered
def conv_transpose3d(
    inp,
    weight,
    bias=None,
    stride=1,
    padding=0,
    output_padding=0,
    dilation=1,
    groups=1,
    conv_mode="cross_correlation",
):
    """The transposed convolution of volumes (N, C, D, H, W), weight (C, out / groups, kd, kh, kw)."""
    return _transposed(
        "conv_transpose3d", 3, inp, weight, bias, stride, padding, output_padding, dilation, groups, conv_mode
    )


def _weight(op, rank, weight, groups, conv_mode):
    """The weight as (first, second, kernel...), with the kernel turned for a true convolution."""
    mode = conv_mode.lower()
    if mode not in ("cross_correlation", "convolution"):
        raise UnsupportedError(
            f"{op}: conv_mode {conv_mode!r} at {user_location()}; allowed: 'cross_correlation', 'convolution'"
        )
    weight = as_tensor(weight)
    ndim = weight.ndim
    if ndim == rank + 3:
        if is_static(weight.shape[0]) and weight.shape[0] != groups:
            raise ShapeError(
                f"{op}: groups={groups} and a weight of shape {show(weight.shape)} at {user_location()}; "
                f"its first axis counts the groups"
            )
        weight = reshape(weight, (weight.shape[0] * weight.shape[1],) + weight.shape[2:])
    elif ndim != rank + 2:
        raise ShapeError(
            f"{op}: weight of shape {show(weight.shape)} at {user_location()}; rank {rank + 2} or {rank + 3} is needed"
        )
    if mode == "convolution":
        weight = weight[(slice(None),) * 2 + (slice(None, None, -1),) * rank]
    return weight


def _with_bias(result, bias, rank):
    if bias is None:
        return result
    bias = as_tensor(bias)
    return result + (reshape(bias, (1, -1) + (1,) * rank) if bias.ndim == 1 else bias)


def _convolution(op, rank, inp, weight, bias, stride, padding, dilation, groups, conv_mode):
    inp, alone = batched(op, inp, rank)
    weight = _weight(op, rank, weight, groups, conv_mode)
    strides, dilations = positive(op, "stride", stride, rank), positive(op, "dilation", dilation, rank)
    if isinstance(padding, str):
        begin, end = _named_padding(op, padding, inp, weight, strides, dilations)
    else:
        begin, end = paddings(op, padding, rank)
    attrs = {"strides": strides, "pads_begin": begin, "pads_end": end, "dilations": dilations, "groups": groups}
    result = Tensor._wrap(apply("convolution", [inp._handle, weight._handle], attrs)[0])
    return unbatched(_with_bias(result, bias, rank), alone)


def _named_padding(op, padding, inp, weight, strides, dilations):
    zeros = [0] * len(strides)
    if padding == "valid":
        return zeros, zeros
    if padding != "same":
        raise ShapeError(f"{op}: padding {padding!r} at {user_location()}; allowed by name: 'same', 'valid'")
    reaches = [dilation * (kernel - 1) for dilation, kernel in zip(dilations, weight.shape[2:])]
    totals = reaches
    if max(strides) > 1:
        sizes = known_sizes(op, inp, "padding='same' with a stride")
        totals = [
            max((-(-size // stride) - 1) * stride + reach + 1 - size, 0)
            for size, stride, reach in zip(sizes, strides, reaches)
        ]
    return [total // 2 for total in totals], [total - total // 2 for total in totals]


def _transposed(op, rank, inp, weight, bias, stride, padding, output_padding, dilation, groups, conv_mode):
    inp, alone = batched(op, inp, rank)
    weight = _weight(op, rank, weight, groups, conv_mode)
    strides, dilations = positive(op, "stride", stride, rank), positive(op, "dilation", dilation, rank)
    begin, end = paddings(op, padding, rank)
    extra = per_axis(op, "output_padding", output_padding, rank)
    shape, kernel = inp.shape, weight.shape
    sizes, rests = [], []
    axes = zip(shape[2:], kernel[2:], strides, dilations, begin, end, extra)
    for axis, (old, taps, stride, dilation, before, after, more) in enumerate(axes, 2):
        rest = 0
        if more:
            limit = max(stride, dilation)
            if not 0 <= more < limit:
                raise ShapeError(
                    f"{op}: output_padding {output_padding!r} at {user_location()}; on axis {axis} it must be 0 or "
                    f"more and below {limit}, the larger of stride {stride} and dilation {dilation}"
                )
            # Padding at the end is what is cut there, so output padding takes it back; beyond that nothing arrives.
            back = min(more, after)
            end[axis - 2] = after - back
            rest = more - back
        size = (old - 1) * stride - before - after + dilation * (taps - 1) + 1 + more
        if is_static(size) and size < 1:
            raise ShapeError(
                f"{op}: axis {axis} of {show(shape)} at {user_location()}; the result would have "
                f"(size - 1) * stride - padding + dilation * (kernel - 1) + 1 + output_padding = "
                f"({old} - 1) * {stride} - {before + after} + {dilation * (taps - 1)} + 1 + {more} = {size} positions; "
                f"at least 1 is needed"
            )
        rests.append(0 if rest < stride else rest)
        sizes.append(size - rests[-1])
    attrs = {
        "strides": strides,
        "pads_begin": begin,
        "pads_end": end,
        "dilations": dilations,
        "groups": groups,
        "input_shape": [shape[0], kernel[1] * groups, *sizes],
    }
    result = Tensor._wrap(apply("convolution_input_gradient", [inp._handle, weight._handle], attrs)[0])
    if any(rests):
        result = pad_space(result, [0] * rank, rests)
    return unbatched(_with_bias(result, bias, rank), alone)
