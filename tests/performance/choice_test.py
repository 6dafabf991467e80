"""What `bench choice` runs: the products of a job, as often as a millisecond holds them, with each candidate tile."""

import numpy as np
from bench import choice, kernel_jobs

JOBS = {kernel_jobs.name(job): job for job in kernel_jobs.load()}


def test_small_products_are_computed_several_times_in_a_run():
    assert choice.copies(JOBS["17x33x65"]) == choice.MOST_COPIES
    assert choice.copies(JOBS["1024x1024x1024"]) == 1


def test_a_run_computes_each_product_and_all_candidates_give_the_same_bits():
    job = JOBS["17x33x65"]
    runs, chosen, count = choice.candidates(job, 1)
    results = [run() for run in runs]
    assert 0 <= chosen < len(runs) and count == choice.MOST_COPIES
    assert all(len(each) == count for each in results)
    first = results[0][0]
    assert all(np.array_equal(first, array) for each in results for array in each)
