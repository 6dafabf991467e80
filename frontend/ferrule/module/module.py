"""`Module`: a tree of named parameters, buffers and modules with a forward function."""

from collections import OrderedDict
from types import MappingProxyType

from .. import _recording, dtypes
from .._tensor import Parameter, Tensor
from ..errors import FerruleError, TraceError
from ..location import module_path, pop_module, push_module, user_location
from ..shapes import same_shape, show
from .state import convert, restore, save

_CONTAINERS = (list, tuple, dict)
_BOOKKEEPING = frozenset(("name", "training", "_own_name", "_transient", "_forward_hooks", "_forward_pre_hooks"))


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

    quantize_disabled = False
    _transient = frozenset()  # the buffers that `state_dict` leaves out

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
            if self._forward_pre_hooks:
                inputs = self._call_pre_hooks(inputs)
            outputs = self.forward(*inputs, **kwargs)
            return self._call_hooks(inputs, outputs) if self._forward_hooks else outputs
        except FerruleError as error:
            _name_module(error, module_path())
            raise
        finally:
            pop_module()

    def _call_pre_hooks(self, inputs):
        for hook in tuple(self._forward_pre_hooks.values()):
            changed = hook(self, inputs)
            if changed is not None:
                inputs = changed if isinstance(changed, tuple) else (changed,)
        return inputs

    def _call_hooks(self, inputs, outputs):
        for hook in tuple(self._forward_hooks.values()):
            changed = hook(self, inputs, outputs)
            if changed is not None:
                outputs = changed
        return outputs

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

    def __delattr__(self, name):
        if _recording.current() is not None:
            raise TraceError(
                f"{type(self).__name__}.{name} is deleted inside a traced function at {user_location()}: a compiled "
                f"call could not do it again. Delete it outside, or set it to None"
            )
        object.__delattr__(self, name)

    def register_buffer(self, name, tensor, persistent=True):
        """Sets a buffer: a Tensor that is state but not trained, or None (PyTorch's spelling of ``self.name =
        tensor``).

        Args:
            name: the attribute.
            tensor: a Tensor, or an array, of which one is made.
            persistent: False leaves it out of `state_dict`.
        """
        if isinstance(tensor, Parameter):
            raise TypeError(f"register_buffer of {name!r}: a buffer is a Tensor, not a Parameter")
        setattr(self, name, tensor if tensor is None or isinstance(tensor, Tensor) else Tensor(tensor))
        object.__setattr__(self, "_transient", self._transient - {name} if persistent else self._transient | {name})

    def register_parameter(self, name, param):
        """Sets a Parameter, or None (PyTorch's spelling of ``self.name = param``)."""
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"register_parameter of {name!r}: a Parameter is needed, not {type(param).__name__}")
        setattr(self, name, param)

    def register_module(self, name, module):
        """Sets a module below (PyTorch's spelling of ``self.name = module``)."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"register_module of {name!r}: a Module is needed, not {type(module).__name__}")
        setattr(self, name, module)

    add_module = register_module

    # Walks. `prefix` is put before the names, joined by a dot.

    def _attributes(self):
        """(name, value) of the attributes that may hold tensors and modules."""
        return [item for item in vars(self).items() if item[0] not in _BOOKKEEPING]

    def _walk(self, prefix, recursive, seen):
        """(name, leaf) of the tensors and modules below, each once, a module before what it holds."""
        for attribute, value in self._attributes():
            for path, leaf in leaves(attribute, value):
                if id(leaf) in seen:
                    continue
                seen.add(id(leaf))
                if isinstance(leaf, Tensor) and leaf._variable is None and _recording.current() is None:
                    leaf._become_variable("buffer")  # it came into a list or dict after that was set
                full = f"{prefix}.{path}" if prefix else path
                yield full, leaf
                if recursive and isinstance(leaf, Module):
                    yield from leaf._walk(full, recursive, seen)

    def _all_names(self, prefix="", above=()):
        """(name, tensor) of all parameters and buffers under each of their names, also those of shared ones."""
        if self in above:
            return
        for attribute, value in self._attributes():
            for path, leaf in leaves(attribute, value):
                if isinstance(leaf, Module):
                    yield from leaf._all_names(f"{prefix}{path}.", (*above, self))
                else:
                    yield prefix + path, leaf

    def get_submodule(self, target):
        """The module of a dotted name, as `named_modules` gives it; AttributeError if there is none."""
        return _named(self, target, self.named_modules(), "module")

    def get_parameter(self, target):
        """The parameter of a dotted name; AttributeError if there is none."""
        return _named(self, target, self.named_parameters(), "parameter")

    def get_buffer(self, target):
        """The buffer of a dotted name; AttributeError if there is none."""
        return _named(self, target, self.named_buffers(), "buffer")

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

    def requires_grad_(self, requires_grad=True):
        """Sets whether optimizers train the parameters: False freezes them; returns self."""
        for parameter in self.parameters():
            parameter.requires_grad = requires_grad
        return self

    def disable_quantize(self, value=True):
        """Marks this module and all below as not to be quantized."""
        for module in self.modules():
            module.quantize_disabled = bool(value)

    def to(self, *targets, dtype=None, device=None):
        """Puts parameters and buffers of another floating-point type in place of the floating-point ones; returns self.

        They are new objects: make the optimizer and the GradManager afterwards.

        Args:
            targets, dtype, device: an element type and a device in any order; the device is the CPU.
        """
        for target in (*targets, dtype, device):
            if target is None:
                continue
            if isinstance(target, str) and target not in dtypes.ALL:
                Tensor(0.0).to(target)  # refuses other devices
            else:
                convert(self, dtypes.canonical(target))
        return self

    def half(self):
        """The module in float16; returns self."""
        return self.to(dtype="float16")

    def bfloat16(self):
        """The module in bfloat16; returns self."""
        return self.to(dtype="bfloat16")

    def float(self):
        """The module in float32; returns self."""
        return self.to(dtype="float32")

    def double(self):
        """The module in float64; returns self."""
        return self.to(dtype="float64")

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
        for attribute, value in self._attributes():
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
        return save(self, OrderedDict() if rst is None else rst, prefix, keep_var)

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
        return restore(self, state_dict, strict)

    def extra_repr(self):
        """What stands in parentheses in the representation; subclasses give their arguments."""
        return self._module_info_string()

    def _module_info_string(self):
        """MegEngine's name for `extra_repr`."""
        return ""

    def __repr__(self):
        children = [f"  ({name}): " + repr(child).replace("\n", "\n  ") for name, child in self.named_children()]
        extra = self.extra_repr()
        if not children:
            return f"{type(self).__name__}({extra})"
        lines = [f"  {extra}", *children] if extra else children
        return f"{type(self).__name__}(\n" + "\n".join(lines) + "\n)"


def _refuse_traced(module, name, tensor):
    """Raises TraceError if ``tensor`` is traced: it has no value that could outlive the recording."""
    if tensor._is_traced():
        raise TraceError(
            f"{type(module).__name__}.{name} is set to a traced tensor of shape {show(tensor.shape)} and dtype "
            f"{tensor.dtype} at {user_location()}: give the module a buffer of that shape and dtype before (in "
            f"__init__), so that the value has a place to live in between calls"
        )


def _name_module(error, path):
    """Adds the innermost module being called to an error that does not name it yet."""
    message = str(error)
    if not hasattr(error, "module_path"):
        error.module_path = path
        if f"in module {path}" not in message:
            error.args = (f"{message}, in module {path}",)


def _named(module, target, named, kind):
    for name, leaf in named:
        if name == target:
            return leaf
    raise AttributeError(f"{type(module).__name__} has no {kind} {target!r}")


def _register(hooks, hook):
    key = max(hooks, default=-1) + 1
    hooks[key] = hook
    return HookHandle(hooks, key)
