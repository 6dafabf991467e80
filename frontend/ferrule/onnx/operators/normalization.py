"""Normalisations and softmax."""

from ... import functional as F
from ...errors import UnsupportedError
from ...shapes import size_of
from ..registry import operator
from .axes import axis_of


@operator("BatchNormalization", since=7)
def batch_normalization(node, x, scale, bias, mean, variance):
    """By stored statistics; from version 14 on also by the batch's, with ``training_mode``."""
    eps = node.get("epsilon", 1e-5)
    if not node.get("training_mode", 0):
        if node.version < 14 and node.wants(1):
            raise UnsupportedError("it trains (it has more than one output), which is imported from version 14 on")
        y = F.batch_norm(x.astype(mean.dtype), mean, variance, scale, bias, eps=eps)
        return y.astype(x.dtype)
    axes = tuple(axis for axis in range(x.ndim) if axis != 1)
    wide = x.astype(mean.dtype)
    current_mean, current_variance = F.mean(wide, axes), F.var(wide, axes)
    y = F.batch_norm(wide, None, None, scale, bias, training=True, eps=eps)
    kept = node.get("momentum", 0.9)
    # The specification blends the biased variance.
    running = [old * kept + new * (1.0 - kept) for old, new in ((mean, current_mean), (variance, current_variance))]
    return [y.astype(x.dtype), *running]


@operator("InstanceNormalization", since=1)
def instance_normalization(node, x, scale, bias):
    """Each channel of each sample over space."""
    return F.instance_norm(x, True, scale, bias, node.get("epsilon", 1e-5))


@operator("LayerNormalization", since=17)
def layer_normalization(node, x, scale, bias=None):
    """Over the axes from ``axis`` on; also the mean and the reciprocal deviation, where they are read."""
    axis, eps = axis_of(node.get("axis", -1), x.ndim), node.get("epsilon", 1e-5)
    shape = x.shape[axis:]
    scale = F.broadcast_to(scale, shape)
    bias = None if bias is None else F.broadcast_to(bias, shape)
    y = F.layer_norm(x, shape, True, scale, bias, eps)
    if not (node.wants(1) or node.wants(2)):
        return y
    axes = tuple(range(axis, x.ndim))
    wide = x.astype("float32") if x.dtype in ("float16", "bfloat16") else x
    return [y, F.mean(wide, axes, True), F.rsqrt(F.var(wide, axes, True) + eps)]


@operator("RMSNormalization", since=23)
def rms_normalization(node, x, scale):
    """By the root mean square over the axes from ``axis`` on."""
    axis = axis_of(node.get("axis", -1), x.ndim)
    y = F.rms_norm(x, x.shape[axis:], None, node.get("epsilon", 1e-5))
    return (y * scale.astype(y.dtype)).astype(x.dtype)


@operator("GroupNormalization", since=21)
def group_normalization(node, x, scale, bias):
    """Groups of channels of each sample; scale and bias by channel."""
    return F.group_norm(x, node.get("num_groups"), True, scale, bias, node.get("epsilon", 1e-5))


@operator("GroupNormalization", since=18)
def group_normalization_by_group(node, x, scale, bias):
    """Groups of channels of each sample; scale and bias by group before version 21."""
    groups = node.get("num_groups")
    scale, bias = (F.repeat(each, x.shape[1] // groups) for each in (scale, bias))
    return group_normalization(node, x, scale, bias)


@operator("LRN")
def local_response_normalization(node, x):
    """Each channel by the squares of the channels around it; of an even number one more lies behind it."""
    size = node.get("size")
    space = size_of(x.shape[2:])
    rows = F.reshape(x * x, (x.shape[0], 1, x.shape[1], space))
    mean = F.avg_pool2d(rows, (size, 1), 1, (((size - 1) // 2, size // 2), (0, 0)), "average")
    base = F.reshape(mean, x.shape) * node.get("alpha", 1e-4) + node.get("bias", 1.0)
    return x / F.pow(base, node.get("beta", 0.75))


@operator("LpNormalization")
def lp_normalization(node, x):
    """By the sum of sizes or the root of the sum of squares along an axis; where that is 0 the result is 0."""
    norm = F.norm(x, node.get("p", 2), axis_of(node.get("axis", -1), x.ndim), keepdims=True)
    return x / F.where(F.equal(norm, 0), 1, norm)


@operator("MeanVarianceNormalization", since=9)
def mean_variance_normalization(node, x):
    """(x - mean) / (standard deviation + 1e-9) over axes."""
    axes = tuple(node.get("axes", [0, 2, 3]))
    return (x - F.mean(x, axes, True)) / (F.std(x, axes, True) + 1e-9)


# --- softmax ----------------------------------------------------------------------------------------------------------


def _hardmax(x, axis):
    first = F.argmax(x, axis, keepdims=True)
    places = F.reshape(F.arange(x.shape[axis], dtype="int32"), [-1 if i == axis else 1 for i in range(x.ndim)])
    return F.equal(first, places).astype(x.dtype)


_ROWWISE = {"Softmax": F.softmax, "LogSoftmax": F.log_softmax, "Hardmax": _hardmax}


@operator(tuple(_ROWWISE), since=13)
def softmax(node, x):
    """Along one axis, the last by default."""
    return _ROWWISE[node.operator](x, axis_of(node.get("axis", -1), x.ndim))


@operator(tuple(_ROWWISE))
def softmax_of_rows(node, x):
    """Before version 13 all axes from ``axis`` (1 by default) on count as one."""
    axis = axis_of(node.get("axis", 1), x.ndim)
    rows = F.reshape(x, (size_of(x.shape[:axis]), size_of(x.shape[axis:])))
    return F.reshape(_ROWWISE[node.operator](rows, 1), x.shape)
