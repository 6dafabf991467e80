"""`Adam` and `AdamW`."""

import math

import numpy as np

from ..functional.elementwise import expm1, sqrt
from .optimizer import Optimizer, check_range


class Adam(Optimizer):
    """Adam: m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g g;
    p = p - lr (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps) at step t.

    Args:
        params: parameters or groups.
        lr: the learning rate.
        betas: b1 and b2.
        eps: added outside the root.
        weight_decay: the factor of an L2 penalty, added to the gradient.
    """

    _decoupled = False

    def __init__(self, params, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        check_range("lr", lr, 0.0)
        check_range("eps", eps, 0.0)
        check_range("weight_decay", weight_decay, 0.0)
        for beta in betas:
            check_range("beta", beta, 0.0, 1.0)
        super().__init__(params, dict(lr=lr, betas=tuple(betas), eps=eps, weight_decay=weight_decay))

    def _create_state(self, param_group):
        for param in param_group["params"]:
            self._add_state(param, "exp_avg")
            self._add_state(param, "exp_avg_sq")
            self._add_state(param, "step", initializer=np.float32(0))

    def _updates(self, param_group):
        lr, eps, decay = param_group["lr"], param_group["eps"], param_group["weight_decay"]
        beta1, beta2 = param_group["betas"]
        for param in param_group["params"]:
            grad = param.grad
            if grad is None or not param.requires_grad:
                continue
            if decay != 0.0 and not self._decoupled:
                grad = grad + param * decay
            states = self._state[param]
            step, mean, square = states["step"], states["exp_avg"], states["exp_avg_sq"]
            step.set_value(step + 1.0)
            mean.set_value(mean * beta1 + grad * (1.0 - beta1))
            square.set_value(square * beta2 + (grad * grad) * (1.0 - beta2))
            delta = (mean / _correction(beta1, step)) / (sqrt(square / _correction(beta2, step)) + eps)
            value = param
            if decay != 0.0 and self._decoupled:
                value = value - param * (lr * decay)
            param.set_value(value - delta * lr)


def _correction(beta, step):
    """1 - beta ** step, from the logarithm so that float32 keeps its digits where beta is near 1."""
    return 1.0 if beta == 0.0 else -expm1(step * math.log(beta))


class AdamW(Adam):
    """Adam with the weight decay apart from the gradient: p = p - lr * weight_decay * p - lr * delta."""

    _decoupled = True

    def __init__(self, params, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        super().__init__(params, lr, betas, eps, weight_decay)
