"""Guards: what a capture read from Python's world and must still be so for the captured program to be used.

Guarded by value are int, float, str, bool, None and list, tuple, dict of these up to 1,000 items; anything else by
identity. Three places are looked at: attributes of modules, globals that the traced function and the user functions
entered while recording name, and their closure cells. What was written before it was read is no guard; attribute writes
of modules are replayed on every call.
"""

import gc
import math
import sys
import sysconfig
import threading
import types

from ..location import is_internal
from ..module.module import Module

ITEM_LIMIT = 1000
_MISSING = object()
_PRIMITIVES = frozenset((int, float, str, bool, type(None), bytes, complex))
_LIBRARY_PATHS = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})
# Bookkeeping of modules that forward functions do not depend on.
_UNGUARDED_ATTRIBUTES = frozenset(("_own_name", "name"))
# Watching attributes changes the class Module, so that one thread records at a time.
_watching = threading.Lock()


class _Identity:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class _Items:
    __slots__ = ("kind", "keys", "items")

    def __init__(self, kind, keys, items):
        self.kind = kind
        self.keys = keys
        self.items = items


def snapshot(value):
    """What `holds` compares with later: a copy of guardable values, the identity of others."""
    if _count(value) > ITEM_LIMIT:
        return _Identity(value)
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
        return _Items(kind, tuple(value), [_snapshot(item) for item in value.values()])
    if isinstance(value, (list, tuple)):
        return _Items(kind, None, [_snapshot(item) for item in value])
    return _Identity(value)


def holds(saved, value):
    """Whether ``value`` is what `snapshot` saw."""
    kind = type(saved)
    if kind is _Identity:
        return saved.value is value
    if type(value) is not (saved.kind if kind is _Items else kind):
        return False
    if kind is _Items:
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


class Guard:
    """One thing that was read: how to read it again, and what it was."""

    __slots__ = ("read", "saved", "description")

    def __init__(self, read, value, description):
        self.read = read
        self.saved = snapshot(value)
        self.description = description

    def holds(self):
        """Whether it is still the same."""
        return holds(self.saved, self.read())


def _attribute_reader(owner, name):
    attributes = vars(owner)
    return lambda: attributes.get(name, _MISSING)


def _item_reader(mapping, key):
    return lambda: mapping.get(key, _MISSING)


def _cell_reader(cell):
    def read():
        try:
            return cell.cell_contents
        except ValueError:
            return _MISSING

    return read


class GuardRecorder:
    """Collects guards and attribute writes while a function is being recorded.

    Use as a context manager around the recording.
    """

    def __init__(self, function):
        self._function = function
        self.names = {}  # globals and closure variables by name, the traced function's first
        self._guards = {}
        self._written = {}
        self._seen_codes = set()
        self._inner_codes = set()
        self._previous_profile = None

    # What the recording tells us.

    def note_read(self, owner, name, value, description):
        """An attribute of a module was read."""
        key = (id(owner), name)
        if key not in self._written and key not in self._guards:
            self._guards[key] = Guard(_attribute_reader(owner, name), value, description)

    def note_write(self, owner, name, value):
        """An attribute of a module is being written."""
        self._written[(id(owner), name)] = (owner, name, value)

    def note_items(self, mapping, keys, description):
        """The items ``keys`` of a dict were read."""
        for key in keys:
            self._guards.setdefault(
                (id(mapping), key),
                Guard(_item_reader(mapping, key), mapping.get(key, _MISSING), f"{description}[{key!r}]"),
            )

    def note(self, key, read, value, description):
        """Something else was read; ``read()`` gives its value later."""
        self._guards.setdefault(key, Guard(read, value, description))

    def guards(self):
        """The guards, in the order of reading."""
        return list(self._guards.values())

    def writes(self):
        """(module, attribute, value) to replay on every call."""
        return list(self._written.values())

    # Watching.

    def __enter__(self):
        recorder = self

        def reading(module, name):
            value = object.__getattribute__(module, name)
            if name in _UNGUARDED_ATTRIBUTES or name.startswith("__"):
                return value
            if name in object.__getattribute__(module, "__dict__"):
                recorder.note_read(module, name, value, f"{type(module).__name__}.{name}")
            return value

        _watching.acquire()
        Module.__getattribute__ = reading
        self._previous_profile = sys.getprofile()
        sys.setprofile(self._profile)
        return self

    def __exit__(self, *exception):
        sys.setprofile(self._previous_profile)
        del Module.__getattribute__
        _watching.release()
        return False

    def _profile(self, frame, event, argument):
        if event == "call" and frame.f_code not in self._seen_codes:
            self._seen_codes.add(frame.f_code)
            self._enter(frame)
        if self._previous_profile is not None:
            self._previous_profile(frame, event, argument)

    def _enter(self, frame):
        code = frame.f_code
        if is_internal(code) or code.co_filename.startswith(_LIBRARY_PATHS) or code.co_filename.startswith("<frozen"):
            return
        self._note_inner(code)
        if code.co_freevars and code not in self._inner_codes:
            self._note_cells(frame, code)
        where = code.co_name
        for name in code.co_names:
            value = frame.f_globals.get(name, _MISSING)
            if value is _MISSING or isinstance(value, (type, types.ModuleType, types.BuiltinFunctionType)):
                continue
            self.names.setdefault(name, value)
            self.note(
                (id(frame.f_globals), name),
                _item_reader(frame.f_globals, name),
                value,
                f"the global {name!r} that {where} reads",
            )

    def _note_inner(self, code):
        """Functions defined inside an entered one take their cells from it, so that they need no guards."""
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType) and constant not in self._inner_codes:
                self._inner_codes.add(constant)
                self._note_inner(constant)

    def _note_cells(self, frame, code):
        for function in self._functions_of(frame, code):
            for name, cell in zip(code.co_freevars, function.__closure__):
                read = _cell_reader(cell)
                value = read()
                if value is not _MISSING and not isinstance(value, (type, types.ModuleType)):
                    self.names.setdefault(name, value)
                    self.note((id(cell), name), read, value, f"the variable {name!r} that {code.co_name} closes over")

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
                cells = [_cell_reader(cell)() for cell in referrer.__closure__ or ()]
                if all(local.get(name, _MISSING) is value for name, value in zip(code.co_freevars, cells)):
                    found.append(referrer)
        return found
