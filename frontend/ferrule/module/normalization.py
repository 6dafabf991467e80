"""Normalisations: over the batch, over channels, over groups of them."""

import numpy as np

from .. import functional as F
from .._tensor import Parameter, Tensor
from ..errors import ShapeError
from ..shapes import show
from . import init
from .module import Module


class _Normalization(Module):
    """A weight of ones and a bias of zeros of one shape, or neither."""

    def _set_affine(self, shape, affine, bias=True):
        self.affine = affine
        self.weight = Parameter(np.ones(shape, "float32")) if affine else None
        self.bias = Parameter(np.zeros(shape, "float32")) if affine and bias else None

    def reset_parameters(self):
        """Sets the weight to 1 and the bias to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class _BatchNorm(_Normalization):
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
        self.track_running_stats = track_running_stats
        self.freeze = freeze
        shape = (1, num_features, 1, 1)
        self._set_affine(shape, affine)
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
        super().reset_parameters()

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


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (N, C, D, H, W)."""

    __doc__ += "\n" + _BatchNorm.__doc__
    _ranks = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over all devices of a group: there is one device, so it is that of any rank from 2 to 5."""

    __doc__ += "\n" + _BatchNorm.__doc__
    _ranks = (2, 3, 4, 5)

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.9,
        affine=True,
        track_running_stats=True,
        freeze=False,
        group=None,
        **kwargs,
    ):
        del group
        super().__init__(num_features, eps, momentum, affine, track_running_stats, freeze, **kwargs)


class LayerNorm(_Normalization):
    """Normalises over the last axes.

    Args:
        normalized_shape: their sizes; the weight and the bias have this shape.
        eps: added to the variance.
        affine: whether there are a weight and a bias; PyTorch's word for it is ``elementwise_affine``.
        bias: False leaves out the bias alone.
    """

    def __init__(self, normalized_shape, eps=1e-5, affine=True, *, elementwise_affine=None, bias=True, **kwargs):
        super().__init__(**kwargs)
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        self._set_affine(self.normalized_shape, affine if elementwise_affine is None else elementwise_affine, bias)

    def forward(self, inp):
        return F.layer_norm(inp, self.normalized_shape, self.affine, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, affine={self.affine}"


class RMSNorm(_Normalization):
    """Divides by the root of the mean of squares over the last axes.

    Args:
        normalized_shape: their sizes; the weight has this shape.
        eps: added to the mean; None takes the smallest number that changes 1 in the input's type.
        elementwise_affine: whether there is a weight.
    """

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, **kwargs):
        super().__init__(**kwargs)
        self.normalized_shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.eps = eps
        self._set_affine(self.normalized_shape, elementwise_affine, bias=False)

    def forward(self, inp):
        return F.rms_norm(inp, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, affine={self.affine}"


class GeneralNorm(_Normalization):
    """Normalises over any axes.

    Args:
        normalized_shape: the sizes of the axes; the weight and the bias have this shape.
        normalized_axis: the axes.
        eps: added to the variance.
        affine: whether there are a weight and a bias.
    """

    def __init__(self, normalized_shape=None, normalized_axis=0, eps=1e-5, affine=True, **kwargs):
        super().__init__(**kwargs)
        axes = normalized_axis if isinstance(normalized_axis, (list, tuple)) else (normalized_axis,)
        shape = normalized_shape if isinstance(normalized_shape, (list, tuple)) else (normalized_shape,)
        if affine and (normalized_shape is None or len(shape) != len(axes)):
            raise ShapeError(
                f"GeneralNorm: normalized_shape {normalized_shape!r} for the axes {normalized_axis!r}; "
                f"affine=True needs one size an axis"
            )
        self.normalized_shape = normalized_shape if normalized_shape is None else tuple(shape)
        self.normalized_axis = tuple(axes)
        self.eps = eps
        # The parameters' axes ascend with the input's, as in `F.general_norm`; with negative axes that is their order.
        order = sorted(range(len(axes)), key=lambda i: axes[i])
        self._set_affine(tuple(shape[i] for i in order) if affine else (), affine)

    def forward(self, inp):
        return F.general_norm(inp, self.normalized_axis, self.affine, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, axis={self.normalized_axis}, eps={self.eps}, affine={self.affine}"


class GroupNorm(_Normalization):
    """Normalises each group of channels (axis 1) of each sample.

    Args:
        num_groups: how many groups; divides ``num_channels``.
        num_channels: the number of channels; the weight and the bias have one value a channel.
        eps: added to the variance.
        affine: whether there are a weight and a bias.
    """

    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, **kwargs):
        super().__init__(**kwargs)
        if num_groups < 1 or num_channels % num_groups:
            raise ShapeError(f"GroupNorm: {num_channels} channels do not divide into {num_groups} groups")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self._set_affine((num_channels,), affine)

    def forward(self, inp):
        return F.group_norm(inp, self.num_groups, self.affine, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}"


class InstanceNorm(_Normalization):
    """Normalises each channel of each sample over space.

    Args:
        num_channels: the number of channels; the weight and the bias have one value a channel.
        eps: added to the variance.
        affine: whether there are a weight and a bias.
    """

    def __init__(self, num_channels, eps=1e-5, affine=True, **kwargs):
        super().__init__(**kwargs)
        self.num_channels = num_channels
        self.eps = eps
        self._set_affine((num_channels,), affine)

    def forward(self, inp):
        return F.instance_norm(inp, self.affine, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return f"{self.num_channels}, eps={self.eps}, affine={self.affine}"


class _InstanceNormOfRank(InstanceNorm):
    """`InstanceNorm` with PyTorch's defaults: no weight and no bias."""

    _rank = 0

    def __init__(self, num_features, eps=1e-5, affine=False, **kwargs):
        super().__init__(num_features, eps, affine, **kwargs)

    def forward(self, inp):
        if inp.ndim != self._rank:
            raise ShapeError(f"{type(self).__name__}: input of shape {show(inp.shape)}; rank {self._rank} is needed")
        return super().forward(inp)


class InstanceNorm1d(_InstanceNormOfRank):
    """Instance normalisation of (N, C, L); without a weight and a bias by default."""

    _rank = 3


class InstanceNorm2d(_InstanceNormOfRank):
    """Instance normalisation of (N, C, H, W); without a weight and a bias by default."""

    _rank = 4


class InstanceNorm3d(_InstanceNormOfRank):
    """Instance normalisation of (N, C, D, H, W); without a weight and a bias by default."""

    _rank = 5


class LocalResponseNorm(Module):
    """x / (k + alpha * sum of squares over ``kernel_size`` neighbouring channels) ^ beta."""

    def __init__(self, kernel_size=5, k=2.0, alpha=1e-4, beta=0.75, **kwargs):
        super().__init__(**kwargs)
        self.kernel_size = kernel_size
        self.k = k
        self.alpha = alpha
        self.beta = beta

    def forward(self, inp):
        return F.local_response_norm(inp, self.kernel_size, self.k, self.alpha, self.beta)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, k={self.k}, alpha={self.alpha}, beta={self.beta}"
