"""Tiles of products in compiled programs: what they need, and that they change no bit."""

import numpy as np
import pytest

import ferrule as fer
import ferrule.functional as F
from ferrule.compilation import compile_candidate

TWO_PANELS, THREE_PANELS, FOUR_PANELS, LOW_TWO_PANELS, LOW_THREE_PANELS = range(5)
MANY_TWO_PANELS, MANY_THREE_PANELS = 8, 9


def results(program, *inputs):
    """What the entry "main" gives on 1, 2 and 3 threads."""
    return [fer.Session(program, threads=threads).run("main", *inputs)[0] for threads in (1, 2, 3)]


@pytest.mark.parametrize("dtype, width", [("float32", 1024), ("float64", 512)])
def test_rows_and_panels_are_copied(dtype, width):
    """The gradient of a weight at such a width: scratch for 16 rows and 15 or 16 panels of each k, and the bits of a narrow
    tile on any threads."""
    rows, columns = 1040, 272
    random = np.random.default_rng(3)
    x, g = random.standard_normal((rows, width)).astype(dtype), random.standard_normal((rows, columns)).astype(dtype)

    def gradient(x, g):
        return F.matmul(x, g, transpose_a=True)

    entries = {"main": (gradient, [fer.Spec(x.shape, dtype), fer.Spec(g.shape, dtype)])}
    narrow, _ = compile_candidate(0, entries)
    assert narrow.memory("main")["scratch"] == rows * 16 * 2 * x.itemsize
    expected = results(narrow, x, g)[0]
    np.testing.assert_allclose(expected, x.T @ g, rtol=1e-4, atol=1e-4)
    for number, panels in ((MANY_TWO_PANELS, 16), (MANY_THREE_PANELS, 15)):
        program, _ = compile_candidate(number, entries)
        assert program.memory("main")["scratch"] == rows * 16 * (1 + panels) * x.itemsize
        for y in results(program, x, g):
            np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("batch", [(), (3,)])
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("m, n, k", [(64, 128, 64), (65, 250, 70), (130, 145, 333), (63, 128, 64), (64, 127, 64)])
def test_copied_panels_change_no_bit(batch, transpose_a, transpose_b, m, n, k):
    """As of a k that is not known, where nothing is copied and a transposed right operand is transposed first."""
    random = np.random.default_rng(m)
    a = random.standard_normal((*batch, k, m) if transpose_a else (*batch, m, k)).astype("float32")
    b = random.standard_normal((*batch, n, k) if transpose_b else (*batch, k, n)).astype("float32")

    def multiply(a, b):
        return F.matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)

    depth = fer.Dim("depth", min=1, max=400)
    open_a = (*batch, depth, m) if transpose_a else (*batch, m, depth)
    open_b = (*batch, n, depth) if transpose_b else (*batch, depth, n)
    copied = fer.compile({"main": (multiply, [fer.Spec(a.shape), fer.Spec(b.shape)])})
    plain = fer.compile({"main": (multiply, [fer.Spec(open_a), fer.Spec(open_b)])})
    assert (copied.memory("main")["scratch"] > 0) == (m >= 64 and n >= 128)
    assert plain.memory("main")["scratch"] == 0
    expected = results(plain, a, b)[0]
    wide_a = a.swapaxes(-1, -2) if transpose_a else a
    wide_b = b.swapaxes(-1, -2) if transpose_b else b
    np.testing.assert_allclose(expected, wide_a.astype("float64") @ wide_b, rtol=1e-4, atol=1e-4)
    for y in results(copied, a, b):
        np.testing.assert_array_equal(y, expected)


def chosen_tile(rows, columns, inner=8, transposed=False):
    """The number of the cost model's tile of a product of two inputs."""

    def multiply(a, b):
        return F.matmul(a, b, transpose_a=transposed)

    left = (inner, rows) if transposed else (rows, inner)
    _, tunable = compile_candidate(None, {"main": (multiply, [fer.Spec(left), fer.Spec((inner, columns))])})
    ((_, _, _, chosen),) = tunable
    return chosen


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


@pytest.mark.parametrize("rows, inner, chosen", [
    (3072, 512, MANY_THREE_PANELS),
    (49, 512, TWO_PANELS),  # too few rows for the copies of the panels
    (3072, 200, THREE_PANELS),  # too few k's
    (3072, 2049, THREE_PANELS),  # the panels would take megabytes
])  # fmt: skip
def test_rows_of_transposed_operands(rows, inner, chosen):
    """Tiles of many panels, which copied rows are read for, where the copy pays."""
    assert chosen_tile(rows, 768, inner, transposed=True) == chosen
