"""Tensors from sizes and numbers."""

import numpy as np

from .. import _compiler, dtypes
from .._stream import apply
from .._tensor import Tensor, as_tensor
from ..errors import ShapeError
from ..location import user_location


def _sizes(shape):
    sizes = list(shape) if isinstance(shape, (tuple, list)) else [shape]
    sizes = [size.__index__() if isinstance(size, Tensor) else size for size in sizes]
    for size in sizes:
        if not isinstance(size, _compiler.DimExpr) and size < 0:
            raise ShapeError(f"negative size {size} in the shape {tuple(sizes)}")
    return sizes


def full(shape, value, *, dtype=None, device=None):
    """A tensor with every element ``value``; the dtype is the default one of a Python number unless given."""
    del device
    if dtype is None:
        dtype = dtypes.array_of(value).dtype
    attrs = {"shape": _sizes(shape), "value": value, "dtype": dtypes.canonical(dtype)}
    return Tensor._wrap(apply("full", [], attrs)[0])


def zeros(shape, *, dtype="float32", device=None):
    """A tensor of zeros."""
    return full(shape, 0, dtype=dtype, device=device)


def ones(shape, *, dtype="float32", device=None):
    """A tensor of ones."""
    return full(shape, 1, dtype=dtype, device=device)


def full_like(inp, value, *, dtype=None, device=None):
    """A tensor with the shape of ``inp`` and every element ``value``; the dtype is that of ``inp`` unless given."""
    del device
    inp = as_tensor(inp)
    return full(inp.shape, value, dtype=dtype or inp.dtype)


def zeros_like(inp, *, dtype=None, device=None):
    """Zeros with the shape of ``inp``, and its dtype unless given."""
    return full_like(inp, 0, dtype=dtype, device=device)


def ones_like(inp, *, dtype=None, device=None):
    """Ones with the shape of ``inp``, and its dtype unless given."""
    return full_like(inp, 1, dtype=dtype, device=device)


def arange(start=0, stop=None, step=1, *, dtype="float32", device=None):
    """start, start + step, ... before stop; with one argument from 0 to it. start and stop may be Dims."""
    del device
    if stop is None:
        start, stop = 0, start
    name = dtypes.canonical(dtype)
    if step == 0:
        raise ShapeError(f"arange: step is 0 at {user_location()}")
    if isinstance(stop, _compiler.DimExpr) or isinstance(start, _compiler.DimExpr):
        if not isinstance(step, int) or step < 1:
            raise ShapeError(
                f"arange from {start} to {stop}: step is {step!r}, allowed is an int from 1 "
                f"at {user_location()}"
            )
        count = stop - start if step == 1 else (stop - start + (step - 1)) // step
        values = Tensor._wrap(apply("iota", [], {"shape": [count], "axis": 0, "dtype": name})[0])
        values = values if step == 1 else values * step
        return values if isinstance(start, int) and start == 0 else values + start
    if any(isinstance(number, int) and not -(2**63) <= number < 2**63 for number in (start, stop, step)):
        # NumPy would count in float64.
        values = np.array(range(start, stop, step), "uint64" if max(start, stop) >= 2**63 else "int64")
        return Tensor(values.astype(dtypes.to_numpy(name)))
    return Tensor(np.arange(start, stop, step).astype(dtypes.to_numpy(name)))


def linspace(start, stop, num, *, dtype="float32", device=None):
    """``num`` evenly spaced values from start to stop, both included."""
    del device
    return Tensor(np.linspace(start, stop, num).astype(dtypes.to_numpy(dtypes.canonical(dtype))))


def eye(N, M=None, *, dtype="float32", device=None):  # noqa: N803  (MegEngine's names)
    """A matrix with ones on the diagonal."""
    del device
    _sizes([N, N if M is None else M])
    return Tensor(np.eye(N, M, dtype=dtypes.to_numpy(dtypes.canonical(dtype))))
