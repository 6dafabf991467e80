"""NumPy's functions on Tensors: recorded where `functional` has them, on the values elsewhere, refused while recording."""

import numpy as np
import pytest
from ferrule.autodiff import grad
from ferrule.errors import TraceError, UnsupportedError
from ferrule.jit import trace

import ferrule as fer

X = np.random.default_rng(0).standard_normal((3, 4)).astype("float32")
V = np.array([0.5, -1.0, 2.0, 0.25], "float32")

# Calls that are recorded.
CALLS = [
    lambda x: np.sum(x), lambda x: np.sum(x, axis=1, keepdims=True), lambda x: np.sum(x, 0, dtype="float64"),
    lambda x: np.mean(x, axis=(0, 1)), lambda x: np.prod(x, 0), lambda x: np.max(x, axis=1), lambda x: np.amin(x),
    lambda x: np.std(x, axis=0, ddof=1), lambda x: np.var(x, 1), lambda x: np.argmax(x, axis=1), lambda x: np.any(x > 1, axis=0),
    lambda x: np.all(x), lambda x: np.median(x, axis=0), lambda x: np.quantile(x, 0.3, axis=1, method="lower"),
    lambda x: np.percentile(x, [10, 50]), lambda x: np.cumsum(x, axis=1), lambda x: np.cumprod(x), lambda x: np.ptp(x, axis=0),
    lambda x: np.concatenate([x, V[None]], axis=0), lambda x: np.concatenate([x, V], axis=None),
    lambda x: np.stack([x, X], axis=-1), lambda x: np.vstack([x, V]),
    lambda x: np.where(x > 0, x, 0.0), lambda x: np.where(x > 0)[1], lambda x: np.clip(x, -0.5, 0.5), lambda x: np.clip(x, 0, None),
    lambda x: np.transpose(x), lambda x: np.reshape(x, (2, -1)), lambda x: np.squeeze(np.expand_dims(x, 0), axis=0),
    lambda x: np.dot(x, V), lambda x: np.dot(x, X.T), lambda x: np.dot(x, 2.0), lambda x: np.dot(x, np.stack([X.T, X.T])),
    lambda x: np.matmul(x, V), lambda x: X.T @ x, lambda x: np.einsum("ij,j->i", x, V), lambda x: np.tensordot(x, V, 1),
    lambda x: np.outer(x[0], V), lambda x: np.inner(x, V), lambda x: np.trace(x), lambda x: np.tril(x, 1),
    lambda x: np.sort(x, axis=0), lambda x: np.sort(x, axis=None), lambda x: np.argsort(x), lambda x: np.unique(x > 0),
    lambda x: np.searchsorted(np.sort(x[0]), V, side="right"), lambda x: np.take(x, [2, 0], axis=1), lambda x: np.roll(x, 1, axis=1),
    lambda x: np.repeat(x, 2, axis=0), lambda x: np.tile(x, (2, 1)), lambda x: np.flip(x, 1), lambda x: np.split(x, 2, axis=1)[1],
    lambda x: np.split(x, [1], axis=0)[1], lambda x: np.pad(x, 1), lambda x: np.pad(x, ((0, 1), (2, 0)), mode="edge"),
    lambda x: np.round(x, 1), lambda x: np.diff(x, axis=0), lambda x: np.isclose(x, X), lambda x: np.zeros_like(x),
    lambda x: np.full_like(x, 3.0), lambda x: np.nonzero(x > 0)[0], lambda x: np.diag(x[:3, :3]),
    lambda x: np.exp(x), lambda x: np.add(x, 1), lambda x: V + x, lambda x: V * x - V / x, lambda x: np.float32(2) * x,
    lambda x: V > x, lambda x: V == x, lambda x: np.maximum(x, V), lambda x: np.sqrt(np.abs(x)), lambda x: np.power(V, np.abs(x)),
    lambda x: np.logical_and(x > 0, V > 0), lambda x: np.invert(x > 0), lambda x: np.rint(x), lambda x: np.degrees(x),
    lambda x: np.arctan2(x, V), lambda x: np.isnan(x), lambda x: np.sign(x), lambda x: np.hypot(x, V), lambda x: np.divmod(x, 0.5)[1],
    lambda x: np.add.reduce(x, axis=1), lambda x: np.maximum.reduce(x), lambda x: np.add.accumulate(x, axis=1),
    lambda x: np.multiply.outer(x[0], V), lambda x: np.trapezoid(x), lambda x: np.interp(x, [-1.0, 0.0, 1.0], [0.0, 1.0, 0.5]),
    lambda x: np.average(x, axis=1, weights=V), lambda x: np.cov(x), lambda x: np.histogram(x, 3)[0],
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=range(len(CALLS)))
def test_recorded(call):
    got, wanted = call(fer.Tensor(X)), call(X)
    assert isinstance(got, fer.Tensor)
    np.testing.assert_allclose(got.numpy(), wanted, rtol=2e-5, atol=1e-6)


def test_traced_and_differentiated():
    def cost(x):
        return np.sum(np.exp(x) * V) + np.linalg.norm(V) * np.mean(x)

    wanted = np.exp(X) * V + np.linalg.norm(V) / X.size
    np.testing.assert_allclose(grad(cost)(fer.Tensor(X)).numpy(), wanted, rtol=1e-5)
    np.testing.assert_allclose(trace(cost, symbolic=True)(fer.Tensor(X)).numpy(), cost(X), rtol=1e-5)
    assert trace(lambda x: x * (np.shape(x)[1] + np.ndim(x) + np.size(x)))(V[None])[0, 0].item() == 0.5 * (4 + 2 + 4)


def test_what_functional_has_not_gets_the_values():
    x = fer.Tensor(X)
    assert isinstance(np.linalg.svd(x, compute_uv=False), np.ndarray)
    np.testing.assert_array_equal(np.array_equal(x, X), True)
    np.testing.assert_array_equal(np.spacing(x), np.spacing(X))
    assert np.array_repr(x) == repr(X) and np.asarray(x).tolist() == X.tolist() and np.allclose(x, X) is True
    target = np.zeros_like(X)
    np.add(x, 1, out=target)
    np.testing.assert_array_equal(target, X + 1)
    target += x
    np.testing.assert_allclose(target, 2 * X + 1, rtol=1e-6)
    with pytest.raises(UnsupportedError, match=r"numpy.sum of a Tensor at numpy_functions_test.py:\d+: .*'where'.*functional.sum"):
        np.sum(x, where=X > 0)


def test_what_needs_values_is_refused_while_recording():
    for call, pattern in (
        (lambda x: np.linalg.svd(x), r"numpy.linalg.svd of a traced tensor of shape .* at numpy_functions_test.py:\d+: .*none of"),
        (lambda x: np.spacing(x), "numpy.spacing of a traced tensor"),
        (lambda x: np.add(x, 1, out=np.zeros((3, 4), "float32")), "numpy.add of a traced tensor .*functional.add records it"),
        (lambda x: np.maximum.at(np.zeros(4, "float32"), 0, x), "numpy.maximum.at of a traced tensor"),
        (lambda x: np.asarray(x), "conversion to a NumPy array"),
    ):
        with pytest.raises(TraceError, match=pattern):
            trace(call)(X)


def test_another_packages_array_decides_itself():
    class Other:
        def __array_function__(self, function, types, args, kwargs):
            return "theirs"

    assert np.concatenate([fer.Tensor(X), Other()]) == "theirs"
