"""`grad` and `value_and_grad`: functions that compute a function's gradient."""

import functools

from .._stream import record_gradient
from .._tensor import Tensor
from ..errors import GradientError
from ..location import user_location
from ..shapes import is_one, show
from .arguments import choose_tensor, rebuild, replace_argument, signature_of
from .scope import GradientScope


def value_and_grad(f, wrt=0, has_aux=False):
    """The function that returns ``(f(*args), gradient)``.

    Args:
        f: a function that returns a float tensor with one element, or with ``has_aux`` a pair of that and anything
            else.
        wrt: what to differentiate for: the position or the name of an argument, which may be a tree of tensors (its
            gradient is such a tree), or a Tensor that ``f`` reaches by itself, such as a Parameter; or several of
            these in a tuple or list, and then the gradient is a tuple.
        has_aux: ``f`` returns ``(value, aux)``; the result is then ``((value, aux), gradient)``.

    Raises:
        GradientError: at the call, for a value that is no single float, a choice of ``wrt`` that does not exist or is
            no float, or an operation that has no gradient.
    """
    several = isinstance(wrt, (tuple, list))
    wanted = tuple(wrt) if several else (wrt,)
    for each in wanted:
        if not isinstance(each, (int, str, Tensor)):
            raise GradientError(
                f"grad with wrt={each!r} at {user_location()}: allowed are a position, a name, a Tensor, or several"
            )
    signature = signature_of(f)

    @functools.wraps(f)
    def both(*args, **kwargs):
        args = list(args)
        with GradientScope():
            chosen = [
                choose_tensor(each, i)
                if isinstance(each, Tensor)
                else replace_argument(args, kwargs, each, signature, "grad")
                for i, each in enumerate(wanted)
            ]
            result = f(*args, **kwargs)
            gradients = _gradients(_value_of(result, has_aux), chosen)
        return result, tuple(gradients) if several else gradients[0]

    return both


def _value_of(result, has_aux):
    value = result
    if has_aux:
        if not isinstance(result, tuple) or len(result) != 2:
            raise GradientError(
                f"grad with has_aux of a function that returns {type(result).__name__} at {user_location()}: a pair "
                f"(value, aux) is needed"
            )
        value = result[0]
    if not isinstance(value, Tensor) or not is_one(value.size):
        what = f"a tensor of shape {show(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
        raise GradientError(f"grad of a function that returns {what} at {user_location()}: one element is needed")
    return value


def _gradients(value, chosen):
    sources = [source for each in chosen for source in each.sources]
    names = [name for each in chosen for name in each.names]
    handles = iter(record_gradient(value._handle, [], sources, names))
    gradients = []
    for each in chosen:
        own = [next(handles) for _ in each.sources]
        gradients.append(Tensor._wrap(own[0]) if each.structure is None else rebuild(each.structure, own))
    return gradients


def grad(f, wrt=0, has_aux=False):
    """The function that returns the gradient of ``f``, a function to one number; with ``has_aux`` ``(gradient, aux)``.

    See `value_and_grad` for the arguments.
    """
    both = value_and_grad(f, wrt, has_aux)

    @functools.wraps(f)
    def gradient(*args, **kwargs):
        result, gradients = both(*args, **kwargs)
        return (gradients, result[1]) if has_aux else gradients

    return gradient
