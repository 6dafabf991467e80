"""Functions on tensors, with MegEngine's names and NumPy's semantics.

Each is recorded as primitive ops of the graph dialect; what is not primitive is a composition, which fusion turns back
into one kernel.
"""

from . import loss, nn, vision
from .activation import *  # noqa: F403
from .activation import logsoftmax as log_softmax
from .aliases import *  # noqa: F403
from .arrangement import *  # noqa: F403
from .attention import *  # noqa: F403
from .calculus import *  # noqa: F403
from .colors import cvt_color
from .contraction import *  # noqa: F403
from .control_flow import cond, scan, while_loop
from .convolution import *  # noqa: F403
from .counts import *  # noqa: F403
from .creation import (
    arange,
    bartlett,
    bartlett_window,
    blackman,
    blackman_window,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    geomspace,
    hamming,
    hamming_window,
    hann_window,
    hanning,
    identity,
    kaiser,
    kaiser_window,
    linspace,
    logspace,
    ones,
    ones_like,
    tri,
    tril_indices,
    triu_indices,
    zeros,
    zeros_like,
)
from .cumulative import *  # noqa: F403
from .deformable import deformable_conv2d
from .detection import deformable_psroi_pooling, nms
from .distances import *  # noqa: F403
from .dropout import alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout
from .embedding import *  # noqa: F403
from .einsum import *  # noqa: F403
from .elementwise import *  # noqa: F403
from .indexing import *  # noqa: F403
from .linear_algebra import *  # noqa: F403
from .local_convolution import channel_shuffle, local_conv2d, region_restricted_conv
from .loss import *  # noqa: F403
from .normalization import *  # noqa: F403
from .ordering import argsort, bucketize, digitize, searchsorted, sort, topk, topk_accuracy
from .padding import pad
from .parts import *  # noqa: F403
from .pooling import *  # noqa: F403
from .power_pooling import *  # noqa: F403
from .reduce import *  # noqa: F403
from .resampling import *  # noqa: F403
from .selection import *  # noqa: F403
from .shape import concat, flatten, repeat, roll, stack, tile
from .statistics import *  # noqa: F403
from .views import broadcast_to, expand_dims, reshape, split, squeeze, swapaxes, transpose

__all__ = [name for name in dir() if not name.startswith("_")]


def __getattr__(name):
    """Says of PyTorch's names that are left out why they are."""
    from .. import _absent

    return _absent.refuse("functional", name, __name__)
