"""`SGD`."""

from .optimizer import Optimizer, check_range
from .param_group import is_zero


class SGD(Optimizer):
    """Stochastic gradient descent: g = grad + weight_decay * p; v = momentum * v + g; p = p - lr * v.

    Args:
        params: parameters or groups.
        lr: the learning rate.
        momentum: 0 keeps no velocity v and steps along g.
        nesterov: step along g + momentum * v.
        weight_decay: the factor of an L2 penalty.
    """

    def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
        super().__init__(params, dict(lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay))

    def _check_group(self, group):
        for name in ("lr", "momentum", "weight_decay"):
            check_range(name, group[name], 0.0)
        if group["nesterov"] and is_zero(group["momentum"]):
            raise ValueError("nesterov needs a momentum above 0")

    def _create_state(self, param_group):
        if not is_zero(param_group["momentum"]):
            for param in param_group["params"]:
                self._add_state(param, "momentum_buffer")

    def _updates(self, param_group):
        lr, momentum, decay = param_group["lr"], param_group["momentum"], param_group["weight_decay"]
        for param, value, grad in self._trained(param_group):
            if not is_zero(decay):
                grad = grad + value * decay
            if not is_zero(momentum):
                velocity = self._state.get(param, {}).get("momentum_buffer")
                if velocity is None:  # the momentum was 0 when the group was made
                    velocity = self._add_state(param, "momentum_buffer")
                velocity.set_value(velocity * momentum + grad)
                grad = grad + velocity * momentum if param_group["nesterov"] else velocity
            param.set_value(value - grad * lr)
