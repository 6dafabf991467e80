"""`trace`: a function recorded once for each signature and then run as a compiled program."""

import functools
import inspect
import types
import warnings

from .. import _recording
from .._tensor import Tensor
from ..errors import UnsupportedError
from .capture import record
from .tree import flatten, is_array, unflatten

# More programs than this for one signature mean that something changes at every call.
_PROGRAM_LIMIT = 16


def _is_leaf(value):
    return isinstance(value, Tensor) or is_array(value)


class trace:  # noqa: N801  (a decorator)
    """Records a function and runs it as one compiled program.

    Use as ``@trace`` or ``@trace(symbolic=True)``. The function is recorded once for each signature: the structure of
    the arguments, shapes and dtypes of the tensors in it (NumPy arrays count as tensors), and everything else by value.
    It is recorded again when something it read from its surroundings changes: a global, a closure variable, an
    attribute of a module.

    Args:
        symbolic: True records at the first call, when there are shapes but no values. False runs the first call of a
            signature in dynamic mode, where values can be looked at, and records at the second.
        enabled: False runs it in dynamic mode. Can be set later as an attribute.
    """

    enabled = True

    def __new__(cls, function=None, **options):
        if function is None:
            return functools.partial(cls, **options)
        return super().__new__(cls)

    def __init__(self, function, *, symbolic=True, enabled=True, **options):
        if options:
            raise UnsupportedError(f"trace: unknown options {', '.join(options)}; allowed: symbolic, enabled")
        if not isinstance(function, types.FunctionType):
            raise UnsupportedError(
                f"trace takes a function, not {type(function).__name__}; for a module trace a function that calls it"
            )
        functools.update_wrapper(self, function)
        self.symbolic = symbolic
        self.enabled = enabled
        self._signature = inspect.signature(function)
        self._programs = {}
        self._seen = set()
        self.capture_count = 0

    @property
    def function(self):
        """The function as it was written."""
        return self.__wrapped__

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args, **kwargs):
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        leaves, paths, structure = flatten(dict(bound.arguments), _is_leaf, "")
        tensors = [leaf if isinstance(leaf, Tensor) else Tensor(leaf) for leaf in leaves]
        # Inside another recording the ops are part of that one; under a GradManager they must be seen one by one.
        if not self.enabled or _recording.current() is not None or _recording.in_gradient_scope():
            return self._call(structure, tensors)
        key = (structure, tuple((t.dtype, t.shape) for t in tensors))
        if not self.symbolic and key not in self._seen:
            self._seen.add(key)
            return self._call(structure, tensors)
        recorded = self._find(key)
        if recorded is None:
            inputs = [(path, t.shape, t.dtype) for path, t in zip(paths, tensors)]
            recorded = self._record(key, inputs, structure)
        return recorded.run(tensors)

    def _find(self, key):
        """The program whose guards all hold, or None."""
        for recorded in self._programs.get(key, ()):
            if recorded.broken_guard() is None:
                return recorded
        return None

    def _record(self, key, inputs, structure):
        programs = self._programs.setdefault(key, [])
        if len(programs) >= _PROGRAM_LIMIT:
            broken = programs[-1].broken_guard()
            warnings.warn(
                f"{self.__name__} has been recorded {self.capture_count} times, as {broken.description} keeps "
                f"changing; pass it as a tensor argument",
                stacklevel=3,
            )
            del programs[0]
        name = self.__name__ if self.__name__.isidentifier() else "traced"  # a lambda has none
        recorded = record(self.__wrapped__, name, inputs, lambda tensors: self._call(structure, tensors))
        self.capture_count += 1
        programs.append(recorded)
        return recorded

    def _call(self, structure, tensors):
        """The function on an argument tree with these tensors."""
        return call_with(self.__wrapped__, self._signature, unflatten(structure, iter(tensors)))


def call_with(function, signature, arguments):
    """Calls ``function`` with a dict of parameter names to values, as `inspect.BoundArguments` holds it."""
    bound = inspect.BoundArguments(signature, arguments)
    return function(*bound.args, **bound.kwargs)
