"""What becomes of the floating-point arrays that a model stores.

They are Parameters, so that a program holds each once, packed for the contraction that reads it, and under its name.
Single numbers are constants.
"""

from .. import dtypes
from .._tensor import Parameter
from .importer import reads
from .model import constant_array


def _is_parameter(array):
    return array.size > 1 and dtypes.is_float(array.dtype.name)


def _named(name, array, borrow=False):
    parameter = Parameter._over(array) if borrow else Parameter(array)
    parameter.name = name
    return parameter


class TrainableWeights:
    """All weights of a model, made at once; arithmetic on them is the program's and gradients flow through it."""

    trains = True

    def __init__(self, model):
        stored = dict(model.graph.initializers)
        for node in model.graph.nodes:
            if node.operator == "Constant" and not node.domain:
                stored[node.outputs[0]] = constant_array(node)
        wanted = {name for node in model.graph.nodes for name in reads(node)}
        self.by_name = {
            name: _named(name, array) for name, array in stored.items() if name in wanted and _is_parameter(array)
        }

    def parameter(self, label, array):
        """The Parameter of a name, or None."""
        del array
        return self.by_name.get(label)


class FrozenWeights:
    """Weights as a program that only infers stores them, after exporters' cutting and joining was done.

    They are the model's arrays themselves, which nobody writes.
    """

    trains = False

    def __init__(self):
        self._made = {}

    def parameter(self, label, array):
        """The Parameter for an array, or None for what stays a constant."""
        if label is None or not _is_parameter(array):
            return None
        if label not in self._made:
            self._made[label] = _named(label, array, borrow=True)
        return self._made[label]
