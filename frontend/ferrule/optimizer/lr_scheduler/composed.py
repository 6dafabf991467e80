"""Schedules made of others: one after the other, or their factors multiplied."""

import math
from bisect import bisect_right

from .base import LRScheduler
from .factors import Factor, LambdaLR, MultiplicativeLR


class _Composed(LRScheduler):
    def __init__(self, optimizer, schedulers, current_epoch):
        self.schedulers = list(schedulers)
        if not self.schedulers:
            raise ValueError(f"{type(self).__name__} needs at least one schedule")
        for schedule in self.schedulers:
            if not isinstance(schedule, LRScheduler) or schedule.optimizer is not optimizer:
                raise ValueError(f"{type(self).__name__} takes LRSchedulers of the same optimizer, not {schedule!r}")
        super().__init__(optimizer, current_epoch)

    def state_dict(self):
        """The epoch and the states of the schedules."""
        return super().state_dict() | {"schedulers": [schedule.state_dict() for schedule in self.schedulers]}

    def load_state_dict(self, state_dict):
        """Sets what `state_dict` gave and the rates of that epoch."""
        for schedule, state in zip(self.schedulers, state_dict["schedulers"], strict=True):
            schedule.load_state_dict(state)
        super().load_state_dict(state_dict)


class SequentialLR(_Composed):
    """Schedules one after the other, each counting from its own start.

    Args:
        optimizer: whose rates are set.
        schedulers: `LRScheduler`s of it.
        milestones: the epochs at which the second, third, ... begin.
    """

    _settings = ("milestones",)

    def __init__(self, optimizer, schedulers, milestones, current_epoch=-1):
        self.milestones = list(milestones)
        if len(self.milestones) != len(schedulers) - 1 or self.milestones != sorted(self.milestones):
            raise ValueError(
                f"milestones {self.milestones} for {len(schedulers)} schedules; one less, ascending, is needed"
            )
        super().__init__(optimizer, schedulers, current_epoch)

    def get_lr(self):
        place = bisect_right(self.milestones, self.current_epoch)
        schedule = self.schedulers[place]
        schedule.step(self.current_epoch - (self.milestones[place - 1] if place else 0))
        return schedule.get_last_lr()


class ChainedScheduler(_Composed):
    """The initial rate times the factors of several schedules.

    Args:
        schedulers: those that multiply the initial rate: `ConstantLR`, `LinearLR`, `PolynomialLR`, `StepLR`,
            `MultiStepLR`, `ExponentialLR`, `LambdaLR`, `MultiplicativeLR`; all of one optimizer.
        optimizer: that one, unless it is left out.
    """

    def __init__(self, schedulers, optimizer=None, current_epoch=-1):
        for schedule in schedulers:
            if not isinstance(schedule, (Factor, LambdaLR, MultiplicativeLR)):
                raise ValueError(f"ChainedScheduler: {type(schedule).__name__} is no factor of the initial rate")
        super().__init__(schedulers[0].optimizer if optimizer is None else optimizer, schedulers, current_epoch)

    def get_lr(self):
        for schedule in self.schedulers:
            schedule.step(self.current_epoch)
        return [
            base * math.prod(schedule.get_last_lr()[i] / base for schedule in self.schedulers) if base else 0.0
            for i, base in enumerate(self.base_lrs)
        ]
