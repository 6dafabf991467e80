"""Random numbers for initial values: one NumPy generator, seeded by `seed`.

The numbers are drawn when the call runs, so they are data of the program, not ops of the graph; while recording a trace
the drawing functions are refused.
"""

import numpy as np

from . import _recording
from ._tensor import Tensor
from .errors import TraceError
from .location import user_location

_generator = np.random.default_rng(0)


def seed(seed):
    """Starts the generator anew: the same seed gives the same initial values."""
    global _generator
    _generator = np.random.default_rng(seed)


def generator():
    """The NumPy generator that initialisers draw from."""
    return _generator


def _draw(what, make):
    if _recording.current() is not None:
        raise TraceError(
            f"random.{what} inside a trace at {user_location()}: the drawn numbers would be frozen into the program. "
            f"Draw outside and pass them as an argument"
        )
    return make(_generator)


def uniform(low=0, high=1, size=None):
    """Uniform numbers in [low, high), float32."""
    return Tensor(_draw("uniform", lambda g: np.asarray(g.uniform(low, high, size), "float32")))


def normal(mean=0, std=1, size=None):
    """Normally distributed numbers, float32."""
    return Tensor(_draw("normal", lambda g: np.asarray(g.normal(mean, std, size), "float32")))


def permutation(n, *, dtype="int32"):
    """The numbers 0 .. n-1 in a random order."""
    return Tensor(_draw("permutation", lambda g: g.permutation(n)), dtype=dtype)
