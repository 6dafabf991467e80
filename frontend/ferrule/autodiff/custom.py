"""Functions with a gradient of their own: `custom_op`, and MegEngine's and PyTorch's `Function`.

The forward computation is recorded as any other, but no gradient passes through it. The backward one is recorded at the
same time, into a region that waits for cotangents; when a gradient is taken, that region stands in for the rule. So both
are ordinary graph: they are compiled, fused and written into artifacts, and can be differentiated once more.
"""

import functools
from typing import NamedTuple

from .. import dtypes
from .._regions import RegionRecorder
from .._stream import apply
from .._tensor import Tensor, as_tensor
from ..errors import GradientError
from ..functional.creation import zeros_like
from ..jit.capture import is_leaf
from ..location import user_location
from .arguments import check_same_type


class _Yielded(NamedTuple):
    handles: list


def custom_op(forward, backward):
    """A function that computes ``forward`` and whose gradient is ``backward``.

    Args:
        forward: a function of tensors (and of other values, which have no gradient) that returns a tensor or a tuple or
            list of tensors.
        backward: ``backward(inputs, outputs, cotangents)`` with the arguments of the call, the results as a tuple, and
            one cotangent for each result, of its shape and dtype. Returns the gradients of the arguments: a tuple or
            list with one for each, or a lone one; None stands for zeros, and for an argument that is no float tensor.

    It is recorded where the function is called, so values that it should use in ``backward`` may be taken from there.

    ::

        clipped = fer.custom_op(lambda x: x, lambda inputs, outputs, g: F.clip(g[0], -1, 1))
    """

    @functools.wraps(forward)
    def call(*args):
        return _run(forward, backward, args, getattr(forward, "__name__", "custom_op"))

    return call


def _run(forward, backward, args, name):
    """One call, with ``backward`` as `custom_op` takes it."""
    arguments = [Tensor(each) if is_leaf(each) and not isinstance(each, Tensor) else each for each in args]
    result = forward(*arguments)
    outputs = _outputs(result, forward)

    def pull(cotangents, values):
        return backward(tuple(arguments), tuple(values), tuple(cotangents))

    values = attach_gradient(outputs, arguments, pull, name)
    return values[0] if isinstance(result, Tensor) else type(result)(values)


def _outputs(result, forward):
    outputs = [result] if isinstance(result, Tensor) else result
    if not isinstance(outputs, (tuple, list)) or not all(isinstance(each, Tensor) for each in outputs):
        raise GradientError(
            f"{getattr(forward, '__name__', 'forward')} returned {type(result).__name__} at {user_location()}: a function "
            f"with a gradient of its own returns a tensor, or a tuple or list of tensors"
        )
    return list(outputs)


def attach_gradient(outputs, arguments, pull, name):
    """The values of ``outputs`` as tensors through which gradients go by ``pull`` alone.

    Args:
        arguments: of the call; only float tensors among them get gradients.
        pull: ``pull(cotangents, values)`` records the gradients and returns them as `custom_op` says.
        name: for messages.
    """
    places = [i for i, each in enumerate(arguments) if isinstance(each, Tensor) and dtypes.is_float(each.dtype)]
    values = [apply("stop_gradient", [each._handle])[0] if dtypes.is_float(each.dtype) else each._handle for each in outputs]
    floats = [i for i, handle in enumerate(values) if dtypes.is_float(handle.dtype)]
    if not places or not floats:
        return [Tensor._wrap(handle) for handle in values]
    types = [(values[i].shape, values[i].dtype) for i in floats]

    def backward(given):
        cotangents = [None] * len(values)
        for i, handle in zip(floats, given):
            cotangents[i] = Tensor._wrap(handle)
        gradients = pull(cotangents, [Tensor._wrap(handle) for handle in values])
        return [_Yielded(_checked(gradients, arguments, places, name))]

    with RegionRecorder() as recorder:
        recorder.record(f"the gradient of {name}", types, backward)
        wrapped = recorder.finish(
            "custom_gradient",
            inits=[values[i] for i in floats],
            xs=[arguments[i]._handle for i in places],
        )
    for i, handle in zip(floats, wrapped):
        values[i] = handle
    return [Tensor._wrap(handle) for handle in values]


def _checked(gradients, arguments, places, name):
    """One handle for each argument that gets a gradient."""
    gradients = [gradients] if isinstance(gradients, Tensor) or gradients is None else list(gradients)
    if len(gradients) != len(arguments) and len(gradients) != len(places):
        raise GradientError(
            f"the gradient of {name} at {user_location()} returned {len(gradients)} values for {len(arguments)} arguments"
        )
    if len(gradients) == len(arguments):
        gradients = [gradients[i] for i in places]
    handles = []
    for place, gradient in zip(places, gradients):
        argument = arguments[place]
        gradient = zeros_like(argument) if gradient is None else as_tensor(gradient)
        check_same_type(gradient, argument, f"the gradient of {name} for argument {place}")
        handles.append(gradient._handle)
    return handles


class Function:
    """A function with a gradient of its own, as a class.

    MegEngine's form: ``forward(self, *inputs)`` and ``backward(self, *cotangents)`` share ``self``, and an instance is
    called::

        class Sigmoid(Function):
            def forward(self, x):
                self.y = 1 / (1 + F.exp(-x))
                return self.y

            def backward(self, dy):
                return dy * self.y * (1 - self.y)

        y = Sigmoid()(x)

    PyTorch's form: both are static methods that share a context, and the class is applied: ``y = Sigmoid.apply(x)`` with
    ``forward(ctx, x)``, ``backward(ctx, dy)``, ``ctx.save_for_backward(...)`` and ``ctx.saved_tensors``.
    """

    def forward(self, *inputs):
        """Computes the results."""
        raise NotImplementedError

    def backward(self, *cotangents):
        """Computes the gradients of the inputs from those of the results."""
        raise NotImplementedError

    def __call__(self, *args):
        return _run(self.forward, lambda inputs, outputs, given: self.backward(*given), args, type(self).__name__)

    @classmethod
    def apply(cls, *args):
        """PyTorch's way of calling: with a fresh context."""
        context = Context(len(args))
        return _run(
            lambda *inputs: cls.forward(context, *inputs),
            lambda inputs, outputs, given: cls.backward(context, *given),
            args,
            cls.__name__,
        )


class Context:
    """What forward leaves for backward in PyTorch's form."""

    def __init__(self, count):
        self.saved_tensors = ()
        self.needs_input_grad = (True,) * count

    def save_for_backward(self, *tensors):
        """Keeps tensors, which ``saved_tensors`` gives back."""
        self.saved_tensors = tensors
