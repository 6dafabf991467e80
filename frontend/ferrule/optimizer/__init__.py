"""Optimizers with MegEngine's names; the update is part of the graph, so an artifact trains without Python."""

from .adam import Adam, AdamW
from .lr_scheduler import LRScheduler, MultiStepLR
from .optimizer import Optimizer
from .sgd import SGD

__all__ = ["Adam", "AdamW", "LRScheduler", "MultiStepLR", "Optimizer", "SGD"]
