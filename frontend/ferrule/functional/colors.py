"""Images in other colours, with the numbers of MegEngine: the coefficients, and for uint8 the fixed point, are its own."""

from .._tensor import as_tensor
from ..errors import DtypeError, ShapeError, UnsupportedError
from ..location import user_location
from ..shapes import is_static, show
from .creation import full
from .elementwise import clip, right_shift
from .recording import remembered
from .shape import concat, repeat, reshape

__all__ = ["cvt_color"]

_CHANNELS = {"RGB": "RGB", "BGR": "BGR", "RGBA": "RGBA", "BGRA": "BGRA", "GRAY": "Y"}
_GRAY = {"R": (0.299, 4899), "G": (0.587, 9617), "B": (0.114, 1868)}

# How a frame (N, 3 H / 2, W, 1) stores the colours of 2 x 2 pixels below the brightness of all: which comes first, and
# whether each has a plane of its own or both alternate.
_FRAMES = {"NV12": ("UV", False), "NV21": ("VU", False), "YU12": ("UV", True), "YV12": ("VU", True)}
_FRAME_NAMES = {"YCrCb2RGB": "YUV2RGB_NV21", "YCrCb2BGR": "YUV2BGR_NV21"}


@remembered
def cvt_color(inp, mode=""):
    """Images (N, H, W, C) in other colours.

    Args:
        mode: one of
            ``"A2B"`` with A and B of RGB, BGR, RGBA, BGRA and GRAY, such as ``"RGB2GRAY"``. Gray is 0.299 R + 0.587 G
            + 0.114 B, of uint8 rounded in fixed point with 14 bits; a new alpha is opaque (1, of uint8 255).
            ``"RGB2YUV"``, ``"YUV2RGB"``: the first channel is weighed as blue is in the standard, the last as red; the
            colours lie around 0.5, of uint8 around 128.
            ``"YUV2B_F"`` with B of RGB, BGR, GRAY and F of NV12, NV21, YU12, YV12: a uint8 frame (N, 3 H / 2, W, 1)
            with one pair of colours for 2 x 2 pixels, in the full range of JPEG (``"YCrCb2RGB"`` and ``"YCrCb2BGR"``
            are those of NV21). ``"BT601_YUV2B_F"`` with B of RGB, BGR: brightness from 16, as in video.
    """
    inp = as_tensor(inp)
    name = _FRAME_NAMES.get(mode, mode)
    plain, _, frame = name.removeprefix("BT601_").partition("_")
    source, _, target = plain.partition("2")
    video = name.startswith("BT601_")
    if source == "YUV" and frame in _FRAMES and target in (("RGB", "BGR") if video else ("RGB", "BGR", "GRAY")):
        return _from_frame(inp, mode, target, frame, video)
    if name == "RGB2YUV":
        return _to_yuv(_check_channels(inp, "RGB", 3))
    if name == "YUV2RGB":
        return _from_yuv(_check_channels(inp, "YUV", 3))
    if frame or video or source not in _CHANNELS or target not in _CHANNELS:
        raise UnsupportedError(
            f"cvt_color: mode {mode!r} at {user_location()}; allowed: A2B with A and B of {', '.join(_CHANNELS)}; RGB2YUV, "
            f"YUV2RGB; YUV2B_F and BT601_YUV2B_F with B of RGB, BGR and F of {', '.join(_FRAMES)}; YUV2GRAY_F"
        )
    names = _CHANNELS[source]
    return _rearranged(_check_channels(inp, source, len(names)), names, _CHANNELS[target])


def _check_channels(inp, source, count):
    if inp.ndim != 4 or (is_static(inp.shape[3]) and inp.shape[3] != count):
        raise ShapeError(
            f"cvt_color: input of shape {show(inp.shape)} at {user_location()}; {source} is (N, H, W, {count})"
        )
    return inp


def _rearranged(inp, names, wanted):
    """The channels ``wanted``, some of R, G, B, A and Y, of an image with the channels ``names``."""
    fixed = inp.dtype == "uint8"
    planes = {name: inp[..., i : i + 1] for i, name in enumerate(names)}
    if "Y" in planes:
        planes.update(dict.fromkeys("RGB", planes["Y"]))
    elif wanted == "Y" and fixed:
        total = sum(planes[name].astype("int32") * _GRAY[name][1] for name in "RGB")
        planes["Y"] = _descaled(total).astype("uint8")
    elif wanted == "Y":
        planes["Y"] = sum(planes[name] * _GRAY[name][0] for name in "RGB")
    if "A" in wanted and "A" not in planes:
        planes["A"] = full(inp.shape[:3] + (1,), 255 if fixed else 1, dtype=inp.dtype)
    return concat([planes[name] for name in wanted], 3)


def _descaled(value):
    """A fixed point number with 14 bits after the point, rounded."""
    return right_shift(value + (1 << 13), 14)


def _bytes(planes):
    return concat([clip(plane, 0, 255) for plane in planes], 3).astype("uint8")


def _thirds(inp):
    return (inp[..., i : i + 1] for i in range(3))


def _to_yuv(inp):
    if inp.dtype == "uint8":
        first, second, third = _thirds(inp.astype("int32"))
        bright = _descaled(first * 1868 + second * 9617 + third * 4899)
        middle = 128 << 14
        return _bytes(
            [bright, _descaled((first - bright) * 8061 + middle), _descaled((third - bright) * 14369 + middle)]
        )
    first, second, third = _thirds(inp)
    bright = first * 0.114 + second * 0.587 + third * 0.299
    return concat([bright, (first - bright) * 0.492 + 0.5, (third - bright) * 0.877 + 0.5], 3)


def _from_yuv(inp):
    if inp.dtype == "uint8":
        bright, u, v = _thirds(inp.astype("int32"))
        u, v = u - 128, v - 128
        return _bytes(
            [bright + _descaled(u * 33292), bright + _descaled(v * -9519 + u * -6472), bright + _descaled(v * 18678)]
        )
    bright, u, v = _thirds(inp)
    u, v = u - 0.5, v - 0.5
    return concat([bright + u * 2.032, bright + v * -0.581 + u * -0.395, bright + v * 1.140], 3)


def _from_frame(inp, mode, target, frame, video):
    if inp.dtype != "uint8":
        raise DtypeError(f"cvt_color: mode {mode!r} for {inp.dtype} at {user_location()}; allowed: uint8")
    shape = inp.shape
    sizes = shape[1:3] if len(shape) == 4 else ()
    whole = len(sizes) == 2 and all(map(is_static, sizes)) and sizes[0] % 3 == 0 and sizes[1] % 2 == 0
    if not whole or shape[3] != 1:
        raise ShapeError(
            f"cvt_color: input of shape {show(shape)} for mode {mode!r} at {user_location()}; (N, 3 H / 2, W, 1) with "
            f"even H and W that are numbers is needed"
        )
    samples, height, width = shape[0], shape[1] // 3 * 2, shape[2]
    bright = inp[:, :height]
    if target == "GRAY":
        return bright
    order, planar = _FRAMES[frame]
    stored = inp[:, height:].astype("int32")
    if planar:
        stored = reshape(stored, (samples, 2, height // 2, width // 2, 1))
        halves = [stored[:, 0], stored[:, 1]]
    else:
        stored = reshape(stored, (samples, height // 2, width // 2, 2))
        halves = [stored[..., 0:1], stored[..., 1:2]]
    full_size = dict(zip(order, (repeat(repeat(half, 2, 1), 2, 2) for half in halves)))
    colors = _video_colors if video else _jpeg_colors
    planes = colors(bright.astype("int32"), full_size["U"], full_size["V"])
    return _bytes([planes["RGB".index(name)] for name in target])


def _jpeg_colors(bright, u, v):
    """R, G and B in fixed point with 8 bits: 1.402 V, -0.344 U - 0.714 V, 1.772 U."""
    u, v = u - 128, v - 128
    return bright + right_shift(v * 359, 8), bright - right_shift(u * 88 + v * 183, 8), bright + right_shift(u * 454, 8)


def _video_colors(bright, u, v):
    """R, G and B of BT.601 in fixed point with 6 bits: 1.164 (Y - 16) + 1.596 V, - 0.391 U - 0.813 V, + 2 U.

    2 stands for 2.018, as far as the signed byte reaches in which the reference keeps that coefficient.
    """
    bright = right_shift(bright * (0x0101 * 18997), 16) - 1160
    u, v = u - 128, v - 128
    return right_shift(bright + v * 102, 6), right_shift(bright - u * 25 - v * 52, 6), right_shift(bright + u * 128, 6)
