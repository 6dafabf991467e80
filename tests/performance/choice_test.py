"""What `bench choice` runs: the products of a job, as often as a millisecond holds them, with each candidate tile."""

import time
from types import SimpleNamespace

import numpy as np
from bench import choice, kernel_jobs

JOBS = {kernel_jobs.name(job): job for job in kernel_jobs.load()}


def test_a_run_computes_each_product_and_all_candidates_give_the_same_bits():
    job = JOBS["17x33x65"]
    runs, chosen, count = choice.candidates(job, 1)
    results = [run() for run in runs]
    assert 0 <= chosen < len(runs) and count == kernel_jobs.MOST_COPIES
    assert all(len(each) == count for each in results)
    first = results[0][0]
    assert all(np.array_equal(first, array) for each in results for array in each)


def test_the_fastest_is_measured_anew_beside_the_cost_models():
    options = SimpleNamespace(rounds=2, seconds=0.004, clock="wall")
    slow, fast = (lambda: time.sleep(0.004)), (lambda: time.sleep(0.001))
    part, (ours, other) = choice.beside(slow, fast, options)
    assert part > 1.5 and ours > 4.0 > other > 1.0
    assert choice.beside(slow, slow, options) == (1.0, [])
