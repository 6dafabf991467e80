"""Views: tensors that share their elements with others, over an op stream whose values never change.

A tensor of which a view is taken moves its value into a `Storage`; it and its views then name that storage and how
they see it (a chain of steps: reshape, transpose, slice, broadcast). A write through one of them becomes a new value
of the storage, made by undoing its steps from the last to the first. The others notice that the storage names another
value and take their steps again when they are read next. So nothing is tracked by version numbers: a handle of the
stream is the version, also in a trace, where a variable has other handles than outside.

A view of a temporary (``relu(x).reshape(-1)``) would keep the temporary's value alive and so make each flush return
it. When a storage has one tensor left, it takes on that tensor's own value (`Storage.forget`).
"""

import weakref

from . import _compiler, _recording
from ._slices import write_slice
from ._stream import apply
from .errors import UnsupportedError
from .location import user_location
from .shapes import same_shape, show


class Reshape:
    """The elements in row-major order in another shape."""

    __slots__ = ("shape",)

    def __init__(self, shape):
        self.shape = list(shape)

    def key(self):
        """What tells it from other steps."""
        return ("reshape", tuple(map(str, self.shape)))

    def read(self, handle):
        """The view of the value ``handle``."""
        return reshaped(handle, self.shape)

    def write(self, handle, value):
        """``handle`` with the viewed elements replaced by ``value``."""
        return reshaped(value, handle.shape)


class Transpose:
    """The axes in the order ``pattern``."""

    __slots__ = ("pattern",)

    def __init__(self, pattern):
        self.pattern = list(pattern)

    def key(self):
        """What tells it from other steps."""
        return ("transpose", tuple(self.pattern))

    def read(self, handle):
        """The view of the value ``handle``."""
        return transposed(handle, self.pattern)

    def write(self, handle, value):
        """``handle`` with the viewed elements replaced by ``value``."""
        del handle
        return transposed(value, inverse(self.pattern))


class Slice:
    """Elements starts, starts + steps, ... before stops on each axis, as the op `slice` takes them."""

    __slots__ = ("starts", "stops", "steps")

    def __init__(self, starts, stops, steps):
        self.starts = starts
        self.stops = stops
        self.steps = steps

    def key(self):
        """What tells it from other steps."""
        return ("slice", tuple(map(str, self.starts)), tuple(map(str, self.stops)), tuple(self.steps))

    def read(self, handle):
        """The view of the value ``handle``."""
        return apply("slice", [handle], {"starts": self.starts, "stops": self.stops, "steps": self.steps})[0]

    def write(self, handle, value):
        """``handle`` with the viewed elements replaced by ``value``."""
        return write_slice(handle, value, self.starts, self.steps)


class Broadcast:
    """The value repeated by NumPy's rule; one element then stands at several places, so that none can be written."""

    __slots__ = ("shape",)

    def __init__(self, shape):
        self.shape = list(shape)

    def key(self):
        """What tells it from other steps."""
        return ("broadcast_to", tuple(map(str, self.shape)))

    def read(self, handle):
        """The view of the value ``handle``."""
        return broadcasted(handle, self.shape)

    def write(self, handle, value):
        """Refused, as NumPy does."""
        del value
        raise UnsupportedError(
            f"a write into a tensor of shape {show(self.shape)} at {user_location()} that broadcast_to made of one of "
            f"shape {show(handle.shape)}: its elements share memory. Write into F.copy of it"
        )


class Storage:
    """The value that a tensor and its views share: a handle, or a variable."""

    __slots__ = ("_value", "_variable", "_members", "name", "make", "__weakref__")

    def __init__(self, tensor):
        self.make = tensor._wrap  # makes a plain Tensor of a handle
        self._value = tensor._value
        self._variable = tensor._variable
        self._members = set()  # weak references to the tensors that see it
        self.name = tensor._name

    @property
    def shape(self):
        """The sizes of the whole."""
        return (self._variable or self._value).shape

    def is_traced(self):
        """Whether the value exists only in a recording."""
        return self._variable is None and self._value.is_traced

    def handle(self):
        """The handle of the current value."""
        if self._variable is not None:
            return self._variable.value()
        capture = _recording.current()
        if capture is not None and not self._value.is_traced:
            capture.note_constant(self)
        if self._variable is not None:
            return self._variable.value()
        return self._value

    def assign(self, handle):
        """Makes ``handle`` the current value."""
        if self._variable is None:
            capture = _recording.current()
            if capture is not None and not self._value.is_traced:
                capture.promote(self)
            _recording.refuse_leak(self._value, handle)
        if self._variable is not None:
            self._variable.assign(handle, location=user_location())
        else:
            self._value = handle

    def _become_variable(self, role, trainable=False, of=None, name=""):
        """Gives the whole an identity over calls; the tensors that name all of it get the variable, too."""
        if self._variable is None:
            self._variable = _compiler.Variable(
                self._value.numpy(), name=name, role=role, trainable=trainable, of=None if of is None else of._variable
            )
            self._value = None
            for reference in tuple(self._members):
                tensor = reference()
                if tensor is not None and not tensor._view.steps:
                    tensor._variable = self._variable

    def forget(self, gone):
        """The member of a reference is gone. The value of one that is left alone needs the rest no more."""
        self._members.discard(gone)
        if len(self._members) == 1 and self._variable is None:
            (reference,) = self._members
            tensor = reference()
            view = None if tensor is None else tensor._view
            if view is not None and view.steps:
                view.stand_alone(tensor)


class View:
    """How one tensor sees a storage. Owned by that tensor alone; when that goes, the storage is told.

    Attributes:
        storage, steps: what is seen, and how; no steps: all of it.
        index, outer: the subscript that made it and the steps of the tensor that was subscripted, so that the write
            back of ``x[index] += y`` is known to have happened.
    """

    __slots__ = ("storage", "steps", "index", "outer", "_seen", "_scope", "_reference")

    def __init__(self, storage, steps, tensor, seen, index=None, outer=None):
        self.storage = storage
        self.steps = steps
        self.index = index
        self.outer = outer
        self._seen = seen
        self._scope = _recording.scope()
        self._reference = weakref.ref(tensor, storage.forget)
        storage._members.add(self._reference)

    def leave(self):
        """Ends it for a tensor that lives on."""
        self.storage.forget(self._reference)

    def handle(self, tensor):
        """The handle of the present value of ``tensor``, whose `_value` holds the one found last."""
        whole = self.storage.handle()
        if not self.steps:
            return whole
        if whole is self._seen and self._scope == _recording.scope():
            return tensor._value
        value = whole
        for step in self.steps:
            value = step.read(value)
        tensor._value, self._seen, self._scope = value, whole, _recording.scope()
        return value

    def write(self, value):
        """Replaces the elements that are seen by those of the handle ``value``."""
        wholes = [self.storage.handle()]
        for step in self.steps[:-1]:
            wholes.append(step.read(wholes[-1]))
        for step, whole in zip(reversed(self.steps), reversed(wholes)):
            value = step.write(whole, value)
        self.storage.assign(value)

    def is_alone(self):
        """Whether nobody else sees the elements, so that nobody can tell that it is a view."""
        return len(self.storage._members) == 1 and self.storage._variable is None

    def stand_alone(self, tensor):
        """Makes the value of ``tensor``, the only one left, the storage's own, if it is known without a computation."""
        whole = self.storage._value
        # The traced view of a constant is of no use after the recording.
        if self._seen is whole and tensor._value.is_traced == whole.is_traced:
            self.storage._value = tensor._value
            self.steps = ()


def view(base, handle, steps, index=None):
    """The tensor with the value ``handle`` that shares its elements with ``base``: its view by the tuple ``steps``."""
    return views(base, ((handle, steps, index),))[0]


def views(base, parts):
    """The views of ``base`` by each (handle, steps, index) of ``parts``, as `view` makes one."""
    source = base._view
    if source is None:
        source = base._view = View(Storage(base), (), base, base._value)
    storage, outer = source.storage, source.steps
    whole, make = storage.handle(), storage.make
    tensors = []
    for handle, steps, index in parts:
        tensor = make(handle)
        tensor._view = View(storage, outer + steps, tensor, whole, index, outer)
        tensors.append(tensor)
    return tensors


def member(storage, handle, steps):
    """The tensor with the value ``handle`` that sees ``storage`` by ``steps``."""
    tensor = storage.make(handle)
    tensor._view = View(storage, steps, tensor, storage.handle())
    return tensor


def inverse(pattern):
    """The permutation that undoes ``pattern``."""
    return sorted(range(len(pattern)), key=pattern.__getitem__)


def reshaped(handle, shape):
    """``handle`` in another shape; itself if it has it."""
    return handle if same_shape(handle.shape, shape) else apply("reshape", [handle], {"shape": list(shape)})[0]


def broadcasted(handle, shape):
    """``handle`` repeated to ``shape`` by NumPy's rule; itself if it has it."""
    return handle if same_shape(handle.shape, shape) else apply("broadcast_to", [handle], {"shape": shape})[0]


def transposed(handle, pattern):
    """``handle`` with its axes in the order ``pattern``; itself if they are."""
    if pattern == list(range(len(pattern))):
        return handle
    return apply("transpose", [handle], {"pattern": pattern})[0]
