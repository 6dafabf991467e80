"""Losses as modules, under PyTorch's names; each calls the function of `functional.loss`."""

from .. import functional as F
from .._tensor import Tensor, as_tensor
from ..errors import UnsupportedError
from .module import Module


class _Loss(Module):
    """A loss of a prediction and a label.

    Args:
        reduction: ``"mean"``, ``"sum"`` or ``"none"`` of the elements' losses.
    """

    def __init__(self, reduction="mean", **kwargs):
        super().__init__(**kwargs)
        if reduction not in ("mean", "sum", "none"):
            raise UnsupportedError(f"{type(self).__name__}: reduction {reduction!r}; allowed: mean, sum, none")
        self.reduction = reduction

    def extra_repr(self):
        return f"reduction={self.reduction!r}"


class L1Loss(_Loss):
    """The mean of |pred - label|."""

    def forward(self, pred, label):
        return F.loss.l1_loss(pred, label, self.reduction)


class MSELoss(_Loss):
    """The mean of (pred - label)^2."""

    def forward(self, pred, label):
        return F.loss.square_loss(pred, label, self.reduction)


class SmoothL1Loss(_Loss):
    """Half the square over ``beta`` where the distance is below it, else the distance less half of it."""

    def __init__(self, reduction="mean", beta=1.0, **kwargs):
        super().__init__(reduction, **kwargs)
        self.beta = beta

    def forward(self, pred, label):
        return F.loss.smooth_l1_loss(pred, label, self.reduction, self.beta)


class HuberLoss(_Loss):
    """Half the square where the distance is below ``delta``, else delta times (the distance less half of it)."""

    def __init__(self, reduction="mean", delta=1.0, **kwargs):
        super().__init__(reduction, **kwargs)
        self.delta = delta

    def forward(self, pred, label):
        return F.loss.huber_loss(pred, label, self.reduction, self.delta)


class _WeightedLoss(_Loss):
    def __init__(self, weight=None, reduction="mean", **kwargs):
        super().__init__(reduction, **kwargs)
        self.weight = _as_buffer(weight)


def _as_buffer(weight):
    return None if weight is None else Tensor(as_tensor(weight).numpy())


class CrossEntropyLoss(_WeightedLoss):
    """The cross entropy of logits (N, C, ...) and labels (N, ...), or of probabilities as labels.

    Args:
        weight: a factor for each class.
        ignore_index: a label that does not count.
        reduction: ``"mean"`` (over the labels that count), ``"sum"`` or ``"none"``.
        label_smoothing: the share of the label that all classes get alike.
    """

    def __init__(self, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0, **kwargs):
        super().__init__(weight, reduction, **kwargs)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, pred, label):
        return F.loss.cross_entropy(
            pred,
            label,
            label_smooth=self.label_smoothing,
            reduction=self.reduction,
            weight=self.weight,
            ignore_index=self.ignore_index,
        )


class NLLLoss(_WeightedLoss):
    """The mean of -pred[label] of logarithms of probabilities (N, C, ...)."""

    def __init__(self, weight=None, ignore_index=-100, reduction="mean", **kwargs):
        super().__init__(weight, reduction, **kwargs)
        self.ignore_index = ignore_index

    def forward(self, pred, label):
        return F.loss.nll_loss(pred, label, self.weight, self.ignore_index, self.reduction)


class BCELoss(_WeightedLoss):
    """The binary cross entropy of probabilities."""

    def forward(self, pred, label):
        return F.loss.binary_cross_entropy(pred, label, with_logits=False, reduction=self.reduction, weight=self.weight)


class BCEWithLogitsLoss(_WeightedLoss):
    """The binary cross entropy of logits; ``pos_weight`` is a factor for the share of positive labels."""

    def __init__(self, weight=None, reduction="mean", pos_weight=None, **kwargs):
        super().__init__(weight, reduction, **kwargs)
        self.pos_weight = _as_buffer(pos_weight)

    def forward(self, pred, label):
        return F.loss.binary_cross_entropy(
            pred, label, reduction=self.reduction, weight=self.weight, pos_weight=self.pos_weight
        )


class KLDivLoss(_Loss):
    """label * (log(label) - pred), with pred (and with ``log_target`` the label) as logarithms."""

    def __init__(self, reduction="mean", log_target=False, **kwargs):
        Module.__init__(self, **kwargs)
        self.reduction = reduction  # "batchmean" as well; the function checks it
        self.log_target = log_target

    def forward(self, pred, label):
        return F.loss.kl_div(pred, label, self.reduction, self.log_target)


class CosineEmbeddingLoss(_Loss):
    """1 - cos where the label is 1, max(0, cos - margin) where it is -1."""

    def __init__(self, margin=0.0, reduction="mean", **kwargs):
        super().__init__(reduction, **kwargs)
        self.margin = margin

    def forward(self, x1, x2, label):
        return F.loss.cosine_embedding_loss(x1, x2, label, self.margin, self.reduction)


class MarginRankingLoss(_Loss):
    """max(0, margin - label * (x1 - x2))."""

    def __init__(self, margin=0.0, reduction="mean", **kwargs):
        super().__init__(reduction, **kwargs)
        self.margin = margin

    def forward(self, x1, x2, label):
        return F.loss.margin_ranking_loss(x1, x2, label, self.margin, self.reduction)


class TripletMarginLoss(_Loss):
    """max(0, |anchor - positive| - |anchor - negative| + margin)."""

    def __init__(self, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction="mean", **kwargs):
        super().__init__(reduction, **kwargs)
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor, positive, negative):
        return F.loss.triplet_margin_loss(
            anchor, positive, negative, self.margin, self.p, self.eps, self.swap, self.reduction
        )


class CosineSimilarity(Module):
    """The cosine of the angle between two tensors along ``axis``."""

    def __init__(self, axis=1, eps=1e-8, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis
        self.eps = eps

    def forward(self, x1, x2):
        return F.loss.cosine_similarity(x1, x2, self.axis, self.eps)


class PairwiseDistance(Module):
    """The p-norm of x1 - x2 + eps along the last axis."""

    def __init__(self, p=2.0, eps=1e-6, keepdims=False, **kwargs):
        super().__init__(**kwargs)
        self.p = p
        self.eps = eps
        self.keepdims = keepdims

    def forward(self, x1, x2):
        return F.pairwise_distance(x1, x2, self.p, self.eps, self.keepdims)


class CTCLoss(_Loss):
    """The connectionist temporal classification loss of (T, N, C) logarithms of probabilities; called with PyTorch's
    (log_probs, targets, input_lengths, target_lengths).

    Args:
        blank: the class that stands for no label.
        zero_infinity: a loss of labels that cannot come out in so few steps becomes 0.
    """

    def __init__(self, blank=0, reduction="mean", zero_infinity=False, **kwargs):
        super().__init__(reduction, **kwargs)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(self, log_probs, targets, input_lengths, target_lengths):
        return F.loss.ctc_loss(
            log_probs,
            input_lengths,
            targets,
            target_lengths,
            self.blank,
            self.reduction,
            log_probs=True,
            zero_infinity=self.zero_infinity,
        )


class PoissonNLLLoss(_Loss):
    """exp(pred) - label * pred; see `functional.loss.poisson_nll_loss`."""

    def __init__(self, log_input=True, full=False, eps=1e-8, reduction="mean", **kwargs):
        super().__init__(reduction, **kwargs)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, pred, label):
        return F.loss.poisson_nll_loss(pred, label, self.log_input, self.full, self.eps, self.reduction)


class GaussianNLLLoss(_Loss):
    """(log(var) + (pred - label)^2 / var) / 2; called with (pred, label, var)."""

    def __init__(self, full=False, eps=1e-6, reduction="mean", **kwargs):
        super().__init__(reduction, **kwargs)
        self.full = full
        self.eps = eps

    def forward(self, pred, label, var):
        return F.loss.gaussian_nll_loss(pred, label, var, self.full, self.eps, self.reduction)


class HingeEmbeddingLoss(_Loss):
    """The prediction, a distance, where the label is 1; max(0, margin - it) where the label is -1."""

    def __init__(self, margin=1.0, reduction="mean", **kwargs):
        super().__init__(reduction, **kwargs)
        self.margin = margin

    def forward(self, pred, label):
        return F.loss.hinge_embedding_loss(pred, label, self.margin, self.reduction)


class SoftMarginLoss(_Loss):
    """log(1 + exp(-label * pred)) for labels -1 and 1."""

    def forward(self, pred, label):
        return F.loss.soft_margin_loss(pred, label, self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The binary cross entropy of each class, averaged over the classes; ``weight`` is a factor for each class."""

    def forward(self, pred, label):
        return F.loss.multilabel_soft_margin_loss(pred, label, self.weight, self.reduction)


class MultiLabelMarginLoss(_Loss):
    """max(0, 1 - pred[i] + pred[j]) over the labels i of a row and its other classes j; see
    `functional.loss.multilabel_margin_loss`."""

    def forward(self, pred, label):
        return F.loss.multilabel_margin_loss(pred, label, self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """max(0, margin - pred[label] + pred[j])^p over the other classes j; ``weight`` is a factor for each class."""

    def __init__(self, p=1, margin=1.0, weight=None, reduction="mean", **kwargs):
        super().__init__(weight, reduction, **kwargs)
        self.p = p
        self.margin = margin

    def forward(self, pred, label):
        return F.loss.multi_margin_loss(pred, label, self.p, self.margin, self.weight, self.reduction)


class TripletMarginWithDistanceLoss(_Loss):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) for any distance of two tensors."""

    def __init__(self, *, distance_function=None, margin=1.0, swap=False, reduction="mean", **kwargs):
        super().__init__(reduction, **kwargs)
        self.distance_function = distance_function
        self.margin = margin
        self.swap = swap

    def forward(self, anchor, positive, negative):
        return F.loss.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )
