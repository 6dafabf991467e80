"""What convolutions and pools over 1 to 3 axes of space share: their arguments, one entry an axis of space."""

from .._tensor import as_tensor
from ..errors import ShapeError
from ..location import user_location
from ..shapes import is_static, show
from .axes import per_axis
from .creation import full
from .shape import concat, reshape


def positive(op, name, value, rank):
    """An int or ``rank`` ints of at least 1."""
    if type(value) is int and value > 0:
        return [value] * rank
    values = per_axis(op, name, value, rank)
    if min(values) < 1:
        raise ShapeError(f"{op}: {name} {value!r} at {user_location()}; 1 or more is needed")
    return values


def paddings(op, value, rank):
    """The padding before and after each axis: two lists.

    ``value`` is an int, ``rank`` ints, or ``rank`` pairs (before, after).
    """
    if type(value) is int and value >= 0:
        return [value] * rank, [value] * rank
    if isinstance(value, (tuple, list)) and len(value) == rank and all([isinstance(v, (tuple, list)) for v in value]):
        pairs = [per_axis(op, "a pair of padding", pair, 2) for pair in value]
    else:
        pairs = [(pad, pad) for pad in per_axis(op, "padding", value, rank)]
    if min(map(min, pairs)) < 0:
        raise ShapeError(f"{op}: padding {value!r} at {user_location()}; padding is 0 or more (crop with a slice)")
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def batched(op, inp, rank):
    """``inp`` with a batch axis, and whether it had none: (C, space...) is a batch of one."""
    inp = as_tensor(inp)
    ndim = inp.ndim
    if ndim == rank + 1:
        return reshape(inp, (1,) + inp.shape), True
    if ndim != rank + 2:
        axes = ", ".join(["N", "C", "D", "H", "W"][:2] + ["D", "H", "W"][3 - rank :])
        raise ShapeError(f"{op}: input of shape {show(inp.shape)} at {user_location()}; ({axes}) is needed")
    return inp, False


def unbatched(result, alone):
    """The result without the batch axis that `batched` added."""
    return reshape(result, result.shape[1:]) if alone else result


def known_sizes(op, inp, why):
    """The sizes of space as numbers; raises ShapeError for a symbolic one, which ``why`` asks to be known."""
    for axis, size in enumerate(inp.shape[2:], 2):
        if not is_static(size):
            raise ShapeError(
                f"{op}: axis {axis} of {show(inp.shape)} has a symbolic size at {user_location()}; {why} needs a number"
            )
    return list(inp.shape[2:])


def pad_space(inp, before, after):
    """The images with zeros around them."""
    for axis, pads in enumerate(zip(before, after), 2):
        parts = [inp]
        for place, count in ((0, pads[0]), (2, pads[1])):
            if count:
                zeros = full(inp.shape[:axis] + (count,) + inp.shape[axis + 1 :], 0, dtype=inp.dtype)
                parts = [zeros, *parts] if place == 0 else [*parts, zeros]
        inp = concat(parts, axis) if len(parts) > 1 else inp
    return inp
