"""`RMSprop`."""

from ..functional.elementwise import sqrt
from .optimizer import Optimizer, check_range
from .param_group import is_zero


class RMSprop(Optimizer):
    """RMSprop: s = alpha s + (1 - alpha) g g; d = g / (sqrt(s) + eps); v = momentum v + d; p = p - lr v.

    Args:
        params: parameters or groups.
        lr: the learning rate.
        alpha: the share that the running mean of squares keeps.
        eps: added outside the root.
        weight_decay: the factor of an L2 penalty, added to the gradient.
        momentum: 0 keeps no velocity v and steps along d.
        centered: divide by the running standard deviation, sqrt(s - mean(g)^2) + eps.
    """

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0.0, momentum=0.0, centered=False):
        super().__init__(
            params,
            dict(lr=lr, alpha=alpha, eps=eps, weight_decay=weight_decay, momentum=momentum, centered=bool(centered)),
        )

    def _check_group(self, group):
        for name in ("lr", "eps", "weight_decay", "momentum"):
            check_range(name, group[name], 0.0)
        check_range("alpha", group["alpha"], 0.0, 1.0)

    def _create_state(self, param_group):
        for param in param_group["params"]:
            self._add_state(param, "square_avg")
            self._add_state(param, "momentum_buffer")
            if param_group["centered"]:
                self._add_state(param, "grad_avg")

    def _updates(self, param_group):
        lr, alpha, eps = param_group["lr"], param_group["alpha"], param_group["eps"]
        decay, momentum = param_group["weight_decay"], param_group["momentum"]
        for param, value, grad in self._trained(param_group):
            if not is_zero(decay):
                grad = grad + value * decay
            states = self._state[param]
            square = states["square_avg"]
            square.set_value(square * alpha + (grad * grad) * (1.0 - alpha))
            spread = square
            if param_group["centered"]:
                mean = states["grad_avg"]
                mean.set_value(mean * alpha + grad * (1.0 - alpha))
                spread = square - mean * mean
            delta = grad / (sqrt(spread) + eps)
            if not is_zero(momentum):
                velocity = states["momentum_buffer"]
                velocity.set_value(velocity * momentum + delta)
                delta = velocity
            param.set_value(value - delta * lr)
