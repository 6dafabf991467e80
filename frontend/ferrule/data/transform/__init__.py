"""Transforms of samples with MegEngine's names, in NumPy: images are arrays (H, W, C).

Random transforms draw from the generator of the loader's batch, so that an epoch does not depend on ``num_workers``;
outside a loader they draw from ``ferrule.random``.
"""

from .base import Compose, PseudoTransform, TorchTransformCompose, Transform, VisionTransform
from .color import (
    BrightnessTransform,
    ColorJitter,
    ContrastTransform,
    GaussianNoise,
    HueTransform,
    Lighting,
    Normalize,
    SaturationTransform,
)
from .geometry import (
    CenterCrop,
    Pad,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResize,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
    ShortestEdgeResize,
    ToMode,
)

__all__ = [
    "BrightnessTransform",
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "ContrastTransform",
    "GaussianNoise",
    "HueTransform",
    "Lighting",
    "Normalize",
    "Pad",
    "PseudoTransform",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomResize",
    "RandomResizedCrop",
    "RandomVerticalFlip",
    "Resize",
    "SaturationTransform",
    "ShortestEdgeResize",
    "ToMode",
    "TorchTransformCompose",
    "Transform",
    "VisionTransform",
]
