"""The state of modules: as arrays by name, back from them, and in another element type."""

from collections import OrderedDict
from collections.abc import Mapping

import numpy as np

from .. import dtypes
from .._tensor import Parameter, Tensor
from ..errors import ArtifactError, DtypeError
from ..location import user_location
from ..shapes import show


def _transient_tensors(module):
    """The ids of the buffers that are no part of the state."""
    return {id(vars(each).get(name)) for each in module.modules() for name in each._transient}


def save(module, state, prefix, keep_var):
    """What `Module.state_dict` says, into the dict ``state``."""
    transient = _transient_tensors(module)
    for name, tensor in module.named_tensors():
        if id(tensor) in transient:
            continue
        if keep_var:
            state[prefix + name] = tensor
        else:
            array = tensor.numpy()
            array.flags.writeable = False
            state[prefix + name] = array
    return state


def restore(module, state_dict, strict):
    """What `Module.load_state_dict` says."""
    transient = _transient_tensors(module)
    own = OrderedDict((name, tensor) for name, tensor in module.named_tensors() if id(tensor) not in transient)
    if callable(state_dict):
        given = {name: array for name, tensor in own.items() if (array := state_dict(name, tensor)) is not None}
    elif isinstance(state_dict, Mapping):
        given = _by_first_name(module, own, state_dict)
    else:
        raise TypeError(f"load_state_dict takes a mapping or a function, not {type(state_dict).__name__}")
    missing = [name for name in own if name not in given]
    unexpected = [name for name in given if name not in own]
    if strict and (missing or unexpected):
        raise ArtifactError(
            f"load_state_dict of {type(module).__name__}: missing: {', '.join(missing) or 'none'}; "
            f"unexpected: {', '.join(unexpected) or 'none'}"
        )
    arrays = {name: _fitted(name, given[name], tensor) for name, tensor in own.items() if name in given}
    for name, array in arrays.items():
        own[name].set_value(array)
    return missing, unexpected


def _by_first_name(module, own, state_dict):
    """The arrays by the names of ``own``: a shared tensor may stand under each of its names, the first one counts."""
    first = {id(tensor): name for name, tensor in own.items()}
    aliases = {name: first[id(tensor)] for name, tensor in module._all_names() if id(tensor) in first}
    given = {}
    for name, array in state_dict.items():
        given.setdefault(aliases.get(name, name), array)
    return given


def _fitted(name, value, tensor):
    """``value`` as an array in the shape of ``tensor``; raises ArtifactError if it holds other values."""
    array = np.asarray(value.numpy() if isinstance(value, Tensor) else value)
    if array.shape == tensor.shape:
        return array
    bare = tuple(size for size in array.shape if size != 1)
    grouped = array.ndim == 5 and (array.shape[0] * array.shape[1],) + array.shape[2:] == tensor.shape
    if bare == tuple(size for size in tensor.shape if size != 1) or grouped:
        return array.reshape(tensor.shape)
    raise ArtifactError(f"load_state_dict: {name} has shape {show(tensor.shape)}, the value {show(array.shape)}")


def convert(module, dtype):
    """Puts tensors of the type ``dtype`` in place of the floating-point ones; a shared one stays shared."""
    if not dtypes.is_float(dtype):
        raise DtypeError(f"to({dtype!r}) at {user_location()}: modules compute in floating point")
    converted = {}

    def renewed(value):
        if not isinstance(value, Tensor) or not dtypes.is_float(value.dtype) or value.dtype == dtype:
            return value
        if id(value) not in converted:
            fresh = type(value)(value.numpy().astype(dtypes.to_numpy(dtype)), name=value._name)
            if isinstance(value, Parameter):
                fresh.requires_grad = value.requires_grad
            converted[id(value)] = fresh, value  # the old one is kept, so that its id stays its own
        return converted[id(value)][0]

    for each in tuple(module.modules()):
        for attribute, value in each._attributes():
            changed = _mapped(value, renewed)
            if changed is not value:
                setattr(each, attribute, changed)


def _mapped(value, change):
    """``value`` with ``change`` applied to the items of lists, tuples and dicts in it; itself if that changes none."""
    if isinstance(value, dict):
        items = {key: _mapped(item, change) for key, item in value.items()}
        if all(items[key] is item for key, item in value.items()):
            return value
        return type(value)(items)
    if isinstance(value, (list, tuple)):
        items = [_mapped(item, change) for item in value]
        if all(new is old for new, old in zip(items, value)):
            return value
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return change(value)
