"""Negative logarithms of likelihoods as losses, with PyTorch's names and meanings."""

import math

from .._tensor import as_tensor
from ..errors import ShapeError
from ..location import user_location
from ..shapes import same_shape, show
from .elementwise import exp, greater, log, maximum, where
from .recording import remembered
from .reduction import reduced
from .shape import expand_dims

__all__ = ["gaussian_nll_loss", "poisson_nll_loss"]


@remembered
def poisson_nll_loss(pred, label, log_input=True, full=False, eps=1e-8, reduction="mean"):
    """exp(pred) - label * pred: the mean of a Poisson distribution is exp(pred), the count is the label.

    Args:
        log_input: False takes ``pred`` as the mean itself: pred - label * log(pred + eps).
        full: add Stirling's approximation of log(label!) where the label is above 1.
    """
    pred, label = as_tensor(pred), as_tensor(label)
    values = exp(pred) - label * pred if log_input else pred - label * log(pred + eps)
    if full:
        count = where(greater(label, 1), label, 1).astype(values.dtype)
        factorial = count * log(count) - count + 0.5 * log(2.0 * math.pi * count)
        values = values + where(greater(label, 1), factorial, 0.0)
    return reduced("poisson_nll_loss", values, reduction)


@remembered
def gaussian_nll_loss(pred, label, var, full=False, eps=1e-6, reduction="mean"):
    """(log(var) + (pred - label)^2 / var) / 2: the label is normal around ``pred`` with the variance ``var``.

    Args:
        var: not negative: a number, the shape of ``pred``, that shape with 1 for the last axis, or that shape without
            it. Below ``eps`` it counts as that, and gets no gradient (PyTorch's passes there).
        full: add log(2 pi) / 2.
    """
    pred, label, var = as_tensor(pred), as_tensor(label), as_tensor(var)
    if var.ndim and same_shape(var.shape, pred.shape[:-1]):
        var = expand_dims(var, -1)
    elif var.ndim and not (same_shape(var.shape, pred.shape) or same_shape(var.shape, (*pred.shape[:-1], 1))):
        raise ShapeError(
            f"gaussian_nll_loss: pred of shape {show(pred.shape)} and var of shape {show(var.shape)} at "
            f"{user_location()}; a variance for each element, or each row, is needed"
        )
    var = maximum(var, eps)
    distance = pred - label
    values = (log(var) + distance * distance / var) * 0.5
    return reduced("gaussian_nll_loss", values + 0.5 * math.log(2.0 * math.pi) if full else values, reduction)
