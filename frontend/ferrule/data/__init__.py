"""Datasets, samplers and loaders with MegEngine's names."""

from .dataloader import Collator, DataLoader
from .dataset import ArrayDataset, Dataset
from .sampler import Infinite, MapSampler, RandomSampler, Sampler, SequentialSampler

__all__ = [
    "ArrayDataset",
    "Collator",
    "DataLoader",
    "Dataset",
    "Infinite",
    "MapSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
]
