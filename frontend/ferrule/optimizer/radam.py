"""`RAdam`."""

from ..functional.elementwise import maximum, sqrt, where
from .adam import check_adam_group, correction
from .optimizer import Optimizer
from .param_group import is_zero


class RAdam(Optimizer):
    """RAdam, Adam whose step is a plain one until the variance of v is known well: m and v as in `Adam`, and with
    r = 2 / (1 - b2) - 1 and r(t) = r - 2 t b2^t / (1 - b2^t) at step t

        p = p - lr (m / (1 - b1^t)) * c * sqrt(1 - b2^t) / (sqrt(v) + eps)       where r(t) > 5
        p = p - lr (m / (1 - b1^t))                                              else

    with c = sqrt((r(t) - 4) (r(t) - 2) r / ((r - 4) (r - 2) r(t))).

    Args:
        params: parameters or groups.
        lr: the learning rate.
        betas: b1 and b2.
        eps: added outside the root.
        weight_decay: the factor of an L2 penalty, added to the gradient.
        decoupled_weight_decay: apply the decay to the parameter instead, as `AdamW` does.
    """

    def __init__(
        self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled_weight_decay=False
    ):
        defaults = dict(lr=lr, betas=tuple(betas), eps=eps, weight_decay=weight_decay)
        super().__init__(params, defaults | {"decoupled_weight_decay": bool(decoupled_weight_decay)})

    def _check_group(self, group):
        check_adam_group(group)

    def _create_state(self, param_group):
        for param in param_group["params"]:
            self._add_state(param, "exp_avg")
            self._add_state(param, "exp_avg_sq")
            self._add_state(param, "step", initializer=0.0)

    def _updates(self, param_group):
        lr, eps, decay = param_group["lr"], param_group["eps"], param_group["weight_decay"]
        beta1, beta2 = param_group["betas"]
        limit = 2.0 / (1.0 - beta2) - 1.0
        for param, value, grad in self._trained(param_group):
            if not is_zero(decay) and param_group["decoupled_weight_decay"]:
                value = value - value * decay * lr
            elif not is_zero(decay):
                grad = grad + value * decay
            states = self._state[param]
            step, mean, square = states["step"], states["exp_avg"], states["exp_avg_sq"]
            step.set_value(step + 1.0)
            mean.set_value(mean * beta1 + grad * (1.0 - beta1))
            square.set_value(square * beta2 + (grad * grad) * (1.0 - beta2))
            left = correction(beta2, step)
            length = limit - step * 2.0 * (1.0 - left) / left
            known = length > 5.0
            # Where the length is too small for the root, 5 stands in and the result is not taken.
            sure = maximum(length, 5.0)
            factor = (sure - 4.0) * (sure - 2.0) * limit / ((limit - 4.0) * (limit - 2.0) * sure)
            adapted = sqrt(factor) * sqrt(left) / (sqrt(square) + eps)
            param.set_value(value - mean / correction(beta1, step) * where(known, adapted, 1.0) * lr)
