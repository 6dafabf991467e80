"""`Rprop`."""

import numpy as np

from ..functional.elementwise import clip, sign, where
from .optimizer import Optimizer, check_range


class Rprop(Optimizer):
    """Resilient backpropagation: each element has a step size of its own, which grows while the sign of its gradient
    stays and shrinks when it turns; then the element waits for one step. p = p - sign(g) * size.

    Args:
        params: parameters or groups.
        lr: the step size at first.
        etas: by what a size is multiplied where the sign turned and where it stayed.
        step_sizes: the least and the largest size.
    """

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50.0)):
        super().__init__(params, dict(lr=lr, etas=tuple(etas), step_sizes=tuple(step_sizes)))

    def _check_group(self, group):
        check_range("lr", group["lr"], 0.0)
        shrink, grow = group["etas"]
        if not 0.0 < shrink < 1.0 < grow:
            raise ValueError(f"etas are {group['etas']}; allowed: one between 0 and 1, one above 1")

    def _create_state(self, param_group):
        for param in param_group["params"]:
            self._add_state(param, "prev")
            self._add_state(param, "step_size", initializer=np.full(param.shape, float(param_group["lr"])))

    def _updates(self, param_group):
        (shrink, grow), (least, largest) = param_group["etas"], param_group["step_sizes"]
        for param, value, grad in self._trained(param_group):
            before, size = self._state[param]["prev"], self._state[param]["step_size"]
            turn = sign(grad * before)
            turned = turn < 0.0
            size.set_value(clip(where(turned, size * shrink, where(turn > 0.0, size * grow, size)), least, largest))
            grad = where(turned, 0.0, grad)
            param.set_value(value - sign(grad) * size)
            before.set_value(grad)
