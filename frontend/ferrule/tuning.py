"""``compile(tune=True)``: the tiles of products are measured on this machine where the cost model would choose.

A kernel's tile decides what stays in which cache and what threads share out, and no bit of a result. So the program is
compiled once a candidate, each is run beside the cost model's program by turns, and each kernel takes the candidate with
which it was fastest where the whole model had filled the caches. What was found is kept in `program_cache`'s folder by kernel, for every later
program on the same CPU.
"""

import contextlib
import json
import os
import platform
import tempfile
import threading
import time
from collections import defaultdict

from . import program_cache
from .errors import FerruleError, UnsupportedError
from .made_inputs import make_inputs
from .program import Program, Session

# A candidate must be that much faster than the cost model's: less is the noise of a clock.
_GAIN = 0.02
_ROUNDS = 5
_MEASURE_SECONDS = 0.4
# A run that takes longer is given up, with its entry: a loop may never end on made-up inputs.
_LONGEST_RUN_SECONDS = 20.0


def machine():
    """The CPU's name, as the system gives it."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            name, colon, value = line.partition(":")
            if colon and name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def compile_tuned(make, sizes):
    """The Program with the fastest tiles.

    Args:
        make: calls the compiler; takes what `_compiler.compile` does about stores and tiles, and returns what it returns.
        sizes: ``{name: size}`` at which to measure, for dims without a max.
    """
    known = _Found()
    stored, report, _ = artifact = make(use_stored=True, keep=False, tiles=known)
    if isinstance(stored, str):
        program = program_cache.open_program(stored, report)
        if program is not None:
            return program
        artifact = make(use_stored=False, keep=False, tiles=known)
    begin = time.perf_counter()
    wanted = [kernel for kernel in artifact[2] if kernel[1] not in known]
    if wanted:
        known.update(_measure(make, _open(artifact), wanted, sizes))
    seconds = time.perf_counter() - begin
    program = _open(make(use_stored=False, keep=True, tiles=known))
    program.report["tune"] = seconds
    return program


class _Found(dict):
    """{key of a kernel: number of its tile}, also in a file for this compiler and CPU."""

    def __init__(self):
        super().__init__()
        folder = program_cache.folder()
        name = program_cache.name_of("tiles", machine(), os.cpu_count())
        self._path = None if folder is None else os.path.join(folder, f"{name}.tiles.json")
        self._read()

    def _read(self):
        if self._path is not None:
            with contextlib.suppress(OSError, ValueError), open(self._path, encoding="utf-8") as file:
                super().update({key: int(tile) for key, tile in json.load(file).items()})

    def update(self, found):
        self._read()  # what another process has added meanwhile stays
        super().update(found)
        if self._path is None:
            return
        with contextlib.suppress(OSError):  # a disk that is full or not writable: it is measured again next time
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            handle, partial = tempfile.mkstemp(dir=os.path.dirname(self._path), suffix=".tmp")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(self, file)
            os.replace(partial, self._path)


def _open(artifact):
    descriptor, report, _ = artifact
    return Program(open(descriptor, "rb"), report=report)  # noqa: SIM115  (the Program's)


def _measure(make, base, wanted, sizes):
    """{key: number of the fastest tile} for those kernels of `wanted` that a run reaches."""
    with_base = _Runs(base, sizes)
    fastest = {key: chosen for _, key, _, chosen in wanted}
    least = dict.fromkeys(fastest)  # its time as a part of that with the cost model's tile; None before a run reached it
    for number in range(max(candidates for _, _, candidates, _ in wanted)):
        keys = {name: key for name, key, candidates, chosen in wanted if number < candidates and number != chosen}
        if not keys:
            continue
        runs = _Runs(_open(make(use_stored=False, keep=False, tiles=dict.fromkeys(keys.values(), number))), sizes)
        for name, part in _compare(with_base, runs).items():
            key = keys.get(name)
            if key is not None and part < (least[key] or 1.0 - _GAIN):
                fastest[key] = number
            if key is not None:
                least[key] = min(part, least[key] or 1.0 - _GAIN)
    return {key: number for key, number in fastest.items() if least[key] is not None}


def _compare(base, other):
    """{kernel: its least time in `other` as a part of that in `base`}, run by turns."""
    begin, rounds = time.perf_counter(), 0
    times = (defaultdict(list), defaultdict(list))
    while rounds < _ROUNDS or time.perf_counter() - begin < _MEASURE_SECONDS:
        for runs, found in zip((base, other), times):
            for name, seconds in runs.measure().items():
                found[name].append(seconds)
        rounds += 1
        if rounds == 1:  # warms up caches and pages
            times = (defaultdict(list), defaultdict(list))
    return {name: min(times[1][name]) / min(times[0][name]) for name in times[0] if times[1][name] and min(times[0][name])}


class _Runs:
    """Every entry of a program with made-up inputs."""

    def __init__(self, program, sizes):
        try:
            self._session = Session(program)
        except FerruleError as error:
            raise UnsupportedError(f"compile: tune=True measures on this machine: {error}") from error
        self._entries = {}
        for entry in program.entries:
            signature = program.signature(entry)
            at = {dim["name"]: sizes.get(dim["name"], dim["max"] or dim["min"]) for dim in signature["dims"]}
            with contextlib.suppress(FerruleError):  # a size that is not that of a dim: this entry keeps its tiles
                self._entries[entry] = make_inputs(signature, at)

    def measure(self):
        """{kernel: seconds of all its calls in one run of every entry}."""
        seconds = defaultdict(float)
        for entry, arrays in list(self._entries.items()):
            with self._session.profile() as profile:
                finished = self._run(entry, arrays)
            if not finished:
                del self._entries[entry]
                continue
            for event in profile.events:
                seconds[event["kernel"]] += (event["end_ns"] - event["begin_ns"]) * 1e-9
        return seconds

    def _run(self, entry, arrays):
        """Whether the run ended well: made-up inputs need not be what the entry allows."""
        timer = threading.Timer(_LONGEST_RUN_SECONDS, self._session._session.cancel)
        timer.start()
        try:
            self._session.run(entry, *arrays)
        except FerruleError:
            return False
        finally:
            timer.cancel()
        return True
