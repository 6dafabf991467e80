"""Optimizers with MegEngine's names; the update is part of the graph, so an artifact trains without Python."""

from . import lr_scheduler
from .adafactor import Adafactor
from .adagrad import Adadelta, Adagrad
from .adam import Adam, AdamW
from .adamax import Adamax
from .asgd import ASGD
from .clip_grad import clip_grad_norm, clip_grad_norm_, clip_grad_value, clip_grad_value_
from .lamb import LAMB, LARS, LAMBFp16
from .lion import Lion
from .lr_scheduler import *  # noqa: F403
from .nadam import NAdam
from .optimizer import Optimizer
from .radam import RAdam
from .rmsprop import RMSprop
from .rprop import Rprop
from .sgd import SGD

__all__ = [
    "ASGD",
    "Adafactor",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "LAMB",
    "LAMBFp16",
    "LARS",
    "Lion",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SGD",
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value",
    "clip_grad_value_",
    *lr_scheduler.__all__,
]


def __getattr__(name):
    """Says of PyTorch's names that are left out why they are."""
    from .. import _absent

    return _absent.refuse("optimizer", name, __name__)
