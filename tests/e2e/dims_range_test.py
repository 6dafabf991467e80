"""Entries over the whole range of their dims: at the smallest, a middle and the largest size, and smaller again after the
largest, with the bits of a program that was compiled for that size alone. What is outside is refused by name."""

import numpy as np
import pytest

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
from ferrule.autodiff import GradManager
from ferrule.jit import trace


def convolution(batch, size):
    net = M.Sequential(M.Conv2d(3, 8, 3, padding=1), M.BatchNorm2d(8), M.ReLU(), M.MaxPool2d(2), M.Conv2d(8, 5, 3))
    net.eval()
    return net, trace(lambda x: net(x).mean(axis=(2, 3)), symbolic=True), [fer.Spec((batch, 3, size, size))]


def attention(batch, length):
    """A row of each sequence attends to all of it: products, a softmax and sums over a dim."""
    query, key, value = M.Linear(16, 16), M.Linear(16, 16), M.Linear(16, 16)

    def attend(x):
        weights = F.softmax(F.matmul(query(x), key(x).transpose(0, 2, 1)) / 4.0, axis=2)
        return F.matmul(weights, value(x)) + x

    return M.Sequential(query, key, value), trace(attend, symbolic=True), [fer.Spec((batch, length, 16))]


def recurrence(batch, length):
    net = M.LSTM(8, 12)
    return net, trace(lambda x: net(x)[0], symbolic=True), [fer.Spec((length, batch, 8))]


def selection(batch, length):
    """How many rows there are comes from the values; at most as many as the input has."""
    return M.Sequential(), trace(lambda x: x[x[:, 0] > 0] * 2, symbolic=True), [fer.Spec((batch * length, 3))]


def training(batch, length):
    net = M.Sequential(M.Linear(6, 16), M.ReLU(), M.Linear(16, 4))
    gradients, optimizer = GradManager().attach(net.parameters()), optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def step(x, target):
        with gradients:
            loss = ((net(x).mean(axis=1) - target) ** 2).mean()
            gradients.backward(loss)
        optimizer.step().clear_grad()
        return loss

    return net, trace(step, symbolic=True), [fer.Spec((batch, length, 6)), fer.Spec((batch, 4))]


# Builder, and (min, middle, max) of its two dims; the second of `convolution` in multiples of 4.
CASES = {
    "convolution": (convolution, (1, 3, 6), (8, 20, 32), 4),
    "attention": (attention, (1, 2, 5), (1, 7, 33), 1),
    "recurrence": (recurrence, (1, 4, 9), (1, 5, 17), 1),
    "training": (training, (1, 5, 8), (1, 4, 19), 1),
}


def compiled(build, first, second):
    fer.random.seed(7)
    net, function, specs = build(first, second)
    return fer.compile({"main": (function, specs)}, modules={"net": net}), specs


def arrays(specs, sizes):
    """Values for a shape, the same for the same sizes."""
    random = np.random.default_rng(sum(sizes.values()))
    shapes = [[size if isinstance(size, int) else sizes[str(size)] for size in spec.shape] for spec in specs]
    return [random.standard_normal(shape, dtype=np.float32) for shape in shapes]


@pytest.mark.parametrize("name", CASES)
def test_smallest_middle_largest_and_back(name):
    build, first, second, multiple = CASES[name]
    dims = (
        fer.Dim("first", min=first[0], max=first[-1]),
        fer.Dim("second", min=second[0], max=second[-1], multiple_of=multiple),
    )
    program, specs = compiled(build, *dims)
    session = fer.Session(program, threads=2)
    held = session.info()["arena_bytes"]
    expected = {}
    up = [*zip(first, second, strict=True), (first[0], second[-1]), (first[-1], second[0])]
    for sizes in [*up, *up[::-1]]:
        inputs = arrays(specs, dict(zip(("first", "second"), sizes, strict=True)))
        session.reset()
        results = [np.asarray(result) for result in session.run("main", *inputs)]
        if sizes not in expected:
            alone, _ = compiled(build, *sizes)
            expected[sizes] = [np.asarray(wanted) for wanted in fer.Session(alone, threads=1).run("main", *inputs)]
        for result, wanted in zip(results, expected[sizes], strict=True):
            assert result.shape == wanted.shape, sizes
            assert result.tobytes() == wanted.tobytes(), sizes
    # Memory is planned for the largest sizes: nothing has grown.
    assert session.info()["arena_bytes"] == held


@pytest.mark.parametrize("name", CASES)
def test_a_session_grows_beyond_what_was_planned_and_shrinks_in_use(name):
    """Without a max, planned at the middle sizes: at the smallest, at these, far beyond, in one dim and in both, and back.
    The bits are those of a program for that size alone, also of variables that a training has changed on the way."""
    build, first, second, multiple = CASES[name]
    dims = fer.Dim("first", min=first[0]), fer.Dim("second", min=second[0], multiple_of=multiple)
    fer.random.seed(7)
    net, function, specs = build(*dims)
    plan_at = {"first": first[1], "second": second[1]}
    program = fer.compile({"main": (function, specs)}, modules={"net": net}, plan_at=plan_at)
    if name == "attention":  # The scratch of its softmax bounds the length.
        second = (second[0], second[1], second[1])
    session = fer.Session(program, threads=2)
    held = session.info()["arena_bytes"]
    large = (3 * first[2], 2 * second[2] if name != "attention" else second[2])
    up = [*zip(first, second, strict=True), (first[0], large[1]), (large[0], second[0]), large]
    grown = None
    for sizes in [*up, *up[::-1]]:
        inputs = arrays(specs, dict(zip(("first", "second"), sizes, strict=True)))
        alone, _ = compiled(build, *sizes)
        fixed = fer.Session(alone, threads=1)
        for variable in fixed.variables():
            fixed[variable] = session[variable]
        results, wanted = session.run("main", *inputs), fixed.run("main", *inputs)
        for result, expected in zip(results, wanted, strict=True):
            assert np.asarray(result).tobytes() == np.asarray(expected).tobytes(), sizes
        for variable in fixed.variables():
            assert session[variable].tobytes() == fixed[variable].tobytes(), (sizes, variable)
        if sizes == large:
            grown = session.info()["arena_bytes"]
    assert session.info()["arena_bytes"] == grown > held


def test_a_size_from_the_values_makes_a_session_grow():
    rows = fer.Dim("rows")
    fer.random.seed(7)
    net, function, specs = selection(rows, 1)
    program = fer.compile({"main": (function, specs)}, modules={"net": net}, plan_at={"rows": 4})
    session = fer.Session(program)
    for count in (4, 40, 1, 300, 4, 300):
        for kept in {0, 1, count // 2, count}:
            x = np.arange(3 * count, dtype=np.float32).reshape(count, 3) + 1
            x[kept:, 0] = -1
            np.testing.assert_array_equal(session.run("main", x)[0], 2 * x[:kept])


def test_a_size_from_the_values_shrinks_and_grows():
    rows = fer.Dim("rows", min=1, max=40)
    program, _ = compiled(selection, rows, 1)
    session = fer.Session(program)
    for count in (40, 1, 17, 40, 2):
        for kept in {0, 1, count // 2, count}:
            x = np.arange(3 * count, dtype=np.float32).reshape(count, 3) + 1
            x[kept:, 0] = -1
            np.testing.assert_array_equal(session.run("main", x)[0], 2 * x[:kept])


@pytest.mark.parametrize(
    ("batch", "size", "sentence"),
    [
        (0, 8, "'first' is 0; allowed is 1 to 6"),
        (7, 8, "'first' is 7; allowed is 1 to 6"),
        (1, 4, "'second' is 4; allowed is 8 to 32 in multiples of 4"),
        (1, 36, "'second' is 36; allowed is 8 to 32 in multiples of 4"),
        (1, 10, "'second' is 10; allowed is 8 to 32 in multiples of 4"),
    ],
)
def test_what_is_outside_is_refused_by_name(batch, size, sentence):
    dims = fer.Dim("first", min=1, max=6), fer.Dim("second", min=8, max=32, multiple_of=4)
    program, specs = compiled(convolution, *dims)
    session = fer.Session(program)
    good = arrays(specs, {"first": 6, "second": 32})
    before = session.run("main", *good)[0]
    with pytest.raises(fer.errors.FerruleError, match=sentence):
        session.run("main", np.zeros((batch, 3, size, size), np.float32))
    np.testing.assert_array_equal(session.run("main", *good)[0], before)


SCRATCH = {"argsort": lambda x: F.argsort(x, axis=0), "softmax": lambda x: F.softmax(x, axis=0), "sort": lambda x: F.sort(x, axis=0)[0]}


@pytest.mark.parametrize("name", SCRATCH)
def test_scratch_that_depends_on_a_dim_without_a_max_bounds_it(name):
    """A kernel's scratch is allocated for the size that was planned, also where no buffer of the arena is: the dim gets that
    max, so that a run beyond is refused instead of writing behind the scratch."""
    entry = trace(SCRATCH[name], symbolic=True)
    program = fer.compile({"main": (entry, [fer.Spec((fer.Dim("n"),))])}, plan_at={"n": 8})
    assert program.signature("main")["dims"][0]["max"] == 8
    session = fer.Session(program)
    for size in (1, 8, 3):
        x = np.arange(size, 0, -1, dtype=np.float32)
        fixed = fer.compile({"main": (entry, [fer.Spec((size,))])})
        np.testing.assert_array_equal(session.run("main", x)[0], fer.Session(fixed).run("main", x)[0])
    for size in (9, 100_000):
        with pytest.raises(fer.errors.FerruleError, match=f"'n' is {size}; allowed is 1 to 8"):
            session.run("main", np.ones(size, np.float32))


def test_a_dim_without_a_max_that_needs_no_memory_takes_any_size():
    spec = fer.Spec((fer.Dim("n", min=2),))
    program = fer.compile({"main": (trace(lambda x: x * 2, symbolic=True), [spec])}, plan_at={"n": 8})
    assert program.signature("main")["dims"][0]["max"] is None
    session = fer.Session(program)
    for size in (8, 100_000, 2):
        np.testing.assert_array_equal(session.run("main", np.ones(size, np.float32))[0], np.full(size, 2, np.float32))
    with pytest.raises(fer.errors.FerruleError, match="'n' is 1; allowed is 2 or more"):
        session.run("main", np.ones(1, np.float32))


def test_a_dim_without_a_max_runs_up_to_what_is_planned_and_is_refused_beyond():
    """Here because of scratch; frontend/ferrule/tests/compile_test.py has an entry that is refused for its arena."""
    length = fer.Dim("length", min=2)
    fer.random.seed(7)
    net, function, specs = attention(2, length)
    program = fer.compile({"main": (function, specs)}, modules={"net": net}, plan_at={"length": 24})
    session = fer.Session(program)
    results = {}
    for size in (2, 24, 9, 2, 24):
        result = session.run("main", *arrays(specs, {"length": size}))[0]
        assert results.setdefault(size, result.tobytes()) == result.tobytes()
    for size in (25, 1000):
        with pytest.raises(fer.errors.FerruleError, match=f"'length' is {size}; allowed is 2 to 24"):
            session.run("main", *arrays(specs, {"length": size}))
        assert session.run("main", *arrays(specs, {"length": 9}))[0].tobytes() == results[9]
    with pytest.raises(fer.errors.FerruleError, match="'length' is 1; allowed is 2 to 24"):
        session.run("main", *arrays(specs, {"length": 1}))
