"""Medians, quantiles and counts against NumPy's."""

import numpy as np
import pytest
from ferrule.autodiff import grad
from ferrule.errors import DtypeError, ShapeError, TraceError, UnsupportedError
from ferrule.jit import trace

import ferrule as fer
import ferrule.functional as F


def values(*shape):
    return np.random.default_rng(0).standard_normal(shape)


@pytest.mark.parametrize("keepdims", (False, True))
@pytest.mark.parametrize("axis", (None, 0, -1, (0, 2), (2, 1)))
def test_of_any_axes(axis, keepdims):
    x = values(3, 4, 5)
    np.testing.assert_array_equal(
        F.median(fer.Tensor(x), axis, keepdims).numpy(), np.median(x, axis, keepdims=keepdims)
    )
    for method in ("linear", "lower", "higher", "nearest", "midpoint"):
        got = F.quantile(fer.Tensor(x), [0.0, 0.1, 0.5, 0.83, 1.0], axis, keepdims, method).numpy()
        wanted = np.quantile(x, [0.0, 0.1, 0.5, 0.83, 1.0], axis, keepdims=keepdims, method=method)
        np.testing.assert_allclose(got, wanted, rtol=1e-14, atol=1e-15)
    got = F.percentile(fer.Tensor(x), 30, axis, keepdims).numpy()
    np.testing.assert_allclose(got, np.percentile(x, 30, axis, keepdims=keepdims), rtol=1e-14)


def test_types_and_nan():
    assert F.median(fer.Tensor(np.array([4, 1, 3, 2], "int16"))).numpy() == np.float32(2.5)
    half = F.median(fer.Tensor(np.array([1, 2, 4], "float16")))
    assert half.dtype == "float16" and half.item() == 2
    x = np.array([[1, np.nan, 2], [3, 1, 2]], "float32")
    np.testing.assert_array_equal(F.median(fer.Tensor(x), 1).numpy(), [np.nan, 2])
    np.testing.assert_array_equal(F.quantile(fer.Tensor(x), 0.0, 1).numpy(), [np.nan, 1])
    infinite = np.array([-np.inf, 1, np.inf], "float32")
    assert F.quantile(fer.Tensor(infinite), 0.5).item() == 1


def test_gradients_go_to_the_elements_in_the_middle():
    x = fer.Tensor(np.array([4.0, 1.0, 3.0, 2.0]))
    assert grad(lambda x: F.median(x))(x).numpy().tolist() == [0, 0, 0.5, 0.5]
    # Position 0.75: a quarter of the first element of the order and three of the second.
    assert grad(lambda x: F.quantile(x, 0.25))(x).numpy().tolist() == [0, 0.25, 0, 0.75]


def test_median_of_any_length_in_a_program():
    count = fer.Dim("count", min=1, max=9)
    entry = trace(symbolic=True)(lambda x: F.median(x, 0))
    session = fer.Session(fer.compile({"f": (entry, [fer.Spec((count, 2), "float32")])}))
    for n in (1, 2, 9, 4):
        x = values(n, 2).astype("float32")
        np.testing.assert_array_equal(session.run("f", x)[0], np.median(x, 0))


@pytest.mark.parametrize("dtype", ("int32", "int64", "uint8", "int8"))
def test_bincount(dtype):
    x = np.array([3, 1, 1, 0, 5, 3, 3], dtype)
    for minlength in (0, 6, 9):
        got = F.bincount(fer.Tensor(x), minlength=minlength).numpy()
        assert got.tolist() == np.bincount(x, minlength=minlength).tolist()
    weights = np.arange(7.0)
    assert F.bincount(fer.Tensor(x), fer.Tensor(weights)).numpy().tolist() == np.bincount(x, weights).tolist()
    assert F.bincount(fer.Tensor(x), length=4).numpy().tolist() == [1, 2, 0, 3]
    assert F.bincount(fer.Tensor(x[:0]), minlength=2).numpy().tolist() == [0, 0]
    counted = trace(symbolic=True)(lambda x: F.bincount(x, length=7))
    assert counted(fer.Tensor(x)).numpy().tolist() == [1, 2, 0, 3, 0, 1, 0]


def test_bincount_weights_have_a_gradient():
    x = fer.Tensor(np.array([2, 0, 2], "int32"))
    slope = grad(lambda w: (F.bincount(x, w, length=3) * fer.Tensor(np.array([1.0, 2.0, 3.0]))).sum())
    assert slope(fer.Tensor(np.ones(3))).numpy().tolist() == [3, 1, 3]


def test_refusals():
    x = fer.Tensor(np.ones((2, 3), "float32"))
    for call, kind, words in [
        (lambda: F.quantile(x, 1.5), ShapeError, "q is 1.5"),
        (lambda: F.quantile(x, 0.5, interpolation="cubic"), UnsupportedError, "'cubic'"),
        (lambda: F.median(fer.Tensor(np.ones((2, 0), "float32")), 1), ShapeError, "no elements"),
        (lambda: F.bincount(x), DtypeError, "float32"),
        (lambda: F.bincount(x.astype("int32")), ShapeError, r"\(N,\)"),
        (lambda: F.bincount(x[0].astype("int32"), length=1, minlength=2), ShapeError, "minlength 2"),
        (lambda: trace(symbolic=True)(lambda y: F.bincount(y))(x[0].astype("int32")), TraceError, "item"),
    ]:
        with pytest.raises(kind, match=words):
            call()
