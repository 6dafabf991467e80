"""`AdaptiveLogSoftmaxWithLoss`."""

from typing import NamedTuple

from .. import functional as F
from .._tensor import Tensor
from ..errors import ShapeError
from ..shapes import show
from .containers import ModuleList, Sequential
from .linear import Linear
from .module import Module


class AdaptiveResult(NamedTuple):
    """The logarithm of the probability of each label (N,), and the mean of their negatives."""

    output: Tensor
    loss: Tensor


class AdaptiveLogSoftmaxWithLoss(Module):
    """The logarithms of the probabilities of very many classes, with fewer weights for the rare ones.

    The first classes have an output each in the head, which has one more for each group of later classes; a group's own
    outputs come from fewer features. All classes are computed for every row, so what is saved is weights, not time.
    Called with (inp, label) it gives (output, loss).

    Args:
        in_features: the size of the last axis of the input (N, in_features).
        n_classes: how many classes there are.
        cutoffs: ascending class numbers, below ``n_classes``, at which the groups begin.
        div_value: group i of 0, 1, ... has in_features / div_value^(i + 1) features.
        head_bias: whether the head has a bias.
    """

    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, **kwargs):
        super().__init__(**kwargs)
        cutoffs = list(cutoffs)
        if not cutoffs or cutoffs != sorted(set(cutoffs)) or cutoffs[0] < 1 or cutoffs[-1] >= n_classes:
            raise ShapeError(
                f"AdaptiveLogSoftmaxWithLoss: cutoffs {cutoffs}; allowed: ascending numbers from 1 to {n_classes - 1}"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head = Linear(in_features, cutoffs[0] + len(cutoffs), bias=head_bias)
        self.tail = ModuleList()
        for i, (begin, end) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            features = int(in_features // div_value ** (i + 1))
            self.tail.append(
                Sequential(Linear(in_features, features, bias=False), Linear(features, end - begin, bias=False))
            )

    def log_prob(self, inp):
        """The logarithm of the probability of every class: (N, n_classes)."""
        if inp.ndim != 2:
            raise ShapeError(f"AdaptiveLogSoftmaxWithLoss: input of shape {show(inp.shape)}; (N, in_features) is needed")
        head = F.log_softmax(self.head(inp), 1)
        first = self.cutoffs[0]
        groups = [
            F.log_softmax(group(inp), 1) + head[:, first + i : first + i + 1] for i, group in enumerate(self.tail)
        ]
        return F.concat([head[:, :first], *groups], 1)

    def predict(self, inp):
        """The class of the largest probability of each row: (N,)."""
        return F.argmax(self.log_prob(inp), 1)

    def forward(self, inp, label):
        output = F.indexing_one_hot(self.log_prob(inp), label, 1)
        return AdaptiveResult(output, -F.mean(output))

    def extra_repr(self):
        return f"in_features={self.in_features}, n_classes={self.n_classes}, cutoffs={self.cutoffs[:-1]}"
