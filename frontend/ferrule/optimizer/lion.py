"""`Lion`."""

from ..functional.elementwise import sign
from .optimizer import Optimizer, check_range
from .param_group import is_zero


class Lion(Optimizer):
    """Lion: p = p - lr (sign(b1 m + (1 - b1) g) + weight_decay p); m = b2 m + (1 - b2) g.

    Args:
        params: parameters or groups.
        lr: the learning rate; a third to a tenth of Adam's.
        betas: b1 and b2.
        weight_decay: apart from the gradient, as in `AdamW`.
    """

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=tuple(betas), weight_decay=weight_decay))

    def _check_group(self, group):
        for name in ("lr", "weight_decay"):
            check_range(name, group[name], 0.0)
        for beta in group["betas"]:
            check_range("beta", beta, 0.0, 1.0)

    def _create_state(self, param_group):
        for param in param_group["params"]:
            self._add_state(param, "exp_avg")

    def _updates(self, param_group):
        lr, decay = param_group["lr"], param_group["weight_decay"]
        beta1, beta2 = param_group["betas"]
        for param, value, grad in self._trained(param_group):
            mean = self._state[param]["exp_avg"]
            if not is_zero(decay):
                value = value - value * decay * lr
            param.set_value(value - sign(mean * beta1 + grad * (1.0 - beta1)) * lr)
            mean.set_value(mean * beta2 + grad * (1.0 - beta2))
