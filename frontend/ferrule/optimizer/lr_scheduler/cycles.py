"""Schedules of cycles, which move the momentum against the rate."""

from .annealing import cosine
from .base import LRScheduler, per_group


class OneCycleLR(LRScheduler):
    """One cycle over ``total_steps`` steps: up from max_lr / div_factor to max_lr, then down to that /
    final_div_factor.

    Args:
        optimizer: whose rates are set.
        max_lr: the highest rate, or one for each group.
        total_steps: or ``epochs`` and ``steps_per_epoch``, whose product it is.
        pct_start: the share of steps that go up.
        anneal_strategy: ``"cos"`` or ``"linear"``.
        cycle_momentum: move ``momentum`` (or the first of ``betas``) the other way, between ``max_momentum`` and
            ``base_momentum``; the number becomes a variable of the step, as the rate is.
        three_phase: go down to the initial rate in the time of going up, and to the final one in the rest.
    """

    def __init__(
        self,
        optimizer,
        max_lr,
        total_steps=None,
        epochs=None,
        steps_per_epoch=None,
        pct_start=0.3,
        anneal_strategy="cos",
        cycle_momentum=True,
        base_momentum=0.85,
        max_momentum=0.95,
        div_factor=25.0,
        final_div_factor=1e4,
        three_phase=False,
        current_epoch=-1,
    ):
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ValueError("OneCycleLR needs total_steps, or epochs and steps_per_epoch")
            total_steps = epochs * steps_per_epoch
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy {anneal_strategy!r}; allowed: cos, linear")
        self.total_steps = total_steps
        self._between = cosine if anneal_strategy == "cos" else lambda start, end, share: start + (end - start) * share
        top = per_group(optimizer, "values of max_lr", max_lr)
        first = [lr / div_factor for lr in top]
        last = [lr / final_div_factor for lr in first]
        # Each phase: (its last step, the rates at its start, at its end, the momentum at its start, at its end).
        up = float(pct_start * total_steps) - 1
        if three_phase:
            self._phases = [
                (up, first, top, max_momentum, base_momentum),
                (2 * pct_start * total_steps - 2, top, first, base_momentum, max_momentum),
                (total_steps - 1, first, last, max_momentum, max_momentum),
            ]
        else:
            self._phases = [
                (up, first, top, max_momentum, base_momentum),
                (total_steps - 1, top, last, base_momentum, max_momentum),
            ]
        self._momentum_key = _scheduled_momentum(optimizer) if cycle_momentum else None
        super().__init__(optimizer, current_epoch)

    def _phase(self):
        """(the phase of the present step, the share of it that is done)."""
        if self.current_epoch >= self.total_steps:
            raise ValueError(f"step {self.current_epoch} of a cycle of {self.total_steps} steps")
        start = 0.0
        for phase in self._phases:
            if self.current_epoch <= phase[0] or phase is self._phases[-1]:
                return phase, (self.current_epoch - start) / (phase[0] - start)
            start = phase[0]
        raise AssertionError("the last phase takes what is left")

    def get_lr(self):
        (_, start, end, _, _), share = self._phase()
        return [self._between(low, high, share) for low, high in zip(start, end)]

    def step(self, epoch=None):
        """Goes to the next step, or to ``epoch``; raises ValueError after the last one."""
        super().step(epoch)
        if self._momentum_key is None:
            return
        (_, _, _, start, end), share = self._phase()
        _set_momentum(self.optimizer, self._momentum_key, [self._between(start, end, share)])


class CyclicLR(LRScheduler):
    """The rate goes up from ``base_lr`` to ``max_lr`` and down again, cycle after cycle.

    Args:
        optimizer: whose rates are set.
        base_lr, max_lr: the ends, or one for each group.
        step_size_up, step_size_down: the steps of each half; the second like the first unless given.
        mode: what the height of a cycle is multiplied by: ``"triangular"`` 1, ``"triangular2"`` 1 / 2^(cycle - 1),
            ``"exp_range"`` gamma^step.
        scale_fn: a function of the cycle (from 1 on) or the step to multiply by instead, as ``scale_mode`` says:
            ``"cycle"`` or ``"iterations"``. It is no part of `state_dict`.
        cycle_momentum, base_momentum, max_momentum: as for `OneCycleLR`.
    """

    _settings = ("base_lr", "max_lr", "step_size_up", "step_size_down", "gamma")

    def __init__(
        self,
        optimizer,
        base_lr,
        max_lr,
        step_size_up=2000,
        step_size_down=None,
        mode="triangular",
        gamma=1.0,
        scale_fn=None,
        scale_mode="cycle",
        cycle_momentum=True,
        base_momentum=0.8,
        max_momentum=0.9,
        current_epoch=-1,
    ):
        scales = {
            "triangular": lambda cycle, step: 1.0,
            "triangular2": lambda cycle, step: 0.5 ** (cycle - 1),
            "exp_range": lambda cycle, step: self.gamma**step,
        }
        if scale_fn is None and mode not in scales:
            raise ValueError(f"mode {mode!r}; allowed: {', '.join(scales)}")
        if scale_mode not in ("cycle", "iterations"):
            raise ValueError(f"scale_mode {scale_mode!r}; allowed: cycle, iterations")
        if scale_fn is None:
            self._scale = scales[mode]
        else:
            self._scale = lambda cycle, step: scale_fn(cycle if scale_mode == "cycle" else step)
        self.base_lr = per_group(optimizer, "values of base_lr", base_lr)
        self.max_lr = per_group(optimizer, "values of max_lr", max_lr)
        self.step_size_up = step_size_up
        self.step_size_down = step_size_up if step_size_down is None else step_size_down
        self.gamma = gamma
        self._momentum_key = _scheduled_momentum(optimizer) if cycle_momentum else None
        self._momenta = list(
            zip(
                per_group(optimizer, "values of base_momentum", base_momentum),
                per_group(optimizer, "values of max_momentum", max_momentum),
            )
        )
        super().__init__(optimizer, current_epoch)

    def _height(self):
        """How far the present step is from the base, of 1 at the top of a cycle of full height."""
        length = self.step_size_up + self.step_size_down
        cycle, place = divmod(self.current_epoch, length)
        up = place <= self.step_size_up
        height = place / self.step_size_up if up else (length - place) / self.step_size_down
        return height * self._scale(cycle + 1, self.current_epoch)

    def get_lr(self):
        height = self._height()
        return [low + (high - low) * height for low, high in zip(self.base_lr, self.max_lr)]

    def step(self, epoch=None):
        """Goes to the next step, or to ``epoch``."""
        super().step(epoch)
        if self._momentum_key is not None:
            height = self._height()
            _set_momentum(
                self.optimizer, self._momentum_key, [high - (high - low) * height for low, high in self._momenta]
            )


def _scheduled_momentum(optimizer):
    """The hyperparameter that is the momentum, made a variable in every group."""
    groups = optimizer.param_groups
    key = next((key for key in ("momentum", "betas") if key in groups[0]), None)
    if key is None:
        raise ValueError("cycle_momentum: the optimizer has neither momentum nor betas; pass False")
    for group in groups:
        group.schedule(key)
    return key


def _set_momentum(optimizer, key, values):
    """Sets the momentum of every group: one value for all, or one each."""
    groups = optimizer.param_groups
    for group, momentum in zip(groups, values * len(groups) if len(values) == 1 else values):
        current = group[key]
        group[key] = (momentum, *current[1:]) if isinstance(current, tuple) else momentum
