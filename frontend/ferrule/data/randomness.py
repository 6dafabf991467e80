"""Where random transforms draw from: the generator of the batch that a loader is making, else that of the package."""

import contextlib
import threading

import numpy as np

from .. import random


class _Current(threading.local):
    def __init__(self):
        self.generator = None


_current = _Current()


def generator():
    """The NumPy generator to draw from."""
    return random.generator() if _current.generator is None else _current.generator


@contextlib.contextmanager
def drawing_for(seed, batch):
    """Within it this thread draws the numbers of one batch, which depend on nothing but the two numbers."""
    _current.generator = np.random.default_rng([seed, batch])
    try:
        yield
    finally:
        _current.generator = None
