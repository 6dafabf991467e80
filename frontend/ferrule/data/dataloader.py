"""`DataLoader`: batches of arrays from a dataset."""

import collections
import concurrent.futures
import itertools

from ..errors import ExecutionError, UnsupportedError
from ..random import generator
from .collator import Collator
from .dataset import StreamDataset
from .randomness import drawing_for
from .sampler import SequentialSampler, StreamSampler

# How many batches each worker may be ahead of the loop.
_AHEAD = 2


class DataLoader:
    """Iterates over batches of NumPy arrays.

    Args:
        dataset: samples by number, or a `StreamDataset`.
        sampler: which samples make a batch; one after another by default.
        transform: an object whose ``apply_batch(samples)`` or ``apply(sample)`` changes samples, or a function of one.
        collator: joins samples to a batch.
        num_workers: threads that make batches ahead of the loop; 0 makes them where the loop runs. Batches come in the
            same order and are the same, also where transforms are random. They are threads, not processes: what runs in
            Python takes turns, what waits for files or computes in NumPy runs beside the loop.
        timeout: the seconds that the loop waits for a batch of the workers; 0 waits for ever.
        preload: make the next batch while the loop works on this one, as one worker does.
        parallel_stream: refused; a stream is read by one worker, in order.
    """

    def __init__(
        self,
        dataset,
        sampler=None,
        transform=None,
        collator=None,
        num_workers=0,
        timeout=0,
        preload=False,
        parallel_stream=False,
    ):
        if parallel_stream:
            raise UnsupportedError(
                "DataLoader: parallel_stream is not served; a stream is read by one worker, in order"
            )
        if num_workers < 0 or timeout < 0:
            raise ValueError(f"num_workers is {num_workers}, timeout is {timeout}; allowed: 0 or more")
        streams = isinstance(dataset, StreamDataset)
        if sampler is None:
            sampler = StreamSampler() if streams else SequentialSampler(dataset)
        if streams != isinstance(sampler, StreamSampler):
            raise UnsupportedError(
                "DataLoader: a StreamDataset goes with a StreamSampler, and neither without the other"
            )
        self.dataset = dataset
        self.sampler = sampler
        self.transform = transform
        self.collator = Collator() if collator is None else collator
        self.num_workers = max(num_workers, 1) if preload else num_workers
        self.timeout = timeout

    def __len__(self):
        return len(self.sampler)

    def check_memory_rationality(self):
        """Nothing to check: workers are threads and share the loop's memory."""

    def __iter__(self):
        seed = int(generator().integers(1 << 63))
        if isinstance(self.dataset, StreamDataset):
            jobs = self._stream_jobs()
        else:
            jobs = (lambda batch=batch: [self.dataset[index] for index in batch] for batch in self.sampler)
        numbered = ((job, seed, number) for number, job in enumerate(jobs))
        if self.num_workers == 0:
            return (self._make(*job) for job in numbered)
        return self._ahead(numbered)

    def _stream_jobs(self):
        """Batches of a stream: read in the loop's order, changed and joined by the workers."""
        samples = iter(self.dataset)
        while batch := list(itertools.islice(samples, self.sampler.batch_size)):
            yield lambda batch=batch: batch

    def _make(self, read, seed, number):
        with drawing_for(seed, number):
            samples = read()
            change = self.transform
            if hasattr(change, "apply_batch"):
                samples = list(change.apply_batch(samples))
            elif change is not None:
                apply = getattr(change, "apply", change)
                samples = [apply(sample) for sample in samples]
            return self.collator.apply(samples)

    def _ahead(self, jobs):
        """The batches in order, made by workers before they are asked for."""
        pool = concurrent.futures.ThreadPoolExecutor(self.num_workers, thread_name_prefix="ferrule-data")
        waiting = collections.deque()
        try:
            for job in itertools.islice(jobs, self.num_workers * _AHEAD):
                waiting.append(pool.submit(self._make, *job))
            while waiting:
                batch = self._result(waiting.popleft())
                for job in itertools.islice(jobs, 1):
                    waiting.append(pool.submit(self._make, *job))
                yield batch
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _result(self, future):
        try:
            return future.result(self.timeout or None)
        except concurrent.futures.TimeoutError:
            if future.done():  # the dataset itself raised it
                raise
            raise ExecutionError(f"DataLoader: no batch within timeout={self.timeout} seconds") from None
