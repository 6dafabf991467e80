"""`checkpoint`: what a function computes inside is not kept for the gradients, but computed again when they need it."""

import functools

from .. import _compiler
from .._tensor import Tensor
from ..errors import GradientError
from ..jit.capture import is_leaf
from ..jit.tree import flatten
from ..location import user_location


def checkpoint(function, *args, **kwargs):
    """Calls ``function``, or wraps it if there are no arguments.

    Of a call only the arguments and the result are kept until the backward pass; the values in between are computed again
    there, from the arguments. That saves their memory and costs the time of one more forward pass of the function. No
    bit changes: random numbers are the same again, and what the function assigns (as the running statistics of a
    batch norm) is assigned once. ``memory_budget`` of `ferrule.compile` chooses by itself what to compute again; this is
    for those who know better.

    Of a loop inside (`F.scan`, `F.while_loop` with max_steps) the results are kept, and of its steps only the carries at some
    of them. Around the step of a loop it keeps the carry of each step alone.

    It counts in traced and compiled functions. Dynamic mode, where any value may be looked at, keeps what it keeps.

    Args:
        function: a function or a Module. What it reads besides its arguments is kept, as they are.
        args, kwargs: what to call it with; any nesting of tensors, of which there must be one, and other values.

    Returns:
        What ``function`` returns: any nesting of tensors and other values. Without arguments a function that does so.

    Raises:
        GradientError: no argument is a tensor.

    ::

        for block in self.blocks:
            x = fer.checkpoint(block, x)
    """
    if not args and not kwargs:

        @functools.wraps(function, updated=())
        def call(*args, **kwargs):
            return _run(function, args, kwargs)

        return call
    return _run(function, args, kwargs)


def _run(function, args, kwargs):
    inputs = _tensors((args, kwargs))
    if not inputs:
        name = getattr(function, "__name__", type(function).__name__)
        raise GradientError(
            f"checkpoint of {name} at {user_location()}: no argument is a tensor; it is computed again from its arguments"
        )
    # A result that is an argument as it came is nothing to compute.
    before = [tensor._handle for tensor in inputs]
    result = function(*args, **kwargs)
    _compiler.mark_checkpoint(before, [tensor._handle for tensor in _tensors(result)])
    return result


def _tensors(tree):
    return [leaf for leaf in flatten(tree, is_leaf, "")[0] if isinstance(leaf, Tensor)]
