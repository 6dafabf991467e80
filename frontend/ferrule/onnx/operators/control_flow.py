"""Branches and loops: decided while importing where that is known, else kept in the graph."""

import numpy as np

from ... import functional as F
from ...errors import ShapeError, TraceError, UnsupportedError
from ...shapes import is_static
from ..registry import operator
from ..values import Known, tensor_of


def _tensors(values):
    return [tensor_of(value) for value in values]


@operator("If", raw=True, note="both branches with the same shapes where the data decide")
def branch(node, condition):
    """One of two bodies."""
    then, otherwise = node.get("then_branch"), node.get("else_branch")
    if isinstance(condition, Known) and not condition.is_symbolic:
        return node.run_body(then if condition.array.reshape(-1)[0] else otherwise, [])
    return F.cond(
        tensor_of(condition), lambda: _tensors(node.run_body(then, [])), lambda: _tensors(node.run_body(otherwise, []))
    )


def _constant(value):
    """Whether a condition is known to hold; None if it is not known."""
    if value is None:
        return True
    return bool(value.array.reshape(-1)[0]) if isinstance(value, Known) and not value.is_symbolic else None


@operator("Loop", host=(0, 1), raw=True, note="results of all steps only where the number of steps is known")
def loop(node, limit=None, condition=None, *carried):
    """A counted or conditional loop with values that are carried from step to step."""
    body = node.get("body")
    count = len(carried)
    if _constant(condition) is False:
        if len(node.outputs) > count:
            raise UnsupportedError("no step is run, so the shapes of its results of all steps are not known")
        return list(carried)
    trips = limit.array.reshape(-1)[0] if isinstance(limit, Known) else None
    if trips is not None and _passes_condition(body) and _constant(condition):
        return _counted(node, body, trips, carried)
    if len(body.outputs) > 1 + count:
        raise UnsupportedError("it gives results of all steps, whose number depends on the data")
    return _conditional(node, body, limit, condition, carried)


def _passes_condition(body):
    """Whether the body's condition is the one it got, or always true."""
    name = body.outputs[0].name
    makers = {output: inner for inner in body.nodes for output in inner.outputs}
    while name in makers and makers[name].operator == "Identity":
        name = makers[name].inputs[0]
    if name in body.initializers:
        return bool(np.all(body.initializers[name]))
    maker = makers.get(name)
    if maker is not None and maker.operator == "Constant":
        return bool(np.all(maker.get("value")))
    return len(body.inputs) > 1 and name == body.inputs[1].name


# Where a loop's body has other shapes in each step it is written out, up to so many steps.
_UNROLL_LIMIT = 64


def _counted(node, body, trips, carried):
    """A loop of a known number of steps."""
    failures = node.importer.failures
    before = len(failures)
    try:
        return _scanned(node, body, trips, carried)
    except (UnsupportedError, ShapeError, TraceError):
        if not is_static(trips) or trips > _UNROLL_LIMIT:
            raise
        del failures[before:]
        return _unrolled(node, body, int(trips), carried)


def _unrolled(node, body, trips, carried):
    """Every step on its own; its number is known, and so are shapes that depend on it."""
    count, state, stacked = len(carried), list(carried), []
    for number in range(trips):
        results = node.run_body(body, [Known(np.array(number)), Known(np.array(True)), *state])
        state = results[1 : 1 + count]
        stacked.append(_tensors(results[1 + count :]))
    return [*state, *(F.stack(list(each), 0) for each in zip(*stacked))]


def _scanned(node, body, trips, carried):
    """A scan over the numbers of the steps."""
    count = len(carried)
    steps = F.arange(int(trips) if is_static(trips) else trips, dtype="int64")

    def step(state, number):
        results = _tensors(node.run_body(body, [number, Known(np.array(True)), *state]))
        return results[1 : 1 + count], results[1 + count :]

    last, stacked = F.scan(step, _tensors(carried), steps)
    return [*last, *stacked]


def _conditional(node, body, limit, condition, carried):
    holds = F.ones((), dtype="bool") if condition is None else F.reshape(tensor_of(condition), ())
    bound = None if limit is None else F.reshape(tensor_of(limit), ()).astype("int64")

    def goes_on(state):
        number, going, _ = state
        return going if bound is None else F.logical_and(going, F.less(number, bound))

    def step(state):
        number, going, values = state
        results = _tensors(node.run_body(body, [number, going, *values]))
        return number + 1, F.reshape(results[0], ()), results[1:]

    return F.while_loop(goes_on, step, (F.zeros((), dtype="int64"), holds, _tensors(carried)))[2]


@operator("Scan", since=9, raw=True)
def scan(node, *values):
    """A loop over slices of tensors along an axis of each, with values that are carried."""
    body, slices = node.get("body"), node.get("num_scan_inputs")
    values = _tensors(values)
    carried, xs = values[: len(values) - slices], values[len(values) - slices :]
    count = len(carried)
    axes = node.get("scan_input_axes") or [0] * slices
    backward = node.get("scan_input_directions") or [0] * slices
    xs = [F.moveaxis(x, axis, 0) for x, axis in zip(xs, axes)]
    xs = [F.flip(x, 0) if turned else x for x, turned in zip(xs, backward)]

    def step(state, items):
        results = _tensors(node.run_body(body, [*state, *items]))
        return results[:count], results[count:]

    last, stacked = F.scan(step, carried, xs)
    results = len(stacked)
    axes = node.get("scan_output_axes") or [0] * results
    backward = node.get("scan_output_directions") or [0] * results
    stacked = [F.flip(y, 0) if turned else y for y, turned in zip(stacked, backward)]
    return [*last, *(F.copy(F.moveaxis(y, 0, axis)) for y, axis in zip(stacked, axes))]
