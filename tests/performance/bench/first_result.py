"""A process that loads a model and gives one result: `python -m bench.first_result MODULE THREADS JOB`.

Prints a line of JSON: seconds to "import" the system, to "load" the model, of the "first" call and of a "later" one,
and the system's "version".
"""

import time

START = time.perf_counter()

import importlib  # noqa: E402  (the clock starts first)
import json  # noqa: E402
import os  # noqa: E402
import statistics  # noqa: E402
import sys  # noqa: E402


def main():
    """Loads what the command line names."""
    module_name, threads, job = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    module = importlib.import_module(module_name)
    imported = time.perf_counter()
    call = module.prepare(job, threads).call
    loaded = time.perf_counter()
    call()
    times = [time.perf_counter()]
    for _ in range(5):
        call()
        times.append(time.perf_counter())
    later = statistics.median(after - before for before, after in zip(times, times[1:]))
    parts = {"import": imported - START, "load": loaded - imported, "first": times[0] - loaded, "later": later}
    print(json.dumps({**parts, "version": module.version()}))


if __name__ == "__main__":
    main()
