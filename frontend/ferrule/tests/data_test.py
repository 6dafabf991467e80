"""Loaders, samplers and the shuffle that they share with ferrule-run."""

import threading

import ferrule as fer
import numpy as np
import pytest
from ferrule.data import (
    ArrayDataset,
    Collator,
    ConcatDataset,
    DataLoader,
    Infinite,
    RandomSampler,
    ReplacementSampler,
    SequentialSampler,
    StreamDataset,
    StreamSampler,
)
from ferrule.data.randomness import generator
from ferrule.data.shuffle import epoch_order, philox
from ferrule.errors import ExecutionError, ShapeError, UnsupportedError


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
    with pytest.raises(UnsupportedError, match="parallel_stream"):
        DataLoader(ArrayDataset(np.zeros(3)), parallel_stream=True)
    with pytest.raises(UnsupportedError, match="StreamSampler"):
        DataLoader(ArrayDataset(np.zeros(3)), StreamSampler())
    with pytest.raises(ShapeError, match=r"shapes \[\(2,\), \(3,\)\]"):
        Collator().apply([np.zeros(2), np.zeros(3)])
    with pytest.raises(ShapeError, match=r"\[1, 2\] items"):
        Collator().apply([(1,), (1, 2)])
    with pytest.raises(UnsupportedError, match="join values of object"):
        Collator().apply([object(), object()])
    with pytest.raises(ValueError, match="rank is 2 of 2"):
        SequentialSampler(ArrayDataset(np.zeros(3)), world_size=2, rank=2)


def test_collator_joins_any_nesting():
    samples = [{"x": np.full(2, i), "y": (i, float(i)), "name": f"s{i}"} for i in range(3)]
    batch = Collator().apply(samples)
    np.testing.assert_array_equal(batch["x"], [[0, 0], [1, 1], [2, 2]])
    np.testing.assert_array_equal(batch["y"][0], [0, 1, 2])
    assert batch["y"][1].dtype == np.float64 and batch["name"] == ["s0", "s1", "s2"]


class Noise:
    """Adds a random number to each sample."""

    def apply(self, sample):
        return sample + generator().normal()


@pytest.mark.parametrize("options", ({"num_workers": 3}, {"preload": True}, {"num_workers": 1, "timeout": 60}))
def test_workers_give_the_same_batches_in_the_same_order(options):
    dataset = np.arange(20, dtype="float64")

    def epoch(**given):
        fer.random.seed(4)
        loader = DataLoader(dataset, RandomSampler(dataset, batch_size=3, seed=1), transform=Noise(), **given)
        return list(loader)

    wanted, got = epoch(), epoch(**options)
    assert len(wanted) == 7
    for a, b in zip(wanted, got, strict=True):
        np.testing.assert_array_equal(a, b)


def test_what_a_worker_raises_reaches_the_loop():
    class Broken(ArrayDataset):
        def __getitem__(self, index):
            if index == 3:
                raise RuntimeError("sample 3 is broken")
            return super().__getitem__(index)

    batches = iter(DataLoader(Broken(np.arange(5)), num_workers=2))
    for _ in range(3):
        next(batches)
    with pytest.raises(RuntimeError, match="sample 3"):
        next(batches)


def test_a_batch_that_does_not_come_in_time():
    come = threading.Event()

    class Slow(ArrayDataset):
        def __getitem__(self, index):
            come.wait(60)
            return super().__getitem__(index)

    try:
        with pytest.raises(ExecutionError, match="timeout=0.05"):
            next(iter(DataLoader(Slow(np.arange(5)), num_workers=1, timeout=0.05)))
    finally:
        come.set()


@pytest.mark.parametrize("workers", (0, 2))
def test_a_stream_is_read_in_order(workers):
    class Count(StreamDataset):
        def __iter__(self):
            return iter(np.arange(5))

    loader = DataLoader(Count(), StreamSampler(batch_size=2), num_workers=workers)
    assert [batch.tolist() for batch in loader] == [[0, 1], [2, 3], [4]]


def test_concatenated_datasets():
    both = ConcatDataset([ArrayDataset(np.arange(3)), ArrayDataset(np.arange(10, 12))])
    assert [both[i][0] for i in range(len(both))] == [0, 1, 2, 10, 11] and both[-1][0] == 11
    with pytest.raises(IndexError, match="no sample 5"):
        both[5]


def test_replacement_sampler_follows_its_weights():
    dataset = ArrayDataset(np.arange(3))
    sampler = ReplacementSampler(dataset, batch_size=100, num_samples=3000, weights=[1, 0, 2], seed=5)
    counts = np.bincount([i for batch in sampler for i in batch], minlength=3)
    assert counts[1] == 0 and abs(counts[0] / 1000 - 1) < 0.1 and counts.sum() == 3000
    assert [i for b in sampler for i in b] != [i for b in sampler for i in b]
    with pytest.raises(ValueError, match="3 numbers of 0 or more"):
        ReplacementSampler(dataset, weights=[1, -1, 1])
