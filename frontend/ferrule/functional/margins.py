"""Losses that ask for a margin between what is wanted and what is not, with PyTorch's names and meanings."""

from .. import dtypes
from .._tensor import as_tensor
from ..errors import DtypeError, ShapeError
from ..location import user_location
from ..shapes import is_static, same_shape, show
from .activation import logsigmoid, softplus
from .creation import arange
from .cumulative import cumprod
from .distances import pairwise_distance
from .elementwise import equal, logical_and, logical_not, maximum, minimum, not_equal, where
from .indexing import indexing_one_hot, take
from .recording import remembered
from .reduce import any as any_of
from .reduce import mean as mean_of
from .reduce import sum as sum_of
from .reduction import reduced
from .shape import expand_dims

__all__ = [
    "hinge_embedding_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "soft_margin_loss",
    "triplet_margin_with_distance_loss",
]


@remembered
def hinge_embedding_loss(pred, label, margin=1.0, reduction="mean"):
    """``pred``, a distance, where the label is 1; max(0, margin - pred) where it is -1; the sum of both elsewhere."""
    pred, label = as_tensor(pred), as_tensor(label)
    far = where(not_equal(label, 1), maximum(margin - pred, 0.0), 0.0)
    values = far + where(not_equal(label, -1), pred, 0.0)
    return reduced("hinge_embedding_loss", values, reduction)


@remembered
def soft_margin_loss(pred, label, reduction="mean"):
    """log(1 + exp(-label * pred)) for labels -1 and 1."""
    return reduced("soft_margin_loss", softplus(-as_tensor(label) * as_tensor(pred)), reduction)


@remembered
def multilabel_soft_margin_loss(pred, label, weight=None, reduction="mean"):
    """The binary cross entropy of each class, averaged over the classes (the last axis).

    Args:
        pred: logits (N, C) or (C,).
        label: 0 or 1, the shape of ``pred``.
        weight: a factor for each class.
    """
    pred, label = as_tensor(pred), as_tensor(label)
    _same("multilabel_soft_margin_loss", pred, label)
    values = -(label * logsigmoid(pred) + (1.0 - label) * logsigmoid(-pred))
    values = values if weight is None else values * weight
    return reduced("multilabel_soft_margin_loss", mean_of(values, -1), reduction)


@remembered
def multi_margin_loss(pred, label, p=1, margin=1.0, weight=None, reduction="mean"):
    """The sum over the other classes j of max(0, margin - pred[label] + pred[j])^p, over the number of classes.

    Args:
        pred: (N, C) or (C,).
        label: the class of each row, (N,) or ().
        p: 1 or 2.
        weight: a factor for each class, taken at the label.
    """
    op = "multi_margin_loss"
    pred, label = as_tensor(pred), as_tensor(label)
    if p not in (1, 2):
        raise ShapeError(f"{op}: p is {p!r} at {user_location()}; allowed: 1, 2")
    if not dtypes.is_integer(label.dtype):
        raise DtypeError(f"{op}: labels of {label.dtype} at {user_location()}; an integer type is needed")
    if pred.ndim not in (1, 2) or not same_shape(pred.shape[:-1], label.shape):
        raise ShapeError(
            f"{op}: pred of shape {show(pred.shape)} and label of shape {show(label.shape)} at {user_location()}; "
            f"(N, C) and (N,), or (C,) and (), are needed"
        )
    own = indexing_one_hot(pred, label, -1, keepdims=True)
    short = maximum(margin - own + pred, 0.0)
    short = short if p == 1 else short * short
    if weight is not None:
        short = short * expand_dims(take(as_tensor(weight), label, 0), -1)
    other = not_equal(arange(pred.shape[-1], dtype=label.dtype), expand_dims(label, -1))
    return reduced(op, sum_of(where(other, short, 0.0), -1) / pred.shape[-1], reduction)


@remembered
def multilabel_margin_loss(pred, label, reduction="mean"):
    """The sum of max(0, 1 - pred[i] + pred[j]) over the labels i of a row and its other classes j, over the number of
    classes.

    Args:
        pred: (N, C) or (C,).
        label: the classes of each row, in the shape of ``pred``; they end before the first negative number.
    """
    op = "multilabel_margin_loss"
    pred, label = as_tensor(pred), as_tensor(label)
    if not dtypes.is_integer(label.dtype):
        raise DtypeError(f"{op}: labels of {label.dtype} at {user_location()}; an integer type is needed")
    _same(op, pred, label)
    label = label.astype("int32")
    counted = not_equal(cumprod((label >= 0).astype("int32"), -1), 0)
    label = where(counted, label, 0)
    hits = equal(expand_dims(label, -1), arange(pred.shape[-1], dtype="int32"))
    other = logical_not(any_of(logical_and(hits, expand_dims(counted, -1)), -2))
    own = sum_of(where(hits, expand_dims(pred, -2), 0.0), -1)
    short = maximum(1.0 - expand_dims(own, -1) + expand_dims(pred, -2), 0.0)
    pairs = logical_and(expand_dims(counted, -1), expand_dims(other, -2))
    return reduced(op, sum_of(where(pairs, short, 0.0), (-2, -1)) / pred.shape[-1], reduction)


def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) for any distance.

    Args:
        distance_function: of two tensors; `pairwise_distance` unless given.
        swap: take the smaller of d(anchor, negative) and d(positive, negative).
    """
    anchor, positive, negative = as_tensor(anchor), as_tensor(positive), as_tensor(negative)
    distance = pairwise_distance if distance_function is None else distance_function
    far = distance(anchor, negative)
    if swap:
        far = minimum(far, distance(positive, negative))
    values = maximum(distance(anchor, positive) - far + margin, 0.0)
    return reduced("triplet_margin_with_distance_loss", values, reduction)


def _same(op, pred, label):
    known = all(map(is_static, (*pred.shape, *label.shape)))
    if pred.ndim not in (1, 2) or pred.ndim != label.ndim or (known and not same_shape(pred.shape, label.shape)):
        raise ShapeError(
            f"{op}: pred of shape {show(pred.shape)} and label of shape {show(label.shape)} at {user_location()}; both "
            f"(N, C), or both (C,), are needed"
        )
