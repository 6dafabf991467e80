"""`Optimizer`: the base class, with parameter groups, state and a learning rate that is a variable of the program."""

import numpy as np

from .. import _compiler, _recording
from .._tensor import Parameter, Tensor, variable
from ..dtypes import to_numpy
from ..errors import ArtifactError, UnsupportedError
from .param_group import SCHEDULED, ParamGroup

# What of an optimizer's own attributes decides what is recorded.
_PLAIN = (bool, int, float, str, type(None), tuple)


class Optimizer:
    """The base class of optimizers.

    A subclass defines `_create_state(group)`, which calls `_add_state` for each parameter, and `_updates(group)`, which
    writes the parameters (``param -= ...``) from ``param.grad`` and ``self._state[param]``.

    The learning rate is a variable of a traced step: setting ``group["lr"]`` records nothing again. So is any other
    hyperparameter that is given as a Tensor or named to ``group.schedule``. Those that are plain numbers are constants
    of the step; changing one records it again.

    Args:
        params: parameters, (name, parameter) pairs, or dicts ``{"params": [...], "lr": ...}`` of groups with
            hyperparameters of their own.
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
        params = [params] if isinstance(params, Parameter) else [_bare(param) for param in params]
        taken = {id(p) for group in self.param_groups for p in group["params"]}
        for param in params:
            if not isinstance(param, Parameter):
                raise TypeError(f"an optimizer trains Parameters, not {type(param).__name__}")
            if id(param) in taken:
                raise ValueError("a parameter stands twice in an optimizer")
            taken.add(id(param))
        group = ParamGroup(params=params)
        for name, default in self._defaults.items():
            value = param_group.get(name, default)
            if value is None:
                raise ValueError(f"a parameter group needs a value for {name!r}")
            group[name] = value
        for name, value in param_group.items():
            if name not in group:
                group[name] = value
        self._check_group(group)
        self.param_groups.append(group)
        self._create_state(group)

    def _check_group(self, group):
        """Raises ValueError for hyperparameters that the optimizer does not allow."""

    def _add_state(self, param, state_name, initializer=None, dtype=None):
        """Adds a state tensor of a parameter: zeros in its shape, or the number or array ``initializer``.

        State of a parameter narrower than float32 is float32.
        """
        wide = param.dtype if param.dtype == "float64" else "float32"
        dtype = to_numpy(wide if dtype is None else dtype)
        if initializer is None:
            array = np.zeros(param.shape, dtype)
        else:
            array = np.array(initializer.numpy() if isinstance(initializer, Tensor) else initializer, dtype)
        states = self._state.setdefault(param, {})
        owner = param if param.dtype == wide else None  # only what has its dtype can take a parameter's layout
        states[state_name] = variable(array, role="optimizer_state", of=owner)
        return states[state_name]

    def _create_state(self, param_group):
        raise NotImplementedError(f"{type(self).__name__} does not define _create_state")

    def _updates(self, param_group):
        raise NotImplementedError(f"{type(self).__name__} does not define _updates")

    def _trained(self, param_group):
        """(parameter, its value, its gradient) of those of a group that are to be updated.

        Value and gradient are float32 where the parameter is narrower; `set_value` rounds the new value once.
        """
        for param in param_group["params"]:
            grad = param.grad
            if grad is not None and param.requires_grad:
                yield param, _wide(param), _wide(grad)

    def step(self):
        """Updates every parameter that has a gradient; returns self, for ``opt.step().clear_grad()``."""
        capture = _recording.current()
        if capture is not None:
            self._guard(capture.guards)
        for group in self.param_groups:
            self._updates(group)
        if capture is None:
            _compiler.flush()
        return self

    def _guard(self, guards):
        """Notes what the recorded step depends on besides the values of variables."""
        kind = type(self).__name__
        plain = [name for name, value in vars(self).items() if isinstance(value, _PLAIN)]
        guards.note_items(vars(self), plain, f"an attribute of {kind}")
        guards.note(
            (id(self), "param_groups"),
            lambda: [len(group["params"]) for group in self.param_groups],
            [len(group["params"]) for group in self.param_groups],
            f"the number of parameters in the groups of {kind}",
        )
        for group in self.param_groups:
            guards.note_items(group, group.constants(), f"a parameter group of {kind}")
            trainable = _Trainable(group["params"])
            guards.note((id(group), "trainable"), trainable, trainable(), f"which parameters of {kind} are trained")

    def clear_grad(self):
        """Forgets the gradients of all parameters; returns self."""
        for group in self.param_groups:
            for param in group["params"]:
                param.grad = None
        return self

    def zero_grad(self, set_to_none=False):
        """Sets the gradients of all parameters to zero, or forgets them with ``set_to_none``; returns self."""
        if set_to_none:
            return self.clear_grad()
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is not None:
                    param.grad.reset_zero()
        return self

    def backward(self, loss):
        """Refused, as in MegEngine: gradients come from a `GradManager`."""
        raise UnsupportedError("Optimizer.backward: compute gradients with GradManager.backward(loss) before step()")

    def bcast_param(self):
        """Nothing to do: the parameters live in one process."""

    def named_state(self):
        """(name, tensor, parameter or None) of every variable: states, and the scheduled numbers of each group."""
        for index, group in enumerate(self.param_groups):
            place = "" if len(self.param_groups) == 1 else f"groups.{index}."
            for name, tensor in group.variables():
                yield place + name, tensor, None
        for param, states in self._state.items():
            for name, tensor in states.items():
                yield name, tensor, param

    def state_dict(self, keep_var=False):
        """The hyperparameters and states; parameters are numbered in order."""
        numbers, groups = {}, []
        for group in self.param_groups:
            for param in group["params"]:
                numbers[param] = len(numbers)
            plain = {name: value if keep_var else _plain(value) for name, value in group.items() if name != "params"}
            groups.append({**plain, "params": [numbers[param] for param in group["params"]]})
        state = {
            numbers[param]: {name: tensor if keep_var else tensor.numpy() for name, tensor in states.items()}
            for param, states in self._state.items()
        }
        return {"param_groups": groups, "state": state}

    def load_state_dict(self, state):
        """Sets hyperparameters and states from `state_dict` of an optimizer with the same groups.

        Raises:
            ArtifactError: other groups, or other states of a parameter; nothing is changed then.
        """
        given = state["param_groups"]
        if [len(g["params"]) for g in given] != [len(g["params"]) for g in self.param_groups]:
            raise ArtifactError(
                f"load_state_dict: groups of {[len(g['params']) for g in given]} parameters, "
                f"this optimizer has {[len(g['params']) for g in self.param_groups]}"
            )
        pairs = [
            (param, state["state"].get(number, {}))
            for group, saved in zip(self.param_groups, given)
            for param, number in zip(group["params"], saved["params"])
        ]
        for param, saved in pairs:
            own = self._state.get(param, {})
            if set(own) != set(saved):
                raise ArtifactError(f"load_state_dict: states {sorted(saved)} for {param.name}, wanted {sorted(own)}")
            for name, value in saved.items():
                if np.shape(value) != own[name].shape:
                    raise ArtifactError(
                        f"load_state_dict: {name} of {param.name} has shape {np.shape(value)}, wanted {own[name].shape}"
                    )
        for param, saved in pairs:
            for name, value in saved.items():
                self._state[param][name].set_value(value)
        for group, saved in zip(self.param_groups, given):
            group.update((name, value) for name, value in saved.items() if name != "params")


class _Trainable:
    """Reads which parameters are trained as one number, anew only after some ``requires_grad`` was set."""

    def __init__(self, params):
        self._params = params
        self._seen = None
        self._mask = 0

    def __call__(self):
        seen = _recording.trainable_changes()
        if seen != self._seen:
            self._seen = seen
            self._mask = sum(1 << i for i, param in enumerate(self._params) if param.requires_grad)
        return self._mask


def _wide(tensor):
    return tensor if tensor.dtype in ("float32", "float64") else tensor.astype("float32")


def _bare(param):
    """The parameter of a (name, parameter) pair, as ``named_parameters()`` gives them; others as they are."""
    return param[1] if isinstance(param, tuple) and len(param) == 2 and isinstance(param[0], str) else param


def _plain(value):
    if isinstance(value, tuple):
        return tuple(_plain(item) for item in value)
    return value.numpy() if isinstance(value, Tensor) else value


def check_range(name, value, low, high=None):
    """Refuses a hyperparameter outside low <= value (< high)."""
    value = value.item() if isinstance(value, Tensor) else value
    if not (value >= low and (high is None or value < high)):
        allowed = f"{low} or more" if high is None else f"{low} up to below {high}"
        raise ValueError(f"{name} is {value}; allowed: {allowed}")


__all__ = ["SCHEDULED", "Optimizer", "ParamGroup", "check_range"]
