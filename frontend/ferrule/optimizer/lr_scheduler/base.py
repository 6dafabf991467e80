"""`LRScheduler`, the base class of learning-rate schedules."""

from ... import _recording
from ...errors import TraceError
from ...location import user_location


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


def per_group(optimizer, what, value):
    """``value``, or the values of a list, one for each parameter group."""
    groups = len(optimizer.param_groups)
    values = list(value) if isinstance(value, (list, tuple)) else [value] * groups
    if len(values) != groups:
        raise ValueError(f"{len(values)} {what} for {groups} parameter groups")
    return values
