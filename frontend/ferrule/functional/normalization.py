"""Normalisation: batch, layer, group, instance, over any axes, by the root mean square, and across channels.

Mean and variance of float32 data are computed in float64 (docs/numerics.md), so data far from zero keep their digits.
"""

from .. import dims
from .._stream import apply
from .._tensor import Tensor, as_tensor
from .._views import reshaped
from ..errors import ShapeError
from ..location import user_location
from ..shapes import is_static, same_shape, show, size_of
from .axes import resolve_axes
from .elementwise import fma, sqrt
from .elementwise import pow as power
from .pooling import avg_pool1d
from .recording import remembered
from .shape import broadcast_to, reshape

__all__ = [
    "batch_norm",
    "general_norm",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "local_response_norm",
    "rms_norm",
    "sync_batch_norm",
]


def _normalize(x, weight, bias, axes, param_axes, eps):
    """The op's handles: [y, mean, biased variance, 1 / sqrt(variance + eps)], statistics over ``axes``."""
    handle = x._handle
    sizes = handle.shape
    shape = [sizes[axis] for axis in param_axes]
    operands = [None if p is None else reshaped(as_tensor(p)._handle, shape) for p in (weight, bias)]
    attrs = {"axes": list(axes), "param_axes": list(param_axes), "eps": float(eps)}
    return apply("normalize", [handle, *operands], attrs)


def _checked(op, inp, least):
    inp = as_tensor(inp)
    if inp.ndim < least:
        raise ShapeError(f"{op}: input of shape {show(inp.shape)} at {user_location()}; rank {least} or more is needed")
    return inp


def _check_parameters(op, inp, shape, **parameters):
    """Parameters need as many elements as ``shape`` has."""
    for name, parameter in parameters.items():
        if parameter is None:
            continue
        if same_shape(parameter.shape, shape):
            continue
        given, wanted = size_of(parameter.shape), size_of(shape)
        if is_static(given) and is_static(wanted) and given != wanted:
            raise ShapeError(
                f"{op}: {name} of shape {show(parameter.shape)} for an input of shape {show(inp.shape)} "
                f"at {user_location()}; {show(tuple(shape))} is needed"
            )


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
        inp: (N, C) or (N, C, space...).
        running_mean, running_var, weight, bias: one value a channel, in any shape with that many elements.
        inplace: write the new running statistics into the tensors; else return (y, running_mean, running_var).
    """
    if not training:
        return _inference(inp, running_mean, running_var, weight, bias, eps)
    y, *new = _training(inp, running_mean, running_var, weight, bias, momentum, eps)
    found = iter(new)
    new_mean, new_var = (None if old is None else next(found) for old in (running_mean, running_var))
    if not new:
        return y
    if not inplace:
        return y, new_mean, new_var
    for running, value in ((running_mean, new_mean), (running_var, new_var)):
        if running is not None:
            running.set_value(value)
    return y


def _checked_batch(inp, running_mean, running_var, weight, bias):
    inp = _checked("batch_norm", inp, 2)
    parameters = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    _check_parameters("batch_norm", inp, inp.shape[1:2], **parameters)
    return inp


@remembered
def _training(inp, running_mean, running_var, weight, bias, momentum, eps):
    """[y, and the new value of each running statistic that there is]"""
    inp = _checked_batch(inp, running_mean, running_var, weight, bias)
    axes = [axis for axis in range(inp.ndim) if axis != 1]
    y, mean, variance, _ = map(Tensor._wrap, _normalize(inp, weight, bias, axes, [1], eps))
    results = [y]
    if running_mean is not None:
        results.append(_blend(running_mean, mean, momentum))
    if running_var is not None:
        count = size_of(inp.shape[axis] for axis in axes)
        # One value has no unbiased variance; its biased one (0) is kept as it is.
        unbiased = variance * _ratio(count, dims.maximum(count - 1, 1))
        results.append(_blend(running_var, unbiased, momentum))
    return results


def sync_batch_norm(
    inp,
    running_mean,
    running_var,
    weight=None,
    bias=None,
    training=False,
    momentum=0.9,
    eps=1e-5,
    eps_mode="additive",
    group=None,
):
    """`batch_norm` over the devices of a group; there is one device, so it is `batch_norm`.

    Args:
        eps_mode: ``"additive"``: eps is added to the variance.
        group: accepted for MegEngine's sake.
    """
    del group
    if eps_mode.lower() != "additive":
        raise ShapeError(f"sync_batch_norm: eps_mode {eps_mode!r} at {user_location()}; allowed: 'additive'")
    return batch_norm(
        inp, running_mean, running_var, weight, bias, training=training, momentum=momentum, eps=eps
    )


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


@remembered
def _inference(inp, mean, variance, weight, bias, eps):
    inp = _checked_batch(inp, mean, variance, weight, bias)
    if mean is None or variance is None:
        raise ShapeError(
            f"batch_norm: running_mean and running_var are needed when training is False, at {user_location()}"
        )
    shape = (1, inp.shape[1]) + (1,) * (inp.ndim - 2)
    scale = (
        1.0 / sqrt(reshape(variance, shape) + eps)
        if weight is None
        else reshape(weight, shape) / sqrt(reshape(variance, shape) + eps)
    )
    shift = reshape(mean, shape) * scale
    shift = -shift if bias is None else reshape(bias, shape) - shift
    return fma(inp, broadcast_to(scale, inp.shape), broadcast_to(shift, inp.shape))


def _over_axes(op, inp, axes, affine, weight, bias, eps):
    """Normalises over ``axes``, whose sizes weight and bias have."""
    if not affine:
        weight = bias = None
    handle = inp._handle
    sizes = handle.shape
    shape = [sizes[axis] for axis in axes]
    operands = [handle]
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None:
            own = as_tensor(parameter)._handle
            if not same_shape(own.shape, shape):
                _check_parameters(op, inp, shape, **{name: parameter})
                own = reshaped(own, shape)
            parameter = own
        operands.append(parameter)
    attrs = {"axes": axes, "param_axes": axes, "eps": float(eps)}
    return Tensor._wrap(apply("normalize", operands, attrs)[0])


@remembered
def layer_norm(inp, normalized_shape, affine=True, weight=None, bias=None, eps=1e-5):
    """Normalises over the last axes, those of ``normalized_shape``; weight and bias have that shape."""
    inp = as_tensor(inp)
    return _over_axes("layer_norm", inp, _last_axes("layer_norm", inp, normalized_shape), affine, weight, bias, eps)


def _last_axes(op, inp, normalized_shape):
    shape = tuple(normalized_shape) if isinstance(normalized_shape, (tuple, list)) else (normalized_shape,)
    sizes = inp.shape
    first = len(sizes) - len(shape)
    if not shape or first < 0 or not same_shape(sizes[first:], shape):
        raise ShapeError(
            f"{op}: the last axes of {show(inp.shape)} must be {show(shape)}, the normalized_shape, "
            f"at {user_location()}"
        )
    return list(range(first, len(sizes)))


@remembered
def general_norm(inp, normalized_axis, affine=True, weight=None, bias=None, eps=1e-5):
    """Normalises over any axes; weight and bias have their sizes, in ascending order of the axes."""
    inp = as_tensor(inp)
    axes = resolve_axes("general_norm", normalized_axis, inp.ndim)
    return _over_axes("general_norm", inp, axes, affine, weight, bias, eps)


@remembered
def group_norm(inp, num_groups, affine=True, weight=None, bias=None, eps=1e-5):
    """Normalises each group of channels (axis 1) of each sample, over the group's channels and space.

    Args:
        num_groups: how many groups the channels are cut into; it divides their number.
        weight, bias: one value a channel.
    """
    inp = _checked("group_norm", inp, 2)
    channels = inp.shape[1]
    if not is_static(channels) or num_groups < 1 or channels % num_groups:
        raise ShapeError(
            f"group_norm: {num_groups} groups for an input of shape {show(inp.shape)} at {user_location()}; "
            f"the number of groups must divide the {channels} channels"
        )
    if not affine:
        weight = bias = None
    _check_parameters("group_norm", inp, inp.shape[1:2], weight=weight, bias=bias)
    grouped = reshape(inp, (inp.shape[0], num_groups, channels // num_groups, *inp.shape[2:]))
    y = Tensor._wrap(_normalize(grouped, weight, bias, range(2, grouped.ndim), [1, 2], eps)[0])
    return reshape(y, inp.shape)


@remembered
def instance_norm(inp, affine=True, weight=None, bias=None, eps=1e-5):
    """Normalises each channel (axis 1) of each sample over space; weight and bias have one value a channel."""
    inp = _checked("instance_norm", inp, 3)
    if not affine:
        weight = bias = None
    _check_parameters("instance_norm", inp, inp.shape[1:2], weight=weight, bias=bias)
    return Tensor._wrap(_normalize(inp, weight, bias, range(2, inp.ndim), [1], eps)[0])


@remembered
def rms_norm(inp, normalized_shape, weight=None, eps=None):
    """x / sqrt(mean(x * x) + eps) * weight over the last axes, those of ``normalized_shape``.

    The mean is computed in float64 and the reciprocal root rounded once.

    Args:
        weight: in the shape ``normalized_shape``.
        eps: the dtype's smallest step at 1 unless given, as in PyTorch.
    """
    inp = as_tensor(inp)
    axes = _last_axes("rms_norm", inp, normalized_shape)
    _check_parameters("rms_norm", inp, [inp.shape[axis] for axis in axes], weight=weight)
    if eps is None:
        eps = {"float64": 2.0**-52, "float16": 2.0**-10, "bfloat16": 2.0**-7}.get(inp.dtype, 2.0**-23)
    wide = inp.astype("float64")
    square = (wide * wide).mean(tuple(axes), True)
    y = inp * (1.0 / sqrt(square + eps)).astype(inp.dtype)
    return y if weight is None else y * reshape(weight, [inp.shape[axis] for axis in axes])


@remembered
def local_response_norm(inp, kernel_size=5, k=2.0, alpha=1e-4, beta=0.75):
    """x / (k + alpha * s) ** beta, with s the sum of x * x over the ``kernel_size`` channels (axis 1) around each.

    PyTorch's function of that name takes the mean instead: give it alpha / kernel_size here.

    Args:
        kernel_size: odd, so that a channel has as many neighbours on both sides.
    """
    inp = _checked("local_response_norm", inp, 3)
    if kernel_size < 1 or kernel_size % 2 == 0:
        raise ShapeError(f"local_response_norm: kernel_size {kernel_size} at {user_location()}; an odd size is needed")
    space = size_of(inp.shape[2:])
    # Channels last, as the one axis of space of a pool.
    rows = reshape(inp * inp, (inp.shape[0], inp.shape[1], space)).transpose(0, 2, 1)
    mean = avg_pool1d(rows, kernel_size, 1, kernel_size // 2, "average")
    total = reshape((mean * float(kernel_size)).transpose(0, 2, 1), inp.shape)
    return inp / power(total * alpha + k, beta)
