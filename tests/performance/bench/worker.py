"""The process of one system: `python -m bench.worker MODULE THREADS`, driven by `harness.Worker`.

One JSON request a line on standard input, one JSON answer a line on standard output. The first answer, unasked, is
{"version": the system's}; then

    {"prepare": job}                         the module makes the call to be measured; -> {"seconds", "facts"}
    {"outputs": file, "calls": n}            results of n calls go to an .npz file as "call.result"; -> {}
    {"measure": seconds, "clock": clock}     -> {"milliseconds": the work's, of each call}; clock: a key of CLOCKS
    {"profile": count}                       -> {"kernels": [[name, share of the time, milliseconds], ...]}, the slowest
    {"at_peak": true}                        -> {"milliseconds"}: of a call's arithmetic at the peak of the threads' multiply-adds
    {"usage": true}                          -> {"cpu_seconds", "peak_bytes"} of the process since it started

What the module raises becomes {"error": text}, and the worker goes on. A module has

    version()                                a text
    prepare(job, threads)                    a `Prepared`; what was prepared before may be dropped
"""

import importlib
import json
import os
import resource
import sys
import time
from typing import Callable, NamedTuple


# wall: what a user waits. processor: the time of all threads of this process, which other work on the machine
# changes little; with one thread it is what the wall clock shows on an idle machine.
CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}


class Prepared(NamedTuple):
    """What is measured: ``call()`` does the work once and returns its results, a list of NumPy arrays or numbers."""

    call: Callable
    facts: dict = {}  # JSON that the harness passes on
    profile: Callable = (
        None  # profile(count): the slowest kernels, as the answer above; None: the system has no profile
    )
    at_peak: Callable = None  # at_peak(): the milliseconds of the answer above; None: the system does not know
    repeats: int = 1  # how often a call does the work; what is measured is that of one


class _Server:
    def __init__(self, module, threads):
        self._module, self._threads = module, threads
        self._prepared = None

    def answer(self, request):
        """The answer to one request, a dict."""
        for name in ("prepare", "outputs", "measure", "profile", "at_peak", "usage"):
            if name in request:
                return getattr(self, f"_{name}")(request)
        raise ValueError(f"a request with {', '.join(request)}; allowed: prepare, outputs, measure, profile, at_peak, usage")

    def _prepare(self, request):
        self._prepared = None  # its memory is free before the next one needs some
        start = time.perf_counter()
        self._prepared = self._module.prepare(request["prepare"], self._threads)
        return {"seconds": time.perf_counter() - start, "facts": self._prepared.facts}

    def _outputs(self, request):
        import numpy as np

        results = {}
        for i in range(request["calls"]):
            results.update({f"{i}.{j}": np.array(value) for j, value in enumerate(self._ready().call())})
        np.savez(request["outputs"], **results)
        return {}

    def _measure(self, request):
        call, repeats = self._ready().call, self._ready().repeats
        call()  # the slices before were other systems': caches are cold, threads asleep
        clock = CLOCKS[request["clock"]]
        milliseconds, end = [], time.perf_counter() + request["measure"]
        while not milliseconds or time.perf_counter() < end:
            start = clock()
            call()
            milliseconds.append((clock() - start) * 1e3 / repeats)
        return {"milliseconds": milliseconds}

    def _profile(self, request):
        prepared = self._ready()
        return {"kernels": prepared.profile(request["profile"]) if prepared.profile else []}

    def _at_peak(self, _):
        prepared = self._ready()
        return {"milliseconds": prepared.at_peak() if prepared.at_peak else None}

    def _usage(self, _):
        used = resource.getrusage(resource.RUSAGE_SELF)
        return {"cpu_seconds": used.ru_utime + used.ru_stime, "peak_bytes": used.ru_maxrss * 1024}

    def _ready(self):
        if self._prepared is None:
            raise RuntimeError("nothing is prepared")
        return self._prepared


def serve(module, threads, requests, answers):
    """Answers requests until there are no more."""
    print(json.dumps({"version": module.version()}), file=answers, flush=True)
    server = _Server(module, threads)
    for line in requests:
        try:
            answer = server.answer(json.loads(line))
        except Exception as error:  # whatever the system raises is a result: it cannot do this job
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


def main():
    """Runs the module that the command line names."""
    module_name, threads = sys.argv[1], int(sys.argv[2])
    # Before the system is loaded: some libraries size their thread pool by what they are allowed to use.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    # What a library prints must not end up between the answers, whether Python or C++ prints it.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(importlib.import_module(module_name), threads, sys.stdin, answers)


if __name__ == "__main__":
    main()
