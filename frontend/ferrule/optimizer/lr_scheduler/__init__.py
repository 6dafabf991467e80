"""Learning-rate schedules. They set the variable that the step reads, so that nothing is recorded again.

A schedule is a formula of the epoch (or step) number, so that ``step(epoch)`` can go to any.
"""

from .annealing import CosineAnnealingLR, CosineAnnealingWarmRestarts, LinearWarmup
from .base import LRScheduler
from .composed import ChainedScheduler, SequentialLR
from .cycles import CyclicLR, OneCycleLR
from .factors import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from .plateau import ReduceLROnPlateau

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "LinearWarmup",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
