"""Gradients."""

from .checkpoint import checkpoint
from .custom import Function, custom_op
from .explain import explain_gradient
from .grad_manager import GradManager
from .products import hessian, hvp, jacobian, jvp, vjp
from .transforms import grad, value_and_grad

__all__ = [
    "Function",
    "GradManager",
    "checkpoint",
    "custom_op",
    "explain_gradient",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "value_and_grad",
    "vjp",
]
