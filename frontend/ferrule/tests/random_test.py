"""Random numbers: reproducible in every mode, distributed as they should be."""

import numpy as np
import pytest
from ferrule.data.shuffle import philox
from ferrule.jit import trace

import ferrule as fer
import ferrule.functional as F  # noqa: N812
from ferrule import errors, random


def test_a_seed_starts_anew():
    fer.random.seed(3)
    first = [random.uniform(size=(2, 3)).numpy(), random.normal(size=4).numpy()]
    fer.random.seed(3)
    np.testing.assert_array_equal(random.uniform(size=(2, 3)).numpy(), first[0])
    np.testing.assert_array_equal(random.normal(size=4).numpy(), first[1])
    assert not np.array_equal(random.normal(size=4).numpy(), first[1])


def test_the_numbers_are_philox():
    rng = random.RNG(seed=-5)
    rng.uniform(size=3)
    drawn = rng.uniform(size=8).numpy()
    zero = np.zeros(2, np.uint64)
    words = philox((np.arange(2, dtype=np.uint64), zero, zero + 1, zero), ((-5) & 0xFFFFFFFF, 0xFFFFFFFF))
    wanted = np.stack(words, 1).reshape(-1) >> np.uint64(8)
    np.testing.assert_array_equal(drawn, wanted.astype("float32") / 2**24)


def test_traced_and_now_draw_the_same():
    def draw():
        return random.uniform(size=5), random.normal(size=(2, 2)), random.permutation(7)

    fer.random.seed(11)
    now = [[t.numpy() for t in draw()] for _ in range(3)]
    fer.random.seed(11)
    traced = trace(draw, symbolic=True)
    for wanted in now:
        for a, b in zip(traced(), wanted):
            np.testing.assert_array_equal(a.numpy(), b)
    # And back: the state went on inside the traced function.
    fer.random.seed(11)
    traced()
    np.testing.assert_array_equal(random.uniform(size=5).numpy(), now[1][0])


def test_an_artifact_draws_the_same():
    @trace(symbolic=True)
    def noise(x):
        return x + random.normal(size=x.shape)

    fer.random.seed(21)
    program = fer.compile({"noise": (noise, [fer.Spec((3,))])})
    session = fer.Session(program)
    drawn = [session.run("noise", np.zeros(3, "float32"))[0] for _ in range(2)]
    fer.random.seed(21)
    for numbers in drawn:
        np.testing.assert_array_equal(random.normal(size=3).numpy(), numbers)
    assert "random_state" in session.variables()
    np.testing.assert_array_equal(session["random_state"], [21, 2])


def test_two_generators_do_not_disturb_each_other():
    a, b = random.RNG(seed=1), random.RNG(seed=1)
    first = a.normal(size=3).numpy()
    a.normal(size=3)
    np.testing.assert_array_equal(b.normal(size=3).numpy(), first)
    assert not np.array_equal(random.RNG().uniform(size=4).numpy(), random.RNG().uniform(size=4).numpy())


def close(numbers, mean, variance):
    """Five deviations of the mean are allowed, and 5 % of the variance."""
    numbers = np.asarray(numbers, "float64")
    assert abs(numbers.mean() - mean) < 5 * np.sqrt(variance / numbers.size)
    assert abs(numbers.var() - variance) < 0.05 * variance


def test_distributions():
    fer.random.seed(5)
    n = 50000
    close(random.uniform(-1, 3, size=n).numpy(), 1, 16 / 12)
    close(random.normal(2, 0.5, size=n).numpy(), 2, 0.25)
    close(random.gamma(3.0, 2.0, size=n).numpy(), 6, 12)
    close(random.beta(2.0, 3.0, size=n).numpy(), 0.4, 0.04)
    close(random.poisson(4.0, size=n).numpy(), 4, 4)
    close(random.exponential(2.0, size=n).numpy(), 2, 4)
    close(random.bernoulli(0.3, size=n).numpy(), 0.3, 0.21)
    integers = random.randint(-2, 3, size=n).numpy()
    close(integers, 0, 2)
    assert set(integers) == {-2, -1, 0, 1, 2}


def test_shapes_of_parameters():
    shape, scale = fer.Tensor([1.0, 100.0]), fer.Tensor([[1.0], [10.0], [0.1]])
    assert random.gamma(shape, scale).shape == (3, 2)
    assert random.gamma(shape, scale, size=(5,)).shape == (5, 3, 2)
    assert random.poisson(fer.Tensor([1.0, 2.0]), size=(4, 1)).shape == (4, 1, 2)
    assert random.uniform().shape == ()
    assert random.uniform(size=(0, 2)).numpy().shape == (0, 2)
    assert random.normal(size=2, dtype="float64").dtype == "float64"
    with pytest.raises(errors.DtypeError, match="int32"):
        random.uniform(size=2, dtype="int32")
    with pytest.raises(errors.ShapeError, match="no integer"):
        random.randint(3, 3)


def test_orders():
    fer.random.seed(9)
    order = random.permutation(100).numpy()
    assert order.dtype == np.int32 and not np.array_equal(order, np.arange(100))
    np.testing.assert_array_equal(np.sort(order), np.arange(100))
    x = fer.Tensor(np.arange(12, dtype="float32").reshape(6, 2))
    random.shuffle(x)
    np.testing.assert_array_equal(np.sort(x.numpy()[:, 0]), np.arange(0, 12, 2))
    np.testing.assert_array_equal(x.numpy()[:, 1], x.numpy()[:, 0] + 1)
    assert random.permutation(x).shape == (6, 2)


def test_dropout():
    fer.random.seed(2)
    x = fer.Tensor(np.full(40000, 3.0, "float32"))
    y = F.dropout(x, 0.25).numpy()
    assert set(np.unique(y)) == {np.float32(0), np.float32(3.0) * np.float32(1 / 0.75)}
    assert abs((y == 0).mean() - 0.25) < 0.01
    assert F.dropout(x, 0.25, training=False) is x
    np.testing.assert_array_equal(F.dropout(x, 1.0).numpy(), 0)
    with pytest.raises(errors.ShapeError, match="drop_prob is 1.5"):
        F.dropout(x, 1.5)


@pytest.mark.parametrize("wrap", [lambda f: f, lambda f: trace(f, symbolic=True)])
def test_the_gradient_of_dropout_has_the_same_mask(wrap):
    fer.random.seed(4)
    x = fer.Tensor(np.ones(1000, "float32"))

    def step(x):
        kept = []

        def loss(x):
            kept.append(F.dropout(x, 0.5))
            return kept[0].sum()

        return fer.grad(loss)(x), kept[0]

    gradient, kept = wrap(step)(x)
    np.testing.assert_array_equal(gradient.numpy(), kept.numpy())
    assert 0 < (kept.numpy() == 0).sum() < 1000
