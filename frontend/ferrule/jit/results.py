"""What a recorded function returns and leaves behind, so that each call of its program gives the same.

A result may be a computed tensor, one of the arguments, a tensor from outside, or a view of any of these; it is that
again after each call, with NumPy's aliasing. Changed containers and attributes are rebuilt in place.
"""

import types

import numpy as np

from .._tensor import Tensor
from .._views import member, view
from ..errors import UnsupportedError
from ..location import user_location
from .guards import Items


class Outputs:
    """Collects the outputs of an entry: handles, each once."""

    def __init__(self):
        self.named = []  # (name, handle)
        self._numbers = {}

    def add(self, handle, name=None):
        """The number of the output that ``handle`` is."""
        number = self._numbers.get(id(handle))
        if number is None:
            number = self._numbers[id(handle)] = len(self.named)
            self.named.append((name or f"effect.{number}", handle))
        return number


class Call:
    """The values of one call: the arguments, the outputs, and what has been made of them."""

    __slots__ = ("arguments", "handles", "made")

    def __init__(self, arguments, handles):
        self.arguments = arguments
        self.handles = handles
        self.made = {}


class Computed:
    """A tensor that the program computes; the same one wherever the function returned the same one."""

    __slots__ = ("number", "key")

    def __init__(self, number, key):
        self.number = number
        self.key = key

    def make(self, call):
        """The Tensor of this call."""
        tensor = call.made.get(self.key)
        if tensor is None:
            tensor = call.made[self.key] = Tensor._wrap(call.handles[self.number])
        return tensor


class Argument:
    """The tensor that was passed as an argument."""

    __slots__ = ("number",)

    def __init__(self, number):
        self.number = number

    def make(self, call):
        """The Tensor of this call."""
        return call.arguments[self.number]


class ArgumentStorage:
    """What the tensor that was passed as an argument is a view of."""

    __slots__ = ("number",)

    def __init__(self, number):
        self.number = number

    def storage(self, call):
        """The Storage of this call."""
        return call.arguments[self.number]._view.storage


class Outside:
    """A tensor from outside, as it is."""

    __slots__ = ("tensor",)

    def __init__(self, tensor):
        self.tensor = tensor

    def make(self, call):
        """The Tensor of this call."""
        del call
        return self.tensor


class Viewed:
    """A view of what another result description makes, or of a storage from outside."""

    __slots__ = ("base", "steps", "number", "key")

    def __init__(self, base, steps, number, key):
        self.base = base
        self.steps = steps
        self.number = number
        self.key = key

    def make(self, call):
        """The Tensor of this call."""
        tensor = call.made.get(self.key)
        if tensor is None:
            handle = call.handles[self.number]
            if isinstance(self.base, (Computed, Argument)):
                tensor = view(self.base.make(call), handle, self.steps)
            else:
                base = self.base.storage(call) if isinstance(self.base, ArgumentStorage) else self.base
                tensor = member(base, handle, self.steps)
            call.made[self.key] = tensor
        return tensor


class Results:
    """Describes tensors of a recording.

    Args:
        arguments: the tensors of the recording that stand for the arguments.
        outputs: the Outputs to add to.
    """

    def __init__(self, arguments, outputs):
        self._arguments = {id(tensor): number for number, tensor in enumerate(arguments)}
        self._storages = {}
        for number, tensor in enumerate(arguments):
            if tensor._view is not None:
                whole = Argument(number) if not tensor._view.steps else ArgumentStorage(number)
                self._storages.setdefault(id(tensor._view.storage), whole)
        self._outputs = outputs
        self._kept = []  # keeps ids from being used again

    def describe(self, tensor, name=None):
        """What makes ``tensor`` again after each call."""
        self._kept.append(tensor)
        if id(tensor) in self._arguments:
            return Argument(self._arguments[id(tensor)])
        seen = tensor._view
        if seen is None or (not seen.steps and not tensor._is_traced()):
            if not tensor._is_traced():
                return Outside(tensor)
            return Computed(self._outputs.add(tensor._handle, name), id(tensor))
        base = self._storage(seen.storage)
        number = self._outputs.add(tensor._handle, name)
        if not seen.steps and isinstance(base, Computed):
            return base
        return Viewed(base, seen.steps, number, id(tensor))

    def _storage(self, storage):
        """What makes the whole of a storage: an argument, the storage itself if it is from outside, or an output."""
        if not storage.is_traced():
            return storage
        known = self._storages.get(id(storage))
        if known is None:
            self._kept.append(storage)
            known = self._storages[id(storage)] = Computed(self._outputs.add(storage.handle()), id(storage))
        return known


# What a call leaves in a place: plain values stand for themselves.


class _Container:
    """A list, tuple or dict with described items.

    Attributes:
        origin: where the object was before the recording: None if the function made it, () for the place itself, (key,)
            for the item ``key`` of the container that is the origin of the enclosing one.
    """

    __slots__ = ("kind", "origin", "keys", "items")

    def __init__(self, kind, origin, keys, items):
        self.kind = kind
        self.origin = origin
        self.keys = keys
        self.items = items


class _Made:
    __slots__ = ("description",)

    def __init__(self, description):
        self.description = description


def describe_value(value, before, results, origin=()):
    """Describes what a place holds after a recording, for `rebuild`.

    Args:
        before: the `guards.snapshot` of what it held before.
    """
    if isinstance(value, Tensor):
        return _Made(results.describe(value))
    if not isinstance(value, (dict, list, tuple)):
        return value
    if not isinstance(before, Items) or before.value is not value:
        before, origin = None, None
    inner = {}  # the containers that were items before, by identity
    if before is not None:
        keys = before.keys or range(len(before.items))
        inner = {id(item.value): (key, item) for key, item in zip(keys, before.items) if isinstance(item, Items)}
    items = []
    for item in value.values() if isinstance(value, dict) else value:
        key, saved = inner.get(id(item), (None, None))
        items.append(describe_value(item, saved, results, None if saved is None else (key,)))
    return _Container(type(value), origin, tuple(value) if isinstance(value, dict) else None, items)


def rebuild(described, current, call):
    """The value for this call, given what the place holds now.

    Lists and dicts that were there before are filled in place, so that everybody who holds them sees it.
    """
    if isinstance(described, _Made):
        return described.description.make(call)
    if not isinstance(described, _Container):
        return described
    there = described.origin is not None
    items = []
    for item in described.items:
        inner = None
        if there and isinstance(item, _Container) and item.origin:
            inner = current[item.origin[0]]
        items.append(rebuild(item, inner, call))
    if issubclass(described.kind, dict):
        target = current if there else described.kind()
        dict.clear(target)
        dict.update(target, zip(described.keys, items))
        return target
    if there and issubclass(described.kind, list):
        current[:] = items
        return current
    return described.kind(*items) if hasattr(described.kind, "_fields") else described.kind(items)


def refuse_hidden(value, name):
    """Raises UnsupportedError for a result in which tensors cannot be found, so that they would be of no use later."""
    what = None
    if isinstance(value, types.GeneratorType) or (hasattr(value, "__next__") and hasattr(value, "__iter__")):
        what = f"{type(value).__name__}, which computes when it is looped over; return a list"
    elif isinstance(value, (set, frozenset)) and any(isinstance(item, Tensor) for item in value):
        what = f"{type(value).__name__} of tensors, which has no order; return a list or tuple"
    elif not isinstance(value, (type, Tensor, np.ndarray)) and type(value).__module__.split(".")[0] != "ferrule":
        held = getattr(value, "__dict__", None) or {}
        hidden = [key for key, item in held.items() if isinstance(item, Tensor) and item._is_traced()]
        if hidden:
            what = f"{type(value).__name__} with a tensor in .{hidden[0]}; make it a dataclass or return the tensor"
    if what is not None:
        raise UnsupportedError(f"{name}: a traced function returns a {what} (at {user_location()})")
