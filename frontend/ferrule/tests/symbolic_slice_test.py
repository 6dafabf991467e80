"""Subscripts whose bounds or axes are sizes that are known when the program runs."""

import numpy as np
import pytest

import ferrule as fer
from ferrule import errors
from ferrule.jit import trace

TABLE = np.arange(32, dtype=np.float32).reshape(16, 2)

# Each takes x of [2, n, 3], n from 3 to 9, and n; as a program n is a Dim, as the expectation an int.
READS = {
    "last": lambda x, n: x[:, n - 1],
    "last by -1": lambda x, n: x[:, -1],
    "third from the end": lambda x, n: x[:, -3],
    "all but the first": lambda x, n: x[:, 1:],
    "all but the last": lambda x, n: x[:, :-1],
    "last two": lambda x, n: x[:, -2:],
    "up to a size": lambda x, n: x[:, : n - 2],
    "beyond the end": lambda x, n: x[:, : n + 5],
    "from far": lambda x, n: x[:, 5:],
    "up to a number": lambda x, n: x[:, :6],
    "between": lambda x, n: x[:, 1 : n - 1],
    "halves": lambda x, n: x[:, n // 2 :],
    "every second": lambda x, n: x[:, ::2],
    "every second of a part": lambda x, n: x[:, 1 : n - 1 : 2],
    "backwards": lambda x, n: x[:, ::-1],
    "backwards by two from the last but one": lambda x, n: x[:, -2::-2],
    "backwards to a bound": lambda x, n: x[:, n - 1 : 0 : -1],
    "nothing": lambda x, n: x[:, n:],
    "crossed bounds": lambda x, n: x[:, n - 1 : 1],
    "of two axes": lambda x, n: x[1, n - 2, ::-1],
}


def length():
    return fer.Dim("n", min=3, max=9)


def data(n):
    return np.random.default_rng(n).normal(size=(2, n, 3)).astype(np.float32)


def compile_with(n, function, *more):
    step = trace(symbolic=True)(function)
    return fer.Session(fer.compile({"f": (step, [fer.Spec((2, n, 3)), *more])}))


@pytest.mark.parametrize("name", READS)
def test_read(name):
    n = length()
    read = READS[name]
    session = compile_with(n, lambda x: read(x, n) * 1.0)
    for size in (3, 4, 9):
        np.testing.assert_array_equal(session.run("f", data(size))[0], read(data(size), size))


@pytest.mark.parametrize("name", READS)
def test_gradient(name):
    """Each element that is read has itself as its gradient; the others have none."""
    n = length()
    read = READS[name]

    def weighted(x):
        y = read(x, n)
        return fer.functional.sum(y * y * 0.5)

    session = compile_with(n, fer.grad(weighted))
    for size in (3, 4, 9):
        wanted = np.zeros((2, size, 3), np.float32)
        read(wanted, size)[...] = read(data(size), size)
        np.testing.assert_array_equal(session.run("f", data(size))[0], wanted)


@pytest.mark.parametrize("name", ("last", "all but the first", "between", "every second", "backwards", "halves"))
def test_write(name):
    n = length()
    read = READS[name]

    def write(x):
        y = x * 1.0
        read(y, n)[...] = 7.0
        return y

    session = compile_with(n, write)
    for size in (3, 4, 9):
        wanted = data(size)
        read(wanted, size)[...] = 7.0
        np.testing.assert_array_equal(session.run("f", data(size))[0], wanted)


def test_a_fixed_axis_with_symbolic_bounds():
    n = length()
    session = compile_with(n, lambda x: (x[:, :, :2] + fer.tensor(TABLE)[:n], fer.tensor(TABLE)[n - 1 : n + 3] * 1.0))
    for size in (3, 9):
        rows, part = session.run("f", data(size))
        np.testing.assert_array_equal(rows, data(size)[:, :, :2] + TABLE[:size])
        np.testing.assert_array_equal(part, TABLE[size - 1 : size + 3])


def test_what_the_bounds_do_not_decide_is_refused():
    n = length()
    with pytest.raises(errors.UnsupportedError, match="n - 5 may be negative"):
        compile_with(n, lambda x: x[:, : n - 5] * 1.0)
    with pytest.raises(errors.ShapeError, match="index 3 is out of range for axis 1 of .2, n, 3. for some sizes"):
        compile_with(n, lambda x: x[:, 3] * 1.0)
    with pytest.raises(errors.ShapeError, match="index -4 is out of range for axis 1"):
        compile_with(n, lambda x: x[:, -4] * 1.0)
    with pytest.raises(errors.ShapeError, match="index n is out of range for axis 1"):
        compile_with(n, lambda x: x[:, n] * 1.0)
