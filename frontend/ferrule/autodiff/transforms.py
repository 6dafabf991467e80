"""`grad` and `value_and_grad`: functions that compute a function's gradient."""

import functools

from .. import _compiler, _recording
from .._stream import apply, record_gradient
from .._tensor import Tensor, as_tensor
from ..errors import GradientError
from ..location import user_location
from ..shapes import is_one


def value_and_grad(f, wrt=0):
    """The function that returns ``(f(*args), gradient)``.

    Args:
        f: a function of tensors that returns a tensor with one element.
        wrt: the position of the argument to differentiate for, or several; then the gradient is a tuple.
    """
    positions = (wrt,) if isinstance(wrt, int) else tuple(wrt)

    @functools.wraps(f)
    def both(*args, **kwargs):
        args = list(args)
        for position in positions:
            if not -len(args) <= position < len(args):
                raise GradientError(f"grad with wrt={wrt} of a call with {len(args)} arguments at {user_location()}")
        scoped = _recording.current() is None
        if scoped:
            _recording.enter_gradient_scope()
            _compiler.gradient_scope_enter()
        try:
            sources = []
            for position in positions:
                tensor = as_tensor(args[position])
                # A value of its own, so that another argument with the same value does not count.
                own = apply("reshape", [tensor._handle], {"shape": list(tensor.shape)})[0]
                sources.append(own)
                args[position] = Tensor._wrap(own)
            value = f(*args, **kwargs)
            if not isinstance(value, Tensor) or not is_one(value.size):
                what = f"a tensor of shape {value.shape}" if isinstance(value, Tensor) else type(value).__name__
                raise GradientError(
                    f"grad of a function that returns {what} at {user_location()}: one element is needed"
                )
            names = [f"argument {position}" for position in positions]
            gradients = tuple(Tensor._wrap(h) for h in record_gradient(value._handle, [], sources, names))
        finally:
            if scoped:
                _compiler.gradient_scope_exit()
                _recording.exit_gradient_scope()
        return value, gradients[0] if isinstance(wrt, int) else gradients

    return both


def grad(f, wrt=0):
    """The function that returns the gradient of ``f``, a function to one number; see `value_and_grad`."""
    both = value_and_grad(f, wrt)

    @functools.wraps(f)
    def gradient(*args, **kwargs):
        return both(*args, **kwargs)[1]

    return gradient
