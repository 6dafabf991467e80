"""`Optimizer`: the base class, with parameter groups, state and a learning rate that is a variable of the program."""

import numpy as np

from .. import _compiler, _recording
from .._tensor import Parameter, Tensor, variable
from ..dtypes import to_numpy
from ..errors import ArtifactError

# Hyperparameters that change while a program runs. The others are constants of a traced step.
_SCHEDULED = ("lr",)


class ParamGroup(dict):
    """The parameters and hyperparameters of a group. ``group["lr"] = 0.1`` sets the learning rate's variable."""

    def __setitem__(self, key, value):
        current = self.get(key)
        if key in _SCHEDULED and current is not None:
            current.set_value(value if isinstance(value, Tensor) else np.float32(value))
        elif key in _SCHEDULED:
            super().__setitem__(key, variable(np.float32(float(value)), role="schedule"))
        else:
            super().__setitem__(key, value)

    def update(self, *others, **more):
        """Sets several items, each as ``group[key] = value`` does."""
        for key, value in dict(*others, **more).items():
            self[key] = value


class Optimizer:
    """The base class of optimizers.

    A subclass defines `_create_state(group)`, which calls `_add_state` for each parameter, and `_updates(group)`, which
    writes the parameters (``param -= ...``) from ``param.grad`` and ``self._state[param]``.

    Args:
        params: parameters, or dicts ``{"params": [...], "lr": ...}`` of groups with hyperparameters of their own.
        defaults: the hyperparameters.
    """

    def __init__(self, params, defaults):
        self._state = {}
        self._defaults = defaults
        self.param_groups = []
        if isinstance(params, (Parameter, dict)):
            params = [params]
        params = list(params)
        if not params:
            raise ValueError("an optimizer needs at least one parameter")
        groups = params if isinstance(params[0], dict) else [{"params": params}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group):
        """Adds a group: a dict with ``params`` and hyperparameters that override the defaults."""
        params = param_group["params"]
        params = [params] if isinstance(params, Parameter) else list(params)
        taken = {id(p) for group in self.param_groups for p in group["params"]}
        for param in params:
            if not isinstance(param, Parameter):
                raise TypeError(f"an optimizer trains Parameters, not {type(param).__name__}")
            if id(param) in taken:
                raise ValueError("a parameter stands twice in an optimizer")
            taken.add(id(param))
        group = ParamGroup()
        for name, default in self._defaults.items():
            value = param_group.get(name, default)
            if value is None:
                raise ValueError(f"a parameter group needs a value for {name!r}")
            group[name] = value
        for name, value in param_group.items():
            if name not in group:
                group[name] = value
        dict.__setitem__(group, "params", params)
        self.param_groups.append(group)
        self._create_state(group)

    def _add_state(self, param, state_name, initializer=None):
        """Adds a state tensor of a parameter: zeros in its shape, or the array ``initializer``."""
        if initializer is None:
            initializer = np.zeros(param.shape, to_numpy(param.dtype))
        states = self._state.setdefault(param, {})
        states[state_name] = variable(initializer, role="optimizer_state", of=param)

    def _create_state(self, param_group):
        raise NotImplementedError(f"{type(self).__name__} does not define _create_state")

    def _updates(self, param_group):
        raise NotImplementedError(f"{type(self).__name__} does not define _updates")

    def step(self):
        """Updates every parameter that has a gradient; returns self, for ``opt.step().clear_grad()``."""
        capture = _recording.current()
        for group in self.param_groups:
            if capture is not None:
                names = [name for name in group if name != "params" and name not in _SCHEDULED]
                capture.guards.note_items(group, names, "a parameter group")
            self._updates(group)
        if capture is None:
            _compiler.flush()
        return self

    def clear_grad(self):
        """Forgets the gradients of all parameters; returns self."""
        for group in self.param_groups:
            for param in group["params"]:
                param.grad = None
        return self

    def zero_grad(self):
        """Sets the gradients of all parameters to zero; returns self."""
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is not None:
                    param.grad.reset_zero()
        return self

    def named_state(self):
        """(name, tensor, parameter or None) of every variable: states, and the learning rate of each group."""
        for index, group in enumerate(self.param_groups):
            place = "" if len(self.param_groups) == 1 else f"groups.{index}."
            for name in _SCHEDULED:
                if name in group:
                    yield place + name, group[name], None
        for param, states in self._state.items():
            for name, tensor in states.items():
                yield name, tensor, param

    def state_dict(self, keep_var=False):
        """The hyperparameters and states; parameters are numbered in order."""
        numbers, groups = {}, []
        for group in self.param_groups:
            for param in group["params"]:
                numbers[param] = len(numbers)
            plain = {
                name: value if keep_var or not isinstance(value, Tensor) else value.numpy()
                for name, value in group.items()
                if name != "params"
            }
            groups.append({**plain, "params": [numbers[param] for param in group["params"]]})
        state = {
            numbers[param]: {name: tensor if keep_var else tensor.numpy() for name, tensor in states.items()}
            for param, states in self._state.items()
        }
        return {"param_groups": groups, "state": state}

    def load_state_dict(self, state):
        """Sets hyperparameters and states from `state_dict` of an optimizer with the same groups."""
        given = state["param_groups"]
        if [len(g["params"]) for g in given] != [len(g["params"]) for g in self.param_groups]:
            raise ArtifactError(
                f"load_state_dict: groups of {[len(g['params']) for g in given]} parameters, "
                f"this optimizer has {[len(g['params']) for g in self.param_groups]}"
            )
        for group, saved in zip(self.param_groups, given):
            for param, number in zip(group["params"], saved["params"]):
                self._load_param_state(param, state["state"].get(number, {}))
            for name, value in saved.items():
                if name != "params":
                    group[name] = value

    def _load_param_state(self, param, saved):
        own = self._state.get(param, {})
        if set(own) != set(saved):
            raise ArtifactError(f"load_state_dict: states {sorted(saved)} for {param.name}, wanted {sorted(own)}")
        for name, value in saved.items():
            own[name].set_value(value)


def check_range(name, value, low, high=None):
    """Refuses a hyperparameter outside low <= value (< high)."""
    if value < low or (high is not None and value >= high):
        allowed = f"{low} or more" if high is None else f"{low} up to below {high}"
        raise ValueError(f"{name} is {value}; allowed: {allowed}")
