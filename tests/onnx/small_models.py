"""Small ONNX models in one call."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name, shape, kind=FLOAT):
    """An input or output; a size may be a name."""
    return helper.make_tensor_value_info(name, kind, shape)


def node(operator, inputs, outputs, **attributes):
    """A node; inputs and outputs are words in one string, ``-`` leaves one out."""
    names = [["" if word == "-" else word for word in words.split()] for words in (inputs, outputs)]
    return helper.make_node(operator, *names, **attributes)


def model(nodes, inputs, outputs, stored=None, opset=18, functions=()):
    """A ModelProto.

    Args:
        inputs, outputs: values.
        stored: {name: array} of initializers.
    """
    initializers = [numpy_helper.from_array(np.asarray(array), name) for name, array in (stored or {}).items()]
    graph = helper.make_graph(nodes, "test", inputs, outputs, initializers)
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(f.domain, 1) for f in functions)]
    return helper.make_model(graph, opset_imports=imports, functions=list(functions))
