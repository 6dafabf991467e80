"""With respect to what a gradient is taken: the arguments of a call that were chosen, taken apart into tensors."""

import inspect

from .. import dtypes
from .._stream import apply
from .._tensor import Tensor, as_tensor
from ..errors import DtypeError, GradientError, ShapeError
from ..jit.capture import is_leaf
from ..jit.tree import flatten, unflatten
from ..location import user_location
from ..shapes import same_shape, show


def flatten_tensors(value, name):
    """(tensors, paths, structure) of a tree; arrays and lone Python floats become tensors."""
    if isinstance(value, float):
        value = as_tensor(value)
    leaves, paths, structure = flatten(value, is_leaf, name)
    return [leaf if isinstance(leaf, Tensor) else Tensor(leaf) for leaf in leaves], paths, structure


def rebuild(structure, handles):
    """The tree again, with new tensors for the handles."""
    return unflatten(structure, iter([Tensor._wrap(handle) for handle in handles]))


def own_value(tensor):
    """A handle of the same value that nothing else uses, so that another argument with that value does not count."""
    return apply("reshape", [tensor._handle], {"shape": list(tensor.shape)})[0]


class Chosen:
    """One thing that a gradient is taken for: its sources (handles), their names, and the tree of the gradient."""

    __slots__ = ("sources", "names", "structure")

    def __init__(self, sources, names, structure):
        self.sources = sources
        self.names = names
        self.structure = structure


def check_float(tensors, names, what):
    """Raises GradientError for a tensor that can have no gradient."""
    for tensor, name in zip(tensors, names):
        if not dtypes.is_float(tensor.dtype):
            raise GradientError(
                f"{what}: {name} has dtype {tensor.dtype} at {user_location()}; only a float has a gradient"
            )


def check_same_type(tensor, model, what):
    """Raises ShapeError or DtypeError if ``tensor`` has not the shape and dtype of ``model``."""
    if not same_shape(tensor.shape, model.shape):
        raise ShapeError(
            f"{what} has the shape {show(tensor.shape)} at {user_location()}; needed: {show(model.shape)}"
        )
    if tensor.dtype != model.dtype:
        raise DtypeError(f"{what} has the dtype {tensor.dtype} at {user_location()}; needed: {model.dtype}")


def replace_argument(args, kwargs, position, signature, what):
    """Puts values of their own in place of the tensors of the argument ``position``, an index or a name.

    Returns:
        The Chosen; ``args`` (a list) or ``kwargs`` is changed.
    """
    holder, key = _find(args, kwargs, position, signature, what)
    tensors, paths, structure = flatten_tensors(holder[key], f"argument {position}")
    if not tensors:
        raise GradientError(
            f"{what}: argument {position} holds no tensor but {type(holder[key]).__name__} at {user_location()}"
        )
    check_float(tensors, paths, what)
    sources = [own_value(tensor) for tensor in tensors]
    holder[key] = rebuild(structure, sources)
    return Chosen(sources, paths, structure)


def _find(args, kwargs, position, signature, what):
    if isinstance(position, int):
        if not -len(args) <= position < len(args):
            raise GradientError(f"{what} with wrt={position} of a call with {len(args)} arguments at {user_location()}")
        return args, position
    if position in kwargs:
        return kwargs, position
    names = list(signature.parameters) if signature is not None else []
    if position in names and names.index(position) < len(args):
        return args, names.index(position)
    raise GradientError(
        f"{what} with wrt={position!r} at {user_location()}: the call gives no argument of that name; it gives "
        f"{len(args)} by position and {sorted(kwargs) or 'none'} by name"
    )


def signature_of(function):
    """The signature, or None for a callable that has none."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def choose_tensor(tensor, index):
    """A Chosen for a Tensor that the function reaches by itself, such as a Parameter."""
    name = tensor.name or f"wrt[{index}], a tensor of shape {show(tensor.shape)}"
    check_float([tensor], [name], "grad")
    return Chosen([tensor._handle], [name], None)
