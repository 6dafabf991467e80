"""Transforms that move pixels: sizes, crops, borders, mirrors and the order of axes."""

import math

import numpy as np

from ...errors import ShapeError, UnsupportedError
from ..randomness import generator
from .base import VisionTransform
from .resizing import check_interpolation, resize


def _pair(kind, size):
    """(height, width) of an int or a pair."""
    pair = (size, size) if isinstance(size, (int, np.integer)) else tuple(size)
    if len(pair) != 2 or min(pair) < 1:
        raise ShapeError(f"{kind}: size {size!r}; an int or a pair (height, width) of 1 or more is needed")
    return pair


class _Resizing(VisionTransform):
    """Scales to the size that `_target` gives for an image's height and width."""

    def __init__(self, interpolation, order):
        super().__init__(order)
        self.interpolation = check_interpolation(type(self).__name__, interpolation)

    def _begin(self, sample):
        self._from = sample["image"].shape[:2]
        self._to = self._target(*self._from)

    def _apply_image(self, image):
        return resize(image, *self._to, self.interpolation)

    def _apply_coords(self, coords):
        scale = [self._to[1] / self._from[1], self._to[0] / self._from[0]]
        return np.asarray(coords) * np.array(scale)

    def _apply_mask(self, mask):
        return resize(mask, *self._to, "nearest")


class Resize(_Resizing):
    """Scales images.

    Args:
        output_size: (height, width), or the size of the shorter edge.
        interpolation: ``"linear"`` or ``"nearest"``.
    """

    def __init__(self, output_size, interpolation="linear", *, order=None):
        super().__init__(interpolation, order)
        self.output_size = output_size

    def _target(self, height, width):
        if not isinstance(self.output_size, (int, np.integer)):
            return _pair("Resize", self.output_size)
        shorter = min(height, width)
        return height * self.output_size // shorter, width * self.output_size // shorter


class ShortestEdgeResize(_Resizing):
    """Scales images so that the shorter edge has a size and the longer one at most ``max_size``.

    Args:
        min_size: the size; with the style ``"range"`` a pair to draw between, with ``"choice"`` a list to draw from.
        max_size: the bound for the longer edge.
        sample_style: ``"range"`` or ``"choice"``.
        interpolation: ``"linear"`` or ``"nearest"``.
    """

    def __init__(self, min_size, max_size, sample_style="range", interpolation="linear", *, order=None):
        super().__init__(interpolation, order)
        if sample_style not in ("range", "choice"):
            raise UnsupportedError(f"ShortestEdgeResize: sample_style {sample_style!r}; allowed: range, choice")
        self.min_size = (min_size, min_size) if isinstance(min_size, int) else tuple(min_size)
        self.max_size = max_size
        self.sample_style = sample_style

    def _target(self, height, width):
        if self.sample_style == "range":
            size = int(generator().integers(self.min_size[0], self.min_size[1] + 1))
        else:
            size = int(generator().choice(self.min_size))
        scale = min(size / min(height, width), self.max_size / max(height, width))
        return max(1, int(height * scale + 0.5)), max(1, int(width * scale + 0.5))


class RandomResize(_Resizing):
    """Scales images by a factor that is drawn from the range ``scale_range``."""

    def __init__(self, scale_range, interpolation="linear", *, order=None):
        super().__init__(interpolation, order)
        self.scale_range = tuple(scale_range)

    def _target(self, height, width):
        scale = generator().uniform(*self.scale_range)
        return max(1, int(height * scale)), max(1, int(width * scale))


class _Cropping(VisionTransform):
    """Cuts out the part that `_window` gives as (top, left, height, width) for an image's height and width."""

    def _begin(self, sample):
        self._part = self._window(*sample["image"].shape[:2])

    def _apply_image(self, image):
        top, left, height, width = self._part
        return image[top : top + height, left : left + width]

    def _apply_coords(self, coords):
        top, left, height, width = self._part
        moved = np.asarray(coords) - np.array([left, top])
        return np.clip(moved, 0, [width, height])

    _apply_mask = _apply_image


class CenterCrop(_Cropping):
    """Cuts out the middle of images, of the size ``output_size``."""

    def __init__(self, output_size, *, order=None):
        super().__init__(order)
        self.output_size = _pair("CenterCrop", output_size)

    def _window(self, height, width):
        rows, columns = self.output_size
        if rows > height or columns > width:
            raise ShapeError(f"CenterCrop: an image of {height} x {width}; at least {rows} x {columns} is needed")
        return (height - rows) // 2, (width - columns) // 2, rows, columns


class RandomResizedCrop(_Cropping):
    """Cuts out a part of a random size and shape at a random place and scales it to ``output_size``.

    Args:
        output_size: an int or (height, width).
        scale_range: the share of the area.
        ratio_range: width by height.
        interpolation: ``"linear"`` or ``"nearest"``.
    """

    def __init__(
        self, output_size, scale_range=(0.08, 1.0), ratio_range=(3 / 4, 4 / 3), interpolation="linear", *, order=None
    ):
        super().__init__(order)
        self.output_size = _pair("RandomResizedCrop", output_size)
        self.scale_range = tuple(scale_range)
        self.ratio_range = tuple(ratio_range)
        self.interpolation = check_interpolation("RandomResizedCrop", interpolation)

    def _window(self, height, width):
        for _ in range(10):
            area = height * width * generator().uniform(*self.scale_range)
            ratio = math.exp(generator().uniform(*map(math.log, self.ratio_range)))
            rows, columns = round(math.sqrt(area / ratio)), round(math.sqrt(area * ratio))
            if 0 < rows <= height and 0 < columns <= width:
                top = int(generator().integers(height - rows + 1))
                return top, int(generator().integers(width - columns + 1)), rows, columns
        # No shape fitted: the largest middle part whose ratio is allowed.
        ratio = min(max(width / height, self.ratio_range[0]), self.ratio_range[1])
        rows, columns = min(height, round(width / ratio)), min(width, round(height * ratio))
        return (height - rows) // 2, (width - columns) // 2, rows, columns

    def _apply_image(self, image):
        return resize(super()._apply_image(image), *self.output_size, self.interpolation)

    def _apply_coords(self, coords):
        scale = [self.output_size[1] / self._part[3], self.output_size[0] / self._part[2]]
        return super()._apply_coords(coords) * np.array(scale)

    def _apply_mask(self, mask):
        return resize(super()._apply_mask(mask), *self.output_size, "nearest")


class Pad(VisionTransform):
    """A border around images.

    Args:
        size: its width: an int, (height, width), or (top, bottom, left, right).
        value: what it holds, a number or one a channel; ``mask_value`` in masks.
    """

    def __init__(self, size=0, value=0, mask_value=0, *, order=None):
        super().__init__(order)
        size = (size, size) if isinstance(size, int) else tuple(size)
        size = (size[0], size[0], size[1], size[1]) if len(size) == 2 else size
        if len(size) != 4 or min(size) < 0:
            raise ShapeError(f"Pad: size {size!r}; an int, a pair or 4 ints of 0 or more are needed")
        self.size = size
        self.value = value
        self.mask_value = mask_value

    def _padded(self, array, value):
        top, bottom, left, right = self.size
        shape = (array.shape[0] + top + bottom, array.shape[1] + left + right, *array.shape[2:])
        result = np.empty(shape, array.dtype)
        result[...] = np.asarray(value, array.dtype)
        result[top : top + array.shape[0], left : left + array.shape[1]] = array
        return result

    def _apply_image(self, image):
        return self._padded(image, self.value)

    def _apply_coords(self, coords):
        return np.asarray(coords) + np.array([self.size[2], self.size[0]])

    def _apply_mask(self, mask):
        return self._padded(mask, self.mask_value)


class RandomCrop(_Cropping):
    """Cuts out a part of the size ``output_size`` at a random place, from images with a border.

    Args:
        output_size: an int or (height, width); images that are smaller get a wider border.
        padding_size, padding_value, padding_maskvalue: the border, as for `Pad`.
    """

    def __init__(self, output_size, padding_size=0, padding_value=(0, 0, 0), padding_maskvalue=0, *, order=None):
        super().__init__(order)
        self.output_size = _pair("RandomCrop", output_size)
        self.padding_value = padding_value
        self.padding_maskvalue = padding_maskvalue
        self._border = Pad(padding_size).size

    def _begin(self, sample):
        height, width = sample["image"].shape[:2]
        top, bottom, left, right = self._border
        # What is still missing goes to the end of each axis.
        bottom += max(0, self.output_size[0] - (height + top + bottom))
        right += max(0, self.output_size[1] - (width + left + right))
        value = self.padding_value if sample["image"].ndim == 3 else np.ravel(self.padding_value)[0]
        self._pad = Pad((top, bottom, left, right), value, self.padding_maskvalue)
        self._part = self._window(height + top + bottom, width + left + right)

    def _window(self, height, width):
        rows, columns = self.output_size
        top = int(generator().integers(height - rows + 1))
        return top, int(generator().integers(width - columns + 1)), rows, columns

    def _apply_image(self, image):
        return super()._apply_image(self._pad._apply_image(image))

    def _apply_coords(self, coords):
        return super()._apply_coords(self._pad._apply_coords(coords))

    def _apply_mask(self, mask):
        return _Cropping._apply_image(self, self._pad._apply_mask(mask))


class _RandomFlip(VisionTransform):
    """Mirrors images with the probability ``prob``."""

    _axis = 0

    def __init__(self, prob=0.5, *, order=None):
        super().__init__(order)
        self.prob = prob

    def _begin(self, sample):
        self._size = sample["image"].shape[self._axis]
        self._flips = generator().random() < self.prob

    def _apply_image(self, image):
        return np.flip(image, self._axis) if self._flips else image

    _apply_mask = _apply_image

    def _apply_coords(self, coords):
        coords = np.array(coords)
        if self._flips:
            place = 1 - self._axis
            coords[..., place] = self._size - coords[..., place]
        return coords


class RandomVerticalFlip(_RandomFlip):
    """Turns images upside down with the probability ``prob``."""

    _axis = 0


class RandomHorizontalFlip(_RandomFlip):
    """Swaps left and right of images with the probability ``prob``."""

    _axis = 1


class ToMode(VisionTransform):
    """Puts the axes of images (H, W, C) into the order ``mode``: ``"CHW"``, ``"HWC"`` or ``"NCHW"``."""

    def __init__(self, mode="CHW", *, order=None):
        super().__init__(order)
        if mode not in ("CHW", "HWC", "NCHW"):
            raise UnsupportedError(f"ToMode: mode {mode!r}; allowed: CHW, HWC, NCHW")
        self.mode = mode

    def _apply_image(self, image):
        if self.mode == "HWC":
            return image
        moved = np.ascontiguousarray(np.rollaxis(image, 2))
        return moved[None] if self.mode == "NCHW" else moved

    def _apply_coords(self, coords):
        return coords

    def _apply_mask(self, mask):
        return mask[None] if self.mode == "NCHW" else mask
