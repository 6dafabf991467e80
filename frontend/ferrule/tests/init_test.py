"""Initial values: their distribution, and that they depend on the seed alone."""

import math

import ferrule as fer
import ferrule.module as M
import numpy as np
import pytest
from ferrule.errors import ShapeError
from ferrule.module import init


def weight(*shape):
    return fer.Parameter(np.zeros(shape, "float32"))


@pytest.mark.parametrize(
    "draw",
    (
        init.uniform_, init.normal_, init.trunc_normal_, init.xavier_uniform_, init.xavier_normal_, init.msra_uniform_,
        init.msra_normal_, init.orthogonal_, lambda w: init.sparse_(w, 0.5),
    ),
)  # fmt: skip
def test_the_seed_decides(draw):
    def drawn(seed):
        fer.random.seed(seed)
        w = weight(6, 4)
        assert draw(w) is w
        return w.numpy()

    np.testing.assert_array_equal(drawn(5), drawn(5))
    assert not np.array_equal(drawn(5), drawn(6))


def test_constants():
    w = weight(2, 3)
    assert init.ones_(w).numpy().sum() == 6 and init.fill_(w, 2.5).numpy().mean() == 2.5
    assert not init.zeros_(w).numpy().any() and init.constant_(w, 3).numpy().max() == 3
    np.testing.assert_array_equal(init.eye_(w).numpy(), np.eye(2, 3))


def test_bounds_and_moments():
    w = weight(300, 400)
    values = init.uniform_(w, -2.0, 3.0).numpy()
    assert values.min() >= -2 and values.max() < 3 and abs(values.mean() - 0.5) < 0.02
    values = init.trunc_normal_(w, 1.0, 2.0, -1.0, 2.0).numpy()
    assert values.min() >= -1 and values.max() <= 2 and abs(values.mean() - 0.56) < 0.05
    values = init.sparse_(w, 0.3, 0.5).numpy()
    np.testing.assert_array_equal((values == 0).sum(0), 90)
    with pytest.raises(ValueError, match="within 4 std"):
        init.trunc_normal_(w, 0.0, 1.0, 5.0, 6.0)


@pytest.mark.parametrize("shape", ((6, 4), (4, 6), (5, 2, 3)))
def test_orthogonal(shape):
    matrix = init.orthogonal_(weight(*shape), 2.0).numpy().reshape(shape[0], -1)
    product = matrix @ matrix.T if shape[0] <= matrix.shape[1] else matrix.T @ matrix
    np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-5)


def test_dirac_keeps_channels():
    net = M.Conv2d(4, 4, 3, padding=1, groups=2, bias=False)
    init.dirac_(net.weight, groups=2)
    x = np.random.default_rng(0).normal(size=(1, 4, 5, 5)).astype("float32")
    np.testing.assert_array_equal(net(fer.tensor(x)).numpy(), x)


def test_gains_and_fans():
    assert init.calculate_gain("relu") == math.sqrt(2) and init.calculate_gain("tanh") == 5 / 3
    assert init.calculate_gain("leaky_relu", 1.0) == 1 and init.calculate_gain("conv2d") == 1
    assert init.calculate_fan_in_and_fan_out(weight(8, 3, 2, 2)) == (12, 32)
    assert init.calculate_fan_in_and_fan_out(weight(8, 3, 2, 2, 2)) == (24, 64)
    assert init.calculate_correct_fan(weight(8, 3), "FAN_OUT") == 8
    assert init.kaiming_uniform_ is init.msra_uniform_ and init.kaiming_normal_ is init.msra_normal_
    with pytest.raises(ShapeError, match="rank of 2 or more"):
        init.xavier_normal_(weight(3))
    with pytest.raises(ValueError, match="'fan'; allowed: fan_in, fan_out"):
        init.msra_normal_(weight(3, 3), mode="fan")
    with pytest.raises(ValueError, match="no gain is known for 'sine'"):
        init.calculate_gain("sine")
