"""Dropout: elements, or whole channels, left out at random while training."""

import math

from .._tensor import as_tensor
from ..errors import ShapeError
from ..location import user_location
from ..shapes import show
from .creation import ones
from .elementwise import greater_equal, where
from .recording import remembered

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]

# The lowest value of selu: -scale * alpha.
_LOWEST = -1.7580993408473766


def dropout(inp, drop_prob=0.5, training=True):
    """Each element zeroed with the probability ``drop_prob``, the others divided by 1 - drop_prob.

    Without ``training`` the input itself. The gradient passes where the element did. The numbers come from `fer.random`
    whose state a traced or compiled function carries along.
    """
    inp = as_tensor(inp)
    _check("dropout", drop_prob)
    if not training or drop_prob == 0:
        return inp
    from ..random import uniform

    if drop_prob == 1:
        return inp * 0.0
    return _kept(inp, uniform(size=inp.shape), drop_prob)


@remembered
def _kept(inp, numbers, drop_prob):
    return where(numbers >= drop_prob, inp * (1.0 / (1.0 - drop_prob)), 0.0)


def dropout1d(inp, drop_prob=0.5, training=True):
    """Whole channels of (N, C, L) zeroed as `dropout` does with elements."""
    return _channels("dropout1d", inp, 3, drop_prob, training)


def dropout2d(inp, drop_prob=0.5, training=True):
    """Whole channels of (N, C, H, W) zeroed as `dropout` does with elements."""
    return _channels("dropout2d", inp, 4, drop_prob, training)


def dropout3d(inp, drop_prob=0.5, training=True):
    """Whole channels of (N, C, D, H, W) zeroed as `dropout` does with elements."""
    return _channels("dropout3d", inp, 5, drop_prob, training)


def alpha_dropout(inp, drop_prob=0.5, training=False):
    """Elements set to the lowest value of `selu` at random, scaled so that mean 0 and variance 1 stay."""
    inp = as_tensor(inp)
    return _alpha("alpha_dropout", inp, inp.shape, drop_prob, training)


def feature_alpha_dropout(inp, drop_prob=0.5, training=False):
    """`alpha_dropout` of whole channels (axis 1)."""
    inp = as_tensor(inp)
    return _alpha("feature_alpha_dropout", inp, _whole("feature_alpha_dropout", inp), drop_prob, training)


def _check(op, drop_prob):
    if not 0 <= drop_prob <= 1:
        raise ShapeError(f"{op}: drop_prob is {drop_prob}; allowed is 0 to 1 at {user_location()}")


def _whole(op, inp):
    """A size for each channel of each sample, and 1 for the axes behind."""
    if inp.ndim < 2:
        raise ShapeError(f"{op}: input of shape {show(inp.shape)} at {user_location()}; (N, C, ...) is needed")
    return (*inp.shape[:2], *[1] * (inp.ndim - 2))


def _channels(op, inp, rank, drop_prob, training):
    inp = as_tensor(inp)
    _check(op, drop_prob)
    if inp.ndim != rank:
        raise ShapeError(f"{op}: input of shape {show(inp.shape)} at {user_location()}; rank {rank} is needed")
    if not training or drop_prob == 0:
        return inp
    return inp * dropout(ones(_whole(op, inp), dtype=inp.dtype), drop_prob, True)


def _alpha(op, inp, shape, drop_prob, training):
    _check(op, drop_prob)
    if not training or drop_prob == 0:
        return inp
    if drop_prob == 1:
        raise ShapeError(f"{op}: drop_prob is 1 at {user_location()}; below 1 is needed, as nothing keeps a variance")
    from ..random import uniform

    scale = 1.0 / math.sqrt((1.0 - drop_prob) * (1.0 + drop_prob * _LOWEST**2))
    present = greater_equal(uniform(size=shape), drop_prob)
    return where(present, inp, _LOWEST) * scale - scale * drop_prob * _LOWEST
