"""Tensors from sizes and numbers."""

import numpy as np

from .. import _compiler, dtypes
from .._stream import apply
from .._tensor import Tensor
from ..errors import ShapeError


def _sizes(shape):
    sizes = list(shape) if isinstance(shape, (tuple, list)) else [shape]
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


def full_like(inp, value):
    """A tensor with the shape and dtype of ``inp`` and every element ``value``."""
    return full(inp.shape, value, dtype=inp.dtype)


def zeros_like(inp):
    """Zeros with the shape and dtype of ``inp``."""
    return full_like(inp, 0)


def ones_like(inp):
    """Ones with the shape and dtype of ``inp``."""
    return full_like(inp, 1)


def arange(start=0, stop=None, step=1, *, dtype="float32", device=None):
    """start, start + step, ... before stop; with one argument from 0 to it. ``stop`` may be a Dim if step is 1."""
    del device
    if stop is None:
        start, stop = 0, start
    name = dtypes.canonical(dtype)
    if isinstance(stop, _compiler.DimExpr):
        if step != 1:
            raise ShapeError(f"arange to the dim {stop}: step is {step}, allowed is 1")
        values = apply("iota", [], {"shape": [stop - start], "axis": 0, "dtype": name})[0]
        return Tensor._wrap(values) if start == 0 else Tensor._wrap(values) + start
    return Tensor(np.arange(start, stop, step).astype(dtypes.to_numpy(name)))


def linspace(start, stop, num, *, dtype="float32", device=None):
    """``num`` evenly spaced values from start to stop, both included."""
    del device
    return Tensor(np.linspace(start, stop, num).astype(dtypes.to_numpy(dtypes.canonical(dtype))))


def eye(N, M=None, *, dtype="float32", device=None):  # noqa: N803  (MegEngine's names)
    """A matrix with ones on the diagonal."""
    del device
    return Tensor(np.eye(N, M, dtype=dtypes.to_numpy(dtypes.canonical(dtype))))
