"""Datasets with MegEngine's names."""

from .annotated import COCO, Cityscapes, Objects365, PascalVOC
from .base import ArrayDataset, ConcatDataset, Dataset, StreamDataset
from .vision import CIFAR10, CIFAR100, MNIST, ImageFolder, ImageNet, VisionDataset, load_image

__all__ = [
    "ArrayDataset",
    "CIFAR10",
    "CIFAR100",
    "COCO",
    "Cityscapes",
    "ConcatDataset",
    "Dataset",
    "ImageFolder",
    "ImageNet",
    "MNIST",
    "Objects365",
    "PascalVOC",
    "StreamDataset",
    "VisionDataset",
    "load_image",
]
