"""Dropout: elements zeroed at random while training."""

from .._tensor import as_tensor
from ..errors import ShapeError
from ..location import user_location
from .elementwise import where

__all__ = ["dropout"]


def dropout(inp, drop_prob=0.5, training=True):
    """Each element zeroed with the probability ``drop_prob``, the others divided by 1 - drop_prob.

    Without ``training`` the input itself. The gradient passes where the element did. The numbers come from `fer.random`
    whose state a traced or compiled function carries along.
    """
    inp = as_tensor(inp)
    if not 0 <= drop_prob <= 1:
        raise ShapeError(f"dropout: drop_prob is {drop_prob}; allowed is 0 to 1 at {user_location()}")
    if not training or drop_prob == 0:
        return inp
    from ..random import uniform

    if drop_prob == 1:
        return inp * 0.0
    return where(uniform(size=inp.shape) >= drop_prob, inp * (1.0 / (1.0 - drop_prob)), 0.0)
