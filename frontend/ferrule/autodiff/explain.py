"""`explain_gradient`: what would make a gradient fail, found without compiling anything."""

from typing import NamedTuple

from .. import _compiler, _recording, dtypes
from .._stream import apply
from .._tensor import Tensor
from ..dims import Spec
from ..errors import GradientError
from ..jit.capture import Inputs, is_leaf, record
from ..jit.guards import snapshot_all
from ..jit.tree import flatten, unflatten
from ..location import module_path, user_location
from ..shapes import is_one, show


class GradientObstacle(NamedTuple):
    """One operation that stops a gradient."""

    op: str  # its name in the graph
    line: str  # "file.py:12", the user's
    reason: str
    parameter: str  # whose gradient needs it


class GradientReport(tuple):
    """The obstacles that were found, as a tuple of `GradientObstacle`; empty if every gradient exists.

    ``str()`` gives a table with one line for each operation.
    """

    __slots__ = ()

    def __str__(self):
        if not self:
            return "every gradient exists"
        by_op = {}
        for each in self:
            by_op.setdefault(each[:3], []).append(each.parameter)
        lines = []
        for (op, line, reason), parameters in by_op.items():
            shown = ", ".join(parameters[:4]) + (f" and {len(parameters) - 4} more" if len(parameters) > 4 else "")
            lines.append(f"{line}: {op} has no gradient: {reason}; needed for {shown}")
        return "\n".join(lines)


def explain_gradient(f, *args, wrt=None, **kwargs):
    """Lists every operation that stops a gradient in ``f``, with its line, the reason, and whose gradient needs it.

    ``f`` is recorded, not run or compiled. Each ``gm.backward`` and ``fer.grad`` in it is examined; where one would be
    refused, the recording goes on with zeros as gradients, so that one call finds all obstacles. A function that
    contains none of these is examined as a cost: the sum of its float results, for every float argument and every
    Parameter that it reads.

    Args:
        f: a function or a traced function, for example a training step.
        args, kwargs: what it is called with; a `Spec` stands for a tensor of that shape and dtype.
        wrt: Tensors to examine in place of arguments and Parameters.

    Returns:
        A `GradientReport`, which is empty if every gradient exists.
    """
    function = getattr(f, "function", f)
    leaves, paths, structure = flatten((args, kwargs), lambda v: is_leaf(v) or isinstance(v, Spec), "")
    leaves = [leaf if isinstance(leaf, (Tensor, Spec)) else Tensor(leaf) for leaf in leaves]
    inputs = [(f"input{i}", leaf.shape, leaf.dtype) for i, leaf in enumerate(leaves)]
    # Paths begin with "0." for what is given by position and "1." for names.
    names = ["argument " + path.partition(".")[2] for path in paths]
    examination = Examination()

    def call(tensors, guards):
        del guards
        tree = positional, named = unflatten(structure, iter(tensors))
        before = snapshot_all(tree)
        result = function(*positional, **named)
        if not examination.found_any:
            _examine_result(examination, result, tensors, names, wrt)
        return tree, before, None

    before = _recording.set_examination(examination)
    try:
        record(function, getattr(function, "__name__", "function"), Inputs(inputs), call, undo=True)
    finally:
        _recording.set_examination(before)
    return GradientReport(dict.fromkeys(examination.obstacles))


class Examination:
    """Collects obstacles in place of errors while it is the active one; see `ferrule._stream.record_gradient`."""

    def __init__(self):
        self.obstacles = []
        self.found_any = False  # whether a gradient was asked for at all

    def examine(self, cost, cotangents, wrt, names):
        """Notes what stops the gradients of ``cost``; returns whether something does."""
        self.found_any = True
        found = _compiler.explain_gradient(
            cost, list(cotangents), list(wrt), location=user_location(), module_path=module_path(), names=list(names)
        )
        self.obstacles += [GradientObstacle(*each) for each in found]
        return bool(found)


def _examine_result(examination, result, tensors, names, wrt):
    results, _, _ = flatten(result, is_leaf, "the result")
    costs = [each for each in results if isinstance(each, Tensor) and dtypes.is_float(each.dtype)]
    if not costs:
        raise GradientError(
            f"explain_gradient of a function without a float result at {user_location()}: there is nothing to "
            f"differentiate"
        )
    if wrt is not None:
        tensors = [wrt] if isinstance(wrt, Tensor) else list(wrt)
        names = [tensor.name or f"wrt[{i}]" for i, tensor in enumerate(tensors)]
    else:
        read = [variable for variable in _recording.current().trace.variables() if variable.trainable]
        names = [*names, *(each.name or f"a Parameter of shape {show(each.shape)}" for each in read)]
        tensors = [*tensors, *(Tensor._wrap(variable.value()) for variable in read)]
    chosen = [(t._handle, n) for t, n in zip(tensors, names) if dtypes.is_float(t.dtype)]
    for cost in costs:
        if is_one(cost.size):
            total = cost._handle
        else:
            total = apply("reduce_sum", [cost._handle], {"axes": list(range(cost.ndim))})[0]
        examination.examine(total, [], [handle for handle, _ in chosen], [name for _, name in chosen])
