"""Gradients."""

from .grad_manager import GradManager
from .transforms import grad, value_and_grad

__all__ = ["GradManager", "grad", "value_and_grad"]
