"""The shape functions whose result is a view, as in NumPy: a write into one side is seen on the other.

The functions of `shape` make new tensors; compositions are built on those, so that their results belong to nobody else.
"""

from .._tensor import Tensor, as_tensor
from .._views import Broadcast, Reshape, Transpose, reshaped, transposed, view
from . import shape as plain
from .axes import resolve_axis, resolve_shape


def _viewed(inp, tensor, handle, step):
    """The value ``handle`` as a view of ``inp``; of data that was no Tensor nobody holds the other side."""
    return view(inp, handle, (step,)) if tensor is inp else Tensor._wrap(handle)


def reshape(inp, target_shape):
    """The elements, in row-major order, in a new shape (a view); one size may be -1."""
    tensor = as_tensor(inp)
    handle = tensor._handle
    sizes = resolve_shape("reshape", target_shape, handle.shape)
    return _viewed(inp, tensor, reshaped(handle, sizes), Reshape(sizes))


def transpose(inp, pattern):
    """The axes in the order ``pattern`` (a view)."""
    return permuted(inp, plain.resolve_pattern("transpose", pattern, as_tensor(inp).shape))


def permuted(inp, axes):
    """The axes in the order ``axes``, a list that names each once (a view)."""
    tensor = as_tensor(inp)
    return _viewed(inp, tensor, transposed(tensor._handle, axes), Transpose(axes))


def swapaxes(inp, axis1, axis2):
    """Two axes exchanged (a view)."""
    ndim = as_tensor(inp).ndim
    axes = list(range(ndim))
    a, b = resolve_axis("swapaxes", axis1, ndim), resolve_axis("swapaxes", axis2, ndim)
    axes[a], axes[b] = axes[b], axes[a]
    return permuted(inp, axes)


def broadcast_to(inp, shape):
    """The value repeated along new axes and axes of size 1 by NumPy's rule (a view that cannot be written)."""
    tensor = as_tensor(inp)
    handle = tensor._handle
    step = Broadcast(shape if isinstance(shape, (tuple, list)) else [shape])
    return _viewed(inp, tensor, step.read(handle), step)


def expand_dims(inp, axis):
    """New axes of size 1 at ``axis``, counted in the result (a view)."""
    tensor = as_tensor(inp)
    handle = tensor._handle
    sizes = plain.expanded_shape(handle.shape, axis)
    return _viewed(inp, tensor, reshaped(handle, sizes), Reshape(sizes))


def squeeze(inp, axis=None):
    """Axes of size 1 removed: those named, or all (a view)."""
    tensor = as_tensor(inp)
    handle = tensor._handle
    sizes = plain.squeezed_shape(handle.shape, axis)
    return _viewed(inp, tensor, reshaped(handle, sizes), Reshape(sizes))


def split(inp, nsplits_or_sections, axis=0):
    """A list of parts along ``axis`` (views): so many equal ones, or cut before each of the given positions."""
    return plain.split(as_tensor(inp), nsplits_or_sections, axis)
