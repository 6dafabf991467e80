"""The arguments of one call of a traced function: which tensors they hold, and what tells them from another call's."""

import inspect
from collections import Counter

from .._tensor import Tensor
from .._views import view
from .guards import holds
from .tree import LEAF, Node, Static, checked_keys, flatten, is_array


class Arguments:
    """Binds calls of a function with a signature."""

    def __init__(self, signature):
        self._signature = signature
        positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self._plain = all(p.kind is positional for p in signature.parameters.values())
        self._names = tuple(signature.parameters)

    def bind(self, args, kwargs):
        """{parameter: value}, defaults filled in."""
        if self._plain and not kwargs and len(args) == len(self._names):
            return dict(zip(self._names, args))
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return dict(bound.arguments)

    def take(self, args, kwargs):
        """The Call of these arguments."""
        return Call(self.bind(args, kwargs))


def _is_input(value):
    """Whether an argument is data. Parameters and buffers are not: they are the variables that they are."""
    return value._variable is None if isinstance(value, Tensor) else is_array(value)


class Call:
    """One call: its tensors, the inputs that they make, and the key of its signature.

    Attributes:
        tree: {parameter: value} as passed.
        tensors: the tensors in it, arrays converted.
        handles: what the entry takes: those of the tensors, each once; for tensors that are views of one storage that
            of the storage.
    """

    def __init__(self, tree):
        self.tree = tree
        self.tensors = tensors = []
        self.structure = _take_apart(tree, tensors)
        self._plan, pattern = None, None
        if len(set(map(id, tensors))) < len(tensors) or any([tensor._view is not None for tensor in tensors]):
            self.inputs = self._find_sharing()
            self.handles = [each._handle if isinstance(each, Tensor) else each.handle() for each in self.inputs]
            if self._plan is not None:
                pattern = tuple((number, _steps_key(steps)) for number, steps in self._plan)
        else:
            self.inputs = tensors
            self.handles = [tensor._value for tensor in tensors]
        self.key = (self.structure, pattern, tuple([(handle.dtype, handle.shape) for handle in self.handles]))

    @property
    def paths(self):
        """The paths of the tensors in the tree."""
        return flatten(self.tree, _is_input, "")[1]

    def _find_sharing(self):
        """The inputs. If fewer than the tensors, or storages, sets the plan: for each tensor the number of its input
        and the steps from it (None: itself).
        """
        shared = _shared(self.tensors)
        if not shared and len(set(map(id, self.tensors))) == len(self.tensors):
            return self.tensors
        inputs, numbers = [], {}
        self._plan = []
        for tensor in self.tensors:
            seen = tensor._view
            source = seen.storage if seen is not None and id(seen.storage) in shared else tensor
            if id(source) not in numbers:
                numbers[id(source)] = len(inputs)
                inputs.append(source)
            self._plan.append((numbers[id(source)], None if source is tensor else seen.steps))
        return inputs

    def specs(self):
        """[(name, shape, dtype)] of the inputs."""
        paths = self.paths
        if self._plan is not None:
            first = {}
            for (number, _), path in zip(self._plan, self.paths):
                first.setdefault(number, path)
            paths = [first[number] for number in range(len(self.inputs))]
        return [(path, handle.shape, handle.dtype) for path, handle in zip(paths, self.handles)]

    def build(self, sources):
        """The tensors of the argument tree, given those of the inputs."""
        if self._plan is None:
            return list(sources)
        tensors, made = [], {}
        for original, (number, steps) in zip(self.tensors, self._plan):
            tensor = made.get(id(original))
            if tensor is None:
                tensor = made[id(original)] = _viewed(sources[number], steps)
            tensors.append(tensor)
        return tensors

    def specification(self):
        """What is left of the call to make another recording of it: (structure, specs, build)."""
        return Specification(self)

    def difference(self, other_key):
        """In words, what tells this signature from another one."""
        structure, _, kinds = other_key
        if structure != self.structure:
            return "the structure of the arguments or a value in them; pass numbers that change as tensors"
        for path, mine, other in zip(self.paths, self.key[2], kinds):
            if mine != other:
                return f"{path} was {other[0]}{list(other[1])} and is {mine[0]}{list(mine[1])}; pad it to few sizes"
        return "which arguments share memory"


class Specification:
    """The structure and kinds of a call's arguments, without its data."""

    def __init__(self, call):
        self.structure = call.structure
        self.specs = call.specs()
        self.tensor_count = len(call.tensors)
        self.build = call.build if call._plan is not None else list


def _shared(tensors):
    """The ids of the storages that several of the tensors see."""
    counts = Counter(id(tensor._view.storage) for tensor in tensors if tensor._view is not None)
    return {storage for storage, count in counts.items() if count > 1} if counts else counts


def _take_apart(value, tensors):
    """The structure of a tree, as `tree.flatten` gives it; appends its tensors. This runs at every call."""
    kind = type(value)
    if kind is Tensor:
        if value._variable is None:
            tensors.append(value)
            return LEAF
        return Static(value)
    if kind is dict or kind is list or kind is tuple:
        children = []
        for item in value.values() if kind is dict else value:
            if type(item) is Tensor and item._variable is None:
                tensors.append(item)
                children.append(LEAF)
            else:
                children.append(_take_apart(item, tensors))
        return Node(kind, checked_keys(value) if kind is dict else len(value), tuple(children))
    leaves, _, structure = flatten(value, _is_input, "")
    tensors += [leaf if isinstance(leaf, Tensor) else Tensor(leaf) for leaf in leaves]
    return structure


def _steps_key(steps):
    return None if steps is None else tuple(step.key() for step in steps)


def _viewed(source, steps):
    if not steps:
        return source
    value = source._handle
    for step in steps:
        value = step.read(value)
    return view(source, value, steps)


def same_containers(tree, before, structure, tensors):
    """Whether no field of a dataclass in the tree has been changed (lists and dicts are compared by snapshots)."""
    if not holds(before, tree):
        return True
    leaves, _, now = flatten(tree, lambda value: any(value is tensor for tensor in tensors), "")
    return now == structure and all(map(lambda a, b: a is b, leaves, tensors))


def call_with(function, signature, arguments):
    """Calls ``function`` with a dict of parameter names to values, as `inspect.BoundArguments` holds it."""
    bound = inspect.BoundArguments(signature, arguments)
    return function(*bound.args, **bound.kwargs)


