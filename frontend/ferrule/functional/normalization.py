"""Batch and layer normalisation."""

from .. import dims
from .._stream import apply
from .._tensor import Tensor, as_tensor
from ..errors import ShapeError
from ..location import user_location
from ..shapes import is_static, same_shape, show, size_of
from .elementwise import fma, sqrt
from .shape import broadcast_to, reshape


def _normalize(x, weight, bias, axes, param_axes, eps):
    """The op: (y, mean, biased variance, 1 / sqrt(variance + eps)), statistics over ``axes``."""
    shape = [x.shape[axis] for axis in param_axes]
    operands = [None if p is None else reshape(p, shape)._handle for p in (weight, bias)]
    attrs = {"axes": list(axes), "param_axes": list(param_axes), "eps": float(eps)}
    return [Tensor._wrap(handle) for handle in apply("normalize", [x._handle, *operands], attrs)]


def batch_norm(
    inp,
    running_mean=None,
    running_var=None,
    weight=None,
    bias=None,
    *,
    training=False,
    momentum=0.9,
    eps=1e-5,
    inplace=True,
):
    """Normalises each channel (axis 1) over the batch and space.

    In training the statistics are the batch's: the biased variance normalises, the unbiased one goes into
    ``running_var``; ``momentum`` is the share that the running values keep. Otherwise the running statistics are used:
    s = weight / sqrt(var + eps), t = bias - mean * s, y = fma(x, s, t).

    Args:
        running_mean, running_var, weight, bias: one value a channel, in any shape with that many elements.
        inplace: write the new running statistics into the tensors; else return (y, running_mean, running_var).
    """
    inp = as_tensor(inp)
    if inp.ndim < 2:
        raise ShapeError(f"batch_norm: input of shape {show(inp.shape)} at {user_location()}; rank 2 or more is needed")
    if not training:
        if running_mean is None or running_var is None:
            raise ShapeError(
                f"batch_norm: running_mean and running_var are needed when training is False, at {user_location()}"
            )
        return _inference(inp, running_mean, running_var, weight, bias, eps)
    axes = [axis for axis in range(inp.ndim) if axis != 1]
    y, mean, variance, _ = _normalize(inp, weight, bias, axes, [1], eps)
    if running_mean is None and running_var is None:
        return y
    count = size_of(inp.shape[axis] for axis in axes)
    # One value has no unbiased variance; its biased one (0) is kept as it is.
    unbiased = variance * _ratio(count, dims.maximum(count - 1, 1))
    new_mean = _blend(running_mean, mean, momentum)
    new_var = _blend(running_var, unbiased, momentum)
    if not inplace:
        return y, new_mean, new_var
    running_mean.set_value(new_mean)
    running_var.set_value(new_var)
    return y


def _ratio(numerator, denominator):
    """The quotient of two sizes as a number, or as a rank-0 tensor if a size is symbolic."""
    if is_static(numerator):
        return numerator / denominator
    return Tensor._wrap(apply("div", [_size_tensor(numerator), _size_tensor(denominator)])[0])


def _size_tensor(size):
    value = (
        apply("dim", [], {"expr": size})[0]
        if not is_static(size)
        else apply("full", [], {"shape": [], "value": size, "dtype": "int64"})[0]
    )
    return apply("cast", [value], {"dtype": "float32"})[0]


def _blend(running, batch, momentum):
    """momentum * running + (1 - momentum) * batch, in the shape of ``running``."""
    return running * momentum + reshape(batch, running.shape) * (1.0 - momentum)


def _inference(inp, mean, variance, weight, bias, eps):
    shape = (1, inp.shape[1]) + (1,) * (inp.ndim - 2)
    scale = (
        1.0 / sqrt(reshape(variance, shape) + eps)
        if weight is None
        else reshape(weight, shape) / sqrt(reshape(variance, shape) + eps)
    )
    shift = reshape(mean, shape) * scale
    shift = -shift if bias is None else reshape(bias, shape) - shift
    return fma(inp, broadcast_to(scale, inp.shape), broadcast_to(shift, inp.shape))


def layer_norm(inp, normalized_shape, affine=True, weight=None, bias=None, eps=1e-5):
    """Normalises over the last axes, those of ``normalized_shape``; weight and bias have that shape."""
    shape = tuple(normalized_shape) if isinstance(normalized_shape, (tuple, list)) else (normalized_shape,)
    if not same_shape(inp.shape[inp.ndim - len(shape) :], shape):
        raise ShapeError(
            f"layer_norm: the last axes of {show(inp.shape)} must be {show(shape)}, the normalized_shape, "
            f"at {user_location()}"
        )
    axes = list(range(inp.ndim - len(shape), inp.ndim))
    return _normalize(inp, weight if affine else None, bias if affine else None, axes, axes, eps)[0]
