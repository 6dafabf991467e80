"""`NAdam`."""

import math

from ..functional.elementwise import exp, sqrt
from .adam import check_adam_group, correction
from .optimizer import Optimizer, check_range
from .param_group import is_zero


class NAdam(Optimizer):
    """NAdam, Adam with Nesterov's momentum: m and v as in `Adam`, and with
    mu(t) = b1 (1 - 0.96^(t momentum_decay) / 2) and M the product of mu(1) to mu(t),
    p = p - lr ((1 - mu(t)) / (1 - M) g + mu(t + 1) / (1 - M mu(t + 1)) m) / (sqrt(v / (1 - b2^t)) + eps) at step t.

    Args:
        params: parameters or groups.
        lr: the learning rate.
        betas: b1 and b2.
        eps: added outside the root.
        weight_decay: the factor of an L2 penalty, added to the gradient.
        momentum_decay: how fast mu grows towards b1.
        decoupled_weight_decay: apply the decay to the parameter instead, as `AdamW` does.
    """

    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0.0,
        momentum_decay=4e-3,
        decoupled_weight_decay=False,
    ):
        defaults = dict(lr=lr, betas=tuple(betas), eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay)
        super().__init__(params, defaults | {"decoupled_weight_decay": bool(decoupled_weight_decay)})

    def _check_group(self, group):
        check_adam_group(group)
        check_range("momentum_decay", group["momentum_decay"], 0.0)

    def _create_state(self, param_group):
        for param in param_group["params"]:
            self._add_state(param, "exp_avg")
            self._add_state(param, "exp_avg_sq")
            self._add_state(param, "step", initializer=0.0)
            self._add_state(param, "mu_product", initializer=1.0)

    def _updates(self, param_group):
        lr, eps, decay = param_group["lr"], param_group["eps"], param_group["weight_decay"]
        beta1, beta2 = param_group["betas"]
        rate = math.log(0.96) * param_group["momentum_decay"]
        for param, value, grad in self._trained(param_group):
            if not is_zero(decay) and param_group["decoupled_weight_decay"]:
                value = value - value * decay * lr
            elif not is_zero(decay):
                grad = grad + value * decay
            states = self._state[param]
            step, mean, square, product = (states[n] for n in ("step", "exp_avg", "exp_avg_sq", "mu_product"))
            step.set_value(step + 1.0)
            now, following = (beta1 * (1.0 - exp(t * rate) * 0.5) for t in (step, step + 1.0))
            product.set_value(product * now)
            mean.set_value(mean * beta1 + grad * (1.0 - beta1))
            square.set_value(square * beta2 + (grad * grad) * (1.0 - beta2))
            ahead = grad * ((1.0 - now) / (1.0 - product)) + mean * (following / (1.0 - product * following))
            param.set_value(value - ahead / (sqrt(square / correction(beta2, step)) + eps) * lr)
