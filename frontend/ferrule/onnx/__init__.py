"""Import of ONNX models, opset 7 and later: the same graph as that of a Python definition.

    program = ferrule.onnx.compile("model.onnx", shapes={"batch": fer.Dim("batch", min=1, max=32)})
    outputs = fer.Session(program).run("main", image)

`load` gives a traced function instead, whose weights can be trained. What is supported: docs/onnx.md.
"""

import inspect
import itertools

import numpy as np

from .. import _compiler, program_cache
from ..compilation import compile_function
from ..dims import Dim, Spec
from ..dtypes import to_numpy
from ..errors import DtypeError, ShapeError, UnsupportedError
from ..jit.trace import trace
from ..shapes import is_static, show
from .file import ModelFile
from .importer import Importer, describe_failures, find_unsupported
from .model import Model
from .weights import FrozenWeights, TrainableWeights

__all__ = ["compile", "load"]


def load(path_or_proto, shapes=None, values=None):
    """The model as a traced function.

    The function takes the model's inputs in their order (or by name, where the name is an identifier) and returns a
    dict of its outputs by name. Its attributes: ``weights``, {name: Parameter} of the floating-point arrays that the model
    stores, which can be trained and are variables of a program; ``specs``, what `fer.compile` needs to know of the
    inputs; ``metadata``, the strings that the model carries.

    Args:
        path_or_proto: a path (data beside the file are found), the bytes of a file, or an onnx.ModelProto.
        shapes: fixes sizes that the model leaves open: ``{input name: shape}`` or ``{dim name: size}``; a size is an
            int or a Dim. What stays open is a Dim without a maximum.
        values: {input name: array}: fixes an input, which then is none of the function's: sizes, axes or the number of
            steps that the model takes as inputs, on which shapes depend.

    Raises:
        ModelError: no model, or a damaged one.
        UnsupportedError: operators that cannot be imported, all of them at once.
        ShapeError: ``shapes`` names what the model does not have, or does not fit.
    """
    model = _checked(ModelFile(path_or_proto), values)
    weights = TrainableWeights(model)
    function = _traced(model, _specs(model, shapes), weights)
    function.weights = weights.by_name
    return function


def compile(path_or_proto, shapes=None, values=None, **options):  # noqa: A001  (as fer.compile)
    """The model as a Program with the entry ``main``, whose inputs and outputs have the model's names.

    Weights are variables under their names in the model; one that was cut or joined before its use stands under the
    name of the result. To train a model, compile what `load` gives.

    Args:
        path_or_proto, shapes, values: see `load`.
        options: those of `fer.compile`.

    Raises:
        as `load`; UnsupportedError also for what turns out while shapes are known.
    """
    file = ModelFile(path_or_proto, mapped=True)
    stored_name = _stored_name(file, shapes, values, options)
    stored = program_cache.find(stored_name) if stored_name else None
    if stored is not None:
        return stored
    model = _checked(file, values)
    function = _traced(model, _specs(model, shapes), FrozenWeights())
    names = [each.name for each in model.graph.outputs]
    return compile_function("main", function, function.specs, names, stored_name=stored_name, **options)


def _stored_name(file, shapes, values, options):
    """The name under which `program_cache` keeps the program; empty where a size is a Dim or an array lies beside the file.

    Such a program is found by its graph, after the import.
    """
    sizes = [size for each in (shapes or {}).values() for size in (each if _is_shape(each) else (each,))]
    if not all(isinstance(size, int) for size in sizes) or not program_cache.folder():
        return ""
    identity = file.identity()
    if identity is None:
        return ""
    arrays = {
        name: (array.dtype.str, array.shape, _compiler.hash_bytes(np.ascontiguousarray(array)))
        for name, array in ((name, np.asarray(value)) for name, value in (values or {}).items())
    }
    return program_cache.name_of("onnx", file.origin, identity, shapes, arrays, options)


def _checked(file, values):
    model = Model(file)
    model.fix_inputs(values or {})
    missing = find_unsupported(model)
    if missing:
        raise UnsupportedError(describe_failures(model.origin, missing))
    return model


def _traced(model, specs, weights):
    def main(*inputs, **named):
        tensors = [_fitting(model, spec, tensor) for spec, tensor in zip(specs, (*inputs, *named.values()))]
        results = Importer(model, weights).run_main(tensors)
        return {value.name: result for value, result in zip(model.graph.outputs, results)}

    kinds = inspect.Parameter
    main.__signature__ = inspect.Signature(
        [kinds(name, kinds.POSITIONAL_OR_KEYWORD) for name in _parameter_names(specs)]
    )
    function = trace(symbolic=True)(main)
    function.specs = specs
    function.metadata = model.metadata
    return function


def _parameter_names(specs):
    """Identifiers for the inputs: their names where they are ones."""
    names = []
    for position, spec in enumerate(specs):
        name = spec.name if spec.name.isidentifier() else f"input{position}"
        names.append(name if name not in names else f"input{position}")
    return names


def _fitting(model, spec, tensor):
    """An argument of the function; raises for another dtype or shape than the model's."""
    if tensor.dtype != spec.dtype:
        raise DtypeError(f"{model.origin}: input {spec.name!r} is {spec.dtype}, not {tensor.dtype}")
    fits = len(tensor.shape) == len(spec.shape)
    for given, wanted in zip(tensor.shape, spec.shape):
        fits = fits and (not (is_static(given) and is_static(wanted)) or given == wanted)
    if not fits:
        raise ShapeError(
            f"{model.origin}: input {spec.name!r} has the shape {show(spec.shape)}, given is {show(tensor.shape)}"
        )
    return tensor


def _specs(model, shapes):
    """A Spec for each input."""
    shapes = dict(shapes or {})
    dims, specs, used = {}, [], set()
    for value in model.graph.inputs:
        declared = value.shape
        if value.name in shapes and _is_shape(shapes[value.name]):
            used.add(value.name)
            shape = tuple(shapes[value.name])
            _check_declared(model, value, shape)
        elif declared is None:
            raise ShapeError(
                f"{model.origin}: input {value.name!r} has no shape in the model; give one with "
                f"shapes={{{value.name!r}: (...)}}"
            )
        else:
            shape = tuple(_size(value, axis, size, shapes, used, dims) for axis, size in enumerate(declared))
        specs.append(Spec(shape, to_numpy(value.dtype), name=value.name))
    unused = [name for name in shapes if name not in used]
    if unused:
        known = [f"{v.name}: {show(tuple('?' if s is None else s for s in v.shape or ()))}" for v in model.graph.inputs]
        raise ShapeError(f"{model.origin}: shapes names {unused}; the inputs are {', '.join(known)}")
    return specs


def _is_shape(value):
    return isinstance(value, (tuple, list))


def _check_declared(model, value, shape):
    declared = value.shape
    fits = declared is None or len(declared) == len(shape)
    for given, wanted in zip(shape, declared or ()):
        fits = fits and not (isinstance(wanted, int) and is_static(given) and given != wanted)
    if not fits:
        raise ShapeError(
            f"{model.origin}: shapes gives {value.name!r} the shape {show(shape)}; the model says "
            f"{show(tuple('?' if size is None else size for size in declared))}"
        )


def _size(value, axis, declared, shapes, used, dims):
    """A size of an input: an int, what ``shapes`` says of its name, or a Dim of its own."""
    if isinstance(declared, int):
        return declared
    if declared in shapes and not _is_shape(shapes[declared]):
        used.add(declared)
        return shapes[declared]
    # "?" is what some exporters write for a size that has no name.
    name = declared if declared and any(c.isalnum() for c in declared) else f"{value.name}_{axis}"
    if name not in dims:
        identifier = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
        identifier = identifier if identifier[0].isalpha() else f"dim_{identifier}"
        taken = {str(dim) for dim in dims.values()}
        numbered = (identifier if not count else f"{identifier}_{count}" for count in itertools.count())
        dims[name] = Dim(next(each for each in numbered if each not in taken))
    return dims[name]
