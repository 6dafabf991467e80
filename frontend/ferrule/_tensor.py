"""`Tensor` and `Parameter`.

A Tensor names a value of the op stream. A plain one holds the handle of that value; one that must keep its identity
over calls and in the artifact (a parameter, a buffer, an optimizer's state) has a variable, whose current value it is.
A write (`set_value`, ``+=``, ``t[...] = v``) makes the Tensor name a new value; every alias of the same Tensor sees it,
and so does every view of it (`_views`).
"""

import numpy as np

from . import _compiler, _methods, _numpy, _operators, _recording, dtypes
from ._stream import apply
from .errors import DtypeError, ShapeError, TraceError, UnsupportedError
from .location import user_location
from .shapes import same_shape, show, size_of


class Tensor:
    """An n-dimensional array: NumPy's semantics, lazily run, differentiable, traceable.

    Args:
        data: numbers, nested lists, an array or a Tensor. Python numbers become float32 and int32; arrays keep their
            dtype. The data is copied.
        dtype: an element type that overrides.
        device: accepted for MegEngine programs; values live on the CPU.
        is_const, no_cache: accepted for MegEngine programs; they tell its interpreter how to keep the value.
        name: what messages call it.
        format: the layout of the data; only ``default`` (row-major in the order of the axes).
    """

    __slots__ = ("_value", "_variable", "_view", "_grad", "_name", "_gradient_slot", "__weakref__")
    __array_ufunc__ = _numpy.array_ufunc
    __array_function__ = _numpy.array_function

    def __init__(
        self, data, dtype=None, device=None, is_const=False, no_cache=False, name=None, format="default"  # noqa: A002
    ):
        del is_const, no_cache
        _check_place(device, format)
        self._grad = None
        self._gradient_slot = None
        self._name = name
        self._variable = None
        self._view = None
        if isinstance(data, Tensor):
            handle = data._handle
            self._value = handle if dtype is None else _cast(handle, dtypes.canonical(dtype))
        else:
            self._value = _literal(dtypes.array_of(data, dtype))

    @classmethod
    def _wrap(cls, handle):
        """A plain Tensor for a handle of the op stream."""
        tensor = Tensor.__new__(Tensor)
        tensor._value = handle
        tensor._variable = None
        tensor._view = None
        tensor._grad = None
        tensor._gradient_slot = None
        tensor._name = None
        return tensor

    @property
    def _handle(self):
        """The handle of the current value."""
        if self._variable is not None:
            return self._variable.value()
        if self._view is not None:
            return self._view.handle(self)
        capture = _recording.current()
        if capture is not None and not self._value.is_traced:
            capture.note_constant(self)
        return self._value

    def _is_traced(self):
        """Whether the value exists only in a recording, so that there is nothing that outlives it."""
        if self._variable is not None:
            return False
        return self._value.is_traced if self._view is None else self._view.storage.is_traced()

    def _become_variable(self, role, trainable=False, of=None, name=""):
        """Turns a plain concrete Tensor into one that keeps its identity; nothing changes for who holds it.

        A view of a part becomes one of its own: it does not follow the tensor that it was taken of any more.
        """
        if self._variable is None:
            if self._view is not None and not self._view.steps:
                self._view.storage._become_variable(role, trainable, of, name)
                return
            if self._view is not None:
                self._view.leave()
                self._value, self._view = self._handle, None
            owner = None if of is None else of._variable
            self._variable = _compiler.Variable(
                self._value.numpy(), name=name, role=role, trainable=trainable, of=owner
            )
            self._value = None

    def _assign(self, handle):
        """Makes this Tensor name the value ``handle``, of the same shape and dtype."""
        if self._variable is None:
            if self._view is not None:
                self._view.write(handle)
                return
            capture = _recording.current()
            if capture is not None and not self._value.is_traced:
                capture.promote(self)
            _recording.refuse_leak(self._value, handle)
        if self._variable is not None:
            self._variable.assign(handle, location=user_location())
        else:
            self._value = handle

    # What it is.

    @property
    def shape(self):
        """The sizes as a tuple: ints, and DimExprs where a size is symbolic."""
        return (self._variable or self._value).shape

    @property
    def dtype(self):
        """The name of the element type."""
        return (self._variable or self._value).dtype

    @property
    def ndim(self):
        """The number of axes."""
        return len((self._variable or self._value).shape)

    @property
    def size(self):
        """The number of elements."""
        return size_of(self.shape)

    @property
    def device(self):
        """Where the value lives."""
        return "cpu"

    @property
    def format(self):
        """The layout that MegEngine would name: axes have no meaning of their own here."""
        return "default"

    @property
    def name(self):
        """The variable's name, or the one that was given."""
        if self._variable is not None:
            return self._variable.name or self._name
        return self._name

    @name.setter
    def name(self, name):
        self._name = name
        if self._variable is not None:
            self._variable.name = name

    @property
    def requires_grad(self):
        """Whether an optimizer trains it."""
        return self._variable is not None and self._variable.trainable

    @requires_grad.setter
    def requires_grad(self, value):
        if self._variable is None:
            raise UnsupportedError("requires_grad can be set on a Parameter; attach other tensors to a GradManager")
        self._variable.trainable = bool(value)
        _recording.note_trainable_change()

    @property
    def grad(self):
        """The gradient that a GradManager's backward left here, or None."""
        capture = _recording.current()
        if capture is not None:
            capture.gradients.touch(self)
        return self._grad

    @grad.setter
    def grad(self, value):
        if value is not None and not isinstance(value, Tensor):
            raise DtypeError(f"grad is a Tensor or None, not {type(value).__name__}")
        capture = _recording.current()
        if capture is not None:
            capture.gradients.touch(self)
        self._grad = value

    # Its value.

    def numpy(self):
        """The value as a NumPy array (a copy). Runs what has been recorded for it.

        Raises TraceError while recording: there is no value yet.
        """
        if _recording.current() is None:
            return (self._variable or self._handle).numpy()
        self._refuse_traced("numpy()")
        return self._handle.numpy()

    def item(self, *index):
        """One element as a Python number."""
        self._refuse_traced("item()")
        return self.numpy().item(*index)

    def tolist(self):
        """The value as nested lists of Python numbers."""
        self._refuse_traced("tolist()")
        return self.numpy().tolist()

    def _refuse_traced(self, what):
        """Raises TraceError if the value does not exist yet because it is being recorded."""
        if _recording.current() is not None and self._handle.is_traced:
            raise TraceError(
                f"{what} of a traced tensor of shape {show(self.shape)} at {user_location()}: while recording there "
                f"are shapes but no values. Keep a choice in the graph with F.where or F.cond and a loop with F.scan "
                f"or F.while_loop, return the tensor and decide outside, or run the function with enabled=False"
            )

    def __bool__(self):
        self._refuse_traced("bool() (a branch)")
        return bool(self.numpy())

    def __int__(self):
        self._refuse_traced("int()")
        return int(self.numpy())

    def __index__(self):
        self._refuse_traced("use as an index")
        if not dtypes.is_integer(self.dtype):
            raise TypeError(f"only integer tensors can be an index, not {self.dtype}")
        return int(self.numpy())

    def __float__(self):
        self._refuse_traced("float()")
        return float(self.numpy())

    def __array__(self, dtype=None, copy=None):
        self._refuse_traced("conversion to a NumPy array")
        if copy is False:
            raise ValueError("a Tensor's elements belong to the program; an array is a copy of them")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    def __dlpack__(self, **options):
        """The value (a copy) as a DLPack capsule, for ``from_dlpack`` of other packages."""
        self._refuse_traced("conversion by DLPack")
        if options.get("copy") is False:
            raise BufferError("a Tensor's elements belong to the program; DLPack gets a copy of them")
        return self.numpy().__dlpack__(**{key: value for key, value in options.items() if key != "copy"})

    def __dlpack_device__(self):
        return 1, 0  # kDLCPU

    def __len__(self):
        if not self.shape:
            raise TypeError("len() of a 0-d tensor")
        return int(self.shape[0])

    def __iter__(self):
        for index in range(len(self)):
            yield self[index]

    def __format__(self, spec):
        if spec and not self.shape:
            return format(self.item(), spec)
        return format(str(self), spec)

    def __repr__(self):
        kind = type(self).__name__
        if self._handle.is_traced:
            return f"{kind}(shape={show(self.shape)}, dtype={self.dtype}, traced)"
        body = np.array2string(self.numpy(), separator=", ", prefix=kind + "(")
        return f"{kind}({body}, dtype={self.dtype})"

    def __reduce__(self):
        """Copies and pickles hold the value; a copy of a Parameter is another Parameter."""
        variable = self._variable
        role, trainable = (None, False) if variable is None else (variable.role, variable.trainable)
        return _rebuild, (type(self), self.numpy(), role, trainable, self._name)

    # Writes.

    def set_value(self, value):
        """Replaces the whole value; shape and dtype stay.

        Raises ShapeError for another shape, DtypeError where the dtype would change its category (float to int).
        """
        source = value if isinstance(value, Tensor) else Tensor(dtypes.array_of(value))
        if not same_shape(source.shape, self.shape):
            raise ShapeError(
                f"set_value: the tensor{_called(self)} has shape {show(self.shape)}, the value {show(source.shape)}"
            )
        self._assign(converted(source, self)._handle)

    def reset_zero(self):
        """Sets every element to zero."""
        self._assign(apply("full", [], {"shape": list(self.shape), "value": 0, "dtype": self.dtype})[0])

    def _update(self, op, other):
        """The in-place operators: the result goes back into this Tensor, whose shape and dtype stay."""
        self.set_value(Tensor._wrap(apply(op, [self._handle, as_handle(other)])[0]))
        return self

    def __getitem__(self, index):
        return _subscript.read(self, index)

    def __setitem__(self, index, value):
        _subscript.write(self, index, value)

    # Operators; the elementwise ones come from `_operators`.

    def __matmul__(self, other):
        return self.matmul(other)

    def __rmatmul__(self, other):
        return as_tensor(other).matmul(self)

    # Conversions; the methods that are functions of `functional` come from `_methods`.

    def astype(self, dtype):
        """The value converted to another element type."""
        return Tensor._wrap(_cast(self._handle, dtypes.canonical(dtype)))

    def detach(self):
        """The same value, through which no gradient flows."""
        return Tensor._wrap(apply("stop_gradient", [self._handle])[0])

    def to(self, device):
        """Accepted for MegEngine programs: values live on the CPU."""
        _check_place(device)
        return self

    def requires_grad_(self, requires_grad=True):
        """Sets `requires_grad`; returns the tensor."""
        self.requires_grad = requires_grad
        return self


class Parameter(Tensor):
    """A Tensor that a model trains: a variable of the artifact with the role ``parameter``.

    Args:
        data: the initial value; floating point.
        dtype: an element type that overrides.
    """

    __slots__ = ()

    def __init__(
        self, data, dtype=None, device=None, is_const=False, no_cache=False, name=None, format="default"  # noqa: A002
    ):
        del is_const, no_cache
        _check_place(device, format)
        array = data.numpy() if isinstance(data, Tensor) else dtypes.array_of(data, dtype)
        if dtype is not None:
            array = array.astype(dtypes.to_numpy(dtypes.canonical(dtype)))
        if not dtypes.is_float(dtypes.canonical(array.dtype)):
            raise DtypeError(f"a Parameter holds floating-point values, not {array.dtype}")
        self._hold(array, name)

    @classmethod
    def _over(cls, array):
        """A Parameter that begins with an array itself, not a copy: one of floats that nobody will write."""
        parameter = cls.__new__(cls)
        parameter._hold(array, None, borrow=True)
        return parameter

    def _hold(self, array, name, borrow=False):
        self._value = None
        self._view = None
        self._variable = _compiler.Variable(array, name="", role="parameter", trainable=True, borrow=borrow)
        self._grad = None
        self._gradient_slot = None
        self._name = name


def variable(data, role, trainable=False, of=None, name=""):
    """A Tensor that keeps its identity over calls and in the artifact.

    Args:
        data: the initial value, an array.
        role: ``buffer``, ``optimizer_state``, ``schedule``, ``gradient`` or another word that tools group by.
        of: the Parameter that an optimizer's state or a gradient belongs to; it then takes that one's layout.
    """
    tensor = Tensor.__new__(Tensor)
    tensor._value = None
    tensor._view = None
    tensor._variable = _compiler.Variable(
        dtypes.array_of(data), name=name, role=role, trainable=trainable, of=None if of is None else of._variable
    )
    tensor._grad = None
    tensor._gradient_slot = None
    tensor._name = name or None
    return tensor


def _check_place(device, format="default"):  # noqa: A002
    """Raises UnsupportedError for a device other than the CPU and for a layout other than the one there is."""
    if device is not None and str(device).split(":", maxsplit=1)[0].rstrip("x0123456789") not in ("cpu", ""):
        raise UnsupportedError(f"device {device!r}: values live on the CPU")
    if format != "default":
        raise UnsupportedError(f"format {format!r}: tensors are row-major in the order of their axes ('default')")


def from_dlpack(source):
    """A Tensor with a copy of what another package's array holds.

    Args:
        source: an object with ``__dlpack__`` whose elements lie in the CPU's memory.
    """
    return Tensor(np.from_dlpack(source))


def _rebuild(kind, array, role, trainable, name):
    """The Tensor that `Tensor.__reduce__` took apart."""
    if issubclass(kind, Parameter):
        tensor = kind(array, name=name)
        tensor.requires_grad = trainable
        return tensor
    if role is not None:
        tensor = variable(array, role, trainable)
        tensor._name = name
        return tensor
    return kind(array, name=name)


def _literal(array):
    """The handle of a constant: a concrete tensor in dynamic mode, a constant of the graph while recording."""
    if _recording.current() is None:
        return _compiler.tensor(array)
    return apply("constant", [], {"value": array})[0]


def as_handle(value):
    """What `apply` takes for an operand: a Tensor's handle, numbers and DimExprs as they are, the rest as an array."""
    if isinstance(value, Tensor):
        return value._handle
    if value is None or isinstance(value, (bool, int, float, np.generic, _compiler.DimExpr)):
        return value
    return _literal(dtypes.array_of(value))


def as_tensor(value, dtype=None):
    """``value`` as a Tensor; one that already is is returned as it is (converted if ``dtype`` differs)."""
    if not isinstance(value, Tensor):
        return Tensor(value, dtype=dtype)
    if dtype is not None and value.dtype != dtype:
        return value.astype(dtype)
    return value


def converted(value, target):
    """The Tensor ``value`` in the dtype of ``target``, into which it is written.

    Raises DtypeError where that would change its category (float to int).
    """
    if dtypes.category(value.dtype) > dtypes.category(target.dtype):
        raise DtypeError(
            f"a write of {value.dtype} into {target.dtype} at {user_location()} would lose what it means; convert it "
            f"with astype"
        )
    return as_tensor(value, target.dtype)


def _cast(handle, dtype):
    return handle if handle.dtype == dtype else apply("cast", [handle], {"dtype": dtype})[0]


def _called(tensor):
    return f" {tensor.name!r}" if tensor.name else ""


_operators.define(Tensor, as_handle)
_methods.define(Tensor)

from . import _subscript  # noqa: E402  (it is written with the class)
