"""Systems as processes that take turns: starting them, measuring them, and comparing what they compute."""

import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[3]
CACHE = pathlib.Path(os.environ.get("FERRULE_CACHE") or "~/.cache/ferrule").expanduser()
# The environments that `./dev bench` makes.
PYTHONS = {
    "ferrule": pathlib.Path(sys.executable),
    "torch": CACHE / "torch" / "bin" / "python",
    "peers": CACHE / "peers" / "ort" / "bin" / "python",
}
# Some libraries' threads spin for a while after a call; the next system's turn begins when they sleep.
PAUSE_SECONDS = 0.02


class System(NamedTuple):
    """Something that is measured."""

    title: str  # in tables
    environment: str  # a key of PYTHONS
    module: str  # in bench.workers
    options: dict = {}  # these go into each job
    variables: dict = {}  # of its process's environment


class WorkerError(Exception):
    """A system cannot do a job; the text is its own."""


class Timing(NamedTuple):
    """Milliseconds of the calls of one system for one job."""

    median: float
    low: float  # the 10th percentile
    high: float  # the 90th
    count: int

    @classmethod
    def of(cls, milliseconds):
        """The Timing of a list of at least one number."""
        ordered = sorted(milliseconds)
        last = len(ordered) - 1
        return cls(statistics.median(ordered), ordered[last // 10], ordered[last - last // 10], len(ordered))


class Worker:
    """One system in a process of its own; see `worker` for the protocol. A context manager."""

    def __init__(self, system, threads):
        self._system = system
        python = PYTHONS[system.environment]
        if not python.exists():
            sys.exit(f"{python} is missing: ./dev bench makes the environment")
        self._process = subprocess.Popen(
            [str(python), "-m", "bench.worker", f"bench.workers.{system.module}", str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(system, threads),
        )  # fmt: skip
        self.version = self._answer()["version"]

    def _answer(self):
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            raise WorkerError(f"{self._system.title}: the process ended with code {code}")
        answer = json.loads(line)
        if "error" in answer:
            raise WorkerError(f"{self._system.title}: {answer['error']}")
        return answer

    def _ask(self, **request):
        try:
            print(json.dumps(request), file=self._process.stdin, flush=True)
        except BrokenPipeError:
            pass  # it has ended, as the answer will tell
        return self._answer()

    def prepare(self, job):
        """(seconds, facts) of making the call; the system's options are part of the job."""
        answer = self._ask(prepare={**job, **self._system.options})
        return answer["seconds"], answer["facts"]

    def outputs(self, calls=1):
        """The results of the next calls: for each a list of arrays."""
        import numpy as np

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "outputs.npz")
            self._ask(outputs=path, calls=calls)
            with np.load(path) as file:
                found = {tuple(map(int, key.split("."))): file[key] for key in file.files}
        return [[found[key] for key in sorted(found) if key[0] == i] for i in range(calls)]

    def measure(self, seconds, clock="wall"):
        """Milliseconds of each call during about so many seconds, at least one; ``clock``: see `worker.CLOCKS`."""
        return self._ask(measure=seconds, clock=clock)["milliseconds"]

    def profile(self, count):
        """[[name, share of the time, milliseconds of a call], ...] of the slowest kernels; [] where a system cannot."""
        return self._ask(profile=count)["kernels"]

    def at_peak(self):
        """Milliseconds that a call's arithmetic takes at the peak of multiply-adds; None where a system does not know."""
        return self._ask(at_peak=True)["milliseconds"]

    def usage(self):
        """{"cpu_seconds", "peak_bytes"}: what the process used since it started, and the most memory it ever held."""
        return self._ask(usage=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(BrokenPipeError):  # what could not be sent is flushed once more
            self._process.stdin.close()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


def environment(system, threads=None):
    """The environment variables of a system's process: its number of threads, and where its Python finds modules."""
    variables = {**os.environ, **system.variables}
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        variables.pop(name, None)
        if threads is not None:
            variables[name] = str(threads)
    folders = [str(ROOT / "tests" / "performance")]
    if system.environment == "ferrule":
        folders.append(str(ROOT / "build" / "python"))
    variables["PYTHONPATH"] = os.pathsep.join(folders)
    return variables


def interleave(workers, options, progress=""):
    """{name: Timing} of prepared workers that take turns in the order A B B A.

    Args:
        workers: {name: Worker}.
        options: ``rounds``, how often each one's turn comes; ``seconds`` of each turn; the ``clock``.
        progress: what standard error shows meanwhile.
    """
    names = list(workers)
    milliseconds = {name: [] for name in names}
    for i in range(options.rounds):
        show(f"{progress}: round {i + 1}/{options.rounds}")
        for name in names if i % 2 == 0 else names[::-1]:
            time.sleep(PAUSE_SECONDS)
            milliseconds[name] += workers[name].measure(options.seconds, options.clock)
    return {name: Timing.of(values) for name, values in milliseconds.items()}


def show(text):
    """Replaces the line of progress on standard error; "" removes it. Nothing where that is no terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def scale_error(wanted, actual):
    """The largest difference of two arrays, divided by the largest magnitude in ``wanted``; inf if a shape differs or a
    number is missing on one side."""
    import numpy as np

    wanted, actual = np.asarray(wanted, np.float64), np.asarray(actual, np.float64)
    if wanted.shape != actual.shape or not (np.isfinite(wanted) == np.isfinite(actual)).all():
        return float("inf")
    if not wanted.size:
        return 0.0
    finite = np.isfinite(wanted)
    scale = np.abs(wanted[finite]).max(initial=0.0)
    worst = np.abs(wanted - actual, where=finite, out=np.zeros_like(wanted)).max()
    return float(worst / scale) if scale else (0.0 if worst == 0 else float("inf"))
