"""Operators that are graphs of other operators: functions of the model, and those that the specification states so.

An operator without a handler is imported by the body that the specification gives for it, if it gives one.
"""

import onnx

from .. import dtypes
from ..errors import UnsupportedError
from ..shapes import is_static
from .model import Graph, read_node, versions
from .values import dtype_of, shape_of


def body_of(node, model, inputs):
    """The Graph that stands for ``node``, or None if it is no function.

    Args:
        model: the `Model`, whose own functions come first.
        inputs: the node's values (None where one is left out).
    """
    proto = model.functions.get((node.domain, node.operator, node.proto.overload))
    if proto is None:
        proto = _specified(node, inputs)
    return None if proto is None else _instantiate(proto, node, model)


def is_function(node, model):
    """Whether `body_of` may find a body, as far as that is known without the values."""
    if (node.domain, node.operator, node.proto.overload) in model.functions:
        return True
    schema = _schema(node)
    return schema is not None and (schema.has_function or schema.has_context_dependent_function)


def _schema(node):
    try:
        return onnx.defs.get_schema(node.operator, max_inclusive_version=max(node.version, 1), domain=node.domain)
    except onnx.defs.SchemaError:
        return None


def _specified(node, inputs):
    schema = _schema(node)
    if schema is None:
        return None
    if schema.has_context_dependent_function:
        known = [v for v in schema.context_dependent_function_opset_versions if v <= node.version]
        if known:
            # Which body it is depends on element types, and in a few operators on sizes.
            types = [_type_of(value).SerializeToString() for value in inputs]
            encoded = schema.get_context_dependent_function_with_opset_version(
                max(known), node.proto.SerializeToString(), types
            )
            if encoded:
                return onnx.FunctionProto.FromString(encoded)
    if schema.has_function:
        known = [v for v in schema.function_opset_versions if v <= node.version]
        if known:
            return onnx.FunctionProto.FromString(schema.get_function_with_opset_version(max(known)))
    return None


def _type_of(value):
    if value is None:
        return onnx.TypeProto()
    element = onnx.helper.np_dtype_to_tensor_dtype(dtypes.to_numpy(dtype_of(value)))
    shape = [size if is_static(size) else str(size) for size in shape_of(value)]
    return onnx.helper.make_tensor_type_proto(element, shape)


def _instantiate(proto, node, model):
    """The body with the node's attributes in place of references to them."""
    given = {each.name: each for each in node.proto.attribute}
    for each in proto.attribute_proto:
        given.setdefault(each.name, each)
    schema = _schema(node)
    if schema is not None:
        for name, attribute in schema.attributes.items():
            if attribute.default_value.name:
                given.setdefault(name, attribute.default_value)
    opsets = {**model.opsets, **versions(proto.opset_import)}
    nodes, known = [], set(proto.input)
    for position, each in enumerate(proto.node):
        copy = onnx.NodeProto()
        copy.CopyFrom(each)
        _substitute(copy, given)
        inner = read_node(copy, position, opsets, model.file, known)
        known.update(inner.outputs)
        inner.name = f"{node.name}/{inner.name}"
        nodes.append(inner)
    if len(node.inputs) > len(proto.input):
        raise UnsupportedError(f"{len(node.inputs)} inputs for a function of {len(proto.input)}")
    return Graph(proto.name, nodes, {}, list(proto.input), list(proto.output))


def _substitute(node, given):
    """Replaces references to attributes of the function, also in bodies."""
    kept = []
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            source = given.get(attribute.ref_attr_name)
            if source is None:
                continue  # the caller leaves it out, so it is left out here
            renamed = onnx.AttributeProto()
            renamed.CopyFrom(source)
            renamed.name = attribute.name
            kept.append(renamed)
            continue
        copied = onnx.AttributeProto()
        copied.CopyFrom(attribute)
        for graph in [copied.g] if copied.HasField("g") else list(copied.graphs):
            for inner in graph.node:
                _substitute(inner, given)
        kept.append(copied)
    del node.attribute[:]
    node.attribute.extend(kept)
