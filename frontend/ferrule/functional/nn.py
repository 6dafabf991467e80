"""The functions of networks, under MegEngine's name ``functional.nn``."""

from .activation import (
    gelu,
    hsigmoid,
    hswish,
    leaky_relu,
    logsigmoid,
    logsoftmax,
    prelu,
    relu,
    relu6,
    sigmoid,
    silu,
    softmax,
    softplus,
)
from .contraction import conv1d, conv2d, linear
from .creation import ones, zeros, zeros_like
from .elementwise import exp, log, log1p, maximum, minimum
from .indexing import indexing_one_hot, one_hot
from .loss import binary_cross_entropy, cross_entropy, l1_loss, square_loss
from .normalization import batch_norm, layer_norm
from .pooling import avg_pool2d, max_pool2d
from .reduce import logsumexp, max, normalize, sum  # noqa: A004  (MegEngine's names)
from .shape import concat, repeat
from .views import broadcast_to, expand_dims, reshape, squeeze, transpose

__all__ = [name for name in dir() if not name.startswith("_")]
