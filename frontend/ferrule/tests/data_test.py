"""Loaders, samplers and the shuffle that they share with ferrule-run."""

import numpy as np
import pytest
from ferrule.data import ArrayDataset, DataLoader, Infinite, RandomSampler, SequentialSampler
from ferrule.data.shuffle import epoch_order, philox
from ferrule.errors import ShapeError, UnsupportedError


def _words(*values):
    return tuple(np.array([value], np.uint64) for value in values)


def test_philox_known_answers():
    # The known-answer vectors that Random123 publishes for philox4x32-10.
    zero = philox(_words(0, 0, 0, 0), (0, 0))
    assert [int(w[0]) for w in zero] == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    ones = philox(_words(*[0xFFFFFFFF] * 4), (0xFFFFFFFF, 0xFFFFFFFF))
    assert [int(w[0]) for w in ones] == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


def test_order_is_a_permutation_that_depends_on_seed_and_epoch():
    first = epoch_order(1000, seed=3, epoch=0)
    assert sorted(first) == list(range(1000))
    assert not np.array_equal(first, epoch_order(1000, seed=3, epoch=1))
    assert not np.array_equal(first, epoch_order(1000, seed=4, epoch=0))
    assert np.array_equal(first, epoch_order(1000, seed=3, epoch=0))


def test_loader_stacks_samples_in_order():
    dataset = ArrayDataset(np.arange(10, dtype="float32").reshape(5, 2), np.arange(5))
    batches = list(DataLoader(dataset, SequentialSampler(dataset, batch_size=2)))
    assert [len(labels) for _, labels in batches] == [2, 2, 1]
    np.testing.assert_array_equal(batches[1][0], [[4, 5], [6, 7]])
    assert len(DataLoader(dataset, SequentialSampler(dataset, batch_size=2, drop_last=True))) == 2


def test_random_sampler_takes_every_sample_once_and_moves_on_each_epoch():
    dataset = ArrayDataset(np.arange(7))
    sampler = RandomSampler(dataset, batch_size=3, seed=1)
    first, second = [i for b in sampler for i in b], [i for b in sampler for i in b]
    assert sorted(first) == sorted(second) == list(range(7))
    assert first == epoch_order(7, 1, 0).tolist() and second == epoch_order(7, 1, 1).tolist()


def test_ranks_share_the_samples():
    dataset = ArrayDataset(np.arange(7))
    parts = [[i for b in SequentialSampler(dataset, world_size=3, rank=r) for i in b] for r in range(3)]
    assert sorted(sum(parts, [])) == list(range(7))


def test_infinite_begins_again():
    dataset = ArrayDataset(np.arange(2))
    batches = iter(Infinite(SequentialSampler(dataset)))
    assert [next(batches) for _ in range(5)] == [[0], [1], [0], [1], [0]]


def test_refusals_name_what_is_wrong():
    with pytest.raises(ShapeError, match=r"\[3, 4\] samples"):
        ArrayDataset(np.zeros(3), np.zeros(4))
    with pytest.raises(UnsupportedError, match="num_workers"):
        DataLoader(ArrayDataset(np.zeros(3)), num_workers=2)
    with pytest.raises(ValueError, match="rank is 2 of 2"):
        SequentialSampler(ArrayDataset(np.zeros(3)), world_size=2, rank=2)
