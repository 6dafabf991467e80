"""Optimizers with MegEngine's names; the update is part of the graph, so an artifact trains without Python."""

from . import lr_scheduler
from .adagrad import Adadelta, Adagrad
from .adam import Adam, AdamW
from .clip_grad import clip_grad_norm, clip_grad_norm_, clip_grad_value, clip_grad_value_
from .lamb import LAMB, LARS, LAMBFp16
from .lion import Lion
from .lr_scheduler import *  # noqa: F403
from .optimizer import Optimizer
from .rmsprop import RMSprop
from .sgd import SGD

__all__ = [
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "LAMB",
    "LAMBFp16",
    "LARS",
    "Lion",
    "Optimizer",
    "RMSprop",
    "SGD",
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value",
    "clip_grad_value_",
    *lr_scheduler.__all__,
]
