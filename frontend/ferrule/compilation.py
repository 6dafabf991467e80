"""`compile`: entries of Python functions to one artifact."""

import inspect
import types

from . import _compiler, program_cache, tuning
from ._tensor import Tensor
from .dims import Spec
from .errors import FerruleError, UnsupportedError
from .jit.arguments import call_with
from .jit.capture import Inputs, record
from .jit.guards import snapshot_all
from .jit.options import split_budget
from .jit.trace import trace
from .jit.tree import flatten, unflatten
from .module.module import Module, leaves
from .optimizer.optimizer import Optimizer
from .program import Program


class _Entry:
    """An entry as the user gives it: what to call, with which inputs."""

    def __init__(self, name, target, specs, output_names=None):
        self.name = name
        self.arguments = {}
        self._output_names = output_names
        bound_to = ()
        if isinstance(target, types.MethodType):
            bound_to, target = (target.__self__,), target.__func__
        if isinstance(target, trace):
            target = target.function
        if isinstance(target, Module):
            self.function = type(target).forward
            self.signature = inspect.signature(target.forward)
            self._callee = target
        elif isinstance(target, types.FunctionType):
            self.function = target
            self.signature = inspect.signature(target)
            self._callee = target
        else:
            raise UnsupportedError(f"entry {name!r}: a function or a Module is needed, not {type(target).__name__}")
        try:
            bound = (
                self.signature.bind(*bound_to, **specs)
                if isinstance(specs, dict)
                else self.signature.bind(*bound_to, *specs)
            )
        except TypeError as error:
            raise UnsupportedError(
                f"entry {name!r}: the specs do not fit the parameters {self.signature}: {error}"
            ) from None
        bound.apply_defaults()
        found, paths, self.structure = flatten(dict(bound.arguments), lambda v: isinstance(v, Spec), "")
        self.inputs = [(spec.name or path, spec.shape, spec.dtype) for spec, path in zip(found, paths)]
        names = [inp[0] for inp in self.inputs]
        if len(set(names)) != len(names):
            raise UnsupportedError(f"entry {name!r}: an input name stands twice in {names}")

    def record(self):
        """The entry's graph."""
        inputs = Inputs(self.inputs)
        return record(
            self.function, self.name, inputs, self._call, artifact=True, output_names=self._output_names
        )

    def _call(self, tensors, guards):
        del guards
        tree = unflatten(self.structure, iter(tensors))
        before = snapshot_all(tree)
        return tree, before, call_with(self._callee, self.signature, tree)


class _RecordedCall:
    """An entry that is a call of a traced function, for `ferrule.jit.trace.dump`."""

    def __init__(self, function, signature, call, input_names, output_names):
        self.name = function.__name__ if function.__name__.isidentifier() else "traced"
        self.arguments = unflatten(call.structure, iter([None] * call.tensor_count))
        self._callee = function
        self._signature = signature
        self._call_kind = call
        self._output_names = output_names
        self._specs = call.specs
        if input_names is not None:
            if len(input_names) != len(call.specs) or len(set(input_names)) != len(input_names):
                raise UnsupportedError(
                    f"{self.name}.dump: arg_names {tuple(input_names)} for {len(call.specs)} tensor inputs; each needs "
                    f"a name of its own"
                )
            self._specs = [(name, *spec[1:]) for name, spec in zip(input_names, call.specs)]

    def record(self):
        """The entry's graph."""
        inputs = Inputs(self._specs, self._call_kind.build)
        return record(self._callee, self.name, inputs, self._call, artifact=True, output_names=self._output_names)

    def _call(self, tensors, guards):
        del guards
        tree = unflatten(self._call_kind.structure, iter(tensors))
        before = snapshot_all(tree)
        return tree, before, call_with(self._callee, self._signature, tree)


class _Names:
    """The names of variables: the first one given counts, the others are aliases."""

    def __init__(self):
        self._names = {}
        self._optimizers = []

    def add(self, prefix, value):
        """Names what ``value`` holds: a tensor, a module, an optimizer, or containers of these."""
        if isinstance(value, Optimizer):
            if all(value is not known for _, known in self._optimizers):
                self._optimizers.append((prefix, value))
            return
        for name, leaf in leaves(prefix, value):
            if isinstance(leaf, Tensor):
                self._name(leaf._variable, name)
            else:
                for inner, tensor in leaf.named_tensors(prefix=name):
                    self._name(tensor._variable, inner)

    def _name(self, variable, name):
        if variable is not None:
            names = self._names.setdefault(variable.id, [])
            if name not in names:
                names.append(name)

    def finish(self):
        """Names the states of optimizers, after all parameters have names."""
        for prefix, optimizer in self._optimizers:
            for name, tensor, param in optimizer.named_state():
                if param is None:
                    self._name(tensor._variable, f"{prefix}.{name}")
                elif param._variable.id in self._names:
                    self._name(tensor._variable, f"{prefix}.{self._names[param._variable.id][0]}.{name}")

    def of(self, variable):
        """The names of a variable, the first one first; empty if it has none."""
        names = self._names.get(variable.id, [])
        if not names and variable.role == "gradient" and variable.of is not None:
            names = [name + ".grad" for name in self.of(variable.of)[:1]]
        if not names and variable.name:  # its own: given with the tensor, or by the random generator
            names = [variable.name]
        return names


def _collect_names(modules, entries, recorded):
    names = _Names()
    for prefix, value in (modules or {}).items():
        names.add(prefix, value)
    for each in recorded:
        for name, value in each.names.items():
            names.add(name, value)
    for entry in entries:
        for name, value in entry.arguments.items():
            names.add(name, value)
        if isinstance(entry._callee, Module):
            names.add(entry._callee.name or "main", entry._callee)
    names.finish()
    return names


def _name_variables(names, recorded):
    """{name: variable} of what the entries use; raises for those that nothing names."""
    variables, unnamed = {}, []
    for each in recorded:
        for variable in each.variables:
            found = names.of(variable)
            if not found:
                unnamed.append(f"{variable.role} of shape {tuple(variable.shape)}")
                continue
            if variables.setdefault(found[0], variable).id != variable.id:
                raise FerruleError(f"compile: two variables are named {found[0]!r}; name them with modules={{...}}")
            variable.name = found[0]
            variable.aliases = found[1:]
    if unnamed:
        raise FerruleError(
            f"compile: {len(unnamed)} variables have no name ({', '.join(dict.fromkeys(unnamed))}): give the module or "
            f"optimizer that holds them as modules={{'name': object}}"
        )
    return variables


def _plan_sizes(plan_at):
    """{name: size} of the option plan_at."""
    sizes = {}
    for dim, size in (plan_at or {}).items():
        if isinstance(size, bool) or not isinstance(size, int):
            raise UnsupportedError(f"compile: plan_at gives {dim} the size {size!r}; allowed is an int")
        sizes[str(dim)] = size
    return sizes


def compile(  # noqa: A001  (the API's name)
    entries,
    modules=None,
    targets=("host",),
    memory_budget=None,
    plan_at=None,
    tune=False,
    allow_reassociation=False,
    disable_passes=(),
    emit="artifact",
):
    """Compiles functions that share state to one artifact.

    Args:
        entries: ``{name: (function or Module, [Spec, ...])}``. A spec may be any nesting of Specs, as the parameter is;
            what is not a Spec is a constant. A dict gives them by parameter.
        modules: ``{name: module or optimizer}`` names the variables (``net.conv1.weight``); without it the names under
            which the functions know them are taken.
        targets: CPU levels to make code for: ``host``, ``x86-64-v3``, ``x86-64-v4``, ``aarch64``,
            ``aarch64-dotprod``.
        memory_budget: the most that the arena (activations, gradients, workspace; not variables, inputs and outputs) may
            take: an int in bytes, or a float, a part of what it takes without a budget. Values are computed again where
            they are needed until it fits; no bit changes. See docs/memory.md.
        plan_at: ``{dim or its name: size}`` for dims without a max: memory is planned for sizes up to this one, and a
            session that gets a larger one grows (docs/memory.md).
        tune: whether to measure, on this machine, which tiles its products run fastest with, instead of asking the cost
            model; takes about ten times as long, and what was found is kept on disk. No bit changes.
        disable_passes: optional passes to leave out.
        emit: what the Program's `save` writes: an ``"artifact"``, or an ``"object"`` that a linker puts into a product, for
            one target (`Program.save_object`).

    Returns:
        A Program; its ``report`` is ``{name: seconds}`` of wall time by phase (``merge``, ``passes``, ``plan``,
        ``kernels``, ``code``, ``write``, ``keep``), by pass (``passes.layout``, ...) and by step of making code
        (``code.emit``, ...; summed over threads). ``recomputed.ENTRY`` is no time, but what the entry computes again, as a
        part of its time, by the compiler's estimate. A program that an earlier process made of the same functions, values
        and options is opened where `program_cache` keeps it; the report is then ``merge`` and ``find``.

    Raises:
        BudgetError: the arena cannot be made as small as ``memory_budget``.
        TraceError, ShapeError, DtypeError, GradientError: at the user's line.
        UnsupportedError: options or ops that this version does not serve.
    """
    if allow_reassociation:
        raise UnsupportedError("compile: the option allow_reassociation is not served by this version")
    if not entries:
        raise UnsupportedError("compile: no entries")
    if emit not in ("artifact", "object"):
        raise UnsupportedError(f"compile: emit is {emit!r}; allowed: 'artifact' and 'object'")
    if emit == "object" and not isinstance(targets, str) and len(targets) != 1:
        raise UnsupportedError(f"compile: an object has code for one target, not for {', '.join(targets)}")
    wanted = [_Entry(name, *_checked(name, given)) for name, given in entries.items()]
    program = _compile(wanted, modules, targets, plan_at, disable_passes, memory_budget, tune=tune)
    program.emit = emit
    return program


def compile_function(name, function, specs, output_names, stored_name="", **options):
    """The Program of one traced function, whose outputs get names.

    Args:
        stored_name: under which the caller has looked for the program in `program_cache` and will do so again.
        options: those of `compile`.
    """
    _check_options("compile", options)
    return _compile([_Entry(name, function, specs, output_names)], stored_name=stored_name, **options)


def compile_candidate(number, entries, modules=None, targets=("host",)):
    """As `compile`, with the tile of that number for every product that has so many candidates (None: the cost model's);
    no bit depends on it.

    Returns:
        (Program, ``[(kernel, key, candidates, chosen)]``): the kernels that have tiles to choose from.
    """
    wanted = [_Entry(name, *_checked(name, given)) for name, given in entries.items()]
    tunable = []
    return _compile(wanted, modules, targets, tile=number, tunable=tunable), tunable


def compile_call(function, signature, call, input_names, output_names, options):
    """The Program of one call of a traced function; see `ferrule.jit.trace.dump`."""
    _check_options("dump", options)
    entry = _RecordedCall(function, signature, call, input_names, output_names)
    return _compile([entry], **options)


def _check_options(what, options):
    known = ("modules", "targets", "plan_at", "disable_passes", "memory_budget", "tune")
    for option in options:
        if option not in known:
            raise UnsupportedError(f"{what}: the option {option!r}; allowed: {', '.join(known)}")


def _compile(
    wanted,
    modules=None,
    targets=("host",),
    plan_at=None,
    disable_passes=(),
    memory_budget=None,
    tune=False,
    stored_name="",
    tile=None,
    tunable=None,
):
    budget_bytes, budget_fraction = split_budget(memory_budget, "compile")
    recorded = [entry.record() for entry in wanted]
    variables = _name_variables(_collect_names(modules, wanted, recorded), recorded)
    sizes = _plan_sizes(plan_at)

    def make(**store_and_tiles):
        return _compiler.compile(
            {entry.name: each.entry for entry, each in zip(wanted, recorded)},
            variables,
            targets=[targets] if isinstance(targets, str) else list(targets),
            disabled_passes=list(disable_passes),
            plan_at=sizes,
            memory_budget_bytes=budget_bytes,
            memory_budget_fraction=budget_fraction,
            stored_name=stored_name,
            tuned_for=tuning.machine() if tune else "",
            other_tiles=tile,
            **store_and_tiles,
        )

    if tune:
        return tuning.compile_tuned(make, sizes)
    if tunable is not None:
        artifact, report, found = make(use_stored=False, keep=False)
        tunable += found
        return Program(open(artifact, "rb"), report=report)  # noqa: SIM115  (the Program's)
    artifact, report, _ = make(use_stored=not stored_name)
    if isinstance(artifact, str):
        stored = program_cache.open_program(artifact, report)
        if stored is not None:
            return stored
        artifact, report, _ = make(use_stored=False)
    return Program(open(artifact, "rb"), report=report)  # noqa: SIM115  (the Program's)


def optional_passes():
    """The names of the passes that ``compile(disable_passes=...)`` can leave out; no bit depends on them."""
    return list(_compiler.optional_passes())


compile.optional_passes = optional_passes


def _checked(name, given):
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise UnsupportedError(f"entry {name!r}: wanted (function, [Spec, ...]), not {given!r}")
    target, specs = given
    return target, [specs] if isinstance(specs, Spec) else specs
