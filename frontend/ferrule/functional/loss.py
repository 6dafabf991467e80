"""Losses. ``reduction`` is ``"mean"``, ``"sum"`` or ``"none"``."""

from .. import dtypes
from .._stream import apply
from .._tensor import Tensor, as_tensor
from ..errors import DtypeError, ShapeError, UnsupportedError
from ..location import user_location
from ..shapes import show, size_of
from .activation import softplus
from .axes import resolve_axis
from .elementwise import abs as absolute
from .elementwise import log, not_equal
from .indexing import indexing_one_hot
from .reduce import mean as mean_of
from .reduce import sum as sum_of
from .shape import reshape, transpose

__all__ = ["binary_cross_entropy", "cross_entropy", "l1_loss", "square_loss"]


def _reduced(op, values, reduction):
    if reduction == "mean":
        return mean_of(values)
    if reduction == "sum":
        return sum_of(values)
    if reduction == "none":
        return values
    raise UnsupportedError(f"{op}: reduction {reduction!r} at {user_location()}; allowed: 'mean', 'sum', 'none'")


def l1_loss(pred, label, reduction="mean"):
    """|pred - label|."""
    return _reduced("l1_loss", absolute(as_tensor(pred) - label), reduction)


def square_loss(pred, label, reduction="mean"):
    """(pred - label) squared."""
    distance = as_tensor(pred) - label
    return _reduced("square_loss", distance * distance, reduction)


def binary_cross_entropy(pred, label, with_logits=True, reduction="mean"):
    """The cross entropy of two classes; ``pred`` is the logit of the class 1, or its probability."""
    pred = as_tensor(pred)
    if with_logits:
        values = softplus(-pred) * label + softplus(pred) * (1.0 - as_tensor(label))
    else:
        values = -(log(pred) * label + log(1.0 - pred) * (1.0 - as_tensor(label)))
    return _reduced("binary_cross_entropy", values, reduction)


def cross_entropy(pred, label, axis=1, with_logits=True, label_smooth=0, reduction="mean", ignore_index=None):
    """The cross entropy of classes.

    Args:
        pred: logits, or probabilities if ``with_logits`` is False; the classes lie along ``axis``.
        label: the class of each row, an integer tensor with the shape of ``pred`` without ``axis``.
        label_smooth: the share of the target that is spread evenly over all classes.
        ignore_index: rows with this label count neither in the sum nor in the mean; no row counted gives NaN.
    """
    pred, label = as_tensor(pred), as_tensor(label)
    if not dtypes.is_integer(label.dtype):
        raise DtypeError(f"cross_entropy: labels of {label.dtype} at {user_location()}; an integer type is needed")
    axis = resolve_axis("cross_entropy", axis, pred.ndim)
    rows_shape = pred.shape[:axis] + pred.shape[axis + 1 :]
    if len(rows_shape) != label.ndim:
        raise ShapeError(
            f"cross_entropy: pred of shape {show(pred.shape)} without axis {axis} and labels of shape "
            f"{show(label.shape)} at {user_location()}; the ranks must agree"
        )
    if not with_logits:
        return _from_probabilities(pred, label, axis, label_smooth, reduction, ignore_index)
    if axis != pred.ndim - 1:
        pred = transpose(pred, [a for a in range(pred.ndim) if a != axis] + [axis])
    classes = pred.shape[-1]
    flat = reshape(pred, (size_of(rows_shape), classes)), reshape(label, (size_of(label.shape),))
    attrs = {"label_smooth": float(label_smooth), "ignore_index": ignore_index}
    rows = Tensor._wrap(apply("cross_entropy_rows", [flat[0]._handle, flat[1]._handle], attrs)[0])
    return _counted(reshape(rows, rows_shape), label, reduction, ignore_index)


def _counted(rows, label, reduction, ignore_index):
    """The reduction over the rows that count."""
    if reduction != "mean" or ignore_index is None:
        return _reduced("cross_entropy", rows, reduction)
    counted = sum_of(not_equal(label, ignore_index))
    return sum_of(rows) / counted


def _from_probabilities(pred, label, axis, label_smooth, reduction, ignore_index):
    logs = log(pred)
    rows = -indexing_one_hot(logs, label, axis)
    if label_smooth:
        rows = rows * (1.0 - label_smooth) - mean_of(logs, axis) * label_smooth
    if ignore_index is not None:
        from .elementwise import where

        rows = where(not_equal(label, ignore_index), rows, 0.0)
    return _counted(rows, label, reduction, ignore_index)
