"""Tiles of products in compiled programs: what they need, and that they change no bit."""

import numpy as np
import pytest

import ferrule as fer
import ferrule.functional as F
from ferrule.compilation import compile_candidate


@pytest.mark.parametrize("dtype, width", [("float32", 1024), ("float64", 512)])
def test_rows_that_share_a_set_of_the_cache_are_copied(dtype, width):
    """The gradient of a weight at such a width: scratch for 16 of each k, and the bits of a narrower tile on any threads."""
    rows, columns = 40, 272
    random = np.random.default_rng(3)
    x, g = random.standard_normal((rows, width)).astype(dtype), random.standard_normal((rows, columns)).astype(dtype)

    def gradient(x, g):
        return F.matmul(x, g, transpose_a=True)

    entries = {"main": (gradient, [fer.Spec(x.shape, dtype), fer.Spec(g.shape, dtype)])}
    program, _ = compile_candidate(None, entries)
    other, _ = compile_candidate(0, entries)
    assert program.memory("main")["scratch"] == rows * 16 * x.itemsize
    assert other.memory("main")["scratch"] == 0
    (expected,) = fer.Session(other, threads=1).run("main", x, g)
    np.testing.assert_allclose(expected, x.T @ g, rtol=1e-4, atol=1e-4)
    for threads in (1, 2, 3):
        (y,) = fer.Session(program, threads=threads).run("main", x, g)
        np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("columns, chosen", [(1000, 1), (768, 2), (50257, 2), (48, 1)])
def test_strips_of_one_row(columns, chosen):
    """63 panels are 21 strips of three, where fours would leave three single ones; 48 and 3142 are read faster by fours."""
    weight = np.random.default_rng(4).standard_normal((8, columns)).astype(np.float32)

    def multiply(x):
        return F.matmul(x, fer.tensor(weight))

    _, tunable = compile_candidate(None, {"main": (multiply, [fer.Spec((1, 8))])})
    assert [each[3] for each in tunable] == [chosen]
