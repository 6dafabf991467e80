"""Dynamic mode over many lengths compiles a structure twice: once as it is, and once with sizes that are open.

Each case computes something over a length and returns it with NumPy's answer; all lengths after the first two must find
a program. What is counted is compilations, not seconds.
"""

import numpy as np
import pytest

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
from ferrule import program_cache
from ferrule.autodiff import GradManager

LENGTHS = range(3, 53)
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def data(*shape):
    """Reproducible numbers in [-1, 1) that depend on the shape alone."""
    return np.random.default_rng(shape).uniform(-1, 1, shape).astype(np.float32)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


W = data(16, 16)
TABLE = data(64, 16)


@case
def attention(n):
    """Heads split off and merged again, the number of positions on two axes, a mask of that size."""
    x, mask = data(2, n, 16), np.triu(np.full((n, n), -1e9, np.float32), 1)

    def heads(z):
        return F.transpose(F.reshape(z, (2, n, 4, 4)), (0, 2, 1, 3))

    t = fer.tensor(x)
    q = heads(F.matmul(t, fer.tensor(W)))
    weights = F.softmax(F.matmul(q, F.transpose(heads(t), (0, 1, 3, 2))) * 0.5 + fer.tensor(mask), axis=-1)
    out = F.reshape(F.transpose(F.matmul(weights, heads(t)), (0, 2, 1, 3)), (2, n, 16))

    def split(z):
        return z.reshape(2, n, 4, 4).transpose(0, 2, 1, 3)

    p = softmax(split(x @ W) @ split(x).transpose(0, 1, 3, 2) * 0.5 + mask)
    return out, (p @ split(x)).transpose(0, 2, 1, 3).reshape(2, n, 16)


@case
def scale_by_length(n):
    x = data(2, n, 16)
    t = fer.tensor(x)
    return F.softmax(F.matmul(t, F.transpose(t, (0, 2, 1))) / n**0.5, axis=-1), softmax(
        x @ x.transpose(0, 2, 1) / np.float32(n**0.5)
    )


@case
def concat_with_fixed(n):
    a, b = data(n, 4), data(3, 4)
    return F.concat([fer.tensor(a), fer.tensor(b)], 0) + 1, np.concatenate([a, b]) + 1


@case
def pad_to_fixed(n):
    a = data(3, n)
    return F.concat([fer.tensor(a), F.zeros((3, 64 - n))], 1), np.pad(a, ((0, 0), (0, 64 - n)))


@case
def neighbours(n):
    a = data(n, 4)
    t = fer.tensor(a)
    return t[1:] - t[:-1], a[1:] - a[:-1]


@case
def halves(n):
    a = data(2 * n, 4)
    t = fer.tensor(a)
    return t[:n] + t[n:], a[:n] + a[n:]


@case
def last(n):
    a = data(2, n, 4)
    return fer.tensor(a)[:, n - 1] * 2, a[:, -1] * 2


@case
def backwards(n):
    a = data(n, 4)
    return fer.tensor(a)[::-1] * 2, a[::-1] * 2


@case
def every_second(n):
    a = data(2 * n, 4)
    return fer.tensor(a)[1::2] * 2, a[1::2] * 2


@case
def prefix_of_table(n):
    a = data(2, n, 16)
    return fer.tensor(a) + fer.tensor(TABLE)[:n], a + TABLE[:n]


@case
def position_in_fixed(n):
    """The place that is read has nothing to do with a size of the input."""
    return fer.tensor(TABLE)[n] * 2, TABLE[n] * 2


@case
def max_pool(n):
    a = data(1, 3, 2 * n, 8)
    return F.max_pool2d(fer.tensor(a), 2, 2), a.reshape(1, 3, n, 2, 4, 2).max((3, 5))


@case
def avg_pool_any_length(n):
    a = data(1, 3, n, 8)
    rows = n // 2
    return F.avg_pool2d(fer.tensor(a), 2, 2), a[:, :, : 2 * rows].reshape(1, 3, rows, 2, 4, 2).mean((3, 5))


@case
def statistics_of_rows(n):
    a = data(3, n)
    t = fer.tensor(a)
    return F.concat([F.mean(t, axis=1), F.var(t, axis=1), F.sum(t * t, axis=1)], 0), np.concatenate(
        [a.mean(1), a.var(1), (a * a).sum(1)]
    )


@case
def merged_axes(n):
    a = data(2, n, 16)
    return F.matmul(F.reshape(fer.tensor(a), (-1, 16)), fer.tensor(W)), a.reshape(-1, 16) @ W


@case
def positions(n):
    a = data(4, n)
    return fer.tensor(a) * F.arange(n), a * np.arange(n, dtype=np.float32)


@case
def causal(n):
    a = data(n, n)
    i = F.arange(n)
    seen = F.reshape(i, (1, n)) <= F.reshape(i, (n, 1))
    return F.where(seen, fer.tensor(a), F.full((n, n), -1e9)), np.where(np.tri(n, dtype=bool), a, np.float32(-1e9))


@case
def outer(n):
    a = data(n)
    t = fer.tensor(a)
    return F.reshape(t, (n, 1)) * F.reshape(t, (1, n)), np.outer(a, a)


@case
def split_fixed_axis(n):
    a = data(n, 6)
    x, y, z = F.split(fer.tensor(a), 3, axis=1)
    return x + y * z, a[:, :2] + a[:, 2:4] * a[:, 4:]


@case
def two_lengths(n):
    a, b = data(n % 7 + 2, n, 4), data(n, 4)
    return F.sum(fer.tensor(a) + fer.tensor(b), axis=0), (a + b).sum(0)


@case
def value_in_between(n):
    """A number that was looked at comes back as a scalar of the next fragment."""
    a = data(n, 16)
    t = fer.tensor(a)
    mean = F.mean(t).item()
    return (t - mean) / n, (a - np.float32(mean)) / np.float32(n)


@case
def running_mean(n):
    """A loop over as many steps as there are rows."""
    a = data(n, 4)

    def step(carry, row):
        total = carry * 0.5 + row
        return total, F.tanh(total)

    last, steps = F.scan(step, F.zeros((4,)), fer.tensor(a))
    total, wanted = np.zeros(4, np.float32), []
    for row in a:
        total = total * np.float32(0.5) + row
        wanted.append(np.tanh(total))
    return F.concat([F.reshape(last, (1, 4)), steps], 0), np.concatenate([total[None], wanted])


@case
def recurrent_layer(n):
    a, small = data(2, n, 16), W * np.float32(0.25)  # so that differences do not grow from step to step
    weight = fer.tensor(small)

    def step(h, x):
        h = F.tanh(F.matmul(x, weight) + F.matmul(h, weight))
        return h, h

    state, steps = F.scan(step, F.zeros((2, 16)), F.transpose(fer.tensor(a), (1, 0, 2)))
    h, wanted = np.zeros((2, 16), np.float32), []
    for t in range(n):
        h = np.tanh(a[:, t] @ small + h @ small)
        wanted.append(h)
    return F.concat([F.expand_dims(state, 0), steps], 0), np.stack([h, *wanted])


@case
def halving(n):
    """A loop whose condition looks at values, over a tensor of any length."""
    a = data(n)
    small = F.while_loop(lambda x: F.max(F.abs(x)) > 0.01, lambda x: x * 0.5, fer.tensor(a))
    while np.abs(a).max() > 0.01:
        a = a * np.float32(0.5)
    return small, a


@case
def branch(n):
    a = data(n, 3)
    x = fer.tensor(a)
    return F.cond(F.sum(x) > 0, lambda x: F.sum(x, axis=0), lambda x: F.max(x, axis=0), x), (
        a.sum(0) if a.sum() > 0 else a.max(0)
    )


@pytest.mark.parametrize("name", CASES)
def test_a_structure_compiles_twice(name):
    # Fragments of a case: as many as it flushes.
    fragments = {"value_in_between": 2}.get(name, 1)
    before = program_cache.statistics()["compiled"]
    for n in LENGTHS:
        result, wanted = CASES[name](n)
        np.testing.assert_allclose(result.numpy(), wanted, rtol=2e-5, atol=2e-6, err_msg=f"length {n}")
    assert program_cache.statistics()["compiled"] - before <= 2 * fragments


def test_steps_of_a_recurrence_share_a_program():
    """Each step reads another position, and its result is looked at: the first program, one for all positions of a
    length, one for all lengths."""
    before = program_cache.statistics()["compiled"]
    for n in (5, 9, 17):
        x = data(4, n, 16)
        xs, h, wanted = fer.tensor(x), fer.tensor(np.zeros((4, 16), np.float32)), np.zeros((4, 16), np.float32)
        for t in range(n):
            h = F.tanh(F.matmul(xs[:, t], fer.tensor(W)) + F.matmul(h, fer.tensor(W)))
            wanted = np.tanh(x[:, t] @ W + wanted @ W)
            np.testing.assert_allclose(h.numpy(), wanted, rtol=1e-4, atol=1e-5)
    assert program_cache.statistics()["compiled"] - before <= 3


class Tagger(M.Module):
    def __init__(self):
        super().__init__()
        self.inner = M.Linear(16, 16)
        self.outer = M.Linear(16, 5)

    def forward(self, x):
        q = self.inner(x)
        weights = F.softmax(F.matmul(q, F.transpose(q, (0, 2, 1))) * 0.25, axis=-1)
        return self.outer(F.relu(F.matmul(weights, q)))


@pytest.mark.parametrize("make", (lambda p: optim.SGD(p, lr=0.1, momentum=0.9), lambda p: optim.Adam(p, lr=1e-3)))
def test_training_over_lengths(make):
    """Forward pass, gradient and update: the loss is looked at once a step."""
    net = Tagger()
    manager = GradManager().attach(net.parameters())
    optimizer = make(net.parameters())

    def step(n):
        labels = np.arange(2 * n, dtype=np.int32) % 5
        with manager:
            logits = F.reshape(net(fer.tensor(data(2, n, 16))), (2 * n, 5))
            loss = F.nn.cross_entropy(logits, fer.tensor(labels))
            manager.backward(loss)
        optimizer.step()
        optimizer.clear_grad()
        return loss.item()

    before = program_cache.statistics()["compiled"]
    for n in range(3, 8):
        assert np.isfinite(step(n))
    warm = program_cache.statistics()["compiled"]
    # The first step makes the optimizer's state, which later ones read: their structure is another.
    assert warm - before <= 8
    for n in range(8, 53):
        assert np.isfinite(step(n))
    assert program_cache.statistics()["compiled"] == warm


def test_the_bits_are_those_of_the_shape_alone():
    """A program for many lengths gives the same bits as one that knows its length."""
    for name in ("attention", "neighbours", "merged_axes", "statistics_of_rows", "avg_pool_any_length"):
        for n in (11, 12, 13):
            CASES[name](n)[0].numpy()
        general = CASES[name](14)[0].numpy()
        program_cache.configure(folder=None, memory_bytes=0)  # forgets all
        try:
            alone = fer.jit.trace(lambda name=name: CASES[name](14)[0])()
        finally:
            program_cache.configure()
        np.testing.assert_array_equal(general, alone.numpy())
