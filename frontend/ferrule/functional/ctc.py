"""The connectionist temporal classification loss, as a scan over time."""

import numpy as np

from .. import dtypes
from .._tensor import as_tensor
from ..errors import DtypeError, ShapeError
from ..location import user_location
from ..shapes import is_static, show
from .control_flow import scan
from .creation import arange, full
from .elementwise import equal, exp, less, log, logical_and, maximum, not_equal, stop_gradient, where
from .indexing import gather, indexing_one_hot
from .recording import remembered
from .reduction import reduced
from .shape import broadcast_to, concat, expand_dims, reshape

__all__ = ["ctc_loss"]

# Stands for log(0) in sums: finite, so that no gradient meets inf - inf, and far below any logarithm of a probability.
_NEVER = -1e30


@remembered
def ctc_loss(
    pred,
    pred_lengths,
    label,
    label_lengths,
    blank=0,
    reduction="mean",
    *,
    log_probs=False,
    zero_infinity=False,
):
    """-log of the probability that the labels come out when repeats are merged and blanks dropped.

    Args:
        pred: (T, N, C): the probabilities of the classes at each step; below the dtype's smallest normal number they
            count as that.
        pred_lengths: (N,): how many steps of each sequence count, from 1 to T.
        label: (N, S) integers, or all labels in one row (sum of the lengths,). No label is ``blank``.
        label_lengths: (N,): how many labels each sequence has; those behind them are not read.
        blank: the class that stands for no label.
        reduction: ``"mean"`` divides each loss by its number of labels, at least 1, first.
        log_probs: ``pred`` holds logarithms of probabilities, as PyTorch's loss takes them.
        zero_infinity: a loss of labels that cannot come out in so few steps, which is above 1e29, becomes 0, and so
            does its gradient.
    """
    op = "ctc_loss"
    pred, label = as_tensor(pred), as_tensor(label)
    steps_of, labels_of = as_tensor(pred_lengths), as_tensor(label_lengths)
    for name, tensor in (("label", label), ("pred_lengths", steps_of), ("label_lengths", labels_of)):
        if not dtypes.is_integer(tensor.dtype):
            raise DtypeError(f"{op}: {name} of {tensor.dtype} at {user_location()}; an integer type is needed")
    if pred.ndim != 3 or label.ndim not in (1, 2) or steps_of.ndim != 1 or labels_of.ndim != 1:
        raise ShapeError(
            f"{op}: pred of shape {show(pred.shape)}, label {show(label.shape)}, pred_lengths {show(steps_of.shape)} "
            f"and label_lengths {show(labels_of.shape)} at {user_location()}; (T, N, C), (N, S) or one axis, (N,) and "
            f"(N,) are needed"
        )
    if is_static(pred.shape[2]) and not 0 <= blank < pred.shape[2]:
        raise ShapeError(f"{op}: blank {blank} at {user_location()}; the classes are 0 to {pred.shape[2] - 1}")
    samples = pred.shape[1]
    if label.ndim == 1:
        label = _rows(label, labels_of)
    states, skips = _states(label, labels_of, samples, blank)
    logs = pred if log_probs else log(maximum(pred, float(np.finfo(dtypes.to_numpy(pred.dtype)).tiny)))
    # The logarithm of each state's class at each step: (T, N, 2 S + 1).
    emissions = gather(logs, 2, broadcast_to(expand_dims(states, 0), (pred.shape[0], samples, states.shape[1])))
    position = reshape(arange(states.shape[1], dtype="int32"), (1, -1))
    first = where(less(position, 2), emissions[0], _NEVER)

    def step(carry, emission):
        alpha, time = carry
        stayed, moved = alpha, _shifted(alpha, 1)
        skipped = where(skips, _shifted(alpha, 2), _NEVER)
        after = _log_sum(stayed, moved, skipped) + emission
        running = reshape(less(time, steps_of.astype("int32")), (samples, 1))
        return (where(running, after, alpha), time + 1), None

    (alpha, _), _ = scan(step, (first, full((), 1, dtype="int32")), emissions[1:])
    last = labels_of.astype("int32") * 2
    by_blank = indexing_one_hot(alpha, last, 1)
    by_label = where(less(last, 1), _NEVER, indexing_one_hot(alpha, last - 1, 1))
    losses = -_log_sum(by_blank, by_label)
    if zero_infinity:
        losses = where(less(losses, -0.1 * _NEVER), losses, 0.0)
    if reduction == "mean":
        losses = losses / maximum(labels_of, 1).astype(losses.dtype)
    return reduced(op, losses, reduction)


def _rows(label, lengths):
    """Labels in one row as (N, S), S as large as all of them: label k belongs to the row whose range holds k."""
    count, samples = label.shape[0], lengths.shape[0]
    lengths = lengths.astype("int32")
    number = arange(samples, dtype="int32")
    begin = where(less(expand_dims(number, 0), expand_dims(number, 1)), expand_dims(lengths, 0), 0).sum(1)
    k = arange(count, dtype="int32")
    wanted = reshape(begin, (samples, 1, 1)) + reshape(k, (1, count, 1))
    return where(equal(wanted, reshape(k, (1, 1, count))), label.astype("int32"), 0).sum(2)


def _states(label, lengths, samples, blank):
    """The classes blank, label 0, blank, label 1, ... blank (N, 2 S + 1), and which states may be entered from the one
    before the last: labels that differ from the label before."""
    size = label.shape[1]
    # What stands behind the labels of a sequence is not read, and may be no class.
    position = reshape(arange(size, dtype="int32"), (1, size))
    label = where(less(position, expand_dims(lengths.astype("int32"), 1)), label.astype("int32"), blank)
    blanks = full((samples, size), blank, dtype="int32")
    pairs = reshape(concat([expand_dims(blanks, 2), expand_dims(label, 2)], 2), (samples, 2 * size))
    states = concat([pairs, full((samples, 1), blank, dtype="int32")], 1)
    before = concat([full((samples, 2), blank, dtype="int32"), states[:, :-2]], 1) if size else states
    return states, logical_and(not_equal(states, blank), not_equal(states, before))


def _shifted(alpha, count):
    """alpha[s - count], never before the first."""
    width = alpha.shape[1]
    count = min(count, width)
    return concat([full((alpha.shape[0], count), _NEVER, dtype=alpha.dtype), alpha[:, : width - count]], 1)


def _log_sum(*terms):
    """log of the sum of exp."""
    top = terms[0]
    for term in terms[1:]:
        top = maximum(top, term)
    top = stop_gradient(top)
    total = exp(terms[0] - top)
    for term in terms[1:]:
        total = total + exp(term - top)
    return log(total) + top
