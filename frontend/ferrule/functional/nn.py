"""The functions of networks, under MegEngine's name ``functional.nn``."""

from .activation import *  # noqa: F403
from .arrangement import fold, pixel_shuffle, pixel_unshuffle, sliding_window, sliding_window_transpose, unfold
from .attention import *  # noqa: F403
from .colors import cvt_color
from .contraction import bilinear, linear
from .convolution import *  # noqa: F403
from .creation import ones, zeros, zeros_like
from .deformable import deformable_conv2d
from .detection import deformable_psroi_pooling, nms
from .distances import cdist, pairwise_distance, pdist
from .dropout import *  # noqa: F403
from .elementwise import exp, log, log1p, maximum, minimum
from .embedding import *  # noqa: F403
from .indexing import gather, indexing_one_hot, one_hot, scatter
from .local_convolution import channel_shuffle, local_conv2d, region_restricted_conv
from .loss import *  # noqa: F403
from .normalization import *  # noqa: F403
from .ordering import topk_accuracy
from .padding import pad
from .pooling import *  # noqa: F403
from .power_pooling import *  # noqa: F403
from .reduce import logsumexp, max, normalize, sum  # noqa: A004  (MegEngine's names)
from .shape import concat, repeat
from .resampling import *  # noqa: F403
from .views import broadcast_to, expand_dims, reshape, squeeze, transpose

__all__ = [name for name in dir() if not name.startswith("_")]
