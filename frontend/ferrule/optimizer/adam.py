"""`Adam` and `AdamW`."""

import math

from .._tensor import Tensor
from ..functional.elementwise import expm1, log, maximum, sqrt
from .optimizer import Optimizer, check_range
from .param_group import is_zero


def check_adam_group(group):
    """Refuses a learning rate, eps, weight decay or beta outside its range."""
    for name in ("lr", "eps", "weight_decay"):
        check_range(name, group[name], 0.0)
    for beta in group["betas"]:
        check_range("beta", beta, 0.0, 1.0)


def correction(beta, step):
    """1 - beta ** step, from the logarithm so that float32 keeps its digits where beta is near 1."""
    if isinstance(beta, Tensor):
        return -expm1(step * log(beta))
    return 1.0 if beta == 0.0 else -expm1(step * math.log(beta))


class Adam(Optimizer):
    """Adam: m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g g;
    p = p - lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps) at step t.

    Args:
        params: parameters or groups.
        lr: the learning rate.
        betas: b1 and b2.
        eps: added outside the root.
        weight_decay: the factor of an L2 penalty, added to the gradient.
        amsgrad: divide by the root of the largest v so far instead of that of v.
    """

    _decoupled = False

    def __init__(self, params, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, amsgrad=False):
        defaults = dict(lr=lr, betas=tuple(betas), eps=eps, weight_decay=weight_decay, amsgrad=bool(amsgrad))
        super().__init__(params, defaults)

    def _check_group(self, group):
        check_adam_group(group)

    def _create_state(self, param_group):
        for param in param_group["params"]:
            self._add_state(param, "exp_avg")
            self._add_state(param, "exp_avg_sq")
            self._add_state(param, "step", initializer=0.0)
            if param_group["amsgrad"]:
                self._add_state(param, "max_exp_avg_sq")

    def _updates(self, param_group):
        lr, eps, decay = param_group["lr"], param_group["eps"], param_group["weight_decay"]
        beta1, beta2 = param_group["betas"]
        for param, value, grad in self._trained(param_group):
            if not is_zero(decay) and not self._decoupled:
                grad = grad + value * decay
            states = self._state[param]
            step, mean, square = states["step"], states["exp_avg"], states["exp_avg_sq"]
            step.set_value(step + 1.0)
            mean.set_value(mean * beta1 + grad * (1.0 - beta1))
            square.set_value(square * beta2 + (grad * grad) * (1.0 - beta2))
            if param_group["amsgrad"]:
                top = states["max_exp_avg_sq"]
                top.set_value(maximum(top, square))
                square = top
            delta = (mean / correction(beta1, step)) / (sqrt(square / correction(beta2, step)) + eps)
            if not is_zero(decay) and self._decoupled:
                value = value - value * decay * lr
            param.set_value(value - delta * lr)


class AdamW(Adam):
    """Adam with the weight decay apart from the gradient: p = p - lr * weight_decay * p - lr * delta."""

    _decoupled = True

    def __init__(self, params, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, amsgrad=False):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad)
