"""Datasets with MegEngine's names."""

from .base import ArrayDataset, ConcatDataset, Dataset, StreamDataset
from .vision import CIFAR10, CIFAR100, MNIST, ImageFolder, ImageNet, VisionDataset, load_image

__all__ = [
    "ArrayDataset",
    "CIFAR10",
    "CIFAR100",
    "ConcatDataset",
    "Dataset",
    "ImageFolder",
    "ImageNet",
    "MNIST",
    "StreamDataset",
    "VisionDataset",
    "load_image",
]
