"""Convolutions and transposed convolutions over 1 to 3 axes of space."""

from ... import functional as F
from ...shapes import is_one
from ..registry import operator
from ..values import Known, tensor_of
from .windows import Window, cropped, for_rank, halves, window_of

_CONVOLUTIONS = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
_TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}


@operator("Conv", raw=True, note="1 to 3 axes of space")
def convolution(node, x, weight, bias=None):
    """The cross-correlation of images with a weight (out, in / group, kernel...)."""
    x, bias = tensor_of(x), tensor_of(bias)
    space = x.shape[2:]
    window = window_of(node, space, weight.shape[2:])
    flat = len(space) > 1 and is_one(space[-1]) and window.kernel[-1] == 1 and window.padding[-1] == (0, 0)
    if flat:
        # A last axis of size 1 is a vector that was written as an image: without it the rows that kernels run along
        # are long.
        x, weight = F.reshape(x, x.shape[:-1]), _without_last_axis(weight)
        window = Window(window.kernel[:-1], window.strides[:-1], window.dilations[:-1], window.padding[:-1])
    x, padding = cropped(x, window.padding)
    result = for_rank(_CONVOLUTIONS, len(window.kernel))(
        x,
        tensor_of(weight),
        bias,
        stride=window.strides,
        padding=padding,
        dilation=window.dilations,
        groups=node.get("group", 1),
    )
    return F.reshape(result, (*result.shape, 1)) if flat else result


def _without_last_axis(weight):
    """A weight without its last axis, of size 1; a known one is cut while importing, so that it is stored so."""
    if isinstance(weight, Known) and not (weight.store is not None and weight.store.trains):
        return weight.part(weight.array[..., 0], "[..., 0]")
    weight = tensor_of(weight)
    return F.reshape(weight, weight.shape[:-1])


@operator("ConvTranspose", note="1 to 3 axes of space")
def transposed_convolution(node, x, weight, bias=None):
    """The gradient of a convolution to its input; weight (in, out / group, kernel...)."""
    space = x.shape[2:]
    rank = len(space)
    function = for_rank(_TRANSPOSED, rank)
    kernel, strides = list(weight.shape[2:]), node.get("strides") or [1] * rank
    dilations, extra = node.get("dilations") or [1] * rank, list(node.get("output_padding") or [0] * rank)
    pads, mode = node.get("pads") or [0] * 2 * rank, node.get("auto_pad", "NOTSET")
    padding = list(zip(pads[:rank], pads[rank:]))
    wanted = node.get("output_shape")
    if wanted is not None and len(wanted) == rank + 2:
        wanted = wanted[2:]
    if wanted is None and mode.startswith("SAME"):
        wanted = [size * stride for size, stride in zip(space, strides)]
    if wanted is not None:
        # The padding is what makes the result as large as wanted; the larger half lies before unless SAME_UPPER.
        for i in range(rank):
            reach = dilations[i] * (kernel[i] - 1) + 1
            total = strides[i] * (space[i] - 1) + extra[i] + reach - wanted[i]
            padding[i] = halves("SAME_UPPER" if mode == "SAME_UPPER" else "SAME_LOWER", total)
    grown = [(max(-before, 0), max(-after, 0)) for before, after in padding]
    padding = [(max(before, 0), max(after, 0)) for before, after in padding]
    for i in range(rank):
        if extra[i] >= max(strides[i], dilations[i]):
            grown[i] = grown[i][0], grown[i][1] + extra[i]
            extra[i] = 0
    result = function(
        x,
        weight,
        None if any(map(any, grown)) else bias,
        stride=strides,
        padding=padding,
        output_padding=extra,
        groups=node.get("group", 1),
        dilation=dilations,
    )
    if any(map(any, grown)):
        result = F.pad(result, [(0, 0), (0, 0), *grown])
        if bias is not None:
            result = result + F.reshape(bias, (-1,) + (1,) * rank)
    return result

