"""Samplers: the order in which a loader takes samples, as lists of sample numbers, one a batch."""

import itertools
import math

import numpy as np

from ..random import generator
from .shuffle import epoch_order


class Sampler:
    """The base class: a subclass defines ``__iter__`` over batches and ``__len__``, their number."""

    def __iter__(self):
        raise NotImplementedError(f"{type(self).__name__} does not define __iter__")


class MapSampler(Sampler):
    """A sampler of numbered samples; a subclass defines `sample`, the numbers of an epoch in order.

    Args:
        dataset: anything with a length.
        batch_size: samples a batch.
        drop_last: leave out a last batch that is not full.
        num_samples: how many samples an epoch takes; None takes all.
        world_size, rank: take every world_size-th sample, from the rank-th on.
        seed: of the shuffle; None draws one from ``ferrule.random``.
    """

    def __init__(self, dataset, batch_size=1, drop_last=False, num_samples=None, world_size=None, rank=None, seed=None):
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}; allowed: 1 or more")
        self.dataset = dataset
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.num_samples = len(dataset) if num_samples is None else num_samples
        self.world_size = 1 if world_size is None else world_size
        self.rank = 0 if rank is None else rank
        if not 0 <= self.rank < self.world_size:
            raise ValueError(f"rank is {rank} of {world_size}; allowed: 0 up to below world_size")
        self.seed = int(generator().integers(1 << 32)) if seed is None else seed

    def sample(self):
        """The sample numbers of an epoch, in order."""
        raise NotImplementedError(f"{type(self).__name__} does not define sample")

    def __len__(self):
        own = math.ceil(max(0, self.num_samples - self.rank) / self.world_size)
        return own // self.batch_size if self.drop_last else math.ceil(own / self.batch_size)

    def __iter__(self):
        numbers = iter(list(self.sample())[self.rank :: self.world_size])
        while batch := list(itertools.islice(numbers, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch


class SequentialSampler(MapSampler):
    """The samples in their order; ``indices`` takes only these."""

    def __init__(self, dataset, batch_size=1, drop_last=False, indices=None, world_size=None, rank=None):
        count = None if indices is None else len(indices)
        super().__init__(dataset, batch_size, drop_last, count, world_size, rank, seed=0)
        self.indices = indices

    def sample(self):
        return range(len(self.dataset)) if self.indices is None else self.indices


class RandomSampler(MapSampler):
    """The samples shuffled, in another order each epoch; ``indices`` takes only these.

    The order is that of ``ferrule-run train`` with the same seed. Each start of an iteration is the next epoch; `epoch`
    can be set to resume.
    """

    def __init__(self, dataset, batch_size=1, drop_last=False, indices=None, world_size=None, rank=None, seed=None):
        count = None if indices is None else len(indices)
        super().__init__(dataset, batch_size, drop_last, count, world_size, rank, seed)
        self.indices = indices
        self.epoch = 0

    def sample(self):
        order = epoch_order(self.num_samples, self.seed, self.epoch)
        self.epoch += 1
        return order.tolist() if self.indices is None else [self.indices[i] for i in order]


class ReplacementSampler(MapSampler):
    """Samples drawn one by one, so that one may come several times.

    Args:
        num_samples: how many an epoch takes; None takes as many as there are.
        weights: how likely each sample is, in any scale; None makes all alike.
    """

    def __init__(
        self,
        dataset,
        batch_size=1,
        drop_last=False,
        num_samples=None,
        weights=None,
        world_size=None,
        rank=None,
        seed=None,
    ):
        super().__init__(dataset, batch_size, drop_last, num_samples, world_size, rank, seed)
        self.epoch = 0
        self.weights = None
        if weights is not None:
            self.weights = np.asarray(weights, np.float64)
            if self.weights.shape != (len(dataset),) or not (self.weights >= 0).all() or not self.weights.sum() > 0:
                raise ValueError(
                    f"weights: {len(dataset)} numbers of 0 or more, not all 0, are needed; given is an array of shape "
                    f"{self.weights.shape}"
                )

    def sample(self):
        generator_of_epoch = np.random.default_rng([self.seed, self.epoch])
        self.epoch += 1
        share = None if self.weights is None else self.weights / self.weights.sum()
        return generator_of_epoch.choice(len(self.dataset), self.num_samples, p=share).tolist()


class StreamSampler(Sampler):
    """For a `StreamDataset`: batches of ``batch_size`` samples as they come, without end."""

    def __init__(self, batch_size=1):
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}; allowed: 1 or more")
        self.batch_size = batch_size

    def __iter__(self):
        start = 0
        while True:
            yield list(range(start, start + self.batch_size))
            start += self.batch_size


class Infinite(Sampler):
    """A sampler begun again whenever it ends."""

    def __init__(self, sampler):
        self.sampler = sampler
        self.batch_size = getattr(sampler, "batch_size", None)

    def __iter__(self):
        while True:
            empty = True
            for batch in self.sampler:
                empty = False
                yield batch
            if empty:
                raise ValueError("Infinite: the sampler has no batch")
