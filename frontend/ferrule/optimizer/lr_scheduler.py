"""Learning-rate schedules. They set the variable that the step reads, so that nothing is recorded again.

A schedule is a formula of the epoch (or step) number, so that ``step(epoch)`` can go to any.
"""

import math
from bisect import bisect_right

from .. import _recording
from ..errors import TraceError
from ..location import user_location

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "LinearWarmup",
    "MultiStepLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "StepLR",
]


def refuse_recording(what):
    """A schedule is Python's: inside a recording its step would happen once, at the recording."""
    if _recording.current() is not None:
        raise TraceError(
            f"{what}.step() inside a traced function at {user_location()}: it would be done once, while recording. "
            f"Call it between the steps; it sets the variable that the compiled step reads"
        )


class LRScheduler:
    """The base class: a subclass defines `get_lr`, the learning rate of each group for ``self.current_epoch``.

    Args:
        optimizer: whose rates are set.
        current_epoch: -1 starts; another number resumes after that epoch.
    """

    # What `state_dict` holds besides the epoch; a subclass names its settings.
    _settings = ()

    def __init__(self, optimizer, current_epoch=-1):
        self.optimizer = optimizer
        self.current_epoch = current_epoch
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", float(group["lr"]))
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.step()

    def get_lr(self):
        """The learning rate of each group."""
        raise NotImplementedError(f"{type(self).__name__} does not define get_lr")

    def get_last_lr(self):
        """The learning rates that were set last."""
        return list(self._last_lr)

    def step(self, epoch=None):
        """Goes to the next epoch, or to ``epoch``.

        Raises TraceError inside a traced function.
        """
        refuse_recording(type(self).__name__)
        self.current_epoch = self.current_epoch + 1 if epoch is None else epoch
        self._last_lr = [float(lr) for lr in self.get_lr()]
        for group, lr in zip(self.optimizer.param_groups, self._last_lr):
            group["lr"] = lr

    def state_dict(self):
        """The epoch, the initial rates and the settings that are data."""
        own = {name: getattr(self, name) for name in self._settings}
        return {"current_epoch": self.current_epoch, "base_lrs": list(self.base_lrs), **own}

    def load_state_dict(self, state_dict):
        """Sets what `state_dict` gave and the rates of that epoch; raises KeyError for another schedule's state."""
        wanted = ("current_epoch", *self._settings)
        missing = [name for name in wanted if name not in state_dict]
        if missing:
            raise KeyError(f"load_state_dict of {type(self).__name__}: missing {', '.join(missing)}")
        for name in self._settings:
            setattr(self, name, state_dict[name])
        self.base_lrs = list(state_dict.get("base_lrs", self.base_lrs))
        self.step(state_dict["current_epoch"])


class _Factor(LRScheduler):
    """A schedule that multiplies the initial rates by one number."""

    def _factor(self, epoch):
        raise NotImplementedError(f"{type(self).__name__} does not define _factor")

    def get_lr(self):
        factor = self._factor(self.current_epoch)
        return [base * factor for base in self.base_lrs]


class MultiStepLR(_Factor):
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


class StepLR(_Factor):
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


class ExponentialLR(_Factor):
    """Multiplies the rate by ``gamma`` every epoch."""

    _settings = ("gamma",)

    def __init__(self, optimizer, gamma, current_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, current_epoch)

    def _factor(self, epoch):
        return self.gamma**epoch


class ConstantLR(_Factor):
    """The initial rate times ``factor`` for the first ``total_iters`` epochs, then the initial rate."""

    _settings = ("factor", "total_iters")

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, current_epoch=-1):
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, current_epoch)

    def _factor(self, epoch):
        return self.factor if epoch < self.total_iters else 1.0


class LinearLR(_Factor):
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


class PolynomialLR(_Factor):
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
        groups = len(optimizer.param_groups)
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * groups
        if len(self.lr_lambdas) != groups:
            raise ValueError(f"{len(self.lr_lambdas)} functions for {groups} parameter groups")
        super().__init__(optimizer, current_epoch)

    def get_lr(self):
        return [base * function(self.current_epoch) for base, function in zip(self.base_lrs, self.lr_lambdas)]


def _cosine(start, end, share):
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
        return [_cosine(base, self.eta_min, self.current_epoch / self.T_max) for base in self.base_lrs]


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
        return [_cosine(base, self.eta_min, share) for base in self.base_lrs]


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
        self._between = _cosine if anneal_strategy == "cos" else lambda start, end, share: start + (end - start) * share
        groups = optimizer.param_groups
        top = list(max_lr) if isinstance(max_lr, (list, tuple)) else [max_lr] * len(groups)
        if len(top) != len(groups):
            raise ValueError(f"{len(top)} values of max_lr for {len(groups)} parameter groups")
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
        self._momentum_key = None
        if cycle_momentum:
            self._momentum_key = next((key for key in ("momentum", "betas") if key in groups[0]), None)
            if self._momentum_key is None:
                raise ValueError("cycle_momentum: the optimizer has neither momentum nor betas; pass False")
            for group in groups:
                group.schedule(self._momentum_key)
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
        momentum = self._between(start, end, share)
        for group in self.optimizer.param_groups:
            current = group[self._momentum_key]
            group[self._momentum_key] = (momentum, *current[1:]) if isinstance(current, tuple) else momentum


class ReduceLROnPlateau:
    """Multiplies the rate by ``factor`` when a number has not become better for ``patience`` epochs.

    Args:
        optimizer: whose rates are set.
        mode: ``"min"`` if smaller is better, else ``"max"``.
        factor: below 1.
        patience: how many epochs without a better number are allowed.
        threshold: how much better counts; a share of the best number with ``threshold_mode="rel"``, else (``"abs"``)
            the difference.
        cooldown: how many epochs after a reduction are not counted.
        min_lr: the lowest rate, or one for each group.
        eps: a smaller change of the rate is not made.
    """

    def __init__(
        self,
        optimizer,
        mode="min",
        factor=0.1,
        patience=10,
        threshold=1e-4,
        threshold_mode="rel",
        cooldown=0,
        min_lr=0.0,
        eps=1e-8,
    ):
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode!r}; allowed: min, max")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold_mode {threshold_mode!r}; allowed: rel, abs")
        if not 0.0 <= factor < 1.0:
            raise ValueError(f"factor is {factor}; allowed: 0 up to below 1")
        self.optimizer = optimizer
        self.mode = mode
        self.factor = factor
        self.patience = patience
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.cooldown = cooldown
        groups = len(optimizer.param_groups)
        self.min_lrs = list(min_lr) if isinstance(min_lr, (list, tuple)) else [min_lr] * groups
        if len(self.min_lrs) != groups:
            raise ValueError(f"{len(self.min_lrs)} values of min_lr for {groups} parameter groups")
        self.eps = eps
        self.current_epoch = 0
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = 0
        self.cooldown_counter = 0
        # The rates as Python's numbers: those in the variables are rounded to float32.
        self._last_lr = [float(group["lr"]) for group in optimizer.param_groups]

    def get_last_lr(self):
        """The learning rates that were set last."""
        return list(self._last_lr)

    def is_better(self, metrics, best):
        """Whether ``metrics`` beats ``best`` by the threshold."""
        sign = -1.0 if self.mode == "min" else 1.0
        if self.threshold_mode == "rel":
            return sign * metrics > sign * best * (1.0 + sign * self.threshold)
        return sign * metrics > sign * best + self.threshold

    def step(self, metrics, epoch=None):
        """Takes the number of an epoch (a number or a rank-0 Tensor)."""
        refuse_recording(type(self).__name__)
        metrics = float(metrics)
        self.current_epoch = self.current_epoch + 1 if epoch is None else epoch
        if self.is_better(metrics, self.best):
            self.best = metrics
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0

    def _reduce(self):
        for i, group in enumerate(self.optimizer.param_groups):
            lower = max(self._last_lr[i] * self.factor, self.min_lrs[i])
            if self._last_lr[i] - lower > self.eps:
                self._last_lr[i] = group["lr"] = lower

    def state_dict(self):
        """All settings and counts."""
        return {name.lstrip("_"): value for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state_dict):
        """Sets what `state_dict` gave, and the rates."""
        for name in vars(self):
            if name != "optimizer":
                setattr(self, name, state_dict[name.lstrip("_")])
        for group, lr in zip(self.optimizer.param_groups, self._last_lr):
            group["lr"] = lr
