"""Datasets, samplers, transforms and loaders with MegEngine's names."""

from . import dataset, sampler, transform
from .collator import Collator
from .dataloader import DataLoader
from .dataset import ArrayDataset, ConcatDataset, Dataset, StreamDataset
from .sampler import (
    Infinite,
    MapSampler,
    RandomSampler,
    ReplacementSampler,
    Sampler,
    SequentialSampler,
    StreamSampler,
)

__all__ = [
    "ArrayDataset",
    "Collator",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "Infinite",
    "MapSampler",
    "RandomSampler",
    "ReplacementSampler",
    "Sampler",
    "SequentialSampler",
    "StreamDataset",
    "StreamSampler",
    "dataset",
    "sampler",
    "transform",
]
