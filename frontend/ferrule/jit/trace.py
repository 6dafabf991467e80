"""`trace`: a function recorded once for each signature and then run as a compiled program."""

import functools
import inspect
import types
import warnings

from .. import _recording
from .._tensor import Tensor
from ..errors import TraceError, UnsupportedError
from ..location import user_location
from .arguments import Arguments, call_with, same_containers
from .capture import Inputs, is_leaf, record
from .compare import first_difference
from .guards import snapshot_all
from .options import check_options, split_budget
from .tree import flatten, statics, unflatten

# More programs than this for one signature, or more signatures than that for one function, mean that something changes
# at every call.
_PROGRAM_LIMIT = 16
_SIGNATURE_LIMIT = 64


class trace:  # noqa: N801  (a decorator)
    """Records a function and runs it as one compiled program.

    Use as ``@trace`` or ``@trace(symbolic=True)``, on functions and methods. The function is recorded once for each
    signature: the structure of the arguments, shapes and dtypes of the tensors in it (NumPy arrays count as tensors),
    which of them share memory, Parameters and buffers by identity, and everything else by value. It is recorded again
    when something it read from its surroundings changes: a global, a closure variable, an attribute (`guards`).

    Args:
        symbolic: True records at the first call, when there are shapes but no values. False runs the first call of a
            signature in dynamic mode, where values can be looked at, and records at the second.
        enabled: False runs it in dynamic mode. Can be set later as an attribute; ``trace.enabled = False`` switches off
            all that were made without this argument.
        check: "always" records again at every call and raises TraceError if that gives another program, which finds
            what no guard sees.
        memory_budget: the most that the arena of a run may take, as for `ferrule.compile`. A call whose program cannot do
            with it raises BudgetError.
        options: MegEngine's other options, see `options`.
    """

    enabled = True

    def __new__(cls, function=None, **options):
        if function is None:
            return functools.partial(cls, **options)
        return super().__new__(cls)

    def __init__(self, function, *, symbolic=True, enabled=None, check=None, memory_budget=None, **options):
        check_options(options)
        self.memory_budget = memory_budget
        split_budget(memory_budget, "trace")
        if check not in (None, "always"):
            raise UnsupportedError(f"trace: check={check!r}; allowed: None, 'always'")
        self._bound = ()
        if isinstance(function, types.MethodType):
            self._bound, function = (function.__self__,), function.__func__
        if isinstance(function, trace):
            function = function.function
        if not isinstance(function, types.FunctionType):
            raise UnsupportedError(
                f"trace takes a function, not {type(function).__name__}; for a module trace a function that calls it"
            )
        if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
            raise UnsupportedError(f"trace: {function.__name__} is a generator or coroutine; return a list")
        functools.update_wrapper(self, function)
        self.symbolic = symbolic
        if enabled is not None:
            self.enabled = enabled
        self.check = check
        self._signature = inspect.signature(function)
        self._arguments = Arguments(self._signature)
        self._programs = {}
        self._seen = set()
        self._last = None
        self.capture_count = 0

    @property
    def function(self):
        """The function as it was written."""
        return self.__wrapped__

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args, **kwargs):
        if self._bound:
            args = self._bound + args
        # Inside another recording the ops are part of that one; under a GradManager they must be seen one by one.
        if not self.enabled or _recording.current() is not None or _recording.in_gradient_scope():
            return self._run_dynamic(self._arguments.bind(args, kwargs))
        call = self._arguments.take(args, kwargs)
        if not self.symbolic and call.key not in self._seen:
            self._seen.add(call.key)
            return self._run_dynamic(call.tree)
        recorded = self._find(call)
        if recorded is None:
            recorded = self._record(call)
        elif self.check == "always":
            self._compare(recorded, call)
        self._last = recorded
        return recorded.run(call.handles, call.tensors, call.tree)

    def _run_dynamic(self, tree):
        """The function as it is, on tensors where arrays were passed."""
        leaves, _, structure = flatten(tree, is_leaf, "")
        if not all(isinstance(leaf, Tensor) for leaf in leaves):
            tree = unflatten(structure, iter([leaf if isinstance(leaf, Tensor) else Tensor(leaf) for leaf in leaves]))
        return call_with(self.__wrapped__, self._signature, tree)

    def _find(self, call):
        """The program whose guards all hold, or None."""
        for recorded in self._programs.get(call.key, ()):
            if recorded.broken_guard() is None:
                return recorded
        return None

    def _record(self, call):
        programs = self._programs.get(call.key)
        if programs is None:
            if len(self._programs) >= _SIGNATURE_LIMIT:
                self._warn(f"the signature keeps changing: {call.difference(next(reversed(self._programs)))}")
                del self._programs[next(iter(self._programs))]
            programs = self._programs[call.key] = []
        if len(programs) >= _PROGRAM_LIMIT:
            self._warn(f"{programs[-1].broken_guard().description} keeps changing; pass it as a tensor argument")
            del programs[0]
        try:
            recorded = self._recorded(call)
        except BaseException:
            if not programs:
                del self._programs[call.key]
            raise
        recorded.specification = call.specification()
        self.capture_count += 1
        programs.append(recorded)
        return recorded

    def _warn(self, reason):
        warnings.warn(f"{self.__name__} has been recorded {self.capture_count} times, as {reason}", stacklevel=4)

    def _recorded(self, call, undo=False):
        """A recording of this call."""
        name = self.__name__ if self.__name__.isidentifier() else "traced"  # a lambda has none
        inputs = Inputs(call.specs(), call.build)
        recorded = record(self.__wrapped__, name, inputs, functools.partial(self._call, call.structure), undo=undo)
        if self.memory_budget is not None:
            recorded.entry.set_memory_budget(*split_budget(self.memory_budget, "trace"))
        return recorded

    def _call(self, structure, tensors, guards):
        """The function on an argument tree with these tensors: (the tree, its snapshot before, the result)."""
        tree = unflatten(structure, iter(tensors))
        before = snapshot_all(tree)
        guards.note_arguments(statics(structure))
        result = call_with(self.__wrapped__, self._signature, tree)
        if not same_containers(tree, before, structure, tensors):
            raise UnsupportedError(
                f"{self.__name__} changes a field of a dataclass that it was given (at {user_location()}): return the "
                f"changed one"
            )
        return tree, before, result

    def _compare(self, recorded, call):
        """Raises TraceError if recording this call gives another program than the one that the guards allow."""
        again = self._recorded(call, undo=True)
        difference = first_difference(recorded, again)
        if difference is not None:
            raise TraceError(
                f"{self.__name__}: recording this call at {user_location()} gives another program than the one that "
                f"would be used, though nothing that is guarded has changed. {difference}. Pass what changes as an "
                f"argument, or keep it in a module attribute, a global or a closure variable"
            )

    def dump(self, file, *, arg_names=None, output_names=None, **options):
        """Compiles the program of the last call and writes it as an artifact, for `ferrule.load` and ferrule-run.

        Args:
            file: a path, or an open binary file.
            arg_names: names of the tensor inputs in order; by default their paths in the arguments.
            output_names: names of the outputs in order; by default their paths in the result.
            options: what `ferrule.compile` takes (modules, targets, ...).

        Returns:
            The Program, whose one entry has the function's name.
        """
        if self._last is None:
            raise TraceError(f"{self.__name__}.dump: call the function once before, so that its inputs are known")
        from ..compilation import compile_call

        names = None if arg_names is None else [arg_names] if isinstance(arg_names, str) else list(arg_names)
        outputs = [output_names] if isinstance(output_names, str) else output_names
        program = compile_call(
            self.__wrapped__, self._signature, self._last.specification, names, outputs, options
        )
        if hasattr(file, "write"):
            program.write(file)
        else:
            program.save(file)
        return program
