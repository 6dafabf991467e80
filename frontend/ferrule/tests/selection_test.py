"""Sizes that a run finds out: dynamic mode, traced programs, what follows from the number, what is refused."""

import numpy as np
import pytest

import ferrule as fer
import ferrule.functional as F
from ferrule.errors import ShapeError, TraceError

MASKS = [np.zeros(6, bool), np.ones(6, bool), np.array([0, 1, 0, 0, 1, 1], bool), np.array([1], bool)]
GRIDS = [np.zeros((3, 2, 4)), np.arange(24).reshape(3, 2, 4) % 5 - 2, np.ones((5, 2, 4)), -np.ones((1, 2, 4))]


def run(function, *arrays, spec):
    return fer.Session(fer.compile({"main": (function, [spec])})).run("main", *arrays)


@pytest.mark.parametrize("grid", GRIDS, ids=range(len(GRIDS)))
def test_dynamic_positions_are_those_of_numpy(grid):
    grid = grid.astype("float32")
    np.testing.assert_array_equal(F.flatnonzero(fer.tensor(grid)).numpy(), np.flatnonzero(grid))
    np.testing.assert_array_equal(F.non_zero(fer.tensor(grid)).numpy(), np.argwhere(grid))
    np.testing.assert_array_equal(F.argwhere(fer.tensor(grid)).numpy(), np.argwhere(grid))
    for mine, theirs in zip(F.nonzero(fer.tensor(grid), as_tuple=True), np.nonzero(grid)):
        np.testing.assert_array_equal(mine.numpy(), theirs)
        assert mine.dtype == "int32"


def test_an_output_has_the_shape_that_the_run_found_out():
    spec = fer.Spec((fer.Dim("batch", max=8), 2, 4))
    session = fer.Session(fer.compile({"main": (lambda x: (F.non_zero(x > 0), F.flatnonzero(x < 0)), [spec])}))
    for grid in GRIDS:
        grid = grid.astype("float32")
        above, below = session.run("main", grid)
        np.testing.assert_array_equal(above, np.argwhere(grid > 0))
        np.testing.assert_array_equal(below, np.flatnonzero(grid < 0))


def test_what_is_computed_from_the_positions_follows():
    def function(mask):
        found = F.flatnonzero(mask)
        squares = found.astype("float32") ** 2.0
        both = F.concat([found, found + 100], 0)
        table = F.matmul(F.expand_dims(squares, 1), F.ones((1, 3)))
        ones, even = F.zeros(found.shape) + 1.0, F.arange(found.shape[0]) * 2.0
        return squares.sum(), both, table, ones, even, F.flatten(table).sum()

    spec = fer.Spec((fer.Dim("n", max=6),), "bool")
    session = fer.Session(fer.compile({"main": (function, [spec])}))
    for mask in MASKS:
        found = np.flatnonzero(mask)
        squares = found.astype("float32") ** 2
        total, both, table, ones, even, flat = session.run("main", mask)
        assert total == squares.sum()
        np.testing.assert_array_equal(both, np.concatenate([found, found + 100]))
        np.testing.assert_array_equal(table, np.repeat(squares[:, None], 3, 1))
        np.testing.assert_array_equal(ones, np.ones(found.size))
        np.testing.assert_array_equal(even, 2.0 * np.arange(found.size))
        assert flat == 3 * squares.sum()


def test_a_number_found_by_another_number():
    def function(mask):
        found = F.flatnonzero(mask)
        return found, F.flatnonzero(found > 2)

    spec = fer.Spec((fer.Dim("n", max=6),), "bool")
    session = fer.Session(fer.compile({"main": (function, [spec])}))
    for mask in MASKS:
        found, of_found = session.run("main", mask)
        np.testing.assert_array_equal(found, np.flatnonzero(mask))
        np.testing.assert_array_equal(of_found, np.flatnonzero(found > 2))


def test_only_the_number_is_used():
    array = np.array([1.0, 0.0, 2.0], "float32")
    (count,) = run(lambda x: F.zeros((F.flatnonzero(x).shape[0], 2)), array, spec=fer.Spec((3,)))
    assert count.shape == (2, 2)


def test_a_comparison_that_the_number_leaves_open_is_an_error():
    def function(x):
        return x if F.flatnonzero(x).shape[0] > 2 else -x

    with pytest.raises(TraceError, match="count0"):
        fer.compile({"main": (function, [fer.Spec((6,))])})


def test_memory_is_planned_for_the_most():
    program = fer.compile({"main": (lambda x: F.flatnonzero(x).astype("float32").sum(), [fer.Spec((100,))])})
    assert program.memory("main")["peak"] >= 400
    (total,) = fer.Session(program).run("main", np.ones(100, "float32"))
    assert total == 99 * 50


def test_elements_under_a_mask_and_their_gradient():
    spec = fer.Spec((fer.Dim("batch", max=8), 2, 4))
    session = fer.Session(
        fer.compile(
            {
                "main": (lambda x: F.cond_take(x > 0, x), [spec]),
                "torch": (lambda x: F.masked_select(x, x[0] > 0), [spec]),
                "gradient": (fer.grad(lambda x: F.sum(F.cond_take(x > 0, x * x)[0])), [spec]),
            }
        )
    )
    for grid in GRIDS:
        grid = grid.astype("float32")
        values, positions = session.run("main", grid)
        np.testing.assert_array_equal(values, grid[grid > 0])
        np.testing.assert_array_equal(positions, np.flatnonzero(grid > 0))
        np.testing.assert_array_equal(session.run("torch", grid)[0], grid[np.broadcast_to(grid[0] > 0, grid.shape)])
        np.testing.assert_array_equal(session.run("gradient", grid)[0], np.where(grid > 0, 2 * grid, 0))
        dynamic, _ = F.cond_take(fer.tensor(grid) > 0, fer.tensor(grid))
        np.testing.assert_array_equal(dynamic.numpy(), grid[grid > 0])


def test_a_mask_of_another_shape_is_refused():
    with pytest.raises(ShapeError, match=r"cond_take: the mask has the shape \(3,\) and x \(4,\)"):
        F.cond_take(F.ones((3,)), F.ones((4,)))


def test_a_traced_mask_as_index():
    spec = fer.Spec((fer.Dim("batch", max=8), 2, 4))

    def doubled(x):
        y = x.copy()
        y[y > 0] = y[y > 0] * 2.0
        return y

    entries = {
        "whole": (lambda x: x[x > 0], [spec]),
        "rows": (lambda x: x[x[:, 0, 0] > 0], [spec]),
        "inner": (lambda x: x[0][x[0] > 0], [spec]),
        "write": (doubled, [spec]),
    }
    session = fer.Session(fer.compile(entries))
    for grid in GRIDS:
        grid = grid.astype("float32")
        np.testing.assert_array_equal(session.run("whole", grid)[0], grid[grid > 0])
        np.testing.assert_array_equal(session.run("rows", grid)[0], grid[grid[:, 0, 0] > 0])
        np.testing.assert_array_equal(session.run("inner", grid)[0], grid[0][grid[0] > 0])
        np.testing.assert_array_equal(session.run("write", grid)[0], np.where(grid > 0, 2 * grid, grid))
