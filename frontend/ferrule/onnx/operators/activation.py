"""Activations. Where Ferrule has the same function it is taken, else the formula of the specification."""

import numpy as np

from ... import functional as F
from ..registry import operator

_PLAIN = {
    "HardSwish": F.hardswish,
    "Mish": F.mish,
    "Relu": F.relu,
    "Sigmoid": F.sigmoid,
    "Softplus": F.softplus,
    "Softsign": F.softsign,
}


def _fold_plain(node, x):
    return np.maximum(x, 0) if node.operator == "Relu" and x.dtype != object else None


@operator(tuple(_PLAIN), fold=_fold_plain)
def plain(node, x):
    """An activation without parameters."""
    return _PLAIN[node.operator](x)


@operator("LeakyRelu", since=6)
def leaky_relu(node, x):
    """alpha * x below 0."""
    return F.leaky_relu(x, node.get("alpha", 0.01))


@operator("PRelu", since=7)
def prelu(node, x, slope):
    """slope * x below 0; the slopes broadcast as NumPy's arrays do."""
    return F.where(F.less(x, 0), x * slope, x)


@operator("Elu", since=6)
def elu(node, x):
    """alpha * (exp(x) - 1) below 0."""
    return F.elu(x, node.get("alpha", 1.0))


@operator("Celu", since=12)
def celu(node, x):
    """alpha * (exp(x / alpha) - 1) below 0."""
    return F.celu(x, node.get("alpha", 1.0))


@operator("Selu", since=6)
def selu(node, x):
    """gamma times elu."""
    return F.elu(x, node.get("alpha", 1.67326319217681884765625)) * node.get("gamma", 1.05070102214813232421875)


@operator("ThresholdedRelu", since=10)
def thresholded_relu(node, x):
    """x above alpha, else 0."""
    return F.threshold(x, node.get("alpha", 1.0), 0.0)


@operator("HardSigmoid", since=6)
def hard_sigmoid(node, x):
    """alpha * x + beta, held between 0 and 1."""
    return F.clip(x * node.get("alpha", 0.2) + node.get("beta", 0.5), 0.0, 1.0)


@operator("Gelu", since=20)
def gelu(node, x):
    """x times the normal distribution's cumulative function, or its approximation by tanh."""
    return F.gelu(x, node.get("approximate", "none"))


@operator("Swish", since=24)
def swish(node, x):
    """x * sigmoid(alpha * x)."""
    alpha = node.get("alpha", 1.0)
    return F.silu(x) if alpha == 1 else x * F.sigmoid(x * alpha)


@operator("Shrink", since=9)
def shrink(node, x):
    """x moved by ``bias`` towards 0 outside of -lambd to lambd, and 0 inside."""
    bias, limit = node.get("bias", 0.0), node.get("lambd", 0.5)
    inside = F.zeros_like(x)
    if x.dtype.startswith("uint"):
        return F.where(F.greater(x, limit), x - bias, inside).astype(x.dtype)
    return F.where(F.less(x, -limit), x + bias, F.where(F.greater(x, limit), x - bias, inside)).astype(x.dtype)
