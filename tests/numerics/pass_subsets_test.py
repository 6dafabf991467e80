"""Random graphs give the same bits with any optional pass off, on every CPU level, and with one thread or two."""

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
