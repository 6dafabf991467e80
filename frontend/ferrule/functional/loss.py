"""Losses. ``reduction`` is ``"mean"``, ``"sum"`` or ``"none"``; a mean of nothing is NaN."""

import math

from .. import dtypes
from .._stream import apply
from .._tensor import Tensor, as_tensor
from ..errors import DtypeError, ShapeError, UnsupportedError
from ..location import user_location
from ..shapes import is_static, same_shape, show, size_of
from .activation import logsoftmax, softplus
from .axes import resolve_axis
from .ctc import ctc_loss
from .elementwise import abs as absolute
from .elementwise import equal, exp, less, log, maximum, minimum, not_equal, sqrt, where
from .elementwise import pow as power
from .indexing import indexing_one_hot, take
from .likelihoods import gaussian_nll_loss, poisson_nll_loss
from .margins import (
    hinge_embedding_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    soft_margin_loss,
    triplet_margin_with_distance_loss,
)
from .recording import remembered
from .reduce import mean as mean_of
from .reduce import sum as sum_of
from .reduction import reduced
from .shape import reshape, transpose

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "hinge_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "poisson_nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
    "square_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


# --- regression -------------------------------------------------------------------------------------------------------


@remembered
def l1_loss(pred, label, reduction="mean"):
    """|pred - label|."""
    return reduced("l1_loss", absolute(as_tensor(pred) - label), reduction)


@remembered
def square_loss(pred, label, reduction="mean"):
    """(pred - label) squared."""
    distance = as_tensor(pred) - label
    return reduced("square_loss", distance * distance, reduction)


@remembered
def mse_loss(pred, label, reduction="mean"):
    """PyTorch's name for `square_loss`."""
    distance = as_tensor(pred) - label
    return reduced("mse_loss", distance * distance, reduction)


@remembered
def smooth_l1_loss(pred, label, reduction="mean", beta=1.0):
    """With d = |pred - label|: d * d / (2 * beta) below ``beta``, else d - beta / 2; `l1_loss` for beta 0."""
    if beta < 0:
        raise ShapeError(f"smooth_l1_loss: beta {beta} at {user_location()}; 0 or more is needed")
    if beta == 0:
        return reduced("smooth_l1_loss", absolute(as_tensor(pred) - label), reduction)
    distance = absolute(as_tensor(pred) - label)
    values = where(less(distance, beta), distance * distance * (0.5 / beta), distance - 0.5 * beta)
    return reduced("smooth_l1_loss", values, reduction)


@remembered
def huber_loss(pred, label, reduction="mean", delta=1.0):
    """With d = |pred - label|: d * d / 2 up to ``delta``, else delta * (d - delta / 2)."""
    if delta <= 0:
        raise ShapeError(f"huber_loss: delta {delta} at {user_location()}; a positive number is needed")
    distance = absolute(as_tensor(pred) - label)
    near = minimum(distance, delta)
    return reduced("huber_loss", near * (distance - 0.5 * near), reduction)


# --- two classes ------------------------------------------------------------------------------------------------------


@remembered
def binary_cross_entropy(pred, label, with_logits=True, reduction="mean", *, weight=None, pos_weight=None):
    """The cross entropy of two classes.

    Args:
        pred: the logit of the class 1, or its probability if ``with_logits`` is False.
        label: the probability of the class 1, from 0 to 1.
        weight: multiplies each element's loss.
        pos_weight: multiplies the part of the class 1.

    The logarithm of a probability is kept above -100, as in PyTorch, so the loss of a certain mistake is finite.
    """
    pred, label = as_tensor(pred), as_tensor(label)
    if with_logits:
        positive, negative = softplus(-pred), softplus(pred)
    else:
        positive, negative = -_log_above(pred), -_log_above(1.0 - pred)
    if pos_weight is not None:
        positive = positive * pos_weight
    values = positive * label + negative * (1.0 - label)
    return reduced("binary_cross_entropy", values if weight is None else values * weight, reduction)


def _log_above(x, least=-100.0):
    """log(x), or ``least`` where that is smaller; there no gradient flows."""
    empty = equal(x, 0.0)
    return where(empty, least, maximum(log(where(empty, 1.0, x)), least))


@remembered
def binary_cross_entropy_with_logits(pred, label, weight=None, reduction="mean", pos_weight=None):
    """PyTorch's name for `binary_cross_entropy` of logits."""
    return binary_cross_entropy(pred, label, True, reduction, weight=weight, pos_weight=pos_weight)


@remembered
def hinge_loss(pred, label, norm="L1", reduction="mean"):
    """The sum over the last axis of max(0, 1 - pred * label), squared for norm ``"L2"``; then the mean over the rows.

    Args:
        pred, label: (N, C); labels are -1 or 1.
    """
    if norm not in ("L1", "L2"):
        raise UnsupportedError(f"hinge_loss: norm {norm!r} at {user_location()}; allowed: 'L1', 'L2'")
    pred, label = as_tensor(pred), as_tensor(label)
    if not same_shape(pred.shape, label.shape) or pred.ndim != 2:
        raise ShapeError(
            f"hinge_loss: pred of shape {show(pred.shape)} and label of shape {show(label.shape)} at "
            f"{user_location()}; both must be (N, C)"
        )
    distance = maximum(1.0 - pred * label, 0.0)
    return reduced("hinge_loss", sum_of(distance if norm == "L1" else distance * distance, 1), reduction)


# --- classes ----------------------------------------------------------------------------------------------------------


@remembered
def cross_entropy(
    pred,
    label,
    axis=1,
    with_logits=True,
    label_smooth=0,
    reduction="mean",
    ignore_index=None,
    *,
    weight=None,
    label_smoothing=None,
):
    """The cross entropy of classes.

    Args:
        pred: logits, or probabilities if ``with_logits`` is False; the classes lie along ``axis``.
        label: the class of each row, an integer tensor with the shape of ``pred`` without ``axis``; or floats in the
            shape of ``pred``, the probability of each class.
        label_smooth: the share of the target that is spread evenly over all classes.
        ignore_index: rows with this label count neither in the sum nor in the mean; no row counted gives NaN.
        weight: one factor a class. The mean divides by the factors of the rows' labels; with probabilities as labels,
            by the number of rows.
        label_smoothing: PyTorch's name for ``label_smooth``.
    """
    op = "cross_entropy"
    pred, label = as_tensor(pred), as_tensor(label)
    smooth = label_smooth if label_smoothing is None else label_smoothing
    if not 0 <= smooth <= 1:
        raise ShapeError(f"{op}: label_smooth {smooth} at {user_location()}; 0 to 1 is needed")
    axis = resolve_axis(op, axis, pred.ndim)
    if axis != pred.ndim - 1:
        rows_first = [a for a in range(pred.ndim) if a != axis] + [axis]
        pred = transpose(pred, rows_first)
        label = transpose(label, rows_first) if label.ndim == pred.ndim else label
    weight = _class_weight(op, weight, pred.shape[-1])
    if dtypes.is_float(label.dtype) and label.ndim == pred.ndim:
        return _soft(pred, label, with_logits, smooth, reduction, ignore_index, weight)
    _check_labels(op, pred, label)
    if weight is None and with_logits:
        flat = reshape(pred, (size_of(pred.shape[:-1]), pred.shape[-1])), reshape(label, (size_of(label.shape),))
        attrs = {"label_smooth": float(smooth), "ignore_index": ignore_index}
        rows = Tensor._wrap(apply("cross_entropy_rows", [flat[0]._handle, flat[1]._handle], attrs)[0])
        return _counted(op, reshape(rows, label.shape), label, reduction, ignore_index, None)
    logs = logsoftmax(pred, -1) if with_logits else log(pred)
    return _negative_log(op, logs, label, smooth, reduction, ignore_index, weight)


@remembered
def nll_loss(pred, label, weight=None, ignore_index=-100, reduction="mean"):
    """-pred[label] of logarithms of probabilities, such as those of `logsoftmax`, with PyTorch's arguments.

    Args:
        pred: (N, C), (N, C, ...) or (C,).
        label: integers, the shape of ``pred`` without the classes.
        weight, ignore_index, reduction: as for `cross_entropy`.
    """
    op = "nll_loss"
    pred, label = as_tensor(pred), as_tensor(label)
    axis = resolve_axis(op, 1 if pred.ndim > 1 else 0, pred.ndim)
    if axis != pred.ndim - 1:
        pred = transpose(pred, [a for a in range(pred.ndim) if a != axis] + [axis])
    _check_labels(op, pred, label)
    return _negative_log(op, pred, label, 0, reduction, ignore_index, _class_weight(op, weight, pred.shape[-1]))


def _class_weight(op, weight, classes):
    if weight is None:
        return None
    weight = as_tensor(weight)
    if weight.ndim != 1 or (is_static(classes) and weight.shape[0] != classes):
        raise ShapeError(
            f"{op}: weight of shape {show(weight.shape)} at {user_location()}; one factor for each of the {classes} "
            f"classes is needed"
        )
    return weight


def _check_labels(op, pred, label):
    """Integer labels, one a row of ``pred`` (classes last)."""
    if not dtypes.is_integer(label.dtype):
        raise DtypeError(f"{op}: labels of {label.dtype} at {user_location()}; an integer type is needed")
    if pred.ndim - 1 != label.ndim:
        raise ShapeError(
            f"{op}: pred of shape {show(pred.shape)} (classes last) and labels of shape {show(label.shape)} "
            f"at {user_location()}; a label for each row is needed"
        )


def _negative_log(op, logs, label, smooth, reduction, ignore_index, weight):
    """(1 - s) * -w[label] * logs[label] - s / C * sum of w * logs; a label outside the classes is an error."""
    counted = None if ignore_index is None else not_equal(label, ignore_index)
    # What is ignored may lie outside the classes; another negative label is no position from the end.
    classes = label if counted is None else where(counted, label, 0)
    classes = where(less(classes, 0), logs.shape[-1], classes)
    rows = -indexing_one_hot(logs, classes, -1)
    factor = None
    if weight is not None:
        factor = take(weight, classes, 0)
        rows = rows * factor
    if smooth:
        spread = mean_of(logs if weight is None else logs * weight, -1)
        rows = rows * (1.0 - smooth) - spread * smooth
    if counted is not None:
        rows = where(counted, rows, 0.0)
        factor = None if factor is None else where(counted, factor, 0.0)
    return _counted(op, rows, label, reduction, ignore_index, factor)


def _counted(op, rows, label, reduction, ignore_index, factor):
    """The reduction over the rows that count; a mean divides by the sum of their factors."""
    if reduction == "mean" and factor is not None:
        return sum_of(rows) / sum_of(factor)
    if reduction == "mean" and ignore_index is not None:
        return sum_of(rows) / sum_of(not_equal(label, ignore_index))
    return reduced(op, rows, reduction)


def _soft(pred, label, with_logits, smooth, reduction, ignore_index, weight):
    """Probabilities as labels."""
    if not same_shape(pred.shape, label.shape):
        raise ShapeError(
            f"cross_entropy: pred of shape {show(pred.shape)} and labels of floats of shape {show(label.shape)} "
            f"(classes last) at {user_location()}; a probability for each class is needed"
        )
    if ignore_index is not None:
        raise UnsupportedError(f"cross_entropy: ignore_index {ignore_index} with labels of floats at {user_location()}")
    logs = logsoftmax(pred, -1) if with_logits else log(pred)
    target = label * (1.0 - smooth) + smooth / pred.shape[-1] if smooth else label
    rows = -sum_of(target * (logs if weight is None else logs * weight), -1)
    return reduced("cross_entropy", rows, reduction)


# --- distributions and distances --------------------------------------------------------------------------------------


@remembered
def kl_div(pred, label, reduction="mean", log_target=False):
    """label * (log(label) - pred): the divergence of the distribution ``label`` from exp(pred).

    Args:
        pred: logarithms of probabilities.
        label: probabilities, or their logarithms with ``log_target``; a probability of 0 adds 0.
        reduction: also ``"batchmean"``: the sum divided by the size of the first axis.
    """
    pred, label = as_tensor(pred), as_tensor(label)
    if log_target:
        values = exp(label) * (label - pred)
    else:
        values = label * log(where(equal(label, 0.0), 1.0, label)) - label * pred
    if reduction == "batchmean":
        return sum_of(values) / values.shape[0]
    return reduced("kl_div", values, reduction)


@remembered
def cosine_similarity(x1, x2, axis=1, eps=1e-8):
    """The inner product along ``axis``, divided by both norms, each at least ``eps``."""
    x1, x2 = as_tensor(x1), as_tensor(x2)
    axis = resolve_axis("cosine_similarity", axis, max(x1.ndim, x2.ndim))
    squares = (maximum(sum_of(x * x, axis - max(x1.ndim, x2.ndim)), eps * eps) for x in (x1, x2))
    first, second = (sqrt(square) for square in squares)
    return sum_of(x1 * x2, axis) / (first * second)


@remembered
def cosine_embedding_loss(x1, x2, label, margin=0.0, reduction="mean"):
    """1 - cosine where the label is 1, max(0, cosine - margin) where it is -1; the vectors lie along the last axis."""
    cosine = cosine_similarity(x1, x2, -1)
    values = where(equal(as_tensor(label), 1), 1.0 - cosine, maximum(cosine - margin, 0.0))
    return reduced("cosine_embedding_loss", values, reduction)


@remembered
def margin_ranking_loss(x1, x2, label, margin=0.0, reduction="mean"):
    """max(0, -label * (x1 - x2) + margin); the label 1 asks for x1 to be larger, -1 for x2."""
    values = maximum(-as_tensor(label) * (as_tensor(x1) - x2) + margin, 0.0)
    return reduced("margin_ranking_loss", values, reduction)


@remembered
def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction="mean"):
    """max(0, |anchor - positive| - |anchor - negative| + margin) with p-norms over the last axis.

    Args:
        eps: added to each difference.
        swap: take the smaller of |anchor - negative| and |positive - negative|.
    """
    anchor, positive, negative = as_tensor(anchor), as_tensor(positive), as_tensor(negative)
    far = _distance(anchor, negative, p, eps)
    if swap:
        far = minimum(far, _distance(positive, negative, p, eps))
    values = maximum(_distance(anchor, positive, p, eps) - far + margin, 0.0)
    return reduced("triplet_margin_loss", values, reduction)


def _distance(x, y, p, eps):
    difference = absolute(x - y + eps)
    if p == 1:
        return sum_of(difference, -1)
    if p == 2:
        return sqrt(sum_of(difference * difference, -1))
    if p == math.inf:
        return difference.max(-1)
    return power(sum_of(power(difference, p), -1), 1.0 / p)
