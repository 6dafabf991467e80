"""`ASGD`."""

from ..functional.elementwise import maximum, where
from ..functional.elementwise import pow as power
from .optimizer import Optimizer, check_range
from .param_group import is_zero


class ASGD(Optimizer):
    """Averaged stochastic gradient descent: with e = lr / (1 + lambd lr (t - 1))^alpha at step t,
    p = (1 - lambd e) p - e g; a = a + (p - a) / max(1, t - 1 - t0). The mean a is the state ``ax`` of the parameter.

    Args:
        params: parameters or groups.
        lr: the learning rate.
        lambd: how the parameter and the rate decay.
        alpha: the power with which the rate falls.
        t0: the step after which a becomes a mean; up to it a is p.
        weight_decay: the factor of an L2 penalty, added to the gradient.
    """

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0.0):
        super().__init__(params, dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay))

    def _check_group(self, group):
        for name in ("lr", "weight_decay"):
            check_range(name, group[name], 0.0)

    def _create_state(self, param_group):
        for param in param_group["params"]:
            self._add_state(param, "ax")
            self._add_state(param, "step", initializer=0.0)

    def _updates(self, param_group):
        lr, lambd, alpha, t0, decay = (param_group[name] for name in ("lr", "lambd", "alpha", "t0", "weight_decay"))
        for param, value, grad in self._trained(param_group):
            if not is_zero(decay):
                grad = grad + value * decay
            step, mean = self._state[param]["step"], self._state[param]["ax"]
            rate = lr / power(step * lr * lambd + 1.0, alpha)
            new = value - value * rate * lambd - grad * rate
            counted = step - t0
            step.set_value(step + 1.0)
            mean.set_value(where(counted > 1.0, mean + (new - mean) / maximum(counted, 1.0), new))
            param.set_value(new)
