"""`Adafactor`."""

import numpy as np

from .. import dtypes
from ..functional.elementwise import maximum, minimum, rsqrt, sqrt
from ..functional.elementwise import pow as power
from ..functional.reduce import mean
from .optimizer import Optimizer, check_range
from .param_group import is_zero


class Adafactor(Optimizer):
    """Adafactor: the mean squares of a matrix are kept as those of its rows and of its columns alone.

    With b = t^beta2_decay at step t: r = (1 - b) r + b * mean of g g over the last axis, c the same over the last but
    one, v = r c / mean(r); for a vector v = (1 - b) v + b g g. u = g / sqrt(max(v, eps1^2));
    p = p - max(eps2, rms(p)) min(lr, 1 / sqrt(t)) u / max(1, rms(u) / d).

    Args:
        params: parameters or groups.
        lr: the largest learning rate.
        beta2_decay: the power with which b falls; negative.
        eps: eps1 (None: the distance of 1 to the next number of the parameter's type) and eps2.
        d: the largest root mean square of a step.
        weight_decay: apart from the gradient, as in `AdamW`.
    """

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0):
        super().__init__(params, dict(lr=lr, beta2_decay=beta2_decay, eps=tuple(eps), d=d, weight_decay=weight_decay))

    def _check_group(self, group):
        for name in ("lr", "weight_decay"):
            check_range(name, group[name], 0.0)
        check_range("d", group["d"], 1.0)
        if group["beta2_decay"] > 0.0:
            raise ValueError(f"beta2_decay is {group['beta2_decay']}; allowed: 0.0 or less")

    def _create_state(self, param_group):
        for param in param_group["params"]:
            self._add_state(param, "step", initializer=0.0)
            shape = param.shape
            if len(shape) > 1:
                self._add_state(param, "row_var", initializer=np.zeros(shape[:-1] + (1,)))
                self._add_state(param, "col_var", initializer=np.zeros(shape[:-2] + (1, shape[-1])))
            else:
                self._add_state(param, "variance")

    def _updates(self, param_group):
        lr, d, decay = param_group["lr"], param_group["d"], param_group["weight_decay"]
        for param, value, grad in self._trained(param_group):
            states = self._state[param]
            step = states["step"]
            least = param_group["eps"][0]
            least = float(dtypes.limits(param.dtype).eps) if least is None else least
            step.set_value(step + 1.0)
            rate = minimum(lr, rsqrt(step)) * maximum(_root_mean_square(value), param_group["eps"][1])
            if not is_zero(decay):
                value = value - value * decay * lr
            square = _mean_square(states, grad, power(step, param_group["beta2_decay"]), least)
            move = grad * rsqrt(maximum(square, least * least))
            param.set_value(value - move * (rate / maximum(_root_mean_square(move) / d, 1.0)))


def _mean_square(states, grad, share, least):
    """The mean squares of the gradient, whose states take in ``share`` of the present ones."""
    if "variance" in states:
        variance = states["variance"]
        variance.set_value(variance + (grad * grad - variance) * share)
        return variance
    rows, columns = states["row_var"], states["col_var"]
    rows.set_value(rows + (mean(grad * grad, -1, True) - rows) * share)
    columns.set_value(columns + (mean(grad * grad, -2, True) - columns) * share)
    return rows * columns / maximum(mean(rows, -2, True), least)


def _root_mean_square(x):
    return sqrt(mean(x * x))
