"""`LAMB`, `LAMBFp16` and `LARS`: steps as long as a share of the parameter's norm."""

from ..functional.elementwise import sqrt, where
from ..functional.reduce import sum as total
from .adam import check_adam_group, correction
from .optimizer import Optimizer, check_range
from .param_group import is_zero


def _length(tensor):
    return sqrt(total(tensor * tensor))


class LAMB(Optimizer):
    """LAMB: Adam's step plus weight_decay * p, scaled by |p| / |step| where neither norm is 0.

    Args:
        params: parameters or groups.
        lr: the learning rate.
        betas: the shares that the running means of g and g g keep.
        eps: added outside the root.
        bias_correction: divide the means by 1 - beta^t.
        weight_decay: the factor of the parameter in the step.
        always_adapt: scale the step of parameters without weight decay as well.
    """

    def __init__(
        self, params, lr, betas=(0.9, 0.999), eps=1e-8, bias_correction=True, weight_decay=0.0, always_adapt=False
    ):
        super().__init__(params, dict(lr=lr, betas=tuple(betas), eps=eps, weight_decay=weight_decay))
        self.bias_correction = bias_correction
        self.always_adapt = always_adapt

    def _check_group(self, group):
        check_adam_group(group)

    def _create_state(self, param_group):
        for param in param_group["params"]:
            self._add_state(param, "exp_avg")
            self._add_state(param, "exp_avg_sq")
            self._add_state(param, "step", initializer=0.0)

    def _updates(self, param_group):
        for param, value, grad in self._trained(param_group):
            param.set_value(self._updated(param_group, value, grad, self._state[param]))

    def _updated(self, param_group, value, grad, states):
        """The new value of a parameter; writes its states."""
        lr, eps, decay = param_group["lr"], param_group["eps"], param_group["weight_decay"]
        beta1, beta2 = param_group["betas"]
        step, mean, square = states["step"], states["exp_avg"], states["exp_avg_sq"]
        step.set_value(step + 1.0)
        mean.set_value(mean * beta1 + grad * (1.0 - beta1))
        square.set_value(square * beta2 + (grad * grad) * (1.0 - beta2))
        if self.bias_correction:
            delta = (mean / correction(beta1, step)) / (sqrt(square / correction(beta2, step)) + eps)
        else:
            delta = mean / (sqrt(square) + eps)
        if not is_zero(decay):
            delta = delta + value * decay
        if self.always_adapt or not is_zero(decay):
            length, step_length = _length(value), _length(delta)
            # Both are 0 or more, so that their product is 0 (or NaN) where one of them is.
            delta = delta * where(length * step_length > 0.0, length / step_length, 1.0)
        return value - delta * lr


class LAMBFp16(LAMB):
    """`LAMB` for parameters of float16 or bfloat16: the step is made on a float32 copy of each, which is state."""

    def _create_state(self, param_group):
        super()._create_state(param_group)
        for param in param_group["params"]:
            if param.dtype in ("float16", "bfloat16"):
                self._add_state(param, "param_fp32", initializer=param.astype("float32"))

    def _updates(self, param_group):
        for param, _, grad in self._trained(param_group):
            states = self._state[param]
            exact = states.get("param_fp32", param)
            exact.set_value(self._updated(param_group, exact, grad, states))
            if exact is not param:
                param.set_value(exact)


class LARS(Optimizer):
    """SGD whose gradient, g + weight_decay * p, is scaled to a share of the parameter's norm:
    r = trust_coefficient |p| / (|g| + weight_decay |p| + eps) where neither norm is 0, else 1; v = momentum v + r (g +
    weight_decay p); p = p - lr v.

    Args:
        params: parameters or groups. Put biases and the parameters of norms into a group with ``adapt=False``.
        lr: the learning rate.
        momentum, nesterov, weight_decay: as in `SGD`.
        trust_coefficient: the share.
        eps: added to the norm of the gradient.
        adapt: False makes r = 1.
    """

    def __init__(
        self,
        params,
        lr,
        momentum=0.9,
        nesterov=False,
        weight_decay=0.0,
        trust_coefficient=1e-3,
        eps=1e-8,
        adapt=True,
    ):
        defaults = dict(lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay)
        super().__init__(params, {**defaults, "trust_coefficient": trust_coefficient, "eps": eps, "adapt": adapt})

    def _check_group(self, group):
        for name in ("lr", "momentum", "weight_decay", "trust_coefficient", "eps"):
            check_range(name, group[name], 0.0)
        if group["nesterov"] and is_zero(group["momentum"]):
            raise ValueError("nesterov needs a momentum above 0")

    def _create_state(self, param_group):
        for param in param_group["params"]:
            self._add_state(param, "momentum_buffer")

    def _updates(self, param_group):
        lr, momentum, decay = param_group["lr"], param_group["momentum"], param_group["weight_decay"]
        for param, value, grad in self._trained(param_group):
            step = grad if is_zero(decay) else grad + value * decay
            if param_group["adapt"]:
                length, steepness = _length(value), _length(grad)
                size = steepness if is_zero(decay) else steepness + length * decay
                ratio = length * param_group["trust_coefficient"] / (size + param_group["eps"])
                step = step * where(length * steepness > 0.0, ratio, 1.0)
            if not is_zero(momentum):
                velocity = self._state[param]["momentum_buffer"]
                velocity.set_value(velocity * momentum + step)
                step = step + velocity * momentum if param_group["nesterov"] else velocity
            param.set_value(value - step * lr)
