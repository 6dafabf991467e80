"""A process that loads a model and gives one result: `python -m bench.first_result MODULE THREADS JOB`.

Prints a line of JSON: seconds to "load" the model and of the "first" call, and the system's "version". What is imported
before either does not count.
"""

import importlib
import json
import os
import sys
import time


def main():
    """Loads what the command line names."""
    module_name, threads, job = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    module = importlib.import_module(module_name)
    start = time.perf_counter()
    call = module.prepare(job, threads).call
    loaded = time.perf_counter()
    call()
    seconds = {"load": loaded - start, "first": time.perf_counter() - loaded}
    print(json.dumps({**seconds, "version": module.version()}))


if __name__ == "__main__":
    main()
