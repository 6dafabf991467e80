"""`Adamax`."""

from ..functional.elementwise import abs as absolute
from ..functional.elementwise import maximum
from .adam import check_adam_group, correction
from .optimizer import Optimizer
from .param_group import is_zero


class Adamax(Optimizer):
    """Adamax, Adam with the infinity norm: m = b1 m + (1 - b1) g; u = max(b2 u, |g| + eps);
    p = p - lr / (1 - b1^t) * m / u at step t.

    Args:
        params: parameters or groups.
        lr: the learning rate.
        betas: b1 and b2.
        eps: added to the size of the gradient.
        weight_decay: the factor of an L2 penalty, added to the gradient.
    """

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=tuple(betas), eps=eps, weight_decay=weight_decay))

    def _check_group(self, group):
        check_adam_group(group)

    def _create_state(self, param_group):
        for param in param_group["params"]:
            self._add_state(param, "exp_avg")
            self._add_state(param, "exp_inf")
            self._add_state(param, "step", initializer=0.0)

    def _updates(self, param_group):
        lr, eps, decay = param_group["lr"], param_group["eps"], param_group["weight_decay"]
        beta1, beta2 = param_group["betas"]
        for param, value, grad in self._trained(param_group):
            if not is_zero(decay):
                grad = grad + value * decay
            states = self._state[param]
            step, mean, top = states["step"], states["exp_avg"], states["exp_inf"]
            step.set_value(step + 1.0)
            mean.set_value(mean * beta1 + grad * (1.0 - beta1))
            top.set_value(maximum(top * beta2, absolute(grad) + eps))
            param.set_value(value - mean / top * (lr / correction(beta1, step)))
