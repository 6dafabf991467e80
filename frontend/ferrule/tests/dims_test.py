"""Symbolic dims: what can be said about them, and that an entry for any batch has the bits of dynamic mode at each."""

import numpy as np
import pytest

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
from ferrule.errors import ExecutionError, ShapeError, TraceError

CASES = {
    "mean": lambda t: F.mean(t),
    "mean over the dim": lambda t: F.mean(t, 0),
    "variance": lambda t: F.var(t, (0, 1)),
    "maximum": lambda t: F.max(t, (0, 2)),
    "reshape to -1": lambda t: t.reshape(-1, 4) * 2.0,
    "reshape by arithmetic": lambda t: t.reshape(t.shape[0] * 3, 4).T,
    "flatten and matmul": lambda t: F.flatten(t, 1) @ fer.ones((12, 5)),
    "slice of static axes": lambda t: t[:, 1:, 0],
    "first row": lambda t: t[0],
    "middle row": lambda t: t[t.shape[0] // 2],
    "every second row": lambda t: t[::2],
    "concat along the dim": lambda t: F.concat([t, t * 2.0], 0),
    "stack": lambda t: F.stack([t, t], 1),
    "arange to the dim": lambda t: F.arange(t.shape[0]) + t[:, 0, 0],
    "softmax over the dim": lambda t: F.softmax(t, 0),
    "argmax over the dim": lambda t: F.argmax(t, 0),
    "zeros of the shape": lambda t: fer.zeros(t.shape) + t,
    "broadcast to the shape": lambda t: F.broadcast_to(t[:, :1], t.shape),
    "repeat": lambda t: F.repeat(t, 2, 0),
    "divide by the dim": lambda t: t / t.shape[0],
    "layer norm": lambda t: F.layer_norm(t, (4,), False),
    "gradient": lambda t: fer.grad(lambda u: F.mean(u * u))(t),
    "matmul to dim by dim": lambda t: F.matmul(t[:, 0], t[:, 1], transpose_b=True),
    "convolution": lambda t: F.conv1d(t, fer.ones((2, 3, 3)), padding=1),
    "cross entropy": lambda t: F.cross_entropy(t[:, 0], F.argmax(t[:, 1], 1), label_smooth=0.1),
}


@pytest.mark.parametrize("name", CASES)
def test_any_batch_has_the_bits_of_dynamic_mode(name):
    f = CASES[name]
    spec = fer.Spec((fer.Dim("n", min=1, max=64), 3, 4))
    session = fer.Session(fer.compile({"f": (f, [spec])}), threads=2)
    for batch in (1, 5, 64):
        x = np.random.default_rng(batch).normal(size=(batch, 3, 4)).astype("float32")
        np.testing.assert_array_equal(session.run("f", x)[0], f(fer.tensor(x)).numpy(), err_msg=f"batch {batch}")


def test_a_dim_that_is_0():
    """What an empty reduction gives, also after a larger run has filled the memory."""
    wanted = {
        F.sum: 0.0, F.prod: 1.0, F.mean: np.nan, F.max: -np.inf, F.min: np.inf, F.argmax: 0, F.argmin: 0, F.any: False,
        F.all: True, F.norm: 0.0, F.logsumexp: -np.inf, F.var: np.nan,
    }  # fmt: skip
    spec = fer.Spec((fer.Dim("n", min=0, max=16), 3, 4))
    entry = lambda x: (  # noqa: E731
        *(reduction(x, 0) for reduction in wanted), F.softmax(x, 0), F.sort(x, axis=0)[0], F.cumsum(x, 0), F.exp(x),
        F.matmul(x[:, 0], x[:, 1], transpose_a=True), fer.grad(lambda x: F.sum(F.max(x, 0)))(x),
    )  # fmt: skip
    session = fer.Session(fer.compile({"f": (entry, [spec])}))
    session.run("f", np.full((16, 3, 4), 7.0, "float32"))
    results = session.run("f", np.zeros((0, 3, 4), "float32"))
    for result, (reduction, value) in zip(results, wanted.items()):
        np.testing.assert_array_equal(result, np.full((3, 4), value), err_msg=reduction.__name__)
    assert [result.shape for result in results[len(wanted):]] == [(0, 3, 4)] * 4 + [(4, 4), (0, 3, 4)]
    assert not results[-2].any()


def test_batch_norm_of_one_value_a_channel():
    bn = M.BatchNorm1d(3)

    def step(x):
        bn.train()
        return bn(x)

    session = fer.Session(fer.compile({"step": (step, [fer.Spec((fer.Dim("n", min=1, max=8), 3))])}))
    session.run("step", np.ones((1, 3), "float32"))
    np.testing.assert_allclose(session["bn.running_var"].ravel(), 0.9, rtol=1e-6)
    session.run("step", np.array([[0, 0, 0], [2, 2, 2]], "float32"))
    np.testing.assert_allclose(session["bn.running_var"].ravel(), 0.9 * 0.9 + 0.1 * 2, rtol=1e-6)


def test_what_the_bounds_decide():
    n = fer.Dim("n", min=4, max=64, multiple_of=4)
    assert (n >= 4) is True and (n > 64) is False and (n + 1 > 4) is True and (n % 4 == 0) is True
    assert str(n * 2) == "n * 2" or str(n * 2) == "2 * n"
    assert (n // 2 * 2 == n) is True and (n // 2 < n) is True and (n + 2) // 4 * 4 == n
    with pytest.raises(TraceError, match="n.*8"):
        bool(n > 8)
    with pytest.raises(TraceError, match="n"):
        int(n)


def test_a_multiple_is_cut_into_equal_parts():
    n = fer.Dim("n", min=4, max=64, multiple_of=4)
    pairs = lambda x: F.reshape(F.sum(F.reshape(x, (x.shape[0] // 2, 2, 3)), 1) * 2.0, (-1,)) + F.mean(x)
    session = fer.Session(fer.compile({"pairs": (pairs, [fer.Spec((n, 3))])}))
    for rows in (4, 12, 64):
        x = np.random.default_rng(rows).normal(size=(rows, 3)).astype("float32")
        np.testing.assert_array_equal(session.run("pairs", x)[0], pairs(fer.tensor(x)).numpy())


def test_an_open_size_beside_a_sum():
    """A token in front of n others: what is left of the elements divides by n + 1."""
    b, n = fer.Dim("b", min=1, max=8), fer.Dim("n", min=1, max=64)

    def tokens(x):
        x = F.pad(x, ((0, 0), (1, 0), (0, 0), (0, 0)))
        x = F.reshape(x, (x.shape[0], x.shape[1], -1))
        return F.reshape(F.tanh(x), (-1, x.shape[1] * x.shape[2]))

    program = fer.compile({"tokens": (tokens, [fer.Spec((b, n, 2, 3))])})
    session = fer.Session(program)
    for size in ((1, 1), (3, 5), (8, 64)):
        x = np.random.default_rng(size[1]).normal(size=(*size, 2, 3)).astype("float32")
        np.testing.assert_array_equal(session.run("tokens", x)[0], tokens(fer.tensor(x)).numpy())


def test_bounds_hold_at_run_time():
    n = fer.Dim("rows", min=4, max=64, multiple_of=4)
    session = fer.Session(fer.compile({"f": (lambda x: x * 2.0, [fer.Spec((n,))])}))
    assert session.run("f", np.ones(8, "float32"))[0].shape == (8,)
    for wrong, text in ((3, "4"), (6, "multiple"), (68, "64")):
        with pytest.raises(ExecutionError, match=f"rows.*{wrong}.*{text}"):
            session.run("f", np.ones(wrong, "float32"))


def test_wrong_dims_and_specs_are_refused():
    with pytest.raises(ShapeError, match="'2 n'"):
        fer.Dim("2 n")
    with pytest.raises(ShapeError, match="min=5, max=4"):
        fer.Dim("bad", min=5, max=4)
    with pytest.raises(ShapeError, match="2.5"):
        fer.Spec((2.5,))
    with pytest.raises(ShapeError, match="-1"):
        fer.Spec((-1, 3))
