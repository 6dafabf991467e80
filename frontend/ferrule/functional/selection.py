"""Which elements are set, and those elements. How many there are is found out when the values are known.

In dynamic mode that is at the call. In a traced function the number is a dim of its own, such as ``_predict.count0``:
sizes that are computed from it work as with any Dim, a comparison that it leaves open is an error at the user's line,
and a program's output has the shape that the run found out. Memory is planned for the most that it can be.
"""

from .. import _recording
from .._stream import apply
from .._tensor import Tensor, as_tensor
from ..errors import ShapeError
from ..location import user_location
from ..shapes import same_shape, show, size_of
from .indexing import take
from .shape import stack
from .views import broadcast_to

__all__ = ["argwhere", "cond_take", "flatnonzero", "masked_select", "non_zero", "nonzero"]


def flatnonzero(inp):
    """The positions (int32) of the elements that are not zero, ascending, in the flattened tensor."""
    inp = as_tensor(inp)
    mask = inp if inp.dtype == "bool" else inp != 0
    capture = _recording.current()
    size = size_of(inp.shape) if capture is None else capture.count_dim()
    positions, count = (Tensor._wrap(handle) for handle in apply("nonzero", [mask._handle], {"size": [size]}))
    # Where every size is a number, zeros stand behind the positions.
    return positions[: count.item()] if capture is None else positions


def non_zero(condition, as_tuple=False):
    """The positions (int32) of the elements that are not zero, in row-major order.

    Args:
        condition: a tensor of rank 1 or more.
        as_tuple: one tensor of shape (count,) for each axis instead of one of shape (count, rank).
    """
    condition = as_tensor(condition)
    rest, axes = flatnonzero(condition), []
    for size in reversed(condition.shape[1:]):
        axes.append(rest % size)
        rest = rest // size
    axes = (rest, *reversed(axes))
    return axes if as_tuple else stack(axes, axis=1)


def nonzero(inp, as_tuple=False):
    """PyTorch's name for `non_zero`."""
    return non_zero(inp, as_tuple)


def argwhere(inp):
    """NumPy's name for `non_zero`: shape (count, rank)."""
    return non_zero(inp)


def cond_take(mask, x):
    """The elements of ``x`` where ``mask``, of the same shape, is set: (values, their positions in the flattened x).

    The gradient of ``x`` is that of the values at their positions, and zero elsewhere.
    """
    mask, x = as_tensor(mask), as_tensor(x)
    if not same_shape(mask.shape, x.shape):
        raise ShapeError(
            f"cond_take: the mask has the shape {show(mask.shape)} and x {show(x.shape)} at {user_location()}; "
            f"they must be the same"
        )
    positions = flatnonzero(mask)
    return take(x, positions), positions


def masked_select(inp, mask):
    """PyTorch's name for the values of `cond_take`; the mask is broadcast to ``inp``."""
    inp = as_tensor(inp)
    return cond_take(broadcast_to(as_tensor(mask), inp.shape), inp)[0]
