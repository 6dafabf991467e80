"""ONNX's backend interface: `Backend.prepare(model).run(inputs)`, for tools and tests that speak it."""

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.base import Backend as BaseBackend
from onnx.backend.base import BackendRep, Device, DeviceType

from ..errors import FerruleError, UnsupportedError
from ..program import Session
from . import compile as compile_model
from .file import ModelFile
from .importer import describe_failures, find_unsupported, host_inputs
from .model import Model


class Prepared(BackendRep):
    """A model that is ready to run.

    It is compiled once for each set of input shapes, and of values of those inputs that decide shapes.
    """

    def __init__(self, proto, threads):
        self._model = Model(ModelFile(proto))
        self._proto = proto
        self._threads = threads
        self._sessions = {}
        self._fixed = set(host_inputs(self._model))
        missing = find_unsupported(self._model)
        if missing:
            raise UnsupportedError(describe_failures(self._model.origin, missing))

    def run(self, inputs, **kwargs):
        """The outputs, a list of arrays, for ``inputs``: arrays in the order of the model's inputs, or by name."""
        del kwargs
        names = [value.name for value in self._model.graph.inputs]
        given = inputs if isinstance(inputs, dict) else dict(zip(names, inputs))
        arrays = [_array(given[name]) for name in names if name in given]
        if len(arrays) < len(names):
            raise UnsupportedError(f"{self._model.origin}: {len(arrays)} inputs are given, it has {', '.join(names)}")
        fixed = {name: array for name, array in zip(names, arrays) if name in self._fixed}
        free = {name: array for name, array in zip(names, arrays) if name not in self._fixed}
        shapes = {name: array.shape for name, array in free.items()}
        key = tuple(shapes.values()), tuple((array.shape, array.tobytes()) for array in fixed.values())
        if key not in self._sessions:
            program = compile_model(self._proto, shapes=shapes, values=fixed)
            self._sessions[key] = Session(program, threads=self._threads)
        return self._sessions[key].run("main", *free.values())


def _array(value):
    """An input as an array; the tests of ONNX give some as TensorProtos."""
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


class Backend(BaseBackend):
    """Ferrule as a backend of ONNX. Results have the dtypes and shapes that the specification says."""

    @classmethod
    def is_compatible(cls, model, device="CPU", **kwargs):
        """Whether every operator of the model can be imported."""
        try:
            return cls.supports_device(device) and not find_unsupported(Model(ModelFile(model)))
        except FerruleError:
            return False

    @classmethod
    def prepare(cls, model, device="CPU", threads=1, **kwargs):
        """A model that is ready to run.

        Args:
            threads: of each session.

        Raises:
            UnsupportedError: operators that cannot be imported, or a device other than the CPU.
        """
        if not cls.supports_device(device):
            raise UnsupportedError(f"device {device!r}: programs run on the CPU")
        super().prepare(model, device, **kwargs)
        return Prepared(model, threads)

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **kwargs):
        """`prepare` and `run`."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None, **kwargs):
        """Runs one node: its inputs in order, as arrays."""
        arrays = [np.asarray(each) for each in inputs]
        names = [name for name in node.input if name]
        describe = onnx.helper.make_tensor_value_info
        to_element = onnx.helper.np_dtype_to_tensor_dtype
        values = [describe(name, to_element(array.dtype), array.shape) for name, array in zip(names, arrays)]
        results = [onnx.helper.make_empty_tensor_value_info(name) for name in node.output if name]
        graph = onnx.helper.make_graph([node], node.op_type, values, results)
        opset = kwargs.pop("opset_version", onnx.defs.onnx_opset_version())
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid(node.domain, opset)])
        return Prepared(model, 1).run(arrays)

    @classmethod
    def supports_device(cls, device):
        """Whether programs run on ``device``."""
        return Device(device).type == DeviceType.CPU


prepare, run_model, run_node = Backend.prepare, Backend.run_model, Backend.run_node
supports_device, is_compatible = Backend.supports_device, Backend.is_compatible
