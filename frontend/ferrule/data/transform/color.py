"""Transforms that change the values of pixels and move none. Colours are blue, green, red, from 0 to 255."""

import numpy as np

from ..randomness import generator
from .base import Compose, VisionTransform


class _PixelTransform(VisionTransform):
    """Coordinates and masks stay as they are."""

    def _apply_coords(self, coords):
        return coords

    def _apply_mask(self, mask):
        return mask


def _like(values, image):
    """``values`` as pixels of the type of ``image``; integers are clipped and rounded to even."""
    if np.issubdtype(image.dtype, np.integer):
        limits = np.iinfo(image.dtype)
        return np.clip(np.rint(values), max(0, limits.min), min(255, limits.max)).astype(image.dtype)
    return np.clip(values, 0, 255).astype(image.dtype)


def _gray(image):
    """The lightness of (H, W, 3) as (H, W, 1); one channel is its own."""
    if image.shape[-1] == 1:
        return image.astype(np.float64)
    return image.astype(np.float64) @ np.array([[0.114], [0.587], [0.299]])


class Normalize(_PixelTransform):
    """(image - mean) / std, numbers or one a channel; the result is float32."""

    def __init__(self, mean=0.0, std=1.0, *, order=None):
        super().__init__(order)
        self.mean = np.array(mean, "float32")
        self.std = np.array(std, "float32")

    def _apply_image(self, image):
        return (image.astype("float32") - self.mean) / self.std


class GaussianNoise(_PixelTransform):
    """Adds numbers from the normal distribution."""

    def __init__(self, mean=0.0, std=1.0, *, order=None):
        super().__init__(order)
        self.mean = mean
        self.std = std

    def _apply_image(self, image):
        return _like(image + generator().normal(self.mean, self.std, image.shape), image)


class _Factor(_PixelTransform):
    """Draws a factor from 1 - value to 1 + value, and not below 0."""

    def __init__(self, value, *, order=None):
        super().__init__(order)
        if value < 0:
            raise ValueError(f"{type(self).__name__}: value is {value}; allowed: 0 or more")
        self.value = value

    def _apply_image(self, image):
        if self.value == 0:
            return image
        factor = generator().uniform(max(0.0, 1.0 - self.value), 1.0 + self.value)
        return _like(self._scaled(image, factor), image)


class BrightnessTransform(_Factor):
    """Multiplies pixels by a factor from 1 - value to 1 + value."""

    def _scaled(self, image, factor):
        return image.astype(np.float64) * factor


class ContrastTransform(_Factor):
    """Moves pixels from the image's mean lightness, or towards it, by a factor from 1 - value to 1 + value."""

    def _scaled(self, image, factor):
        return image.astype(np.float64) * factor + _gray(image).mean() * (1.0 - factor)


class SaturationTransform(_Factor):
    """Moves pixels from their own lightness, or towards it, by a factor from 1 - value to 1 + value."""

    def _scaled(self, image, factor):
        return image.astype(np.float64) * factor + _gray(image) * (1.0 - factor)


class HueTransform(_PixelTransform):
    """Turns the hue by a share of the circle from -value to value, value from 0 to 0.5."""

    def __init__(self, value, *, order=None):
        super().__init__(order)
        if not 0 <= value <= 0.5:
            raise ValueError(f"HueTransform: value is {value}; allowed: 0 to 0.5")
        self.value = value

    def _apply_image(self, image):
        if self.value == 0 or image.shape[-1] == 1:
            return image
        return _like(_turned(image.astype(np.float64), generator().uniform(-self.value, self.value)), image)


def _turned(image, share):
    """The hue of blue, green, red turned by a share of the circle; lightest and darkest channel stay."""
    blue, green, red = np.moveaxis(image, -1, 0)
    top, bottom = image.max(-1), image.min(-1)
    width = top - bottom
    safe = np.where(width == 0, 1.0, width)
    hue = np.where(
        top == red, (green - blue) / safe, np.where(top == green, 2 + (blue - red) / safe, 4 + (red - green) / safe)
    )
    hue = np.where(width == 0, 0.0, (hue / 6 + share) % 1.0)
    # Each channel is the top within a sixth of the circle around its own hue, and falls to the bottom beyond a third.
    channels = []
    for own in (2 / 3, 1 / 3, 0.0):
        distance = np.abs((hue - own + 0.5) % 1.0 - 0.5) * 6
        channels.append(bottom + width * np.clip(2 - distance, 0, 1))
    return np.stack(channels, -1)


class ColorJitter(_PixelTransform):
    """Brightness, contrast, saturation and hue, each by its own amount, in a random order."""

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0, *, order=None):
        super().__init__(order)
        kinds = (BrightnessTransform, ContrastTransform, SaturationTransform, HueTransform)
        transforms = [kind(value) for kind, value in zip(kinds, (brightness, contrast, saturation, hue)) if value]
        self.transforms = Compose(transforms, shuffle_indices=[tuple(range(1, len(transforms) + 1))])

    def _apply_image(self, image):
        return self.transforms.apply(image)


class Lighting(_PixelTransform):
    """Adds AlexNet's noise: a normal share, of standard deviation ``scale``, of each principal colour of ImageNet."""

    def __init__(self, scale, *, order=None):
        super().__init__(order)
        if scale < 0:
            raise ValueError(f"Lighting: scale is {scale}; allowed: 0 or more")
        self.scale = scale
        # The standard deviations and directions of the principal colours, blue, green, red.
        self.eigvec = np.array([[-0.5836, -0.6948, 0.4203], [-0.5808, -0.0045, -0.8140], [-0.5675, 0.7192, 0.4009]])
        self.eigval = np.array([0.2175, 0.0188, 0.0045])

    def _apply_image(self, image):
        shares = generator().normal(scale=self.scale * 255, size=3)
        return _like(image + self.eigvec @ (shares * self.eigval), image)
