"""Functions under PyTorch's and NumPy's names, against NumPy."""

import numpy as np
import pytest
from ferrule.autodiff import grad
from ferrule.errors import ShapeError

import ferrule as fer
import ferrule.functional as F


def t(values, dtype="float64"):
    return fer.Tensor(np.array(values, dtype))


X = np.random.default_rng(0).standard_normal((3, 4, 5))
Y = np.random.default_rng(1).uniform(0.1, 0.9, (3, 4, 5))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("concatenate", ([X, Y], 1)), ("rint", (X * 5,)), ("positive", (X,)), ("ravel", (X,)), ("diff", (X,)),
        ("diff", (X, 2, 0)), ("diff", (X, 0)), ("trace", (X,)), ("trace", (X, 1, 2, 0)), ("deg2rad", (X,)),
        ("radians", (X,)), ("rad2deg", (X,)), ("degrees", (X,)), ("fmax", (X, Y)), ("fmin", (X, Y)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_as_numpy(name, arguments):
    mine = [fer.Tensor(a) if isinstance(a, np.ndarray) else a for a in arguments]
    if isinstance(arguments[0], list):
        mine[0] = [fer.Tensor(a) for a in arguments[0]]
    np.testing.assert_allclose(getattr(F, name)(*mine).numpy(), getattr(np, name)(*arguments), rtol=1e-14, atol=1e-14)


def test_not_a_number_and_infinities():
    nan, inf = float("nan"), float("inf")
    assert F.fmax(t([nan, 1, 3]), t([2, nan, 1])).numpy().tolist() == [2, 1, 3]
    assert F.fmin(t([nan, 1, 3]), t([2, nan, 1])).numpy().tolist() == [2, 1, 1]
    a, b = [1, inf, inf, nan, 1, 0], [1 + 1e-6, inf, -inf, nan, inf, 1e-9]
    assert F.isclose(t(a), t(b)).numpy().tolist() == np.isclose(a, b).tolist()
    assert F.isclose(t(a), t(b), equal_nan=True).numpy().tolist() == np.isclose(a, b, equal_nan=True).tolist()
    assert F.allclose(t([1, 2]), t([1, 2 + 1e-7])).item() and not F.allclose(t([1, 2]), t([1, 2.1])).item()
    assert F.xlogy(t([0, 0, 2]), t([0, 1, 1])).numpy().tolist() == [0, 0, 0]
    assert np.isnan(F.xlogy(t(0), t(nan)).item())


def test_by_hand():
    assert F.cat is F.concat and F.repeat_interleave is F.repeat and F.invert is F.bitwise_not
    assert F.frac(t([1.75, -1.75, 0, -0.25])).numpy().tolist() == [0.75, -0.75, 0, -0.25]
    assert F.masked_fill(t([[1, 2], [3, 4]]), t([True, False], "bool"), 9).numpy().tolist() == [[9, 2], [9, 4]]
    assert F.addcmul(t([1, 2]), t([3, 4]), t([5, 6]), 0.5).numpy().tolist() == [8.5, 14]
    assert F.addcdiv(t([1, 2]), t([3, 4]), t([2, 8]), 2).numpy().tolist() == [4, 3]
    assert F.expand(t([[1], [2]]), -1, 3).numpy().tolist() == [[1, 1, 1], [2, 2, 2]]
    assert F.expand(t([1, 2]), (2, -1)).numpy().tolist() == [[1, 2], [1, 2]]
    np.testing.assert_allclose(F.logit(t([0.25, 0.0]), 0.1).numpy(), [np.log(1 / 3), np.log(1 / 9)], rtol=1e-14)
    np.testing.assert_allclose(F.pairwise_distance(t([[3, 0]]), t([[0, 4]]), eps=0.0).numpy(), [5])
    np.testing.assert_allclose(F.nn.pairwise_distance(t([[3, 0]]), t([[0, 4]]), 1.0, 0.0).numpy(), [7])
    for wrong in ((3,), (-1, 2, 1)):
        with pytest.raises(ShapeError, match="expand"):
            F.expand(t([[1], [2]]), *wrong)


def test_gradients_by_hand():
    assert grad(lambda x: F.xlogy(x, t([4.0, 0.0])).sum())(t([2.0, 0.0])).numpy().tolist() == [np.log(4.0), 0]
    # x log(y) is linear in x: its slope at x = 0 is log(y), wherever that is a number.
    y = t([0.5, 1.0, 4.0])
    assert grad(lambda x: F.xlogy(x, y).sum())(t([0.0, 0.0, -0.0])).numpy().tolist() == np.log(y.numpy()).tolist()
    assert grad(lambda y: F.xlogy(t([0.0, 3.0]), y).sum())(t([0.0, 2.0])).numpy().tolist() == [0, 1.5]
    np.testing.assert_allclose(grad(lambda x: F.logit(x).sum())(t([0.25])).numpy(), [1 / (0.25 * 0.75)], rtol=1e-14)
    assert grad(lambda x: F.frac(x).sum())(t([1.75, -0.5])).numpy().tolist() == [1, 1]
    assert grad(lambda x: F.diff(x)[1])(t([1.0, 2.0, 4.0])).numpy().tolist() == [0, -1, 1]
    mask = t([True, False], "bool")
    assert grad(lambda x: F.masked_fill(x, mask, 9.0).sum())(t([1.0, 2.0])).numpy().tolist() == [0, 1]
