"""How functions record: one op, several computed in float32 where the operands have 16 bits, or those of a call before."""

import functools

from .. import _compiler, dtypes
from .._stream import apply
from .._tensor import Tensor, as_handle, as_tensor

_SIXTEEN_BITS = frozenset(("float16", "bfloat16"))


def record(name, *operands):
    """The result of the op ``name`` on Tensors, numbers and arrays."""
    return Tensor._wrap(apply(name, list(map(as_handle, operands)))[0])


def as_wrapped_float(x):
    """``x`` as a Tensor of a floating-point type: integers and bools become float32."""
    tensor = as_tensor(x)
    return tensor if dtypes.is_float(tensor.dtype) else tensor.astype(dtypes.DEFAULT_FLOAT)


def rounded_once(function):
    """Makes a composition round float16 and bfloat16 once, as one op does: it is computed in float32 between casts.

    Applies where all floating-point Tensors among the arguments have one and the same 16-bit type.
    """

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        found = set()
        for value in (*args, *kwargs.values()) if kwargs else args:
            if isinstance(value, Tensor):
                dtype = value.dtype
                if dtype in dtypes.FLOATS:
                    found.add(dtype)
        if len(found) != 1 or not found <= _SIXTEEN_BITS:
            return function(*args, **kwargs)
        (narrow,) = found

        def widen(value):
            return value.astype("float32") if isinstance(value, Tensor) and value.dtype == narrow else value

        result = function(*map(widen, args), **{name: widen(value) for name, value in kwargs.items()})
        return result.astype(narrow) if result.dtype == "float32" else result

    return wrapper


def remembered(function):
    """Makes calls in dynamic mode cost what their ops cost: one like an earlier call records the same ops without running
    ``function``, whatever it is composed of.

    What it records must follow from its arguments: from the dtypes and shapes of the Tensors and which of them are the
    same, from the types and values of the others. It returns new Tensors, no views of its arguments, and neither writes
    into Tensors nor draws random numbers nor looks at values. Calls with arguments that are neither Tensors nor numbers,
    strings, None, or tuples and lists of these, run as they always did; so do all calls while a trace records.
    """
    call = _compiler.remember_calls(function, Tensor)

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return call(args, kwargs)

    return wrapper
