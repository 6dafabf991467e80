"""A model file as plain Python: nodes with decoded attributes, initializers as arrays, inputs and outputs."""

from dataclasses import dataclass

import numpy as np
import onnx

from ..errors import ModelError, UnsupportedError

_ALIASES = {"ai.onnx": ""}  # the default operator set has two names


@dataclass
class Node:
    """One node.

    Attributes:
        name: the node's own name, or operator and position where it has none.
        inputs, outputs: names of values; ``""`` is one that is left out.
        attributes: decoded: numbers, strings, lists, arrays, and `Graph` for a body.
        version: of the operator set that the operator comes from.
        proto: what it was read from.
    """

    name: str
    operator: str
    domain: str
    inputs: tuple
    outputs: tuple
    attributes: dict
    version: int
    proto: object = None

    def get(self, name, default=None):
        """An attribute, or ``default`` where the node lacks it."""
        value = self.attributes.get(name)
        return default if value is None else value

    @property
    def title(self):
        """The operator with its domain."""
        return f"{self.domain}.{self.operator}" if self.domain else self.operator


@dataclass
class Value:
    """An input or output: name, dtype (None if not given), shape (None, or ints, names and None for unknown sizes)."""

    name: str
    dtype: str
    shape: tuple
    kind: str = "tensor"


@dataclass
class Graph:
    """A graph or the body of a node: nodes in an order in which they can run, initializers by name."""

    name: str
    nodes: list
    initializers: dict
    inputs: list
    outputs: list


class Model:
    """A model: its main graph and its own functions.

    Args:
        file: a ModelFile.

    Raises:
        ModelError: the file is damaged, or its graph is not one.
    """

    def __init__(self, file):
        self.file, self.proto, self.origin = file, file.proto, file.origin
        if not self.proto.HasField("graph"):
            raise ModelError(f"{self.origin}: no ONNX model, it has no graph")
        self.opsets = versions(self.proto.opset_import)
        if not self.opsets and self.proto.ir_version < 3:
            self.opsets = {"": 1}
        self.functions = {
            (_ALIASES.get(f.domain, f.domain), f.name, getattr(f, "overload", "")): f for f in self.proto.functions
        }
        self.metadata = {entry.key: entry.value for entry in self.proto.metadata_props}
        self.graph = read_graph(self.proto.graph, self.opsets, file)


    def fix_inputs(self, values):
        """Makes inputs constant: ``values`` is {name: array}.

        Raises:
            ModelError: an input that the model does not have, or another dtype or rank than it declares.
        """
        declared = {value.name: value for value in self.graph.inputs}
        for name, array in values.items():
            if name not in declared:
                raise ModelError(f"{self.origin}: values names {name!r}; the inputs are {', '.join(declared)}")
            array, value = np.asarray(array), declared[name]
            if array.dtype.name != value.dtype or (value.shape is not None and array.ndim != len(value.shape)):
                raise ModelError(
                    f"{self.origin}: values gives {name!r} as {array.dtype.name} of rank {array.ndim}; the model says "
                    f"{value.dtype}{'' if value.shape is None else f' of rank {len(value.shape)}'}"
                )
            self.graph.initializers[name] = array
        self.graph.inputs = [value for value in self.graph.inputs if value.name not in values]


def versions(imports):
    """{domain: version} of the opset imports of a model or function."""
    return {_ALIASES.get(entry.domain, entry.domain): entry.version for entry in imports}


def read_graph(proto, opsets, file, outer=None):
    """A `Graph` of a GraphProto.

    Args:
        opsets: {domain: version}.
        file: the ModelFile that has the arrays.
        outer: the names that a body sees from the graphs around it.

    Raises:
        ModelError: a node reads a value that nothing before it makes.
    """
    initializers = {t.name: file.array(t) for t in proto.initializer}
    initializers.update({t.values.name: _dense(t, file) for t in proto.sparse_initializer})
    inputs = [_value(each) for each in proto.input if each.name not in initializers]
    known = {*(outer or ()), *initializers, *(each.name for each in inputs)}
    nodes = []
    for position, each in enumerate(proto.node):
        node = read_node(each, position, opsets, file, known)
        for name in node.inputs:
            if name and name not in known:
                raise ModelError(
                    f"{file.origin}: node {node.name!r} ({node.title}) reads {name!r}, which no node before it makes and "
                    f"which is no input or initializer: the graph is not sorted, has a cycle, or is damaged"
                )
        known.update(name for name in node.outputs if name)
        nodes.append(node)
    outputs = [_value(each) for each in proto.output]
    for each in outputs:
        if each.name not in known:
            raise ModelError(f"{file.origin}: nothing makes the output {each.name!r} of graph {proto.name!r}")
    return Graph(proto.name, nodes, initializers, inputs, outputs)


def read_node(proto, position, opsets, file, known=()):
    """A `Node` of a NodeProto; ``known`` names the values that its bodies see."""
    domain = _ALIASES.get(proto.domain, proto.domain)
    attributes = {}
    for each in proto.attribute:
        if not each.ref_attr_name:  # one of those is decided where a function is called, see `functions`
            attributes[each.name] = _attribute(each, opsets, file, known)
    return Node(
        name=proto.name or f"{proto.op_type}_{position}",
        operator=proto.op_type,
        domain=domain,
        inputs=tuple(proto.input),
        outputs=tuple(proto.output),
        attributes=attributes,
        version=opsets.get(domain, 0),
        proto=proto,
    )


def _attribute(proto, opsets, file, known):
    kinds = onnx.AttributeProto
    if proto.type == kinds.FLOAT:
        return proto.f
    if proto.type == kinds.INT:
        return proto.i
    if proto.type == kinds.STRING:
        return proto.s.decode("utf-8", "replace")
    if proto.type == kinds.TENSOR:
        return file.array(proto.t)
    if proto.type == kinds.GRAPH:
        return read_graph(proto.g, opsets, file, known)
    if proto.type == kinds.FLOATS:
        return list(proto.floats)
    if proto.type == kinds.INTS:
        return list(proto.ints)
    if proto.type == kinds.STRINGS:
        return [text.decode("utf-8", "replace") for text in proto.strings]
    if proto.type == kinds.SPARSE_TENSOR:
        return _dense(proto.sparse_tensor, file)
    return onnx.helper.get_attribute_value(proto)


def _dense(sparse, file):
    values, indices = file.array(sparse.values), file.array(sparse.indices)
    dense = np.zeros(tuple(sparse.dims), values.dtype)
    if indices.ndim == 1:
        dense.reshape(-1)[indices] = values
    else:
        dense[tuple(indices.T)] = values
    return dense


def constant_array(node):
    """The array of a Constant node, whichever attribute holds it."""
    for name, value in node.attributes.items():
        if name in ("value", "sparse_value"):
            return value
        if name in ("value_float", "value_floats"):
            return np.asarray(value, np.float32)
        if name in ("value_int", "value_ints"):
            return np.asarray(value, np.int64)
        if name in ("value_string", "value_strings"):
            return np.asarray(value, object)
    raise ModelError(f"node {node.name!r} (Constant) has no value")


def _value(proto):
    kind = proto.type.WhichOneof("value") or "tensor_type"
    if kind != "tensor_type":
        return Value(proto.name, None, None, kind.removesuffix("_type"))
    described = proto.type.tensor_type
    shape = None
    if described.HasField("shape"):
        shape = tuple(
            dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else dim.dim_param or None
            for dim in described.shape.dim
        )
    return Value(proto.name, dtype_name(described.elem_type), shape)


def dtype_name(element_type):
    """The name of an ONNX element type (an int of TensorProto.DataType), as NumPy spells it; None for undefined."""
    if element_type == onnx.TensorProto.UNDEFINED:
        return None
    if element_type == onnx.TensorProto.STRING:
        return "string"
    try:
        return onnx.helper.tensor_dtype_to_np_dtype(element_type).name
    except KeyError:
        raise UnsupportedError(f"the element type {element_type} is none that ONNX {onnx.__version__} knows") from None
