"""Channels to space and back, windows put together, sampling at points."""

from ... import functional as F
from ...errors import UnsupportedError
from ..registry import operator
from .axes import ints


@operator("DepthToSpace")
def depth_to_space(node, x):
    """Blocks of channels as blocks of pixels; ``DCR`` takes the block's axes before the channels, ``CRD`` after."""
    size = node.get("blocksize")
    batch, channels, height, width = x.shape
    rest = channels // (size * size)
    if node.get("mode", "DCR") == "DCR":
        apart, order = (batch, size, size, rest, height, width), (0, 3, 4, 1, 5, 2)
    else:
        apart, order = (batch, rest, size, size, height, width), (0, 1, 4, 2, 5, 3)
    mixed = F.transpose(F.reshape(x, apart), order)
    return F.reshape(mixed, (batch, rest, height * size, width * size))


@operator("SpaceToDepth")
def space_to_depth(node, x):
    """Blocks of pixels as channels, in the orders of DepthToSpace."""
    size = node.get("blocksize")
    batch, channels, height, width = x.shape
    apart = F.reshape(x, (batch, channels, height // size, size, width // size, size))
    mixed = F.transpose(apart, (0, 3, 5, 1, 2, 4) if node.get("mode", "DCR") == "DCR" else (0, 1, 3, 5, 2, 4))
    return F.reshape(mixed, (batch, channels * size * size, height // size, width // size))


@operator("Col2Im", since=18, host=(1, 2), note="images")
def columns_to_image(node, x, image, block):
    """Windows put together to an image; what overlaps is added."""
    image, block = ints(image), ints(block)
    if len(image) != 2:
        raise UnsupportedError(f"it has {len(image)} axes of space; allowed are 2")
    pads = node.get("pads") or [0] * 4
    if pads[:2] != pads[2:]:
        raise UnsupportedError(f"the padding {pads} differs between the two ends of an axis")
    return F.fold(x, image, block, node.get("dilations") or [1, 1], pads[:2], node.get("strides") or [1, 1])
