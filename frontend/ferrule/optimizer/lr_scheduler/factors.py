"""Schedules that multiply the initial rate by a number."""

import math
from bisect import bisect_right

from .base import LRScheduler, per_group


class Factor(LRScheduler):
    """A schedule that multiplies the initial rates by one number."""

    def _factor(self, epoch):
        raise NotImplementedError(f"{type(self).__name__} does not define _factor")

    def get_lr(self):
        factor = self._factor(self.current_epoch)
        return [base * factor for base in self.base_lrs]


class MultiStepLR(Factor):
    """Multiplies the initial rate by ``gamma`` at each of the epochs ``milestones``."""

    _settings = ("milestones", "gamma")

    def __init__(self, optimizer, milestones, gamma=0.1, current_epoch=-1):
        self.milestones = list(milestones)
        if self.milestones != sorted(self.milestones):
            raise ValueError(f"milestones must ascend, not {self.milestones}")
        self.gamma = gamma
        super().__init__(optimizer, current_epoch)

    def _factor(self, epoch):
        return self.gamma ** bisect_right(self.milestones, epoch)


class StepLR(Factor):
    """Multiplies the rate by ``gamma`` every ``step_size`` epochs."""

    _settings = ("step_size", "gamma")

    def __init__(self, optimizer, step_size, gamma=0.1, current_epoch=-1):
        if step_size < 1:
            raise ValueError(f"step_size is {step_size}; allowed: 1 or more")
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, current_epoch)

    def _factor(self, epoch):
        return self.gamma ** (epoch // self.step_size)


class ExponentialLR(Factor):
    """Multiplies the rate by ``gamma`` every epoch."""

    _settings = ("gamma",)

    def __init__(self, optimizer, gamma, current_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, current_epoch)

    def _factor(self, epoch):
        return self.gamma**epoch


class ConstantLR(Factor):
    """The initial rate times ``factor`` for the first ``total_iters`` epochs, then the initial rate."""

    _settings = ("factor", "total_iters")

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, current_epoch=-1):
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, current_epoch)

    def _factor(self, epoch):
        return self.factor if epoch < self.total_iters else 1.0


class LinearLR(Factor):
    """The initial rate times a factor that goes from ``start_factor`` to ``end_factor`` in ``total_iters`` epochs."""

    _settings = ("start_factor", "end_factor", "total_iters")

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, current_epoch=-1):
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, current_epoch)

    def _factor(self, epoch):
        share = min(epoch, self.total_iters) / self.total_iters if self.total_iters else 1.0
        return self.start_factor + (self.end_factor - self.start_factor) * share


class PolynomialLR(Factor):
    """The initial rate times (1 - epoch / total_iters)^power, 0 from ``total_iters`` on."""

    _settings = ("total_iters", "power")

    def __init__(self, optimizer, total_iters=5, power=1.0, current_epoch=-1):
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, current_epoch)

    def _factor(self, epoch):
        return (1.0 - min(epoch, self.total_iters) / self.total_iters) ** self.power


class LambdaLR(LRScheduler):
    """The initial rate times ``lr_lambda(epoch)``; a list gives each group its own function.

    The functions are no part of `state_dict`.
    """

    def __init__(self, optimizer, lr_lambda, current_epoch=-1):
        self.lr_lambdas = per_group(optimizer, "functions", lr_lambda)
        super().__init__(optimizer, current_epoch)

    def get_lr(self):
        return [base * function(self.current_epoch) for base, function in zip(self.base_lrs, self.lr_lambdas)]


class MultiplicativeLR(LRScheduler):
    """The rate of the epoch before times ``lr_lambda(epoch)``; a list gives each group its own function.

    The functions are no part of `state_dict`.
    """

    def __init__(self, optimizer, lr_lambda, current_epoch=-1):
        self.lr_lambdas = per_group(optimizer, "functions", lr_lambda)
        super().__init__(optimizer, current_epoch)

    def get_lr(self):
        epochs = range(1, self.current_epoch + 1)
        return [base * math.prod(map(function, epochs)) for base, function in zip(self.base_lrs, self.lr_lambdas)]
