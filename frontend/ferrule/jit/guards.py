"""Guards and effects: what a capture read from Python's world, and what it changed there.

Guarded by value are int, float, str, bool, None and list, tuple, dict of these up to 1,000 items; anything else by
identity. Places that are looked at:

- attributes of modules (`ferrule.module.Module`) that are read;
- globals that the traced function and the user functions entered while recording name, and their closure cells;
- attributes of the Python modules, classes and objects found there or passed as arguments, as far as the entered
  functions name them.

What was written before it was read is no guard. A place that the function itself has changed is an effect: with the
same values before, every call leaves the same there, so the change is replayed. When a recording fails, it is undone.
"""

import dis
import functools
import gc
import math
import operator
import sys
import sysconfig
import threading
import types

from .. import _compiler
from .._tensor import Tensor
from ..location import is_internal
from ..module.module import Module

ITEM_LIMIT = 1000
_MISSING = object()
_PRIMITIVES = frozenset((int, float, str, bool, type(None), bytes, complex))
_PLAIN = (*_PRIMITIVES, list, tuple, dict)
_PACKAGE = __name__.split(".", maxsplit=1)[0]
_LIBRARY_PATHS = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})
# Bookkeeping of modules that forward functions do not depend on.
_UNGUARDED_ATTRIBUTES = frozenset(("_own_name", "name"))
# Watching attributes changes the class Module, so that one thread records at a time.
_watching = threading.Lock()


class _Identity:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Items:
    """The snapshot of a container: the object, and snapshots of what it held."""

    __slots__ = ("value", "kind", "keys", "items")

    def __init__(self, value, keys, items):
        self.value = value
        self.kind = type(value)
        self.keys = keys
        self.items = items


def snapshot(value):
    """What `holds` compares with later: a copy of guardable values, the identity of others."""
    if _count(value) > ITEM_LIMIT:
        return _Identity(value)
    return _snapshot(value)


def snapshot_all(value):
    """A `snapshot` without the limit on items."""
    return _snapshot(value)


def _count(value):
    if isinstance(value, dict):
        return 1 + sum(map(_count, value.values()))
    return 1 + sum(map(_count, value)) if isinstance(value, (list, tuple)) else 1


def _snapshot(value):
    kind = type(value)
    if kind in _PRIMITIVES:
        return value
    if isinstance(value, dict):
        return Items(value, tuple(value), [_snapshot(item) for item in value.values()])
    if isinstance(value, (list, tuple)):
        return Items(value, None, [_snapshot(item) for item in value])
    return _Identity(value)


def _restored(saved):
    """The value that a snapshot was taken of, lists and dicts with the items that they had."""
    if type(saved) is _Identity:
        return saved.value
    if type(saved) is not Items:
        return saved
    items = [_restored(item) for item in saved.items]
    if isinstance(saved.value, list):
        saved.value[:] = items
    elif isinstance(saved.value, dict):
        dict.clear(saved.value)
        dict.update(saved.value, zip(saved.keys, items))
    return saved.value


def holds(saved, value):
    """Whether ``value`` is what `snapshot` saw."""
    kind = type(saved)
    if kind is _Identity:
        return saved.value is value
    if type(value) is not (saved.kind if kind is Items else kind):
        return False
    if kind is Items:
        if len(value) != len(saved.items):
            return False
        if saved.keys is not None:
            return saved.keys == tuple(value) and all(map(holds, saved.items, value.values()))
        return all(map(holds, saved.items, value))
    if kind is float:
        return (saved == value and math.copysign(1, saved) == math.copysign(1, value)) or (
            saved != saved and value != value
        )
    return saved == value


class Place:
    """One thing that was read or written: how to read and write it, and what it was.

    Attributes:
        guarded: whether what was recorded depends on it.
        item: (mapping, key) if that is where it lies, which is fast to look at.
    """

    __slots__ = ("read", "write", "value", "before", "description", "guarded", "item")

    def __init__(self, read, value, description, write=None, guarded=True, item=None):
        self.read = read
        self.write = write
        self.value = value
        self.before = snapshot(value)
        self.description = description
        self.guarded = guarded
        self.item = item

    def holds(self):
        """Whether it is still the same."""
        return holds(self.before, self.read())

    def restore(self):
        """Makes it what it was."""
        if self.write is not None and not self.holds():
            self.write(_restored(self.before))


class GuardCheck:
    """Checks guards at each call. What lies in one mapping is looked at together, by identity first.

    Empty containers (the hooks of modules) are all looked at together: each must still be the same and empty.
    """

    def __init__(self, places):
        together, self._others, self._empty = {}, [], []
        for place in places:
            container = type(place.before) is Items
            empty = container and not place.before.items
            if place.item is None or place.value is _MISSING or (container and not empty):
                self._others.append(place)
                continue
            together.setdefault(id(place.item[0]), []).append(place)
            if empty:
                self._empty.append(place.value)
        self._groups = []
        for group in together.values():
            keys = [place.item[1] for place in group]
            # With one key `itemgetter` gives no tuple.
            get = operator.itemgetter(*keys, keys[0])
            self._groups.append((group[0].item[0], get, (*(place.value for place in group), group[0].value), group))

    def broken(self):
        """The first Place that is not what it was, or None."""
        filled = any(self._empty)
        for mapping, get, values, group in self._groups:
            try:
                if not filled and all(map(operator.is_, get(mapping), values)):
                    continue
            except KeyError:
                pass
            for place in group:
                if not place.holds():
                    return place
        for place in self._others:
            if not place.holds():
                return place
        return None


def _attribute(owner, name):
    """(read, write) of an attribute, past what the class does with it."""
    attributes = vars(owner)

    def write(value):
        if value is _MISSING:
            attributes.pop(name, None)
        elif isinstance(owner, (type, types.ModuleType)):
            setattr(owner, name, value)
        else:
            attributes[name] = value

    return lambda: attributes.get(name, _MISSING), write


def _item(mapping, key):
    """(read, write) of an item of a dict."""

    def write(value):
        if value is _MISSING:
            mapping.pop(key, None)
        else:
            dict.__setitem__(mapping, key, value)

    return lambda: mapping.get(key, _MISSING), write


def _cell(cell):
    """(read, write) of a closure cell."""

    def read():
        try:
            return cell.cell_contents
        except ValueError:
            return _MISSING

    def write(value):
        if value is _MISSING:
            del cell.cell_contents
        else:
            cell.cell_contents = value

    return read, write


class GuardRecorder:
    """Collects the places while a function is being recorded.

    Use as a context manager around the recording.
    """

    def __init__(self, function):
        self._function = function
        self.names = {}  # globals and closure variables by name, the traced function's first
        self._places = {}
        self._inner_codes = set()
        self._known = {}  # objects from outside whose attributes count

    # What the recording tells us.

    def note_read(self, owner, name, value, description):
        """An attribute of a module was read."""
        key = (id(owner), name)
        if key not in self._places:
            read, write = _attribute(owner, name)
            self._places[key] = Place(read, value, description, write, item=(vars(owner), name))

    def note_write(self, owner, name):
        """An attribute of a module is about to be written."""
        key = (id(owner), name)
        if key not in self._places:
            read, write = _attribute(owner, name)
            self._places[key] = Place(read, read(), f"{type(owner).__name__}.{name}", write, guarded=False)

    def note_items(self, mapping, keys, description):
        """The items ``keys`` of a dict were read."""
        for key in keys:
            read, write = _item(mapping, key)
            self.note((id(mapping), key), read, read(), f"{description}[{key!r}]", write, item=(mapping, key))

    def note(self, key, read, value, description, write=None, guarded=True, item=None):
        """Something else was read (or, if not ``guarded``, will be written); ``read()`` gives its value later."""
        place = self._places.get(key)
        if place is None:
            self._places[key] = Place(read, value, description, write, guarded, item)
        elif guarded and not place.guarded:
            place.guarded = place.holds()  # no guard if it has been written before

    def note_arguments(self, values):
        """Objects that the traced function was given."""
        for value in values:
            self._note_object(value)

    def guards(self):
        """What must hold to use the recording, in the order of reading."""
        return [place for place in self._places.values() if place.guarded]

    def changed(self):
        """The places that the recording has changed, in the order of first use."""
        return [place for place in self._places.values() if place.write is not None and not place.holds()]

    def restore(self):
        """Undoes what the recording has changed."""
        for place in reversed(list(self._places.values())):
            place.restore()

    # Watching.

    def __enter__(self):
        recorder, thread, places = self, threading.get_ident(), self._places

        def reading(module, name):
            value = object.__getattribute__(module, name)
            if (id(module), name) in places:
                return value
            if name in _UNGUARDED_ATTRIBUTES or name.startswith("__") or threading.get_ident() != thread:
                return value
            if name in object.__getattribute__(module, "__dict__"):
                recorder.note_read(module, name, value, f"{type(module).__name__}.{name}")
            elif isinstance(value, _PLAIN):
                recorder._note_class_attribute(module, name)
            return value

        _watching.acquire()
        Module.__getattribute__ = reading
        _compiler.watch_calls(self._enter, is_internal)
        return self

    def __exit__(self, *exception):
        _compiler.unwatch_calls()
        del Module.__getattribute__
        _watching.release()
        return False

    def _enter(self, frame):
        """A function of the user's is entered, the first time that its code is."""
        code = frame.f_code
        if code.co_filename.startswith(_LIBRARY_PATHS) or code.co_filename.startswith("<frozen"):
            return
        self._note_inner(code)
        found = []
        if code.co_freevars and code not in self._inner_codes:
            found += self._note_cells(frame, code)
        found += self._note_globals(frame, code)
        count = code.co_argcount + code.co_kwonlyargcount
        local = frame.f_locals
        for value in [local.get(name, _MISSING) for name in code.co_varnames[:count]]:
            if id(value) in self._known:
                found.append(value)
        for owner in found:
            for name in code.co_names:
                self._note_attribute(owner, name, name in _loaded_names(code))

    def _note_inner(self, code):
        """Functions defined inside an entered one take their cells from it, so that they need no guards."""
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType) and constant not in self._inner_codes:
                self._inner_codes.add(constant)
                self._note_inner(constant)

    def _note_globals(self, frame, code):
        """Guards the globals that a function names; returns the objects among them."""
        found, scope = [], frame.f_globals
        for name in code.co_names:
            value = scope.get(name, _MISSING)
            if isinstance(value, types.BuiltinFunctionType):
                continue
            if self._note_object(value):
                found.append(value)
            loaded = name in _loaded_names(code)
            if isinstance(value, (type, types.ModuleType)) or (value is _MISSING and loaded):
                continue  # named, but not as a variable: an attribute, a builtin
            if loaded:
                self.names.setdefault(name, value)
            read, write = _item(scope, name)
            described = f"the global {name!r} that {code.co_name} reads"
            self.note((id(scope), name), read, value, described, write, loaded, (scope, name))
        return found

    def _note_cells(self, frame, code):
        """Guards the variables that a function closes over; returns the objects among them."""
        found = []
        for function in self._functions_of(frame, code):
            for name, cell in zip(code.co_freevars, function.__closure__):
                read, write = _cell(cell)
                value = read()
                if value is _MISSING:
                    continue
                if self._note_object(value):
                    found.append(value)
                if not isinstance(value, (type, types.ModuleType)):
                    self.names.setdefault(name, value)
                    described = f"the variable {name!r} that {code.co_name} closes over"
                    self.note((id(cell), name), read, value, described, write)
        return found

    def _functions_of(self, frame, code):
        """The function objects that a frame may belong to: those of its code whose cells hold the frame's values.

        A frame does not name its function, so the referrers of the code are asked.
        """
        if self._function.__code__ is code:
            return [self._function]
        local = frame.f_locals
        found = []
        for referrer in gc.get_referrers(code):
            if isinstance(referrer, types.FunctionType) and referrer.__code__ is code:
                cells = [_cell(cell)[0]() for cell in referrer.__closure__ or ()]
                if all(local.get(name, _MISSING) is value for name, value in zip(code.co_freevars, cells)):
                    found.append(referrer)
        return found

    def _note_object(self, value):
        """Remembers an object, class or Python module of the user's; returns whether it is one."""
        if isinstance(value, (Tensor, Module, types.FunctionType, types.MethodType)) or not hasattr(value, "__dict__"):
            return False
        if isinstance(value, types.ModuleType):
            home, file = value.__name__, getattr(value, "__file__", None) or ""
            foreign = not file or file.startswith(_LIBRARY_PATHS)
        else:
            kind = value if isinstance(value, type) else type(value)
            home, foreign = kind.__module__, kind.__module__ in sys.builtin_module_names
        if foreign or home.split(".")[0] == _PACKAGE:
            return False
        self._known[id(value)] = value
        return True

    def _note_attribute(self, owner, name, loaded):
        """Guards an attribute of an object if it is read, and watches it in any case."""
        value = vars(owner).get(name, _MISSING)
        self._note_object(value)
        if value is _MISSING and self._note_class_attribute(owner, name):
            return
        if value is _MISSING and isinstance(owner, (type, types.ModuleType)):
            return
        self._note_place(owner, name, value, loaded)

    def _note_class_attribute(self, owner, name):
        """Guards the attribute of a user's class that an object does not override; returns whether there is one."""
        for kind in owner.__mro__ if isinstance(owner, type) else type(owner).__mro__:
            value = vars(kind).get(name, _MISSING)
            if value is not _MISSING:
                if kind.__module__.split(".")[0] != _PACKAGE and isinstance(value, _PLAIN):
                    self._note_place(kind, name, value, True)
                return True
        return False

    def _note_place(self, owner, name, value, guarded):
        read, write = _attribute(owner, name)
        called = getattr(owner, "__name__", None) or type(owner).__name__
        self.note((id(owner), name), read, value, f"{called}.{name}", write, guarded, (vars(owner), name))


@functools.lru_cache(maxsize=4096)
def _loaded_names(code):
    """The names of globals and attributes that a function reads; the others it only writes."""
    return frozenset(
        instruction.argval for instruction in dis.get_instructions(code) if instruction.opname.startswith("LOAD_")
    )
