"""`SGD`."""

from .optimizer import Optimizer, check_range


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
        check_range("lr", lr, 0.0)
        check_range("momentum", momentum, 0.0)
        check_range("weight_decay", weight_decay, 0.0)
        if nesterov and momentum <= 0:
            raise ValueError("nesterov needs a momentum above 0")
        super().__init__(params, dict(lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay))

    def _create_state(self, param_group):
        if param_group["momentum"] != 0.0:
            for param in param_group["params"]:
                self._add_state(param, "momentum_buffer")

    def _updates(self, param_group):
        lr, momentum = param_group["lr"], param_group["momentum"]
        for param in param_group["params"]:
            grad = param.grad
            if grad is None or not param.requires_grad:
                continue
            if param_group["weight_decay"] != 0.0:
                grad = grad + param * param_group["weight_decay"]
            if momentum != 0.0:
                velocity = self._state[param]["momentum_buffer"]
                velocity.set_value(velocity * momentum + grad)
                grad = grad + velocity * momentum if param_group["nesterov"] else velocity
            param.set_value(param - grad * lr)
