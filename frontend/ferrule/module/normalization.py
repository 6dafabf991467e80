"""`BatchNorm1d`, `BatchNorm2d` and `LayerNorm`."""

import numpy as np

from .. import functional as F
from .._tensor import Parameter, Tensor
from ..errors import ShapeError
from ..shapes import show
from . import init
from .module import Module


class _BatchNorm(Module):
    """Normalises each channel (axis 1); in evaluation with the statistics gathered in training.

    Args:
        num_features: the number of channels.
        eps: added to the variance.
        momentum: the share that the running statistics keep at each step.
        affine: whether there are a weight and a bias, of shape (1, num_features, 1, 1).
        track_running_stats: without it the batch's statistics are used in evaluation as well.
        freeze: use the running statistics in training, too, and leave them as they are.
    """

    _ranks = ()

    def __init__(
        self, num_features, eps=1e-5, momentum=0.9, affine=True, track_running_stats=True, freeze=False, **kwargs
    ):
        super().__init__(**kwargs)
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self.freeze = freeze
        shape = (1, num_features, 1, 1)
        self.weight = Parameter(np.ones(shape, "float32")) if affine else None
        self.bias = Parameter(np.zeros(shape, "float32")) if affine else None
        self.running_mean = Tensor(np.zeros(shape, "float32")) if track_running_stats else None
        self.running_var = Tensor(np.ones(shape, "float32")) if track_running_stats else None

    def reset_running_stats(self):
        """Sets the running mean to 0 and the running variance to 1."""
        if self.track_running_stats:
            init.zeros_(self.running_mean)
            init.ones_(self.running_var)

    def reset_parameters(self):
        """Sets the weight to 1, the bias to 0 and the running statistics back."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            init.zeros_(self.bias)

    def forward(self, inp):
        if inp.ndim not in self._ranks:
            ranks = " or ".join(map(str, self._ranks))
            raise ShapeError(f"{type(self).__name__}: input of shape {show(inp.shape)}; rank {ranks} is needed")
        statistics_of_batch = (self.training and not self.freeze) or not self.track_running_stats
        return F.batch_norm(
            inp,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            training=statistics_of_batch,
            momentum=self.momentum,
            eps=self.eps,
        )

    def extra_repr(self):
        return f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}"


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L)."""

    __doc__ += "\n" + _BatchNorm.__doc__
    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W)."""

    __doc__ += "\n" + _BatchNorm.__doc__
    _ranks = (4,)


class LayerNorm(Module):
    """Normalises over the last axes.

    Args:
        normalized_shape: their sizes; the weight and the bias have this shape.
        eps: added to the variance.
        affine: whether there are a weight and a bias.
    """

    def __init__(self, normalized_shape, eps=1e-5, affine=True, **kwargs):
        super().__init__(**kwargs)
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        self.affine = affine
        self.weight = Parameter(np.ones(self.normalized_shape, "float32")) if affine else None
        self.bias = Parameter(np.zeros(self.normalized_shape, "float32")) if affine else None

    def reset_parameters(self):
        """Sets the weight to 1 and the bias to 0."""
        if self.affine:
            init.ones_(self.weight)
            init.zeros_(self.bias)

    def forward(self, inp):
        return F.layer_norm(inp, self.normalized_shape, self.affine, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, affine={self.affine}"
