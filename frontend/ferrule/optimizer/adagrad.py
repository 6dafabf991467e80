"""`Adagrad` and `Adadelta`: rates from the gradients so far."""

from ..functional.elementwise import sqrt
from .optimizer import Optimizer, check_range
from .param_group import is_zero


class Adagrad(Optimizer):
    """Adagrad: s = s + g g; p = p - lr / (1 + (t - 1) lr_decay) * g / sqrt(s + eps) at step t.

    Args:
        params: parameters or groups.
        lr: the learning rate.
        lr_decay: how fast the learning rate falls with the steps.
        eps: added inside the root, as in MegEngine (PyTorch adds it outside).
        weight_decay: the factor of an L2 penalty, added to the gradient.
    """

    def __init__(self, params, lr=1e-2, lr_decay=0.0, eps=1e-10, weight_decay=0.0):
        super().__init__(params, dict(lr=lr, lr_decay=lr_decay, eps=eps, weight_decay=weight_decay))

    def _check_group(self, group):
        for name in ("lr", "lr_decay", "eps", "weight_decay"):
            check_range(name, group[name], 0.0)

    def _create_state(self, param_group):
        for param in param_group["params"]:
            self._add_state(param, "square_avg")
            self._add_state(param, "step", initializer=0.0)

    def _updates(self, param_group):
        lr, eps, decay = param_group["lr"], param_group["eps"], param_group["weight_decay"]
        for param, value, grad in self._trained(param_group):
            if not is_zero(decay):
                grad = grad + value * decay
            step, total = self._state[param]["step"], self._state[param]["square_avg"]
            step.set_value(step + 1.0)
            total.set_value(total + grad * grad)
            rate = lr
            if not is_zero(param_group["lr_decay"]):
                rate = lr / ((step - 1.0) * param_group["lr_decay"] + 1.0)
            param.set_value(value - (grad / sqrt(total + eps)) * rate)


class Adadelta(Optimizer):
    """Adadelta: s = rho s + (1 - rho) g g; d = sqrt(a + eps) / sqrt(s + eps) * g; p = p - lr d;
    a = rho a + (1 - rho) d d.

    Args:
        params: parameters or groups.
        lr: the factor of the step.
        rho: the share that the running means keep.
        eps: added inside the roots.
        weight_decay: the factor of an L2 penalty, added to the gradient.
    """

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0.0):
        super().__init__(params, dict(lr=lr, rho=rho, eps=eps, weight_decay=weight_decay))

    def _check_group(self, group):
        for name in ("lr", "eps", "weight_decay"):
            check_range(name, group[name], 0.0)
        check_range("rho", group["rho"], 0.0, 1.0)

    def _create_state(self, param_group):
        for param in param_group["params"]:
            self._add_state(param, "square_avg")
            self._add_state(param, "acc_delta")

    def _updates(self, param_group):
        lr, rho, eps, decay = (param_group[name] for name in ("lr", "rho", "eps", "weight_decay"))
        for param, value, grad in self._trained(param_group):
            if not is_zero(decay):
                grad = grad + value * decay
            square, steps = self._state[param]["square_avg"], self._state[param]["acc_delta"]
            square.set_value(square * rho + (grad * grad) * (1.0 - rho))
            delta = sqrt(steps + eps) / sqrt(square + eps) * grad
            param.set_value(value - delta * lr)
            steps.set_value(steps * rho + (delta * delta) * (1.0 - rho))
