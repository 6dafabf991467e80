"""`clip_grad_norm` and `clip_grad_value`: bounds for the gradients that a backward left; they trace like a step
does."""

from .._tensor import Tensor
from ..functional.elementwise import maximum, minimum
from ..functional.reduce import norm
from ..functional.shape import stack


def _with_gradient(tensors):
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    return [tensor for tensor in tensors if tensor.grad is not None]


def clip_grad_norm(tensors, max_norm, ord=2.0):  # noqa: A002  (MegEngine's name)
    """Scales the gradients of ``tensors`` so that their common norm is at most ``max_norm``.

    Args:
        tensors: a Tensor or several; those without a gradient are passed over.
        max_norm: the bound, a number or a Tensor.
        ord: the order of the norm; ``float("inf")`` is the largest absolute value.

    Returns:
        The norm before, a rank-0 Tensor.
    """
    tensors = _with_gradient(tensors)
    if not tensors:
        return Tensor(0.0)
    total = norm(stack([norm(tensor.grad, ord).astype("float32") for tensor in tensors]), ord)
    scale = minimum(max_norm / (total + 1e-6), 1.0)
    for tensor in tensors:
        tensor.grad.set_value(tensor.grad * scale)
    return total


def clip_grad_value(tensors, lower, upper):
    """Bounds each element of the gradients of ``tensors`` to lower .. upper."""
    for tensor in _with_gradient(tensors):
        tensor.grad.set_value(minimum(maximum(tensor.grad, lower), upper))


def clip_grad_norm_(parameters, max_norm, norm_type=2.0):
    """`clip_grad_norm` under PyTorch's name."""
    return clip_grad_norm(parameters, max_norm, norm_type)


def clip_grad_value_(parameters, clip_value):
    """`clip_grad_value` with the bounds -clip_value and clip_value, under PyTorch's name."""
    clip_grad_value(parameters, -clip_value, clip_value)
