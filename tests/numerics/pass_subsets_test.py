"""Random graphs give the same bits with any optional pass off, on every CPU level, and with one thread or two."""

import itertools

import numpy as np
import pytest

import ferrule as fer
import ferrule.functional as F
from ferrule import dtypes
from ferrule.jit import trace

OPTIONAL_PASSES = ("simplify", "fold", "prune", "attention", "fuse", "schedule", "memory")
SEEDS = range(24)


class RandomGraph:
    """A random chain of operations on two inputs [batch, 6, 5]; every value may be used again, some are returned."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.steps = [self._choose() for _ in range(self.rng.integers(6, 24))]

    def _choose(self):
        return int(self.rng.integers(0, 16)), [int(i) for i in self.rng.integers(0, 1000, 3)]

    @staticmethod
    def _apply(kind, x, y, z):
        row = F.mean(x, axis=1, keepdims=True)
        return (
            lambda: x + y,
            lambda: x - y * 0.5,
            lambda: x * y,
            lambda: F.maximum(x, y),
            lambda: F.relu(x),
            lambda: F.exp(F.minimum(x, 1.0)),
            lambda: F.tanh(x),
            lambda: x - row,
            lambda: x * F.sum(y, axis=2, keepdims=True),
            lambda: F.softmax(x, axis=2),
            lambda: F.transpose(F.transpose(x, (0, 2, 1)) + 1.0, (0, 2, 1)),
            lambda: F.reshape(F.reshape(x, (-1, 30)) * 2.0, (-1, 6, 5)),
            lambda: F.where(F.greater(x, y), x, z),
            lambda: x + F.max(y, axis=0, keepdims=True),
            lambda: F.concat([x[:, 2:], y[:, :2]], axis=1),
            lambda: F.matmul(x, F.transpose(y, (0, 2, 1))) @ z,
        )[kind]()

    def __call__(self, a, b):
        values = [a, b]
        for kind, picks in self.steps:
            x, y, z = (values[-1 - pick % min(len(values), 4)] for pick in picks)
            values.append(self._apply(kind, x, y, z))
        return values[-1], values[len(values) // 2], F.sum(values[-1])


class RandomIntegerGraph:
    """The same over integers, whose results NumPy gives as well: every operation wraps."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.steps = [(int(self.rng.integers(0, 14)), self.rng.integers(0, 1000, 3).tolist()) for _ in range(14)]

    @staticmethod
    def _apply(kind, m, x, y, z):
        """``m`` is ``F`` or NumPy."""
        return (
            lambda: x + y,
            lambda: x - y,
            lambda: x * y,
            lambda: x * 1 + 0,
            lambda: (x // 3) * 3 + x % 3,
            lambda: m.maximum(x, y) - m.minimum(x, z),
            lambda: x & y | z,
            lambda: x ^ ~y,
            lambda: m.where(x > y, x, z),
            lambda: m.transpose(m.transpose(x, (1, 0)) + m.transpose(y, (1, 0)), (1, 0)),
            lambda: m.reshape(m.reshape(x, (-1,)) * 2, (6, 5)),
            lambda: (x >> 1) + (y << 2),
            lambda: m.concatenate([x[2:], y[:2]], 0),
            lambda: m.flip(x, 0) - m.max(y, axis=0, keepdims=True),
        )[kind]()

    def __call__(self, m, a, b):
        values = [a, b]
        for kind, picks in self.steps:
            x, y, z = (values[-1 - pick % min(len(values), 4)] for pick in picks)
            values.append(self._apply(kind, m, x, y, z))
        return values[-1], values[len(values) // 2]


@pytest.mark.parametrize("dtype", ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"))
@pytest.mark.parametrize("seed", range(3))
def test_integers_are_those_of_numpy(seed, dtype):
    graph = RandomIntegerGraph(seed)
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(seed)
    inputs = [rng.integers(limits.min, limits.max, (6, 5), dtype, endpoint=True) for _ in range(2)]
    with np.errstate(over="ignore"):
        expected = graph(np, *inputs)
    for disabled, threads in (((), 1), (OPTIONAL_PASSES, 2)):
        program = fer.compile(
            {"main": (lambda a, b: graph(F, a, b), [fer.Spec((6, 5), dtype)] * 2)}, disable_passes=disabled
        )
        for got, wanted in zip(fer.Session(program, threads=threads).run("main", *inputs), expected):
            assert got.dtype == wanted.dtype
            np.testing.assert_array_equal(got, wanted)


def block(x, weights, keep):
    """The patterns that passes make one kernel of; ``keep`` collects what lies between."""
    inner = keep(F.matmul(x, weights[0]))
    query, key, value = (keep(inner[:, :, 4 * i : 4 * i + 4]) for i in range(3))
    scores = keep(F.matmul(query, key, transpose_b=True)) * 0.5
    mixed = keep(F.matmul(keep(F.softmax(scores, -1)), value))
    added = keep(x + keep(F.matmul(mixed, weights[1])))
    centred = keep(added - keep(F.mean(added, -1, keepdims=True)))
    normal = keep(centred / F.sqrt(keep(F.mean(centred * centred, -1, keepdims=True)) + 1e-12))
    wide = keep(F.gelu(keep(F.matmul(normal, weights[2]) + 0.1)))
    return keep(added + F.matmul(wide, weights[3]))


@pytest.mark.parametrize("gradient", (False, True))
def test_values_within_a_pattern_can_be_outputs(gradient):
    rng = np.random.default_rng(0)
    weights = [fer.Tensor(rng.standard_normal(s).astype("float32") * 0.3) for s in ((6, 12), (4, 6), (6, 10), (10, 6))]
    x = rng.standard_normal((2, 5, 6)).astype("float32")

    def whole(x):
        return block(x, weights, lambda value: value)

    def parts(x):
        kept = []
        block(x, weights, lambda value: kept.append(value) or value)
        return (*kept, *([fer.grad(lambda x: F.sum(whole(x) * x))(x)] if gradient else []))

    def run(function, disabled):
        return fer.Session(fer.compile({"main": (function, [fer.Spec(x.shape)])}, disable_passes=disabled)).run("main", x)

    expected = [each.numpy() for each in parts(fer.Tensor(x))]
    for disabled in ((), *((name,) for name in OPTIONAL_PASSES), OPTIONAL_PASSES):
        results = run(parts, disabled)
        assert len(results) == len(expected)
        for index, (got, wanted) in enumerate(zip(results, expected)):
            np.testing.assert_array_equal(got, wanted, err_msg=f"output {index} without {disabled}")
        np.testing.assert_array_equal(run(whole, disabled)[0], expected[-1 - gradient])
    added, normal = expected[8], expected[12]
    wanted = F.layer_norm(fer.Tensor(added), 6, False, eps=1e-12).numpy()
    np.testing.assert_allclose(normal, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("seed", (0, 11))
def test_pairs_of_passes(seed):
    """What two passes do together, on a graph with much that one of them removes."""
    graph = RandomGraph(seed)

    def function(a, b):
        a, b = (x.astype(x.dtype) * 1.0 + 0.0 for x in (a, b))
        first, second, total = graph(a, F.transpose(F.transpose(b, (0, 2, 1)), (0, 2, 1)))
        return first.astype("float32") / 1.0, F.reshape(second, (3, 6, 5)) * 1.0, total

    spec = fer.Spec((3, 6, 5))
    inputs = [np.random.default_rng(seed + i).standard_normal((3, 6, 5)).astype("float32") for i in range(2)]

    def run(disabled):
        program = fer.compile({"main": (function, [spec, spec])}, disable_passes=disabled)
        return fer.Session(program, threads=2).run("main", *inputs)

    expected = run(OPTIONAL_PASSES)
    for pair in itertools.combinations(OPTIONAL_PASSES, 2):
        others = tuple(name for name in OPTIONAL_PASSES if name not in pair)
        for disabled in (pair, others):
            for got, wanted in zip(run(disabled), expected):
                np.testing.assert_array_equal(got, wanted, err_msg=f"without {disabled}")


@pytest.mark.parametrize(("seed", "dtype"), [*((seed, "float32") for seed in SEEDS), (3, "float16"), (5, "bfloat16")])
def test_pass_subsets(seed, dtype):
    graph = RandomGraph(seed)

    @trace(symbolic=True)
    def traced(a, b):
        return graph(a, b)

    batch = fer.Dim("batch", min=1, max=8)
    spec = fer.Spec((batch, 6, 5), dtype)
    inputs = [np.random.default_rng(100 + seed + i).standard_normal((3, 6, 5)).astype(dtypes.to_numpy(dtype)) for i in range(2)]

    def run(disabled, target, threads):
        program = fer.compile({"main": (traced, [spec, spec])}, targets=(target,), disable_passes=disabled)
        return fer.Session(program, threads=threads).run("main", *inputs)

    expected = run((), "x86-64-v3", 1)
    variants = [((name,), "x86-64-v3", 2) for name in OPTIONAL_PASSES]
    variants += [(OPTIONAL_PASSES, "x86-64-v3", 1), ((), "host", 2)]
    for variant in variants:
        for index, (got, wanted) in enumerate(zip(run(*variant), expected)):
            np.testing.assert_array_equal(
                got.astype(np.float32), wanted.astype(np.float32), err_msg=f"output {index} with {variant}"
            )
