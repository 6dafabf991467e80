"""The base classes of datasets, and datasets of arrays."""

import bisect
import itertools

import numpy as np

from ..._tensor import Tensor
from ...errors import ShapeError


class Dataset:
    """Samples by number: a subclass defines ``__getitem__`` and ``__len__``."""

    def __getitem__(self, index):
        raise NotImplementedError(f"{type(self).__name__} does not define __getitem__")

    def __len__(self):
        raise NotImplementedError(f"{type(self).__name__} does not define __len__")


class StreamDataset(Dataset):
    """Samples one after another, without numbers: a subclass defines ``__iter__``."""

    def __iter__(self):
        raise NotImplementedError(f"{type(self).__name__} does not define __iter__")

    def __getitem__(self, index):
        raise TypeError("a StreamDataset has no numbered samples")

    def __len__(self):
        raise TypeError("a StreamDataset has no length")


class ArrayDataset(Dataset):
    """Samples along the first axis of one or more arrays; sample i is the tuple of their i-th parts."""

    def __init__(self, *arrays):
        if not arrays:
            raise ShapeError("ArrayDataset: no arrays")
        self.arrays = tuple(array.numpy() if isinstance(array, Tensor) else np.asarray(array) for array in arrays)
        lengths = [len(array) for array in self.arrays]
        if len(set(lengths)) != 1:
            raise ShapeError(f"ArrayDataset: arrays of {lengths} samples; the numbers must agree")

    def __getitem__(self, index):
        return tuple(array[index] for array in self.arrays)

    def __len__(self):
        return len(self.arrays[0])


class ConcatDataset(Dataset):
    """Several datasets, one after another."""

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise ShapeError("ConcatDataset: no datasets")
        if any(isinstance(dataset, StreamDataset) for dataset in self.datasets):
            raise TypeError("ConcatDataset: a StreamDataset has no length")
        self._ends = list(itertools.accumulate(len(dataset) for dataset in self.datasets))

    def __getitem__(self, index):
        if not -len(self) <= index < len(self):
            raise IndexError(f"ConcatDataset of {len(self)} samples has no sample {index}")
        index %= len(self)
        place = bisect.bisect_right(self._ends, index)
        return self.datasets[place][index - (self._ends[place - 1] if place else 0)]

    def __len__(self):
        return self._ends[-1]
