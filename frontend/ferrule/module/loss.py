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
