"""Learning-rate schedules. They set the variable that the step reads, so that nothing is recorded again."""

from bisect import bisect_right


class LRScheduler:
    """The base class: a subclass defines `get_lr`, the learning rate of each group for ``self.current_epoch``.

    Args:
        optimizer: whose rates are set.
        current_epoch: -1 starts; another number resumes.
    """

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

    def step(self, epoch=None):
        """Goes to the next epoch, or to ``epoch``."""
        self.current_epoch = self.current_epoch + 1 if epoch is None else epoch
        for group, lr in zip(self.optimizer.param_groups, self.get_lr()):
            group["lr"] = lr

    def state_dict(self):
        """The epoch and the initial rates."""
        return {"current_epoch": self.current_epoch, "base_lrs": list(self.base_lrs)}

    def load_state_dict(self, state_dict):
        """Sets what `state_dict` gave and the rates of that epoch."""
        self.current_epoch = state_dict["current_epoch"]
        self.base_lrs = list(state_dict["base_lrs"])
        self.step(self.current_epoch)


class MultiStepLR(LRScheduler):
    """Multiplies the initial rate by ``gamma`` at each of the epochs ``milestones``."""

    def __init__(self, optimizer, milestones, gamma=0.1, current_epoch=-1):
        self.milestones = list(milestones)
        if self.milestones != sorted(self.milestones):
            raise ValueError(f"milestones must ascend, not {self.milestones}")
        self.gamma = gamma
        super().__init__(optimizer, current_epoch)

    def get_lr(self):
        factor = self.gamma ** bisect_right(self.milestones, self.current_epoch)
        return [base * factor for base in self.base_lrs]
