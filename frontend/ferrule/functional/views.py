"""The shape functions whose result is a view, as in NumPy: a write into one side is seen on the other.

The functions of `shape` make new tensors; compositions are built on those, so that their results belong to nobody else.
"""

from .._tensor import Tensor, as_tensor
from .._views import Broadcast, Reshape, Transpose, view
from . import shape as plain
from .axes import resolve_axis


def _viewed(inp, result, *steps):
    """``result`` as a view of ``inp``; of data that was no Tensor nobody holds the other side."""
    return view(inp, result._handle, steps) if isinstance(inp, Tensor) else result


def reshape(inp, target_shape):
    """The elements, in row-major order, in a new shape (a view); one size may be -1."""
    result = plain.reshape(inp, target_shape)
    return _viewed(inp, result, Reshape(result.shape))


def transpose(inp, pattern):
    """The axes in the order ``pattern`` (a view)."""
    result = plain.transpose(inp, pattern)
    return _viewed(inp, result, Transpose([resolve_axis("transpose", axis, result.ndim) for axis in pattern]))


def swapaxes(inp, axis1, axis2):
    """Two axes exchanged (a view)."""
    ndim = as_tensor(inp).ndim
    axes = list(range(ndim))
    a, b = resolve_axis("swapaxes", axis1, ndim), resolve_axis("swapaxes", axis2, ndim)
    axes[a], axes[b] = axes[b], axes[a]
    return transpose(inp, axes)


def broadcast_to(inp, shape):
    """The value repeated along new axes and axes of size 1 by NumPy's rule (a view that cannot be written)."""
    result = plain.broadcast_to(inp, shape)
    return _viewed(inp, result, Broadcast(result.shape))


def expand_dims(inp, axis):
    """New axes of size 1 at ``axis``, counted in the result (a view)."""
    result = plain.expand_dims(as_tensor(inp), axis)
    return _viewed(inp, result, Reshape(result.shape))


def squeeze(inp, axis=None):
    """Axes of size 1 removed: those named, or all (a view)."""
    result = plain.squeeze(as_tensor(inp), axis)
    return _viewed(inp, result, Reshape(result.shape))


def split(inp, nsplits_or_sections, axis=0):
    """A list of parts along ``axis`` (views): so many equal ones, or cut before each of the given positions."""
    return plain.split(as_tensor(inp), nsplits_or_sections, axis)
