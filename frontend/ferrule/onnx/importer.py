"""Runs a graph with tensors of the op stream: each node through its handler."""

from collections import Counter, defaultdict

import numpy as np

from .. import dtypes, location
from ..errors import DtypeError, FerruleError, ModelError, UnsupportedError
from . import operators  # noqa: F401  (registers the handlers)
from .functions import body_of, is_function
from .model import Graph
from .registry import find
from .values import Known, tensor_of

# More elements than this are not folded on the host.
_FOLD_LIMIT = 1 << 20
# What is done to weights while importing, if nothing trains them: cutting and joining, which exporters do to bring
# gates into another order. The rest is the compiler's.
_ON_WEIGHTS = ("Concat", "Flatten", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Unsqueeze")


class Call:
    """What a handler sees of its node: attributes, version, and the graph around it.

    Attributes:
        node: as it was read.
        importer: the `Importer` that runs it.
        environment: {name: value} of what the node's bodies see.
    """

    __slots__ = ("node", "importer", "environment")

    def __init__(self, node, importer, environment):
        self.node = node
        self.importer = importer
        self.environment = environment

    @property
    def operator(self):
        """The operator's name."""
        return self.node.operator

    @property
    def version(self):
        """The version of the operator set."""
        return self.node.version

    @property
    def outputs(self):
        """The names of the outputs; ``""`` is one that nobody reads."""
        return self.node.outputs

    def get(self, name, default=None):
        """An attribute, or ``default`` where the node lacks it."""
        return self.node.get(name, default)

    def wants(self, position):
        """Whether the output at ``position`` is read."""
        return position < len(self.node.outputs) and bool(self.node.outputs[position])

    def run_body(self, graph, values):
        """The outputs of a body of this node, which sees the values around it."""
        results = self.importer.run(graph, values, self.environment)
        if any(result is _POISON for result in results):
            raise UnsupportedError("a node of its body cannot be imported")
        return results


class _Poison:
    """The value of what could not be imported."""


_POISON = _Poison()


class Importer:
    """One run over a model's graph.

    Args:
        model: a `model.Model`.
        weights: what becomes of stored floats, see `weights`.
    """

    def __init__(self, model, weights):
        self.model = model
        self.weights = weights
        self.failures = []
        self._transposed = {}

    def run_main(self, inputs):
        """The values of the main graph's outputs, in order.

        Raises:
            UnsupportedError: with everything in the graph that cannot be imported.
        """
        results = self.run(self.model.graph, inputs, {})
        if self.failures:
            raise UnsupportedError(describe_failures(self.model.origin, self.failures))
        return [tensor_of(result) for result in results]

    def run(self, graph, inputs, outer):
        """The outputs of ``graph`` for values of its inputs.

        Args:
            inputs: a list in the order of the graph's inputs.
            outer: {name: value} that the graph sees from around it.
        """
        names = [getattr(each, "name", each) for each in graph.inputs]
        environment = dict(outer)
        environment.update((name, value) for name, value in zip(names, inputs) if name)
        environment.update((name, _Initializer(array)) for name, array in graph.initializers.items())
        needed = _needed(graph)
        for position, node in enumerate(graph.nodes):
            if position in needed:
                self._run_node(node, environment)
        return [self._read(getattr(each, "name", each), environment) for each in graph.outputs]

    def _read(self, name, environment):
        value = environment.get(name) if name else None
        if isinstance(value, _Initializer):
            value = environment[name] = self.stored(value.array, name)
        return value

    def stored(self, array, label):
        """The value of an initializer or constant: the Parameter of that name where there is one."""
        return Known(array, label=label, store=self.weights)

    def note_transposed(self, result, source):
        """Notes that ``result`` is ``source`` with its last two axes exchanged."""
        self._transposed[id(result)] = result, source

    def before_transpose(self, tensor):
        """What `note_transposed` was told of ``tensor``, or None; a product that takes it needs no copy."""
        found = self._transposed.get(id(tensor))
        return None if found is None else found[1]

    def _run_node(self, node, environment):
        location.push_module(node.name)
        try:
            values = [self._read(name, environment) for name in node.inputs]
            results = [_POISON] * len(node.outputs)
            if not any(value is _POISON for value in values):
                results = self._results(node, values, environment)
        except (UnsupportedError, DtypeError) as error:
            self.failures.append((node.title, node.name, str(error)))
            results = [_POISON] * len(node.outputs)
        except ModelError:
            raise
        except FerruleError as error:
            text = str(error)
            where = f"node {node.name!r} ({node.title}) of {self.model.origin}: "
            raise (error if text.startswith("node ") else type(error)(where + text)) from error
        finally:
            location.pop_module()
        for name, result in zip(node.outputs, results):
            if name:
                environment[name] = result

    def _results(self, node, values, environment):
        handler = find(node.domain, node.operator, node.version)
        if handler is None:
            body = body_of(node, self.model, values)
            if body is None:
                raise UnsupportedError(missing_reason(node))
            return self.run(body, values, {})
        call = Call(node, self, environment)
        if handler.fold is not None and values and all(self._foldable(node, value) for value in values):
            folded = _folded(handler, call, values)
            if folded is not None:
                return self._labelled(node, values, folded)
        if not handler.raw:
            values = [_argument(node, handler, position, value) for position, value in enumerate(values)]
        result = handler.function(call, *values)
        return list(result) if isinstance(result, (tuple, list)) else [result]


    def _foldable(self, node, value):
        if value is None:
            return True
        if not isinstance(value, Known) or value.array.size > _FOLD_LIMIT:
            return False
        return not value.is_weight or (not self.weights.trains and node.operator in _ON_WEIGHTS)

    def _labelled(self, node, values, results):
        """Results of weights are weights."""
        if any(value is not None and value.is_weight for value in values):
            for name, known in zip(node.outputs, results):
                known.label, known.store = name, self.weights
        return results


class _Initializer:
    """A stored array that nothing has read yet."""

    __slots__ = ("array",)

    def __init__(self, array):
        self.array = array


def _needed(graph):
    """The positions of the nodes that the outputs depend on."""
    wanted = {getattr(each, "name", each) for each in graph.outputs}
    needed = set()
    for position in range(len(graph.nodes) - 1, -1, -1):
        node = graph.nodes[position]
        if not wanted.isdisjoint(node.outputs):
            needed.add(position)
            wanted.update(reads(node))
    return needed


def reads(node):
    """The names that a node reads, also those that its bodies take from outside."""
    names = set(node.inputs)
    for value in node.attributes.values():
        if isinstance(value, Graph):
            names.update(each.name for each in value.outputs)
            for inner in value.nodes:
                names.update(reads(inner))
    return names


def _folded(handler, call, values):
    """The results computed on the host as Knowns, or None where the rule does not say them."""
    arrays = [None if value is None else value.array for value in values]
    try:
        with np.errstate(all="ignore"):
            results = handler.fold(call, *arrays)
    except (FerruleError, TypeError):
        # Symbolic sizes know few operations; the others are the program's.
        if not any(value is not None and value.is_symbolic for value in values):
            raise
        return None
    if results is None:
        return None
    dtype = next((value.dtype for value in values if value is not None), None)
    results = results if isinstance(results, list) else [results]
    return [each if isinstance(each, Known) else _known_result(each, dtype) for each in results]


def _known_result(array, dtype):
    array = np.asarray(array)
    return Known(array, dtype if array.dtype == object else None)


def _argument(node, handler, position, value):
    required = position in handler.host
    if value is None or not (required or position in handler.host_if_known):
        return tensor_of(value)
    if isinstance(value, Known):
        return value.array
    if not required:
        return value
    name = node.inputs[position]
    raise UnsupportedError(
        f"its input {position}, {name!r}, must be known while importing, and depends on the data; an input of the "
        f"model gets a fixed value with values={{...}}"
    )


def missing_reason(node):
    """Why a node without a handler cannot be imported."""
    return f"there is no import for version {node.version} of this operator"


def find_unsupported(model):
    """(what, its name, reason) of all that the file alone shows to be unsupported.

    Nodes that neither a handler nor a function serves, bodies included, and inputs and outputs that are no tensors of
    an element type of Ferrule.
    """
    found = []
    for value in (*model.graph.inputs, *model.graph.outputs):
        if value.kind != "tensor" or value.dtype not in (None, *dtypes.ALL):
            what = value.kind if value.kind != "tensor" else f"tensor of {value.dtype}"
            reason = f"it is a {what}; allowed are tensors of {', '.join(dtypes.ALL)}"
            found.append(("input or output", value.name, reason))

    def visit(graph):
        needed = _needed(graph)
        for position, node in enumerate(graph.nodes):
            if position not in needed:
                continue
            if find(node.domain, node.operator, node.version) is None and not is_function(node, model):
                found.append((node.title, node.name, missing_reason(node)))
            for value in node.attributes.values():
                if isinstance(value, Graph):
                    visit(value)

    visit(model.graph)
    return found


def host_inputs(model):
    """The names of the main graph's inputs that decide shapes: handlers need to know what is computed from them."""
    graph = model.graph
    # Of operators that are functions any list of integers may decide a shape.
    lists = {v.name for v in graph.inputs if v.dtype in ("int32", "int64") and len(v.shape or ()) < 2}
    wanted = set()
    for node in reversed(graph.nodes):
        handler = find(node.domain, node.operator, node.version)
        if handler is None:
            known = lists.intersection(node.inputs)
        else:
            known = {name for i, name in enumerate(node.inputs) if i in handler.host}
        if wanted.intersection(node.outputs) and node.operator not in ("Shape", "Size"):
            known = node.inputs
        wanted.update(known)
    return [value.name for value in graph.inputs if value.name in wanted]


def describe_failures(origin, failures):
    """One message for all that cannot be imported: each reason once, with how often and where it was met."""
    nodes = defaultdict(list)
    for title, name, reason in failures:
        nodes[title, reason].append(name)
    counts = Counter({key: len(names) for key, names in nodes.items()})
    lines = [f"{origin}: {len(failures)} nodes cannot be imported"]
    for (title, reason), count in counts.most_common():
        names = nodes[title, reason]
        shown = ", ".join(repr(name) for name in names[:3]) + (", ..." if count > 3 else "")
        lines.append(f"  {title}, {count} {'node' if count == 1 else 'nodes'} ({shown}): {reason}")
    return "\n".join(lines)
