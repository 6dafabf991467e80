"""`DataLoader` and `Collator`: batches of arrays from a dataset."""

import numpy as np

from ..errors import UnsupportedError
from .sampler import SequentialSampler


class Collator:
    """Joins samples to a batch: arrays and numbers are stacked, tuples and dicts item by item."""

    def apply(self, inputs):
        """The batch of the list ``inputs``."""
        first = inputs[0]
        if isinstance(first, dict):
            return {key: self.apply([sample[key] for sample in inputs]) for key in first}
        if isinstance(first, (tuple, list)):
            return tuple(self.apply(list(items)) for items in zip(*inputs))
        return np.stack([np.asarray(item) for item in inputs])


class DataLoader:
    """Iterates over batches of NumPy arrays.

    Args:
        dataset: samples by number.
        sampler: which samples make a batch; one after another by default.
        transform: an object whose ``apply(sample)`` changes each sample, or a function.
        collator: joins samples to a batch.
        num_workers: 0; samples are read where the loop runs.
    """

    def __init__(self, dataset, sampler=None, transform=None, collator=None, num_workers=0, timeout=0, preload=False):
        if num_workers or timeout or preload:
            raise UnsupportedError("DataLoader: num_workers, timeout and preload are not served; leave them at 0")
        self.dataset = dataset
        self.sampler = SequentialSampler(dataset) if sampler is None else sampler
        self.transform = transform
        self.collator = Collator() if collator is None else collator

    def __len__(self):
        return len(self.sampler)

    def __iter__(self):
        change = getattr(self.transform, "apply", self.transform)
        for batch in self.sampler:
            samples = [self.dataset[index] for index in batch]
            yield self.collator.apply(samples if change is None else [change(sample) for sample in samples])
