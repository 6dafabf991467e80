"""Matrix products, linear maps and convolutions."""

from .. import _compiler
from .._stream import apply
from .._tensor import Tensor, as_tensor
from ..errors import ShapeError, UnsupportedError
from ..location import user_location
from ..shapes import show, size_of
from .axes import per_axis
from .shape import reshape


def matmul(inp1, inp2, transpose_a=False, transpose_b=False, compute_mode="default"):
    """The matrix product over the last two axes; axes before them broadcast, a 1-D operand is a row or a column."""
    del compute_mode
    a, b = as_tensor(inp1), as_tensor(inp2)
    if a.ndim == 0 or b.ndim == 0:
        raise ShapeError(
            f"matmul: operands of shape {show(a.shape)} and {show(b.shape)} at {user_location()}; "
            f"rank 1 or more is needed"
        )
    dtype = _compiler.promote(a.dtype, b.dtype)
    a, b = as_tensor(a, dtype), as_tensor(b, dtype)
    row, column = a.ndim == 1, b.ndim == 1
    if row:
        a, transpose_a = reshape(a, (1,) + a.shape), False
    if column:
        b, transpose_b = reshape(b, b.shape + (1,)), False
    result = _merged(a, b, bool(transpose_a), bool(transpose_b))
    if row or column:
        shape = list(result.shape)
        if column:
            shape.pop(-1)
        if row:
            shape.pop(-1 if column else -2)
        result = reshape(result, shape)
    return result


def _merged(a, b, transpose_a, transpose_b):
    """One product of matrices where the right operand is a matrix: the leading axes become rows."""
    lead = a.shape[:-1]
    merge = a.ndim > 2 and b.ndim == 2 and not transpose_a
    if merge:
        a = reshape(a, (size_of(lead), a.shape[-1]))
    attrs = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    result = Tensor._wrap(apply("matmul", [a._handle, b._handle], attrs)[0])
    return reshape(result, lead + (result.shape[-1],)) if merge else result


def dot(inp1, inp2):
    """The inner product of two vectors."""
    a, b = as_tensor(inp1), as_tensor(inp2)
    if a.ndim != 1 or b.ndim != 1:
        raise ShapeError(
            f"dot: operands of shape {show(a.shape)} and {show(b.shape)} at {user_location()}; two vectors are needed"
        )
    return matmul(a, b)


def linear(inp, weight, bias=None, compute_mode="default"):
    """inp @ weight.T + bias, with the weight as (out_features, in_features)."""
    result = matmul(inp, weight, transpose_b=True, compute_mode=compute_mode)
    return result if bias is None else result + bias


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
    """The 1-d convolution of sequences (N, C, L); weight (out, in / groups, k), bias (1, out, 1) or (out,)."""
    del compute_mode
    return _convolution("conv1d", 1, inp, weight, bias, stride, padding, dilation, groups, conv_mode)


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
    """The 2-d convolution of images (N, C, H, W).

    Args:
        weight: (out, in / groups, kh, kw), or MegEngine's (groups, out / groups, in / groups, kh, kw).
        bias: (1, out, 1, 1) or (out,).
        stride, padding, dilation: an int or a pair (height, width).
    """
    del compute_mode
    return _convolution("conv2d", 2, inp, weight, bias, stride, padding, dilation, groups, conv_mode)


def _convolution(op, rank, inp, weight, bias, stride, padding, dilation, groups, conv_mode):
    """A convolution over ``rank`` axes of space."""
    if conv_mode not in ("cross_correlation", "CROSS_CORRELATION"):
        raise UnsupportedError(f"{op}: conv_mode {conv_mode!r} at {user_location()}; allowed is 'cross_correlation'")
    inp, weight = as_tensor(inp), as_tensor(weight)
    if weight.ndim == rank + 3:
        weight = reshape(weight, (weight.shape[0] * weight.shape[1],) + weight.shape[2:])
    attrs = window(op, rank, stride, padding)
    attrs.update(dilations=per_axis(op, "dilation", dilation, rank), groups=groups)
    result = Tensor._wrap(apply("convolution", [inp._handle, weight._handle], attrs)[0])
    if bias is None:
        return result
    return result + (reshape(bias, (1, -1) + (1,) * rank) if bias.ndim == 1 else bias)


def window(op, rank, stride, padding):
    """The attributes that convolutions and pools over ``rank`` axes share."""
    pads = per_axis(op, "padding", padding, rank)
    strides = per_axis(op, "stride", stride, rank)
    if min(strides) < 1:
        raise ShapeError(f"{op}: stride {stride!r} at {user_location()}; strides are 1 or more")
    if min(pads) < 0:
        raise ShapeError(f"{op}: padding {padding!r} at {user_location()}; padding is 0 or more")
    return {"strides": strides, "pads_begin": pads, "pads_end": list(pads)}
