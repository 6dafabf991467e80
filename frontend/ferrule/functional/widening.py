"""The element types that kernels of runs, sorts and indexed sums compute in, and the way there and back."""

from .._tensor import as_tensor
from ..errors import DtypeError
from ..location import user_location

COMPUTED = ("float32", "float64", "int32", "int64")
_WIDER = {
    "bool": "int32",
    "int8": "int32",
    "int16": "int32",
    "uint8": "int32",
    "uint16": "int32",
    "uint32": "int64",
    "float16": "float32",
    "bfloat16": "float32",
}


def widen(op, inp):
    """``inp`` in an element type that has kernels and keeps every value apart.

    Raises DtypeError for uint64, which has no such type.
    """
    inp = as_tensor(inp)
    if inp.dtype in COMPUTED:
        return inp
    if inp.dtype not in _WIDER:
        raise DtypeError(f"{op}: no kernel for {inp.dtype} at {user_location()}; convert it to int64 or a float")
    return inp.astype(_WIDER[inp.dtype])


def narrow(result, dtype):
    """``result`` in the dtype that went into `widen`."""
    return result if result.dtype == dtype else result.astype(dtype)
