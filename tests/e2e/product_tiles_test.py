"""Tiles of products in compiled programs: what they need, and that they change no bit."""

import numpy as np
import pytest

import ferrule as fer
import ferrule.functional as F
from ferrule.compilation import compile_candidate


@pytest.mark.parametrize("dtype, width", [("float32", 1024), ("float64", 512)])
def test_rows_that_share_a_set_of_the_cache_are_copied(dtype, width):
    """The gradient of a weight at such a width: scratch for 16 of each k, and the bits of a narrower tile on any threads."""
    rows, columns = 1040, 272
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


def chosen_tile(rows, columns, inner=8, transposed=False):
    """The number of the cost model's tile of a product of two inputs."""

    def multiply(a, b):
        return F.matmul(a, b, transpose_a=transposed)

    left = (inner, rows) if transposed else (rows, inner)
    _, tunable = compile_candidate(None, {"main": (multiply, [fer.Spec(left), fer.Spec((inner, columns))])})
    ((_, _, _, chosen),) = tunable
    return chosen


THREE_PANELS, LOW_TWO_PANELS, LOW_THREE_PANELS, TWO_PANELS, FOUR_PANELS, COPIED_ROWS = 1, 3, 4, 0, 2, 8


@pytest.mark.parametrize("columns, chosen", [
    (1000, THREE_PANELS), (768, THREE_PANELS), (50257, THREE_PANELS), (64, FOUR_PANELS), (512, FOUR_PANELS),
])  # fmt: skip
def test_strips_of_one_row(columns, chosen):
    """63 panels are 21 strips of three, where fours would leave three single ones; 4 and 32 panels would leave one and two."""
    assert chosen_tile(1, columns) == chosen


@pytest.mark.parametrize("shape, chosen", [
    ((512, 768), THREE_PANELS),  # 16 strips of three
    ((64, 50257), THREE_PANELS),  # one panel of 3,142 is left over
    ((512, 64), LOW_TWO_PANELS),  # one of four would be
    ((100, 100), LOW_THREE_PANELS),  # as much work as with two; few tiles
    ((9, 4096), TWO_PANELS),  # 5 and 4 rows, where threes take 8 and then one alone
    ((49, 512), TWO_PANELS),  # 3 x 14 + 7 rows, where threes take 8 a time and leave one, and leave two panels of 32
])  # fmt: skip
def test_strips_of_many_rows(shape, chosen):
    """Three panels where that is no more work than two; lower tiles where there are few to share out."""
    assert chosen_tile(*shape) == chosen


@pytest.mark.parametrize("inner, chosen", [(1024, COPIED_ROWS), (512, THREE_PANELS)])
def test_few_rows_that_share_a_set_of_the_cache_are_not_copied(inner, chosen):
    """The copy pays from 1,024 k's up."""
    assert chosen_tile(3072, 768, inner, transposed=True) == chosen
