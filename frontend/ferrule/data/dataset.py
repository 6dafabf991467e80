"""Datasets: things with a length and samples by number."""

import numpy as np

from ..errors import ShapeError


class Dataset:
    """The base class: a subclass defines ``__getitem__`` and ``__len__``."""

    def __getitem__(self, index):
        raise NotImplementedError(f"{type(self).__name__} does not define __getitem__")

    def __len__(self):
        raise NotImplementedError(f"{type(self).__name__} does not define __len__")


class ArrayDataset(Dataset):
    """Samples along the first axis of one or more arrays; sample i is the tuple of their i-th parts."""

    def __init__(self, *arrays):
        if not arrays:
            raise ShapeError("ArrayDataset: no arrays")
        self.arrays = tuple(np.asarray(array) for array in arrays)
        lengths = [len(array) for array in self.arrays]
        if len(set(lengths)) != 1:
            raise ShapeError(f"ArrayDataset: arrays of {lengths} samples; the numbers must agree")

    def __getitem__(self, index):
        return tuple(array[index] for array in self.arrays)

    def __len__(self):
        return len(self.arrays[0])
