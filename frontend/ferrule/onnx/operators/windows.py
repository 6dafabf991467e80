"""What convolutions and pools share: kernel, strides, dilations and padding, one entry an axis of space."""

from dataclasses import dataclass

from ...errors import ModelError, UnsupportedError
from ...shapes import is_static, show


@dataclass
class Window:
    """The window of a node: lists with one entry an axis; ``padding`` holds pairs (before, after), maybe negative."""

    kernel: list
    strides: list
    dilations: list
    padding: list

    @property
    def reaches(self):
        """How far each window extends, holes included."""
        return [dilation * (size - 1) + 1 for dilation, size in zip(self.dilations, self.kernel)]


def for_rank(functions, rank):
    """The one of ``functions``, {axes of space: function}; UnsupportedError for a rank without one."""
    if rank not in functions:
        raise UnsupportedError(f"it has {rank} axes of space; allowed are {min(functions)} to {max(functions)}")
    return functions[rank]


def window_of(node, space, kernel):
    """The window of a node over ``space`` (the sizes of its axes).

    Raises:
        ModelError: lists of wrong length.
        UnsupportedError: ``auto_pad`` that a symbolic size decides.
    """
    rank = len(space)
    kernel = list(kernel if kernel is not None else node.get("kernel_shape"))
    window = Window(kernel, node.get("strides") or [1] * rank, node.get("dilations") or [1] * rank, None)
    pads = node.get("pads") or [0] * 2 * rank
    if len(kernel) != rank or len(window.strides) != rank or len(window.dilations) != rank or len(pads) != 2 * rank:
        raise ModelError(
            f"the window (kernel {kernel}, strides {window.strides}, dilations {window.dilations}, pads {pads}) does "
            f"not fit the {rank} axes of space {show(tuple(space))}"
        )
    mode = node.get("auto_pad", "NOTSET")
    if mode == "NOTSET":
        window.padding = list(zip(pads[:rank], pads[rank:]))
    elif mode == "VALID":
        window.padding = [(0, 0)] * rank
    else:
        window.padding = [_same(mode, *axis) for axis in zip(space, window.strides, window.reaches)]
    return window


def _same(mode, size, stride, reach):
    """The padding for ceil(size / stride) results."""
    if stride == 1:
        total = reach - 1
    elif not is_static(size):
        raise UnsupportedError(f"auto_pad {mode} with a stride on an axis of symbolic size {size}: fix it with shapes=")
    else:
        total = max((-(-size // stride) - 1) * stride + reach - size, 0)
    return halves(mode, total)


def halves(mode, total):
    """A total padding as (before, after); of an odd one the larger part lies after, with SAME_LOWER before."""
    small, large = total // 2, total - total // 2
    return (large, small) if mode == "SAME_LOWER" else (small, large)


def cropped(x, padding):
    """``x`` without what negative padding takes away, and the padding that remains."""
    if all(min(pair) >= 0 for pair in padding):
        return x, padding
    cuts = tuple(
        slice(max(-before, 0), None if after >= 0 else after) for before, after in padding
    )
    return x[(slice(None), slice(None), *cuts)], [(max(before, 0), max(after, 0)) for before, after in padding]
