"""`Module`: a tree of named parameters, buffers and modules with a forward function."""

from collections import OrderedDict
from types import MappingProxyType

import numpy as np

from .. import _recording
from .._tensor import Parameter, Tensor
from ..errors import ArtifactError, TraceError
from ..location import pop_module, push_module, user_location
from ..shapes import same_shape, show

_CONTAINERS = (list, tuple, dict)


class HookHandle:
    """What registering a hook returns; `remove` takes the hook away again."""

    def __init__(self, hooks, key):
        self._hooks = hooks
        self._key = key

    def remove(self):
        """Takes the hook away; a second call does nothing."""
        self._hooks.pop(self._key, None)


def leaves(name, value):
    """The tensors and modules in an attribute, with names: lists and dicts are walked (``layers.0``)."""
    if isinstance(value, (Tensor, Module)):
        yield name, value
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(key, (str, int)):
                yield from leaves(f"{name}.{key}", item)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from leaves(f"{name}.{index}", item)


class Module:
    """The base class of models.

    A Parameter set as an attribute is trained; another Tensor set as an attribute is a buffer: state that is not
    trained but kept in the artifact and in checkpoints. Both may stand in lists and dicts.

    Args:
        name: what messages call the module when it is the outermost one.
    """

    training = True
    name = None
    _own_name = None  # the attribute of the parent that holds it
    _forward_hooks = MappingProxyType({})
    _forward_pre_hooks = MappingProxyType({})

    def __init__(self, name=None):
        self.name = name
        self.training = True
        self._forward_hooks = OrderedDict()
        self._forward_pre_hooks = OrderedDict()

    def forward(self, *inputs, **kwargs):
        """The computation; each subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} does not define forward")

    def __call__(self, *inputs, **kwargs):
        push_module(self._own_name or self.name or type(self).__name__)
        try:
            for hook in tuple(self._forward_pre_hooks.values()):
                changed = hook(self, inputs)
                if changed is not None:
                    inputs = changed if isinstance(changed, tuple) else (changed,)
            outputs = self.forward(*inputs, **kwargs)
            for hook in tuple(self._forward_hooks.values()):
                changed = hook(self, inputs, outputs)
                if changed is not None:
                    outputs = changed
            return outputs
        finally:
            pop_module()

    # Attributes.

    def __setattr__(self, name, value):
        if isinstance(value, (Tensor, Module)) or isinstance(value, _CONTAINERS):
            if self._write_into_buffer(name, value):
                return
            for path, leaf in leaves(name, value):
                if isinstance(leaf, Module):
                    object.__setattr__(leaf, "_own_name", path)
                elif leaf._variable is None:
                    _refuse_traced(self, path, leaf)
                    leaf._become_variable("buffer")
        capture = _recording.current()
        if capture is not None:
            capture.guards.note_write(self, name)
        object.__setattr__(self, name, value)

    def _write_into_buffer(self, name, value):
        """While recording, a computed tensor set as an attribute becomes the new value of the buffer that was there."""
        if not isinstance(value, Tensor) or not value._is_traced():
            return False
        buffer = vars(self).get(name)
        if not isinstance(buffer, Tensor) or not same_shape(buffer.shape, value.shape) or buffer.dtype != value.dtype:
            _refuse_traced(self, name, value)
        buffer.set_value(value)
        return True

    # Walks. `prefix` is put before the names, joined by a dot.

    def _walk(self, prefix, recursive, seen):
        """(name, leaf) of the tensors and modules below, each once, a module before what it holds."""
        for attribute, value in tuple(vars(self).items()):
            for path, leaf in leaves(attribute, value):
                if id(leaf) in seen:
                    continue
                seen.add(id(leaf))
                full = f"{prefix}.{path}" if prefix else path
                yield full, leaf
                if recursive and isinstance(leaf, Module):
                    yield from leaf._walk(full, recursive, seen)

    def named_tensors(self, prefix=None, recursive=True):
        """(name, tensor) of all parameters and buffers."""
        for name, leaf in self._walk(prefix, recursive, {id(self)}):
            if isinstance(leaf, Tensor):
                yield name, leaf

    def named_parameters(self, prefix=None, recursive=True):
        """(name, parameter) of all parameters."""
        for name, leaf in self.named_tensors(prefix, recursive):
            if isinstance(leaf, Parameter):
                yield name, leaf

    def named_buffers(self, prefix=None, recursive=True):
        """(name, tensor) of all buffers."""
        for name, leaf in self.named_tensors(prefix, recursive):
            if not isinstance(leaf, Parameter):
                yield name, leaf

    def named_children(self):
        """(name, module) of the modules directly below."""
        for name, leaf in self._walk(None, False, {id(self)}):
            if isinstance(leaf, Module):
                yield name, leaf

    def named_modules(self, prefix=None):
        """(name, module) of this module (its name is the prefix) and all below."""
        yield prefix or "", self
        for name, leaf in self._walk(prefix, True, {id(self)}):
            if isinstance(leaf, Module):
                yield name, leaf

    def tensors(self, recursive=True):
        """All parameters and buffers."""
        for _, leaf in self.named_tensors(None, recursive):
            yield leaf

    def parameters(self, recursive=True):
        """All parameters."""
        for _, leaf in self.named_parameters(None, recursive):
            yield leaf

    def buffers(self, recursive=True):
        """All buffers."""
        for _, leaf in self.named_buffers(None, recursive):
            yield leaf

    def children(self):
        """The modules directly below."""
        for _, leaf in self.named_children():
            yield leaf

    def modules(self):
        """This module and all below."""
        for _, leaf in self.named_modules():
            yield leaf

    # Modes and changes.

    def apply(self, fn):
        """Calls ``fn`` with this module and every one below; returns self."""
        for module in tuple(self.modules()):
            fn(module)
        return self

    def train(self, mode=True, recursive=True):
        """Switches to training (or to evaluation with ``mode=False``), all modules below as well; returns self."""
        for module in self.modules() if recursive else (self,):
            module.training = bool(mode)
        return self

    def eval(self):
        """Switches to evaluation, all modules below as well; returns self."""
        return self.train(False)

    def zero_grad(self):
        """Forgets the gradients of all parameters."""
        for parameter in self.parameters():
            parameter.grad = None

    def register_forward_pre_hook(self, hook):
        """Calls ``hook(module, inputs)`` before each forward; a result other than None replaces the inputs."""
        return _register(self._forward_pre_hooks, hook)

    def register_forward_hook(self, hook):
        """Calls ``hook(module, inputs, outputs)`` after each forward; a result other than None replaces the outputs."""
        return _register(self._forward_hooks, hook)

    def replace_param(self, params, start_pos=0, seen=None):
        """Puts the tensors of the list ``params``, from ``start_pos`` on, in place of the parameters in order.

        Returns how many were taken. ``seen`` holds modules to skip.
        """
        taken = 0
        seen = set() if seen is None else seen
        if self in seen:
            return taken
        seen.add(self)
        for attribute, value in tuple(vars(self).items()):
            if isinstance(value, Parameter):
                setattr(self, attribute, params[start_pos + taken])
                taken += 1
            elif isinstance(value, Module):
                taken += value.replace_param(params, start_pos + taken, seen)
            elif isinstance(value, _CONTAINERS):
                for _, leaf in leaves(attribute, value):
                    if isinstance(leaf, Module):
                        taken += leaf.replace_param(params, start_pos + taken, seen)
        return taken

    # State.

    def state_dict(self, rst=None, prefix="", keep_var=False):
        """The parameters and buffers by name, as read-only arrays (as Tensors with ``keep_var=True``).

        Args:
            rst: a dict to add them to.
            prefix: put before the names, as it is.
        """
        state = OrderedDict() if rst is None else rst
        for name, tensor in self.named_tensors():
            if keep_var:
                state[prefix + name] = tensor
            else:
                array = tensor.numpy()
                array.flags.writeable = False
                state[prefix + name] = array
        return state

    def load_state_dict(self, state_dict, strict=True):
        """Sets parameters and buffers from arrays by name.

        An array may also have the shape in which other frameworks keep the same values: (C,) for (1, C, 1, 1), and
        (groups, out, in, kh, kw) for a grouped convolution.

        Args:
            state_dict: a mapping, or ``f(name, tensor)`` that returns an array or None.
            strict: refuse missing and unexpected names (all are listed; nothing is changed then).

        Returns:
            (missing names, unexpected names)

        Raises:
            ArtifactError: names are missing or unexpected, or a shape differs.
        """
        own = OrderedDict(self.named_tensors())
        if callable(state_dict):
            given = {name: array for name, tensor in own.items() if (array := state_dict(name, tensor)) is not None}
        else:
            given = dict(state_dict)
        missing = [name for name in own if name not in given]
        unexpected = [name for name in given if name not in own]
        if strict and (missing or unexpected):
            raise ArtifactError(
                f"load_state_dict of {type(self).__name__}: missing: {', '.join(missing) or 'none'}; "
                f"unexpected: {', '.join(unexpected) or 'none'}"
            )
        arrays = {name: _fitted(name, given[name], tensor) for name, tensor in own.items() if name in given}
        for name, array in arrays.items():
            own[name].set_value(array)
        return missing, unexpected

    def _describe(self):
        """What stands in parentheses in the representation; subclasses add their arguments."""
        return ""

    def __repr__(self):
        children = [f"  ({name}): " + repr(child).replace("\n", "\n  ") for name, child in self.named_children()]
        if not children:
            return f"{type(self).__name__}({self._describe()})"
        return f"{type(self).__name__}(\n" + "\n".join(children) + "\n)"


def _refuse_traced(module, name, tensor):
    """Raises TraceError if ``tensor`` is traced: it has no value that could outlive the recording."""
    if tensor._is_traced():
        raise TraceError(
            f"{type(module).__name__}.{name} is set to a traced tensor of shape {show(tensor.shape)} and dtype "
            f"{tensor.dtype} at {user_location()}: give the module a buffer of that shape and dtype before (in "
            f"__init__), so that the value has a place to live in between calls"
        )


def _register(hooks, hook):
    key = max(hooks, default=-1) + 1
    hooks[key] = hook
    return HookHandle(hooks, key)


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
