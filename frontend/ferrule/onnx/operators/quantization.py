"""Quantised values and integer products: exact integer arithmetic, half to even, saturated."""

import numpy as np

from ... import dtypes, functional as F
from ...errors import UnsupportedError
from ..model import dtype_name
from ..registry import operator
from .axes import axis_of
from .convolution import convolution

_TARGETS = ("uint8", "int8", "uint16", "int16")


def _along(parameter, x, axis, block=0):
    """A scale or zero point of one value, one a place of ``axis``, or one a block of it, in a shape that broadcasts."""
    if parameter is None or parameter.ndim == 0 or (parameter.ndim == 1 and parameter.shape[0] == 1):
        return None if parameter is None else F.reshape(parameter, ())
    axis = axis_of(axis, x.ndim)
    if block:
        wide = F.repeat(parameter, block, axis)
        return wide[(slice(None),) * axis + (slice(0, x.shape[axis]),)]
    return F.reshape(parameter, [-1 if i == axis else 1 for i in range(x.ndim)])


def _quantized(x, scale, zero, dtype):
    if dtype not in _TARGETS:
        raise UnsupportedError(f"quantisation to {dtype}; allowed are {', '.join(_TARGETS)}")
    limits = np.iinfo(dtype)
    steps = F.round(x / scale)
    steps = steps if zero is None else steps + zero.astype(steps.dtype)
    return F.clip(steps, float(limits.min), float(limits.max)).astype(dtype)


@operator("QuantizeLinear", since=10, note="to int8, uint8, int16, uint16")
def quantize(node, x, scale, zero=None):
    """saturate(round(x / scale) + zero point)."""
    dtype = dtype_name(node.get("output_dtype", 0)) or ("uint8" if zero is None else zero.dtype)
    axis, block = node.get("axis", 1), node.get("block_size", 0)
    x = x if dtypes.is_float(x.dtype) else x.astype("float32")
    scale = _along(scale, x, axis, block)
    return _quantized(x.astype(scale.dtype), scale, _along(zero, x, axis, block), dtype)


@operator("DequantizeLinear", since=10, note="from int8, uint8, int16, uint16, int32")
def dequantize(node, x, scale, zero=None):
    """(x - zero point) * scale."""
    axis, block = node.get("axis", 1), node.get("block_size", 0)
    dtype = dtype_name(node.get("output_dtype", 0)) or scale.dtype
    scale, zero = _along(scale, x, axis, block), _along(zero, x, axis, block)
    steps = x.astype("int32")
    steps = steps if zero is None else steps - zero.astype("int32")
    return (steps.astype(scale.dtype) * scale).astype(dtype)


@operator("DynamicQuantizeLinear", since=11)
def dynamic_quantize(node, x):
    """uint8 values over the range of the data, which includes 0; also scale and zero point."""
    low, high = F.minimum(F.min(x), 0.0), F.maximum(F.max(x), 0.0)
    scale = (high - low) / 255.0
    zero = F.clip(F.round((0.0 - low) / scale), 0.0, 255.0).astype("uint8")
    return [_quantized(x, scale, zero, "uint8"), scale, zero]


def _rows(zero, rank):
    """A zero point for each row of a left operand."""
    return F.expand_dims(zero, -1) if zero.ndim and rank > 1 else zero


def _offset(x, zero, rows=False):
    wide = x.astype("int32")
    if zero is None:
        return wide
    return wide - (_rows(zero, x.ndim) if rows else zero).astype("int32")


@operator("MatMulInteger", since=10)
def integer_matmul(node, a, b, a_zero=None, b_zero=None):
    """The exact product of (a - its zero point) and (b - its zero point) in int32."""
    return F.matmul(_offset(a, a_zero, rows=True), _offset(b, b_zero))


def _requantized(product, scale, y_scale, y_zero):
    return _quantized(product.astype("float32") * scale / y_scale, F.full((), 1.0), y_zero, y_zero.dtype)


@operator("QLinearMatMul", since=10)
def quantized_matmul(node, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero):
    """The product of quantised matrices, quantised again."""
    product = F.matmul(_offset(a, a_zero, rows=True), _offset(b, b_zero))
    scale = (_rows(a_scale, a.ndim) * b_scale).astype("float32")
    return _requantized(product, scale, _rows(y_scale, a.ndim).astype("float32"), y_zero)


def _exact_convolution(node, x, weight):
    """Products of 8-bit numbers, summed in float64: exact as long as a sum stays below 2 ** 53."""
    return F.round(convolution(node, x.astype("float64"), weight.astype("float64"))).astype("int32")


@operator("ConvInteger", since=10)
def integer_convolution(node, x, weight, x_zero=None, weight_zero=None):
    """The exact convolution of (x - its zero point) and (weight - its zero point) in int32."""
    weight_zero = None if weight_zero is None else _along(weight_zero, weight, 0)
    return _exact_convolution(node, _offset(x, x_zero), _offset(weight, weight_zero))


@operator("QLinearConv", since=10)
def quantized_convolution(node, x, x_scale, x_zero, weight, weight_scale, weight_zero, y_scale, y_zero, bias=None):
    """The convolution of quantised images, quantised again; the bias is in steps of both scales."""
    total = _exact_convolution(node, _offset(x, x_zero), _offset(weight, _along(weight_zero, weight, 0)))
    channels = (1, -1) + (1,) * (x.ndim - 2)
    if bias is not None:
        total = total + F.reshape(bias, channels)
    scale = x_scale * (F.reshape(weight_scale, channels) if weight_scale.ndim and weight_scale.shape[0] > 1
                       else F.reshape(weight_scale, ()))
    return _requantized(total, scale, y_scale, y_zero)
