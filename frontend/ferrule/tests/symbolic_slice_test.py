"""Subscripts whose bounds or axes are sizes that are known when the program runs."""

import numpy as np
import pytest

import ferrule as fer
import ferrule.functional as F
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


@pytest.mark.parametrize("least", (0, 1, 2, 3))
def test_what_is_cut_off_at_either_end_has_one_size(least):
    """n - 1 elements are n - 1 elements, whether the first or the last is missing, also where n may be 0."""
    n = fer.Dim("n", min=least, max=9)

    def steps(x):
        return x[:, 1:] - x[:, :-1], F.diff(x, axis=1), x[:, 3:] * x[:, :-3]

    def curves(x):
        return x[:, 2:] - 2.0 * x[:, 1:-1] + x[:, :-2]

    def next_of(logits, label):
        """Each row predicts the label that follows."""
        return F.cross_entropy(logits[:, :-1], label[:, 1:], axis=2)

    session = compile_with(n, lambda x: steps(x))
    for size in (least, 5, 9):
        x = data(size)
        wanted = x[:, 1:] - x[:, :-1], np.diff(x, axis=1), x[:, 3:] * x[:, : max(size - 3, 0)]
        for got, want in zip(session.run("f", x), wanted):
            np.testing.assert_array_equal(got, want)
    session = compile_with(n, fer.value_and_grad(next_of, 0), fer.Spec((2, n), "int32"))
    for size in (max(least, 2), 5, 9):
        label = np.arange(2 * size, dtype=np.int32).reshape(2, size) % 3
        loss, gradient = fer.value_and_grad(next_of, 0)(fer.tensor(data(size)), fer.tensor(label))
        for got, want in zip(session.run("f", data(size), label), (loss, gradient)):
            np.testing.assert_array_equal(got, want.numpy())
    session = compile_with(n, lambda x: (curves(x), fer.grad(lambda x: F.sum(curves(x)))(x)))
    for size in (least, 5, 9):
        x = fer.tensor(data(size))
        for got, want in zip(session.run("f", data(size)), (curves(x), fer.grad(lambda x: F.sum(curves(x)))(x))):
            np.testing.assert_array_equal(got, want.numpy())


@pytest.mark.parametrize("least", (0, 1))
def test_roll(least):
    """By shifts that may be larger than the axis, in both directions."""
    n = fer.Dim("n", min=least, max=9)

    def everything(x):
        y = F.roll(x, 4, 1)
        return y, F.roll(x, -1, 1) + x, F.roll(x, (1, 2), (2, 1)), F.roll(x, 2), fer.grad(lambda x: F.sum(F.roll(x, 4, 1) * y))(x)

    session = compile_with(n, everything)
    for size in (least, 1, 4, 9):
        x = data(size)
        wanted = np.roll(x, 4, 1), np.roll(x, -1, 1) + x, np.roll(x, (1, 2), (2, 1)), np.roll(x, 2), x
        for got, want in zip(session.run("f", x), wanted, strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("part", (slice(2, None), slice(5, None), slice(2, None, 2), slice(5, None, 3), slice(-2, None, -2),
                                  slice(None, None, -1), slice(1, 4), slice(3, 4), slice(6, 9, 2)))  # fmt: skip
@pytest.mark.parametrize("least", (0, 1))
def test_a_part_may_begin_behind_the_end(least, part):
    """Then it is empty, its gradient is zero, and a write to it changes nothing."""
    n = fer.Dim("n", min=least, max=9)

    def everything(x):
        y = x * 1.0
        y[:, part] = 7.0
        return x[:, part] * 1.0, fer.grad(lambda x: F.sum(x[:, part] * x[:, part]) * 0.5)(x), y

    session = compile_with(n, everything)
    for size in (least, 2, 4, 5, 9):
        x = data(size)
        gradient, written = np.zeros_like(x), x.copy()
        gradient[:, part], written[:, part] = x[:, part], 7.0
        for got, want in zip(session.run("f", x), (x[:, part], gradient, written)):
            np.testing.assert_array_equal(got, want)


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
    with pytest.raises(errors.UnsupportedError, match="the dim 'm' has no value: no input has it"):
        compile_with(n, lambda x: x[:, : fer.Dim("m", max=3)] * 1.0)
    with pytest.raises(errors.ShapeError, match="index 3 is out of range for axis 1 of .2, n, 3. for some sizes"):
        compile_with(n, lambda x: x[:, 3] * 1.0)
    with pytest.raises(errors.ShapeError, match="index -4 is out of range for axis 1"):
        compile_with(n, lambda x: x[:, -4] * 1.0)
    with pytest.raises(errors.ShapeError, match="index n is out of range for axis 1"):
        compile_with(n, lambda x: x[:, n] * 1.0)
