"""`ReduceLROnPlateau`."""

import math

from .base import per_group, refuse_recording


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
        self.min_lrs = per_group(optimizer, "values of min_lr", min_lr)
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
