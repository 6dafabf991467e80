"""One recording of a Python function: its graph, what must hold to use it again, and what it leaves in Python."""

import json

import numpy as np

from .. import _compiler, _recording
from .._tensor import Tensor, variable
from ..dtypes import to_numpy
from ..errors import TraceError, UnsupportedError
from ..location import user_location
from ..shapes import show
from .guards import GuardRecorder
from .tree import describe, flatten, is_array, unflatten


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

    def promote(self, tensor):
        """A tensor from outside is written: it is state, so it becomes a variable."""
        was_constant = id(tensor) in self._constants
        tensor._become_variable("buffer")
        if was_constant:
            raise _Restart


class Recorded:
    """What a recording gives: the entry, the structure of its results, the guards and the effects in Python."""

    __slots__ = (
        "entry",
        "structure",
        "output_names",
        "guards",
        "writes",
        "gradients",
        "gradients_read",
        "variables",
        "names",
    )

    def broken_guard(self):
        """The first guard that does not hold any more, or None."""
        for guard in self.guards:
            if not guard.holds():
                return guard
        return None

    def run(self, tensors):
        """One call: the compiled program, then the effects in Python; returns the function's result."""
        for tensor in self.gradients_read:
            # Dynamic mode may have left a gradient that does not lie in the variable yet.
            if tensor._grad is not tensor._gradient_slot:
                tensor._gradient_slot.set_value(tensor._grad)
        handles = self.entry.run([tensor._handle for tensor in tensors])
        self._replay()
        return unflatten(self.structure, iter([Tensor._wrap(handle) for handle in handles]))

    def _replay(self):
        """The effects in Python: attribute writes of modules, and which tensors have a gradient."""
        for owner, name, value in self.writes:
            if vars(owner).get(name) is not value:
                object.__setattr__(owner, name, value)
        for tensor, gradient in self.gradients:
            tensor._grad = gradient


def record(function, name, inputs, call, persistent_gradients=False):
    """Records ``function`` into an entry.

    Args:
        function: the user's function, whose globals and cells are guarded.
        name: the entry's name.
        inputs: [(name, shape, dtype)] of the tensors.
        call: ``call(tensors)`` runs the function on the traced tensors and returns its result.
        persistent_gradients: the entry must be right for every call of an artifact, so that a gradient that is left at
            its end is added to from the first call on.

    Returns:
        A Recorded.
    """
    _compiler.flush()
    accumulate = ()
    for _ in range(1000):
        capture = Capture(function, accumulate)
        try:
            recorded = _record_once(capture, name, inputs, call)
        except _Restart:
            capture.gradients.restore()
            continue
        except BaseException:
            capture.gradients.restore()
            raise
        if not persistent_gradients:
            return recorded
        left = capture.gradients.left()
        capture.gradients.restore()
        if not left or accumulate:
            return recorded
        accumulate = left
    raise TraceError(
        f"{name}: recording found new state again and again; tensors from outside must not be made in the function"
    )


def _record_once(capture, name, inputs, call):
    before = _recording.activate(capture)
    if before is not None:
        _recording.activate(before)
        raise TraceError(f"{name}: a recording is already active")
    try:
        with _compiler.Trace(name) as trace:
            capture.trace = trace
            tensors = [Tensor._wrap(trace.input(*spec)) for spec in inputs]
            with capture.guards:
                result = call(tensors)
            leaves, paths, structure = flatten(result, lambda v: isinstance(v, Tensor) or is_array(v), "out")
            outputs = [
                (path, (leaf if isinstance(leaf, Tensor) else Tensor(leaf))._handle)
                for path, leaf in zip(paths, leaves)
            ]
            gradients = capture.gradients.settle()
            capture.gradients.guards(capture.guards)
            recorded = Recorded()
            recorded.structure = structure
            recorded.output_names = paths
            recorded.guards = capture.guards.guards()
            recorded.writes = capture.guards.writes()
            recorded.gradients = gradients
            recorded.gradients_read = capture.gradients.read()
            recorded.names = capture.guards.names
            signature = {"inputs": [spec[0] for spec in inputs], "outputs": describe(structure, iter(paths))}
            recorded.entry = trace.finish(outputs, json.dumps(signature))
            recorded.variables = trace.variables()
        return recorded
    finally:
        _recording.activate(None)
