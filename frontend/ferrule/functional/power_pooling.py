"""Pools that PyTorch has besides the mean and the largest: the p-norm of windows, and the way back from a max pool."""

from .._tensor import as_tensor
from ..errors import ShapeError
from ..location import user_location
from ..shapes import same_shape, show, size_of
from .creation import zeros
from .elementwise import equal, where
from .elementwise import pow as power
from .indexing import indices as index_of
from .indexing import scatter
from .pooling import avg_pool1d, avg_pool2d, avg_pool3d
from .recording import as_wrapped_float, remembered, rounded_once
from .shape import reshape
from .windows import batched, paddings, positive, unbatched

__all__ = [f"{kind}{rank}d" for kind in ("lp_pool", "max_unpool") for rank in (1, 2, 3)]


@remembered
def lp_pool1d(inp, norm_type, kernel_size, stride=None, ceil_mode=False):
    """`lp_pool2d` over one axis of space."""
    return _power_pool("lp_pool1d", 1, avg_pool1d, inp, norm_type, kernel_size, stride, ceil_mode)


@remembered
def lp_pool2d(inp, norm_type, kernel_size, stride=None, ceil_mode=False):
    """(sum of x^p)^(1/p) of each window, with p = ``norm_type``; its gradient is 0 where that sum is.

    Args:
        kernel_size, stride, ceil_mode: as for `avg_pool2d`. A window that reaches beyond the input counts as if it was
            full of what is inside, as PyTorch does it.
    """
    return _power_pool("lp_pool2d", 2, avg_pool2d, inp, norm_type, kernel_size, stride, ceil_mode)


@remembered
def lp_pool3d(inp, norm_type, kernel_size, stride=None, ceil_mode=False):
    """`lp_pool2d` over three axes of space."""
    return _power_pool("lp_pool3d", 3, avg_pool3d, inp, norm_type, kernel_size, stride, ceil_mode)


@rounded_once
def _power_pool(op, rank, pool, inp, norm_type, kernel_size, stride, ceil_mode):
    if not norm_type:
        raise ShapeError(f"{op}: norm_type is {norm_type} at {user_location()}; another number than 0 is needed")
    count = size_of(positive(op, "kernel_size", kernel_size, rank))
    powers = power(as_wrapped_float(inp), norm_type)
    total = pool(powers, kernel_size, stride, ceil_mode=ceil_mode) * float(count)
    nothing = equal(total, 0)
    return where(nothing, 0.0, power(where(nothing, 1.0, total), 1.0 / norm_type))


@remembered
def max_unpool1d(inp, indices, kernel_size, stride=None, padding=0, output_size=None):
    """`max_unpool2d` over one axis of space."""
    return _unpool("max_unpool1d", 1, inp, indices, kernel_size, stride, padding, output_size)


@remembered
def max_unpool2d(inp, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Images with the elements of ``inp`` at ``indices`` and 0 elsewhere: what `max_pool2d` left of an image.

    Args:
        inp: (N, C, H, W) or (C, H, W).
        indices: as `max_pool2d` gives them with ``return_indices``; where one stands twice the last element stays.
        kernel_size, stride, padding: those of the pool.
        output_size: the size of the images, (H, W) or a whole shape; (H - 1) * stride - 2 * padding + kernel_size
            unless given.
    """
    return _unpool("max_unpool2d", 2, inp, indices, kernel_size, stride, padding, output_size)


@remembered
def max_unpool3d(inp, indices, kernel_size, stride=None, padding=0, output_size=None):
    """`max_unpool2d` over three axes of space."""
    return _unpool("max_unpool3d", 3, inp, indices, kernel_size, stride, padding, output_size)


def _unpool(op, rank, inp, indices, kernel_size, stride, padding, output_size):
    inp, places = as_tensor(inp), index_of(op, indices)
    if not same_shape(inp.shape, places.shape):
        raise ShapeError(
            f"{op}: input of shape {show(inp.shape)} and indices of shape {show(places.shape)} at {user_location()}; "
            f"they must be equal"
        )
    (inp, alone), (places, _) = batched(op, inp, rank), batched(op, places, rank)
    kernel = positive(op, "kernel_size", kernel_size, rank)
    strides = kernel if stride is None else positive(op, "stride", stride, rank)
    before, after = paddings(op, padding, rank)
    if output_size is None:
        space = [
            (size - 1) * step - low - high + reach
            for size, step, low, high, reach in zip(inp.shape[2:], strides, before, after, kernel)
        ]
    else:
        space = list(output_size)[-rank:]
        if len(space) != rank:
            raise ShapeError(f"{op}: output_size {output_size!r} at {user_location()}; {rank} sizes are needed")
    lead = inp.shape[:2]
    inner = size_of(inp.shape[2:])
    flat = zeros((*lead, size_of(space)), dtype=inp.dtype)
    written = scatter(flat, 2, reshape(places, (*lead, inner)), reshape(inp, (*lead, inner)))
    return unbatched(reshape(written, (*lead, *space)), alone)
