"""A system for the tests of the harness: it doubles numbers.

The job: {"values", "fails", "prints", "dies", "at_peak"}.
"""

import os

import numpy as np

from ..worker import Prepared


def version():
    return "1.2"


def prepare(job, threads):
    if job.get("fails"):
        raise ValueError(job["fails"])
    if job.get("prints"):
        print("from Python")
        os.write(1, b"from below Python\n")
    if job.get("dies"):
        os._exit(7)
    values, calls = np.array(job["values"], np.float32), iter(range(1, 1_000_000))
    facts = {"threads": threads, "cpus": len(os.sched_getaffinity(0))}
    return Prepared(lambda: [values * 2, next(calls)], facts, at_peak=lambda: job.get("at_peak"))
