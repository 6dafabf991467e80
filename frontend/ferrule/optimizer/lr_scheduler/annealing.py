"""Schedules along half a wave, and the warm-up before another schedule."""

import math

from .base import LRScheduler


def cosine(start, end, share):
    """From ``start`` (share 0) to ``end`` (share 1) along half a wave."""
    return end + (start - end) * (1.0 + math.cos(math.pi * share)) / 2.0


class CosineAnnealingLR(LRScheduler):
    """From the initial rate to ``eta_min`` along half a cosine of ``T_max`` epochs, and back in the next ones."""

    _settings = ("T_max", "eta_min")

    def __init__(self, optimizer, T_max, eta_min=0.0, current_epoch=-1):  # noqa: N803  (PyTorch's name)
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, current_epoch)

    def get_lr(self):
        return [cosine(base, self.eta_min, self.current_epoch / self.T_max) for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half cosines from the initial rate to ``eta_min``, the first of ``T_0`` epochs, each ``T_mult`` times the
    last."""

    _settings = ("T_0", "T_mult", "eta_min")

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, current_epoch=-1):  # noqa: N803  (PyTorch's names)
        if T_0 < 1 or T_mult < 1:
            raise ValueError(f"T_0 is {T_0}, T_mult is {T_mult}; allowed: 1 or more")
        self.T_0 = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        super().__init__(optimizer, current_epoch)

    def get_lr(self):
        start, length = 0, self.T_0
        while self.T_mult > 1 and self.current_epoch >= start + length:
            start, length = start + length, length * self.T_mult
        share = (self.current_epoch - start) % length / length
        return [cosine(base, self.eta_min, share) for base in self.base_lrs]


class LinearWarmup(LRScheduler):
    """Raises the rate from ``start_factor`` times to all of what another schedule says, in ``warmup_iters`` steps.

    Args:
        optimizer: whose rates are set.
        warmup_iters: the number of steps.
        after: an `LRScheduler` of the same optimizer, which counts from the end of the warm-up; None keeps the initial
            rate.
        start_factor: the share of the first step.
    """

    _settings = ("warmup_iters", "start_factor")

    def __init__(self, optimizer, warmup_iters, after=None, start_factor=0.0, current_epoch=-1):
        self.warmup_iters = warmup_iters
        self.start_factor = start_factor
        self.after = after
        super().__init__(optimizer, current_epoch)

    def get_lr(self):
        past = self.current_epoch - self.warmup_iters
        if past < 0:
            share = self.start_factor + (1.0 - self.start_factor) * self.current_epoch / self.warmup_iters
        else:
            share = 1.0
        rates = self.base_lrs
        if self.after is not None:
            self.after.current_epoch = max(past, 0)
            rates = self.after.get_lr()
        return [rate * share for rate in rates]
