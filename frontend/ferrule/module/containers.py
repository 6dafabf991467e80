"""Modules that hold others, or parameters, in order or by name."""

from collections import OrderedDict
from collections.abc import Mapping

from .._tensor import Parameter
from ..errors import ShapeError
from .module import Module


class _Keyed(Module):
    """Attributes in the order of ``layer_keys``: the base of all containers."""

    _kind = Module

    def __init__(self, named=(), **kwargs):
        super().__init__(**kwargs)
        self.layer_keys = []
        for name, value in named:
            self._put(str(name), value)

    def _put(self, key, value):
        if not isinstance(value, self._kind):
            kind = type(self).__name__
            raise TypeError(f"{kind} holds {self._kind.__name__}s, not {type(value).__name__} (for {key!r})")
        if key not in self.layer_keys:
            if hasattr(self, key):
                raise KeyError(f"{type(self).__name__}: {key!r} is an attribute of the container itself")
            self.layer_keys = [*self.layer_keys, key]
        setattr(self, key, value)

    def _drop(self, key):
        delattr(self, key)
        self.layer_keys = [name for name in self.layer_keys if name != key]

    @property
    def layer_values(self):
        """What it holds, in order."""
        return [getattr(self, name) for name in self.layer_keys]

    def __len__(self):
        return len(self.layer_keys)


class _Ordered(_Keyed):
    """A container with the interface of a list."""

    @classmethod
    def _of(cls, named):
        """A container of these (name, value)."""
        return cls([value for _, value in named])

    def _key(self, index):
        index = index.__index__()
        if not -len(self) <= index < len(self):
            raise ShapeError(f"{type(self).__name__} of {len(self)} items has no item {index}")
        return self.layer_keys[index]

    def _renewed(self, values):
        """Holds ``values`` instead, numbered anew."""
        for key in self.layer_keys:
            delattr(self, key)
        self.layer_keys = []
        for number, value in enumerate(values):
            self._put(str(number), value)

    def __iter__(self):
        return iter(self.layer_values)

    def __contains__(self, item):
        return any(item is value for value in self.layer_values)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return self._of([(name, getattr(self, name)) for name in self.layer_keys[index]])
        return getattr(self, self._key(index))

    def __setitem__(self, index, value):
        if isinstance(index, slice):
            for name, item in zip(self.layer_keys[index], value, strict=True):
                self._put(name, item)
        else:
            self._put(self._key(index), value)

    def __delitem__(self, index):
        for name in self.layer_keys[index] if isinstance(index, slice) else [self._key(index)]:
            self._drop(name)

    def append(self, value):
        """Adds an item at the end; returns self."""
        numbers = [int(name) for name in self.layer_keys if name.isdecimal()]
        self._put(str(max(numbers, default=-1) + 1 if numbers else len(self)), value)
        return self

    def extend(self, values):
        """Adds several items at the end; returns self."""
        for value in values:
            self.append(value)
        return self

    def insert(self, index, value):
        """Adds an item before position ``index``; all are numbered anew."""
        values = self.layer_values
        values.insert(index, value)
        self._renewed(values)

    def pop(self, index=-1):
        """Takes an item out and returns it; the others keep their names."""
        value = self[index]
        del self[index]
        return value

    def __add__(self, other):
        return self._of([(str(number), value) for number, value in enumerate([*self, *other])])

    def __iadd__(self, other):
        return self.extend(other)


class Sequential(_Ordered):
    """Modules called one after another.

    Args:
        args: modules, named "0", "1", ...; or one dict of names to modules.
    """

    def __init__(self, *args, **kwargs):
        if len(args) == 1 and isinstance(args[0], Mapping):
            named = args[0].items()
        else:
            named = [(str(number), module) for number, module in enumerate(args)]
        super().__init__(named, **kwargs)

    @classmethod
    def _of(cls, named):
        return cls(OrderedDict(named))

    def forward(self, inp):
        for name in self.layer_keys:
            inp = getattr(self, name)(inp)
        return inp


class ModuleList(_Ordered):
    """A list of modules: what it holds belongs to the model.

    Args:
        modules: an iterable of modules; nothing makes an empty list.
    """

    def __init__(self, modules=(), **kwargs):
        super().__init__([(str(number), module) for number, module in enumerate(modules)], **kwargs)


class ParameterList(_Ordered):
    """A list of parameters.

    Args:
        parameters: an iterable of Parameters; nothing makes an empty list.
    """

    _kind = Parameter

    def __init__(self, parameters=(), **kwargs):
        super().__init__([(str(number), parameter) for number, parameter in enumerate(parameters)], **kwargs)


class _Dictionary(_Keyed):
    """A container with the interface of a dict."""

    def __init__(self, items=None, **kwargs):
        super().__init__(**kwargs)
        if items is not None:
            self.update(items)

    def __getitem__(self, key):
        if key not in self.layer_keys:
            raise KeyError(f"{type(self).__name__} has no {key!r}; it has {', '.join(self.layer_keys) or 'nothing'}")
        return getattr(self, key)

    def __setitem__(self, key, value):
        self._put(key, value)

    def __delitem__(self, key):
        self[key]  # raises KeyError
        self._drop(key)

    def __contains__(self, key):
        return key in self.layer_keys

    def __iter__(self):
        return iter(self.layer_keys)

    def keys(self):
        """The names in order."""
        return list(self.layer_keys)

    def values(self):
        """What it holds, in order."""
        return self.layer_values

    def items(self):
        """(name, value), in order."""
        return list(zip(self.layer_keys, self.layer_values))

    def get(self, key, default=None):
        """The value of a name, or ``default``."""
        return getattr(self, key) if key in self else default

    def pop(self, key):
        """Takes a value out and returns it."""
        value = self[key]
        self._drop(key)
        return value

    def update(self, items):
        """Sets several values, from a mapping or (name, value) pairs."""
        for key, value in items.items() if isinstance(items, (Mapping, _Dictionary)) else items:
            self[key] = value


class ModuleDict(_Dictionary):
    """Modules by name.

    Args:
        modules: a mapping or (name, module) pairs.
    """


class ParameterDict(_Dictionary):
    """Parameters by name.

    Args:
        parameters: a mapping or (name, Parameter) pairs.
    """

    _kind = Parameter
