"""`ParamGroup`: the parameters and hyperparameters of a group, some of which are variables of the program."""

import numpy as np

from .._tensor import Tensor, variable

# Hyperparameters that are variables from the start.
SCHEDULED = ("lr",)


def is_zero(value):
    """Whether a hyperparameter is the constant 0, so that its term is left out; a variable never is."""
    return not isinstance(value, Tensor) and value == 0.0


def _scalar(value):
    """The variable that a scheduled number lives in: float32, as every tensor's default."""
    return variable(np.float32(float(value)), role="schedule")


def _is_variable(value):
    return isinstance(value, Tensor) and value._variable is not None


class ParamGroup(dict):
    """The parameters and hyperparameters of a group.

    ``group["lr"] = 0.1`` sets the learning rate's variable. Another hyperparameter is a number until `schedule` makes
    it a variable as well.
    """

    def __setitem__(self, key, value):
        current = self.get(key)
        if _is_variable(current):
            current.set_value(value if isinstance(value, Tensor) else np.float32(value))
        elif isinstance(current, tuple) and isinstance(value, (tuple, list)) and any(map(_is_variable, current)):
            for place, number in zip(current, value, strict=True):
                place.set_value(number if isinstance(number, Tensor) else np.float32(number))
        elif key in SCHEDULED or isinstance(value, Tensor):
            super().__setitem__(key, _scalar(value))
        else:
            super().__setitem__(key, value)

    def update(self, *others, **more):
        """Sets several items, each as ``group[key] = value`` does."""
        for key, value in dict(*others, **more).items():
            self[key] = value

    def schedule(self, key):
        """Makes the number (or the numbers of the tuple) ``self[key]`` variables, whose changes record nothing
        again."""
        value = self[key]
        if isinstance(value, tuple):
            super().__setitem__(key, tuple(item if _is_variable(item) else _scalar(item) for item in value))
        elif not _is_variable(value):
            super().__setitem__(key, _scalar(value))

    def variables(self):
        """(name, Tensor) of the hyperparameters that are variables."""
        for key, value in self.items():
            if _is_variable(value):
                yield key, value
            elif isinstance(value, tuple):
                for index, item in enumerate(value):
                    if _is_variable(item):
                        yield f"{key}.{index}", item

    def constants(self):
        """The names of the hyperparameters that a recorded step holds as constants."""
        return [key for key, value in self.items() if key not in ("params", "initial_lr") and not _is_variable(value)]
