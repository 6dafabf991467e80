"""One recording of a Python function: its graph, what must hold to use it again, and what it leaves in Python."""

import json

import numpy as np

from .. import _compiler, _recording
from .._tensor import Tensor, variable
from ..dtypes import to_numpy
from ..errors import TraceError, UnsupportedError
from ..location import user_location
from ..shapes import show
from .guards import GuardCheck, GuardRecorder, holds
from .results import Argument, ArgumentStorage, Call, Outputs, Results, describe_value, rebuild, refuse_hidden
from .tree import describe, flatten, is_array, statics, unflatten


class _Restart(BaseException):
    """A tensor turned out to be state after it was taken for a constant: record again."""


class GradientState:
    """The ``grad`` of tensors over a recording: what it was before, and where a value that is left lives."""

    def __init__(self, accumulate):
        self._before = {}
        self._accumulate = accumulate

    def touch(self, tensor):
        """Called before the first read or write of ``tensor.grad``."""
        if id(tensor) in self._before:
            return
        before = tensor._grad
        self._before[id(tensor)] = (tensor, before)
        if before is not None and before._variable is None and not before._is_traced():
            tensor._grad = _gradient_slot(tensor, before.numpy())
        elif before is None and id(tensor) in self._accumulate:
            tensor._grad = tensor._gradient_slot

    def _outer(self):
        """(tensor, its gradient before) of the tensors that outlive the call."""
        return [(t, g) for t, g in self._before.values() if not t._is_traced()]

    def read(self):
        """The tensors whose gradient from before the call is read in it."""
        return [tensor for tensor, before in self._outer() if before is not None]

    def left(self):
        """The ids of the tensors that had no gradient and have one after the call."""
        return [id(tensor) for tensor, before in self._outer() if before is None and tensor._grad is not None]

    def guards(self, recorder):
        """Whether there was a gradient decides what is recorded."""
        for tensor, before in self._outer():
            recorder.note(
                (id(tensor), "grad"),
                lambda tensor=tensor: tensor._grad is not None,
                before is not None,
                f"whether {tensor.name or 'a tensor'} has a gradient",
            )

    def settle(self):
        """Gives each gradient that is left a variable; returns [(tensor, its gradient after a call)]."""
        after = []
        for tensor, _ in self._outer():
            left = tensor._grad
            if left is not None and left._variable is None:
                slot = tensor._gradient_slot
                if slot is None:
                    slot = _gradient_slot(tensor, np.zeros(_static(tensor), to_numpy(tensor.dtype)))
                slot._assign(left._handle)
                tensor._grad = slot
            after.append((tensor, tensor._grad))
        return after

    def restore(self):
        """Puts back what was there before a recording that failed."""
        for tensor, before in self._before.values():
            tensor._grad = before


def _static(tensor):
    for size in tensor.shape:
        if not isinstance(size, int):
            raise UnsupportedError(
                f"the gradient of a tensor of symbolic shape {show(tensor.shape)} is left after the call at "
                f"{user_location()}: use it in the function and clear it"
            )
    return tensor.shape


def _gradient_slot(tensor, array):
    """The variable that holds a tensor's gradient in between calls."""
    if tensor._gradient_slot is None:
        owner = tensor if tensor._variable is not None else None
        tensor._gradient_slot = variable(array, role="gradient", of=owner)
    else:
        tensor._gradient_slot.set_value(array)
    return tensor._gradient_slot


class Capture:
    """The state of a recording, reachable by tensors and modules through `ferrule._recording`."""

    def __init__(self, function, accumulate=()):
        self.guards = GuardRecorder(function)
        self.gradients = GradientState(set(accumulate))
        self.trace = None  # the `_compiler.Trace` while it records
        self.name = ""  # of the entry
        self._count_dims = 0
        self._constants = {}

    def note_constant(self, tensor):
        """A tensor from outside is used: its present value is a constant of the graph."""
        if id(tensor) not in self._constants:
            value = tensor._value
            self._constants[id(tensor)] = tensor
            self.guards.note(
                (id(tensor), "value"),
                lambda: tensor._value if tensor._variable is None else None,
                value,
                f"the value of the tensor {tensor.name or ''} of shape {tensor.shape}",
            )

    def count_dim(self):
        """A new dim for a number that the program finds out while it runs; no other entry has one of its name."""
        self._count_dims += 1
        entry = "".join(c if c.isascii() and c.isalnum() else "_" for c in self.name)
        return _compiler.dim(f"_{entry}.count{self._count_dims - 1}", 0)

    def undo(self):
        """Puts back what the function changed in Python's world, after a recording that is not used."""
        self.guards.restore()
        self.gradients.restore()

    def promote(self, tensor):
        """A tensor from outside is written: it is state, so it becomes a variable."""
        was_constant = id(tensor) in self._constants
        tensor._become_variable("buffer")
        if was_constant:
            raise _Restart


class Recorded:
    """What a recording gives: the entry, how its results are made, the guards and the effects in Python.

    Attributes:
        results: for each tensor of the result what makes it, see `results`.
        writes: (description of the tensor, number of the output) of the arguments that the function writes.
        effects: (place, what it holds after a call).
        argument_effects: the same for the tree of the arguments, or None if the function leaves their containers alone.
        specification: of the call that was recorded, see `arguments`.
    """

    __slots__ = (
        "entry",
        "structure",
        "results",
        "output_names",
        "guards",
        "writes",
        "effects",
        "argument_effects",
        "gradients",
        "gradients_read",
        "variables",
        "names",
        "specification",
    )

    def broken_guard(self):
        """The first guard that does not hold any more, or None."""
        return self.guards.broken()

    def run(self, handles, arguments, tree):
        """One call: the compiled program, then the effects in Python; returns the function's result.

        Args:
            handles: what the entry takes.
            arguments: the tensors of the call, in the order of the argument tree.
            tree: the arguments as they were passed.
        """
        for tensor in self.gradients_read:
            # Dynamic mode may have left a gradient that does not lie in the variable yet.
            if tensor._grad is not tensor._gradient_slot:
                tensor._gradient_slot.set_value(tensor._grad)
        call = Call(arguments, self.entry.run(handles))
        for description, number in self.writes:
            _write(description, call, call.handles[number])
        for tensor, gradient in self.gradients:
            tensor._grad = gradient
        for place, described in self.effects:
            current = place.read()
            value = rebuild(described, current, call)
            if value is not current:
                place.write(value)
        if self.argument_effects is not None:
            rebuild(self.argument_effects, tree, call)
        return unflatten(self.structure, iter([result.make(call) for result in self.results]))


def _write(description, call, handle):
    if isinstance(description, Argument):
        call.arguments[description.number]._assign(handle)
    else:
        description.storage(call).assign(handle)


class Inputs:
    """How the tensors of an argument tree become inputs of an entry.

    Args:
        specs: [(name, shape, dtype)] of the entry's inputs.
        build: ``build(tensors)`` gives the tensors of the argument tree for those of the inputs.
    """

    def __init__(self, specs, build=None):
        self.specs = specs
        self.build = build or list


def record(function, name, inputs, call, artifact=False, output_names=None, undo=False):
    """Records ``function`` into an entry.

    Args:
        function: the user's function, whose globals and cells are guarded.
        name: the entry's name.
        inputs: an Inputs.
        call: ``call(tensors, guards)`` runs the function on the argument tree with these tensors: (tree, a snapshot of
            it from before, result).
        artifact: the entry must be right for every call of an artifact: a gradient that is left at its end is added to
            from the first call on, and what it would leave in Python is no output.
        output_names: names of the outputs of an artifact's entry, in order; by default their paths.
        undo: put back what the function changed in Python's world, also after success.

    Returns:
        A Recorded.

    Raises:
        Whatever the function raises; then all that it did in Python's world is undone, as far as it is watched.
    """
    _compiler.flush()
    accumulate = ()
    for _ in range(1000):
        capture = Capture(function, accumulate)
        try:
            recorded = _record_once(capture, name, inputs, call, artifact, output_names)
        except _Restart:
            capture.undo()
            continue
        except BaseException:
            capture.undo()
            raise
        if not artifact:
            if undo:
                capture.undo()
            return recorded
        left = capture.gradients.left()
        capture.undo()
        if not left or accumulate:
            return recorded
        accumulate = left
    raise TraceError(
        f"{name}: recording found new state again and again; tensors from outside must not be made in the function"
    )


def _record_once(capture, name, inputs, call, artifact, output_names):
    before = _recording.activate(capture)
    if before is not None:
        _recording.activate(before)
        raise TraceError(f"{name}: a recording is already active")
    try:
        capture.name = name
        with _compiler.Trace(name) as trace:
            capture.trace = trace
            sources = [Tensor._wrap(trace.input(*spec)) for spec in inputs.specs]
            tensors = inputs.build(sources)
            initial = [source._handle for source in sources]
            with capture.guards:
                tree, snapshot, result = call(tensors, capture.guards)
            recorded = Recorded()
            outputs = Outputs()
            results = Results(tensors, outputs)
            _describe_result(recorded, result, results, outputs, name, artifact, output_names)
            result_count = len(outputs.named)
            recorded.gradients = capture.gradients.settle()
            capture.gradients.guards(capture.guards)
            _describe_effects(recorded, capture, results, tree, snapshot)
            recorded.writes = _find_writes(sources, initial, tensors, outputs)
            if artifact:
                del outputs.named[result_count:]
            recorded.guards = GuardCheck(capture.guards.guards())
            recorded.gradients_read = capture.gradients.read()
            recorded.names = capture.guards.names
            signature = {
                "inputs": [spec[0] for spec in inputs.specs],
                "outputs": describe(recorded.structure, iter(recorded.output_names)),
            }
            recorded.entry = trace.finish(outputs.named, json.dumps(signature))
            recorded.variables = trace.variables()
        return recorded
    finally:
        _recording.activate(None)


def _describe_result(recorded, result, results, outputs, name, artifact, output_names):
    """Takes the function's result apart; an artifact also returns arrays and tensors from outside, each by itself."""
    leaves, paths, recorded.structure = flatten(result, is_leaf if artifact else _is_tensor, "out")
    if output_names is not None:
        if len(output_names) != len(leaves):
            raise UnsupportedError(
                f"{name}: {len(output_names)} output names {tuple(output_names)} for {len(leaves)} outputs"
            )
        paths = list(output_names)
    recorded.output_names = paths
    for static in statics(recorded.structure):
        refuse_hidden(static, name)
    if artifact:
        for leaf, path in zip(leaves, paths):
            outputs.named.append((path, (leaf if isinstance(leaf, Tensor) else Tensor(leaf))._handle))
        recorded.results = ()
    else:
        recorded.results = [results.describe(leaf, path) for leaf, path in zip(leaves, paths)]


def _is_tensor(value):
    return isinstance(value, Tensor)


def is_leaf(value):
    """Whether a value counts as a tensor in arguments, and in what an artifact returns."""
    return isinstance(value, Tensor) or is_array(value)


def _describe_effects(recorded, capture, results, tree, snapshot):
    recorded.effects = [
        (place, describe_value(place.read(), place.before, results)) for place in capture.guards.changed()
    ]
    recorded.argument_effects = None
    if not holds(snapshot, tree):
        recorded.argument_effects = describe_value(tree, snapshot, results)


def _find_writes(sources, initial, tensors, outputs):
    """[(which argument, number of the output)] of the inputs that have another value at the end."""
    writes = []
    for source, before in zip(sources, initial):
        after = source._handle
        if after is before:
            continue
        number = next((n for n, tensor in enumerate(tensors) if tensor is source), None)
        if number is None:
            storage = source._view.storage
            number = next(n for n, tensor in enumerate(tensors) if tensor._view and tensor._view.storage is storage)
            writes.append((ArgumentStorage(number), outputs.add(after)))
        else:
            writes.append((Argument(number), outputs.add(after)))
    return writes
