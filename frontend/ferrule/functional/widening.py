"""The element types that kernels of runs, sorts and indexed sums compute in, and the way there and back.

uint64 has no wider type. Its sums are those of int64, as both wrap at 2^64; to compare, its numbers become int64 ones of
the same order.
"""

from .._stream import apply
from .._tensor import Tensor, as_tensor

COMPUTED = ("float32", "float64", "int32", "int64")
_WIDER = {
    "bool": "int32",
    "int8": "int32",
    "int16": "int32",
    "uint8": "int32",
    "uint16": "int32",
    "uint32": "int64",
    "uint64": "int64",
    "float16": "float32",
    "bfloat16": "float32",
}
_LEAST = -(2**63)


def widen(inp):
    """``inp`` in an element type that has kernels; a sum or product in it, taken back by `narrow`, is that of ``inp``."""
    inp = as_tensor(inp)
    return inp if inp.dtype in COMPUTED else inp.astype(_WIDER[inp.dtype])


def narrow(result, dtype):
    """``result`` in the dtype that went into `widen`."""
    return result if result.dtype == dtype else result.astype(dtype)


def ordered(inp):
    """``inp`` in an element type that has kernels, every value apart and in the same order."""
    wide = widen(inp)
    return _turned(wide) if inp.dtype == "uint64" else wide


def unordered(result, dtype):
    """``result``, made of elements of `ordered`, in the dtype that went in."""
    return narrow(_turned(result) if dtype == "uint64" else result, dtype)


def _turned(x):
    """int64 with the sign bit turned, which takes unsigned order to signed order and back."""
    return Tensor._wrap(apply("bitwise_xor", [x._handle, _LEAST])[0])
