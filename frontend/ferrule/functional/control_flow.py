"""Branches and loops that stay in the graph: `cond`, `while_loop` and `scan`.

The functions that they take are recorded once. They may use any tensor from outside, also parameters, and may read and
write variables (a counter, running statistics); what they return or write is known outside only through the result and
the variables. Gradients flow through all three.
"""

import numpy as np

from .. import _compiler
from .._regions import RegionRecorder
from .._stream import apply
from .._tensor import Tensor
from ..dtypes import array_of
from ..errors import DtypeError, ShapeError, TraceError, UnsupportedError
from ..location import user_location
from ..shapes import is_one, same_shape, show

__all__ = ["cond", "scan", "while_loop"]


def _is_leaf(value):
    return isinstance(value, (Tensor, bool, int, float, np.ndarray, np.generic, _compiler.DimExpr))


def _tensor(value):
    """A leaf as a Tensor; a number becomes one of rank 0."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, _compiler.DimExpr):
        return Tensor._wrap(apply("dim", [], {"expr": [value]})[0])
    return Tensor(array_of(value))


class _Tree:
    """A tree of tensors with the paths of its leaves."""

    def __init__(self, value, name):
        from ..jit.tree import flatten  # ferrule.jit imports modules, which are made of functions

        leaves, self.paths, self.structure = flatten(value, _is_leaf, name)
        self.tensors = [_tensor(leaf) for leaf in leaves]

    @property
    def handles(self):
        return [tensor._handle for tensor in self.tensors]

    @property
    def types(self):
        return [(tensor.shape, tensor.dtype) for tensor in self.tensors]

    def rebuild(self, handles):
        """The same tree of other tensors."""
        from ..jit.tree import unflatten

        return unflatten(self.structure, iter([Tensor._wrap(handle) for handle in handles]))


def _show_structure(structure):
    from ..jit.tree import LEAF, Node

    if structure is LEAF:
        return "a tensor"
    if isinstance(structure, Node):
        keys = "" if isinstance(structure.keys, int) else ", ".join(map(str, structure.keys))
        return f"a {structure.kind.__name__} of {keys or len(structure.children)}"
    return repr(structure.value)


def _check_same(what, tree, other, other_name):
    """Two trees that must agree leaf by leaf, as a carry before and after a step must."""
    if tree.structure != other.structure:
        raise TraceError(
            f"{what} is {_show_structure(tree.structure)} where {other_name} is {_show_structure(other.structure)}, "
            f"at {user_location()}: both must have one structure"
        )
    for path, a, b in zip(tree.paths, tree.tensors, other.tensors):
        name = f"{what}, {path}," if path else what
        if a.dtype != b.dtype:
            raise DtypeError(
                f"{name} is {a.dtype}{show(a.shape)} where {other_name} is {b.dtype}{show(b.shape)}, at "
                f"{user_location()}: convert one of them with astype"
            )
        if not same_shape(a.shape, b.shape):
            raise ShapeError(
                f"{name} is {a.dtype}{show(a.shape)} where {other_name} is {b.dtype}{show(b.shape)}, at "
                f"{user_location()}: the shapes must be equal"
            )


def _predicate(value, name):
    """A value that decides, as a handle: a bool of rank 0; a number counts as true if it is not zero."""
    value = _tensor(value)
    if not is_one(value.size):
        raise ShapeError(f"{name} has the shape {show(value.shape)}, at {user_location()}: it must have one element")
    if value.dtype != "bool":
        value = value != 0
    return (value if value.ndim == 0 else value.reshape(()))._handle


def cond(pred, then_fn, else_fn, *operands):
    """``then_fn(*operands)`` if ``pred`` is true, else ``else_fn(*operands)``; only that one is run.

    Args:
        pred: a tensor with one element (not a bool: true if it is not zero), or a Python bool, which decides at once.
        then_fn, else_fn: functions of ``operands`` that return trees of tensors: of one structure, and leaf by leaf of
            one shape and dtype. They may also use other tensors, and assign variables.

    Returns:
        The tree of the function that ran.

    Raises:
        TraceError, ShapeError, DtypeError: the two results differ in structure, shape or dtype.
    """
    if isinstance(pred, (bool, np.bool_)):
        return (then_fn if pred else else_fn)(*operands)
    predicate = _predicate(pred, "cond: the predicate")
    with RegionRecorder() as recorder:
        (then,) = recorder.record("a branch of F.cond", [], lambda _: [_Tree(then_fn(*operands), "")])
        (otherwise,) = recorder.record("a branch of F.cond", [], lambda _: [_Tree(else_fn(*operands), "")])
        _check_same("cond: the result of else_fn", otherwise, then, "that of then_fn")
        return then.rebuild(recorder.finish("if", predicate=predicate))


def while_loop(cond_fn, body_fn, init, max_steps=None):
    """``state = body_fn(state)``, from ``init`` on, as long as ``cond_fn(state)`` is true.

    Args:
        cond_fn: a function of the state to a value with one element.
        body_fn: a function of the state to the next one: the same structure, shapes and dtypes. It may assign
            variables.
        init: a tree of tensors and numbers (which become tensors of rank 0).
        max_steps: an int or Dim after which the loop ends in any case; a gradient through the loop needs it.

    Returns:
        The last state.

    Raises:
        TraceError, ShapeError, DtypeError: body_fn returns something of another structure, shape or dtype than init.
    """
    state = _Tree(init, "")
    with RegionRecorder() as recorder:

        def condition(handles):
            decides = _predicate(cond_fn(state.rebuild(handles)), "while_loop: the result of cond_fn")
            return [_Tree(Tensor._wrap(decides), "")]

        def body(handles):
            after = _Tree(body_fn(state.rebuild(handles)), "")
            _check_same("while_loop: the result of body_fn", after, state, "the state before")
            return [after]

        recorder.record("the condition of F.while_loop", state.types, condition)
        recorder.record("the body of F.while_loop", state.types, body)
        return state.rebuild(recorder.finish("while", inits=state.handles, steps=max_steps))


def _scan_length(xs, length):
    """The number of steps: that of the first axes, which must agree with each other and with ``length``."""
    for path, tensor in zip(xs.paths, xs.tensors):
        if tensor.ndim == 0:
            raise ShapeError(f"scan: {path} is a tensor of rank 0, at {user_location()}: it has no axis to run over")
        if length is None:
            length = tensor.shape[0]
        elif not same_shape((length,), (tensor.shape[0],)):
            raise ShapeError(
                f"scan: {path} has {tensor.shape[0]} slices where {length} are needed, at {user_location()}: the first "
                f"axes of all xs (and length) must be equal"
            )
    if length is None:
        raise ShapeError(f"scan without xs needs a length, at {user_location()}")
    if not isinstance(length, _compiler.DimExpr) and length < 0:
        raise ShapeError(f"scan: length is {length}, at {user_location()}; allowed is 0 or more")
    return length


def _is_taps(value):
    return isinstance(value, (tuple, list)) and all(type(tap) is int for tap in value)


def _tapped(xs, taps):
    """``xs`` with a tuple of cut tensors in place of each tensor that has taps, all cut to the common steps.

    Args:
        taps: ints for every tensor, or for each member of a tuple, list or dict ``xs`` ints or None.
    """
    from ..jit.tree import flatten, unflatten

    if _is_taps(taps):
        members, taps = {None: xs}, {None: taps}
    elif isinstance(xs, (tuple, list)) and isinstance(taps, (tuple, list)) and len(taps) == len(xs):
        members, taps = dict(enumerate(xs)), dict(enumerate(taps))
    elif isinstance(xs, dict) and isinstance(taps, dict) and set(taps) <= set(xs):
        members, taps = xs, {name: taps.get(name) for name in xs}
    else:
        members, taps = {None: xs}, {None: (taps,)}
    if not all(ts is None or (_is_taps(ts) and ts) for ts in taps.values()):
        raise UnsupportedError(
            f"scan: taps {list(taps.values())} at {user_location()}; allowed: one or more ints, or such for each member "
            f"of xs, with None for those that have none"
        )
    every = [tap for ts in taps.values() if ts is not None for tap in ts] + [0]
    first, last = min(every), max(every)

    def cut(tree, tap):
        leaves, _, structure = flatten(tree, _is_leaf, "xs")
        tensors = [_tensor(leaf) for leaf in leaves]
        for tensor in tensors:
            if tensor.ndim == 0 or not tensor.shape[0] >= last - first:
                raise ShapeError(
                    f"scan: xs of shape {show(tensor.shape)} for taps from {first} to {last} at {user_location()}; "
                    f"{last - first} slices or more are needed"
                )
        parts = [tensor[tap - first : tensor.shape[0] - (last - tap)] for tensor in tensors]
        return unflatten(structure, iter(parts))

    results = {
        name: cut(member, 0) if taps[name] is None else tuple(cut(member, tap) for tap in taps[name])
        for name, member in members.items()
    }
    if None in results:
        return results[None]
    return results if isinstance(xs, dict) else tuple(results.values())


def scan(f, init, xs=None, length=None, reverse=False, taps=None):
    """``carry, y = f(carry, x)`` for each slice x of ``xs`` along its first axis.

    Args:
        f: a function of the carry and a slice to the next carry (of the same structure, shapes and dtypes) and a tree y
            (or None). It may also use other tensors, and assign variables.
        init: the first carry: a tree of tensors and numbers (which become tensors of rank 0).
        xs: a tree of tensors with one first size, which may be symbolic; None to count steps only.
        length: the number of steps, an int or Dim; needed without xs.
        reverse: run from the last slice to the first. The y of a slice stands at its index either way.
        taps: ints: x is the tuple of the slices at those distances from each step, such as ``(-1, 0)`` for the one
            before and the one itself. Where ``xs`` is a tuple, list or dict, it may be one such sequence for each
            member, with None for those that are read as they are. There are only the steps at which all slices exist:
            max(0, largest tap) - min(0, least tap) fewer. Earlier results are kept in the carry.

    Returns:
        (the last carry, the ys stacked along a new first axis)

    Raises:
        TraceError, ShapeError, DtypeError: f returns another carry than it got, or the lengths differ.
    """
    carry, slices = _Tree(init, ""), _Tree(xs if taps is None else _tapped(xs, taps), "xs")
    length = _scan_length(slices, length)
    count = len(carry.tensors)

    def step(handles):
        result = f(carry.rebuild(handles[:count]), slices.rebuild(handles[count:]))
        if not isinstance(result, tuple) or len(result) != 2:
            raise UnsupportedError(
                f"scan: the function returned {type(result).__name__}, at {user_location()}: it must return a pair, "
                f"(next carry, y)"
            )
        after = _Tree(result[0], "")
        _check_same("scan: the next carry", after, carry, "the carry before")
        return [after, _Tree(result[1], "")]

    with RegionRecorder() as recorder:
        types = carry.types + [(tensor.shape[1:], tensor.dtype) for tensor in slices.tensors]
        _, ys = recorder.record("the body of F.scan", types, step)
        handles = recorder.finish(
            "scan", inits=carry.handles, xs=slices.handles, steps=length, reverse=bool(reverse)
        )
        return carry.rebuild(handles[:count]), ys.rebuild(handles[count:])
