"""One row of a table: systems get the same job, what they compute is compared, and then they are timed in turns."""

import contextlib

from . import tables
from .harness import Worker, WorkerError, interleave, scale_error, show


class Comparison:
    """Systems that do the same jobs.

    Args:
        systems: {name: System}.
        reference: the name of the one that the others' results are compared with; where it does not take part, the
            first that is not ours.
        tolerance: the largest `scale_error`; a system with a larger one has no time.
        calls: so many calls are compared, from the first one on.
        every: show the error of every system in the table, not only ours.
        at_peak: show beside our time what its arithmetic would take at the peak of multiply-adds.
    """

    def __init__(self, systems, reference, tolerance, calls=1, every=False, at_peak=False):
        self._systems, self._reference, self._tolerance = systems, reference, tolerance
        self._calls, self._every, self._at_peak = calls, every, at_peak
        self._ceilings = {}  # {threads: [the fastest other's time over ours at the peak, ...]}
        self.versions = {}  # {title: version} of the other systems
        self.kernels = {}  # {labels: `Worker.profile` of ours}, with the option --kernels

    def titles(self):
        """{name: title}."""
        return {name: system.title for name, system in self._systems.items()}

    def row(self, labels, job, threads, options):
        """The Row of a job with new processes."""
        with self.workers(threads) as workers:
            return self.row_of(workers, labels, job, options)

    @contextlib.contextmanager
    def workers(self, threads):
        """{name: Worker, or the text of why there is none}, for `row_of`."""
        with contextlib.ExitStack() as stack:
            workers = {}
            for name, system in self._systems.items():
                show(f"{system.title} starts with {threads} threads")
                try:
                    workers[name] = stack.enter_context(Worker(system, threads))
                except WorkerError as error:
                    workers[name] = str(error)
                    continue
                if name != tables.OURS:
                    self.versions[system.title] = workers[name].version
            yield workers

    def row_of(self, workers, labels, job, options):
        """The Row of a job in processes that `workers` gave, or some of them."""
        place = " ".join(map(str, labels))
        ready, timings, outputs = {}, {}, {}
        for name, worker in workers.items():
            if isinstance(worker, str):
                timings[name] = worker
                continue
            show(f"{place}: {self._systems[name].title} prepares")
            try:
                worker.prepare(job)
                outputs[name] = worker.outputs(self._calls)
                ready[name] = worker
            except WorkerError as error:
                timings[name] = str(error)
        errors = self._errors(outputs)
        for name, error in errors.items():
            if not error <= self._tolerance:
                timings[name] = f"{self._systems[name].title}: results differ by {error:.1e} of their scale"
                del ready[name]
        more = {
            f"{self._systems[name].title} differs by": f"{error:.0e}"
            for name, error in errors.items()
            if self._every or name == tables.OURS
        }
        timings.update(interleave(ready, options, place))
        if self._at_peak and tables.OURS in ready:
            more["at FMA peak"] = self._ceiling(labels, timings, ready[tables.OURS].at_peak())
        if tables.OURS in ready and getattr(options, "kernels", None):
            self.kernels[labels] = ready[tables.OURS].profile(options.kernels)
        return tables.Row(labels, {name: timings[name] for name in workers}, more)

    def kernel_lines(self):
        """A list of the slowest kernels of each row, for under the table."""
        return tuple(
            f"- The slowest kernels of {' '.join(map(str, labels))}: "
            + ", ".join(f"{name} {tables.number(time)} ms ({share:.0%})" for name, share, time in kernels)
            + "."
            for labels, kernels in self.kernels.items()
        )

    def ceiling_lines(self):
        """What the geometric means would be if our arithmetic ran at the peak and nothing else took time."""
        return tuple(
            f"- Were Ferrule's arithmetic at the FMA peak, and all else free, the geometric mean at {threads} "
            f"thread{'s' if threads != 1 else ''} would be {tables.geometric_mean(ratios):.2f}."
            for threads, ratios in self._ceilings.items()
        )

    def _ceiling(self, labels, timings, milliseconds):
        """The text of the time at the peak of a row; its ratio is kept for `ceiling_lines`."""
        others = [each.median for name, each in timings.items() if name != tables.OURS and not isinstance(each, str)]
        if others and milliseconds:
            self._ceilings.setdefault(labels[-1], []).append(min(others) / milliseconds)
        return tables.number(milliseconds)

    def _errors(self, outputs):
        """{name: error} of the systems other than the one that is the reference."""
        reference = next(
            (name for name in (self._reference, *outputs) if name in outputs and name != tables.OURS), None
        )
        if reference is None:
            return {}
        return {name: _difference(outputs[reference], actual) for name, actual in outputs.items() if name != reference}


def _difference(wanted, actual):
    """The largest `scale_error` of calls, each a list of arrays."""
    if [len(call) for call in wanted] != [len(call) for call in actual]:
        return float("inf")
    return max(scale_error(w, a) for calls in zip(wanted, actual) for w, a in zip(*calls))
