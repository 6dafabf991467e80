"""Distances between vectors: pair by pair, or of every vector to every other."""

import numpy as np

from .._tensor import as_tensor
from ..errors import ShapeError
from ..location import user_location
from ..shapes import is_static, show
from .indexing import take
from .recording import remembered
from .reduce import norm
from .shape import expand_dims, reshape

__all__ = ["cdist", "dist", "pairwise_distance", "pdist"]


@remembered
def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdims=False):
    """The p-norm of x1 - x2 + eps along the last axis."""
    return norm(as_tensor(x1) - x2 + eps, p, -1, keepdims)


@remembered
def dist(x1, x2, p=2):
    """The p-norm of all elements of x1 - x2."""
    return norm(as_tensor(x1) - x2, p)


@remembered
def cdist(x1, x2, p=2.0):
    """The p-norms of the differences of every row of ``x1`` [..., P, M] to every row of ``x2`` [..., R, M]: [..., P, R].

    Differences are taken as they are, so near rows keep their digits; at the distance 0 the gradient is 0.
    """
    x1, x2 = as_tensor(x1), as_tensor(x2)
    if x1.ndim < 2 or x2.ndim < 2 or (is_static(x1.shape[-1]) and not x1.shape[-1] == x2.shape[-1]):
        raise ShapeError(
            f"cdist: {show(x1.shape)} and {show(x2.shape)} at {user_location()}; [..., P, M] and [..., R, M] are needed"
        )
    return norm(expand_dims(x1, -2) - expand_dims(x2, -3), p, -1)


@remembered
def pdist(inp, p=2.0):
    """The distances of each row of ``inp`` (N, M) to those behind it, row by row: (N (N - 1) / 2,)."""
    inp = as_tensor(inp)
    if inp.ndim != 2 or not is_static(inp.shape[0]):
        raise ShapeError(f"pdist: {show(inp.shape)} at {user_location()}; (N, M) with a number N is needed")
    first, second = np.triu_indices(inp.shape[0], 1)
    if not len(first):
        return reshape(norm(inp, p, -1)[:0], (0,))
    return norm(take(inp, first.astype("int32"), 0) - take(inp, second.astype("int32"), 0), p, -1)
