"""Functions of arrays against NumPy, and where the number of results depends on the values."""

import numpy as np
import pytest
from ferrule.autodiff import grad
from ferrule.errors import DtypeError, ShapeError
from ferrule.jit import trace

import ferrule as fer
import ferrule.functional as F

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((3, 4, 5))
HOLED = np.where(RANDOM.uniform(size=(4, 5)) < 0.4, np.nan, RANDOM.standard_normal((4, 5)))
NUMBERS = np.array([[3, 1, 2], [1, 1, 3], [7, -2, 2]])


def t(values, dtype=None):
    return fer.Tensor(np.array(values, dtype))


@pytest.mark.parametrize(
    ("name", "arguments", "keywords"),
    [
        ("gradient", (X[0],), {}), ("gradient", (X, 0.5), {"axis": 1}), ("gradient", (X[0], 0.5, 2.0), {"edge_order": 2}),
        ("interp", (X[0] * 2, np.array([-1.0, 0.0, 0.5, 2.0]), X[0, :, 0]), {}),
        ("interp", (X[0] * 2, np.array([-1.0, 0.0, 0.5, 2.0]), X[0, :, 0]), {"left": -9.0, "right": 9.0}),
        ("interp", (np.array([0.5, 1.0, 7.0]), np.array([1.0]), np.array([4.0])), {}),
        ("trapezoid", (X[0], X[1]), {}), ("average", (X, 1), {"weights": np.array([1.0, 2.0, 0.5, 3.0])}),
        ("average", (X,), {"weights": X * X}), ("average", (X,), {}), ("nanvar", (HOLED, 0), {}), ("nanstd", (HOLED,), {}),
        ("nanquantile", (HOLED, [0.25, 0.5], 0), {}), ("nanmedian", (HOLED, 1), {}), ("nanpercentile", (HOLED, 30), {}),
        ("nancumsum", (HOLED, 0), {}), ("nancumprod", (HOLED, 1), {}), ("nanargmax", (HOLED, 0), {}),
        ("nanargmin", (HOLED, 1), {}), ("cov", (X[0],), {"rowvar": False}), ("cov", (X[0], X[1]), {}),
        ("corrcoef", (X[0], X[1]), {"rowvar": False}), ("heaviside", (np.array([-1.0, 0, 2, np.nan]), 0.25), {}),
        ("float_power", (NUMBERS, 0.5), {}), ("fabs", (NUMBERS,), {}), ("divmod", (X, 0.3), {}), ("isin", (NUMBERS, [1, 7]), {}),
        ("isin", (NUMBERS, [[1], [7]]), {"invert": True}), ("append", (NUMBERS, NUMBERS[:1]), {}),
        ("append", (NUMBERS, NUMBERS[:1]), {"axis": 0}), ("unravel_index", (NUMBERS + 2, (2, 3, 2)), {}),
        ("histogram", (X,), {}), ("histogram", (X, 7), {"range": (-1.0, 1.5)}), ("histogram", (X, [-1.0, 0.0, 0.5, 2.0]), {}),
        ("histogram", (X, 4), {"density": True}), ("histogram", (np.full(3, 2.0), 4), {}),
        ("histogram", (X, 4), {"weights": X * X}), ("unique", (NUMBERS,), {}), ("unique", (np.array([2.0, np.nan, 1, np.nan]),), {}),
        ("unique", (NUMBERS,), {"return_inverse": True, "return_counts": True}), ("unique", (np.zeros(0),), {}),
        ("unique", (NUMBERS > 1,), {"return_counts": True}), ("cross", (X[0, :, :3], X[1, :, :3]), {}),
        ("vander", (X[0, 0],), {"increasing": True}), ("vander", (X[0, 0], 1), {}), ("vander", (X[0, 0], 0), {}),
        ("sinc", (X,), {}), ("signbit", (np.array([-0.0, 0.0, -1.0]),), {}), ("signbit", (NUMBERS,), {}), ("kron", (NUMBERS, X[0]), {}),
        ("matrix_transpose", (X,), {}), ("diagflat", (NUMBERS, -1), {}), ("hsplit", (X, 2), {}), ("vsplit", (X, 3), {}),
        ("empty_like", (X[:0],), {}), ("tri", (3, 4, 1), {}), ("identity", (3,), {}), ("logspace", (0.0, 2.0, 5), {}),
        ("geomspace", (1.0, 16.0, 5), {}), ("hanning", (7,), {}), ("kaiser", (6, 8.6), {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_as_numpy(name, arguments, keywords):
    wrap = lambda a: fer.Tensor(a) if isinstance(a, np.ndarray) else a  # noqa: E731
    if name == "unravel_index":
        arguments = (arguments[0] % 12, arguments[1])
    got = getattr(F, name)(*map(wrap, arguments), **{key: wrap(value) for key, value in keywords.items()})
    wanted = getattr(np, name)(*arguments, **keywords)
    several = isinstance(wanted, (tuple, list))
    for mine, theirs in zip(got if several else [got], wanted if several else [wanted], strict=True):
        assert mine.shape == np.shape(theirs)
        np.testing.assert_allclose(mine.numpy(), theirs, rtol=2e-6 if mine.dtype == "float32" else 1e-12, atol=1e-13)


def test_what_occurs_in_a_traced_function():
    """The number of results is a dim that the run finds out."""

    @trace(symbolic=True)
    def occurring(x):
        values, back, counts = F.unique(x, return_inverse=True, return_counts=True)
        return values, back, counts, F.take(values, back)

    for x in (NUMBERS, np.zeros_like(NUMBERS), np.arange(9).reshape(3, 3)):
        values, back, counts, again = occurring(x.astype("int32"))
        wanted = np.unique(x, return_inverse=True, return_counts=True)
        for got, theirs in zip((values, back, counts), wanted):
            np.testing.assert_array_equal(got.numpy(), theirs)
        np.testing.assert_array_equal(again.numpy(), x)
    assert occurring.capture_count == 1


def test_runs_of_equal_elements():
    x = t([1, 1, 2, 2, 3, 1, 1, 2])
    values, back, counts = F.unique_consecutive(x, return_inverse=True, return_counts=True)
    assert values.numpy().tolist() == [1, 2, 3, 1, 2] and counts.numpy().tolist() == [2, 2, 1, 2, 1]
    assert back.numpy().tolist() == [0, 0, 1, 1, 2, 3, 3, 4]


def test_a_histogram_of_large_integers_counts_each():
    x = 2**24 + np.arange(8, dtype=np.int32)
    counts, edges = F.histogram(fer.Tensor(x), 8)
    wanted, places = np.histogram(x, 8)
    np.testing.assert_array_equal(counts.numpy(), wanted)
    np.testing.assert_array_equal(edges.numpy(), places)


ROWS = np.random.default_rng(3).integers(0, 2, (2, 9, 3))


@pytest.mark.parametrize("axis", (0, 1, 2, -1))
@pytest.mark.parametrize("dtype", ("int32", "float64", "bool", "uint64"))
def test_parts_that_occur(dtype, axis):
    x = ROWS.astype(dtype)
    wanted = np.unique(x, return_inverse=True, return_counts=True, axis=axis)
    for got, theirs in zip(F.unique(t(x, dtype), return_inverse=True, return_counts=True, axis=axis), wanted, strict=True):
        np.testing.assert_array_equal(got.numpy(), theirs.reshape(got.shape))
    values, back = F.unique_consecutive(t(x, dtype), return_inverse=True, axis=axis)
    np.testing.assert_array_equal(F.take(values, back, axis).numpy(), x)
    ahead = np.moveaxis(values.numpy(), axis, 0)
    assert (ahead[1:] != ahead[:-1]).reshape(len(ahead) - 1, -1).any(1).all()


def test_parts_that_occur_at_the_edges():
    for shape in ((0, 3), (3, 0), (1, 3), (4,)):
        x = np.ones(shape)
        if shape == (3, 0):
            # NumPy refuses rows without elements; they are all the same.
            assert F.unique(t(x), axis=0).shape == (1, 0)
        else:
            np.testing.assert_array_equal(F.unique(t(x), axis=0).numpy(), np.unique(x, axis=0))
    x = np.array([[1.0, np.nan], [0.0, -0.0], [1.0, np.nan], [-0.0, 0.0]])
    np.testing.assert_array_equal(F.unique(t(x), axis=0).numpy(), np.unique(x, axis=0))

    @trace(symbolic=True)
    def occurring(x):
        return F.unique(x, return_counts=True, axis=1)

    for x in (ROWS[0], ROWS[1] * 0):
        for got, theirs in zip(occurring(x.astype("int32")), np.unique(x, return_counts=True, axis=1), strict=True):
            np.testing.assert_array_equal(got.numpy(), theirs)
    assert occurring.capture_count == 1


@pytest.mark.parametrize("dtype", ("float32", "float16", "bfloat16"))
def test_narrow_floats_round_once(dtype):
    x = fer.Tensor(X, dtype=dtype)
    exact = x.astype("float64")
    for call in (
        lambda x: F.logcumsumexp(x, 1), lambda x: F.var_mean(x, 1)[0], lambda x: F.std_mean(x)[1],
        lambda x: F.trapezoid(x), lambda x: F.nanvar(x, 0), lambda x: F.average(x, 0), lambda x: F.sinc(x),
        lambda x: F.nanquantile(x, 0.3, 1), lambda x: F.cov(x[0]),
    ):  # fmt: skip
        got, wanted = call(x), call(exact)
        assert got.dtype == dtype
        np.testing.assert_allclose(
            got.astype("float64").numpy(), wanted.numpy(), rtol={"float32": 1e-5, "float16": 1e-3, "bfloat16": 8e-3}[dtype]
        )


def test_gradients_by_hand():
    assert grad(lambda x: F.interp(t(0.25), t([0.0, 1.0]), x))(t([1.0, 2.0])).numpy().tolist() == [0.75, 0.25]
    assert grad(lambda x: F.interp(x, t([0.0, 1.0]), t([1.0, 3.0])))(t(0.25)).item() == 2
    nearest = grad(lambda x: F.cdist(x, t([[0.0, 0.0]])).sum())(t([[0.0, 0.0], [3.0, 4.0]])).numpy()
    np.testing.assert_allclose(nearest, [[0, 0], [0.6, 0.8]], rtol=1e-15)
    assert grad(lambda x: F.nanvar(x))(t([1.0, np.nan, 3.0])).numpy().tolist() == [-1, 0, 1]
    assert grad(lambda x: F.sinc(x))(t(0.0)).item() == 0


def test_symbolic_sizes():
    """One recording for any number of rows."""
    rows = fer.Dim("rows", min=1, max=8)
    program = fer.compile(
        {"f": (lambda x: (F.var(x, 0, correction=1), F.nanmedian(x, 0), F.logcumsumexp(x, 0)), [fer.Spec((rows, 3))])}
    )
    session = fer.Session(program)
    for count in (1, 2, 5):
        x = X[0, :1, :3].repeat(count, 0).astype("float32") * np.arange(1, count + 1, dtype="float32")[:, None]
        variance, middle, running = session.run("f", x)
        with np.errstate(invalid="ignore", divide="ignore"):
            np.testing.assert_allclose(variance, np.var(x, 0) * (np.float64(count) / (count - 1)), rtol=1e-5)
        np.testing.assert_allclose(middle, np.median(x, 0), rtol=1e-6)
        np.testing.assert_allclose(running, np.logaddexp.accumulate(x, 0), rtol=1e-5)


def test_wrong_arguments_are_refused():
    for error, pattern, call in (
        (ShapeError, "cross: axis -1 of .3, 2.", lambda: F.cross(t(X[0, :3, :2]), t(X[0, :3, :2]))),
        (ShapeError, "gradient: axis 0 .* 2 samples or more", lambda: F.gradient(t([1.0]))),
        (ShapeError, "gradient: spacing", lambda: F.gradient(t(X[0]), t([1.0, 2.0]))),
        (ShapeError, "interp: xp of shape .2,. and fp of shape .3,.", lambda: F.interp(t(1.0), t([1.0, 2.0]), t([1.0, 2, 3]))),
        (ShapeError, "average: weights of shape .3,.", lambda: F.average(t(X), weights=t([1.0, 2, 3]))),
        (ShapeError, "narrow: 3 elements from 2", lambda: F.narrow(t(X), 0, 2, 3)),
        (ShapeError, "kthvalue: k is 6", lambda: F.kthvalue(t(X), 6)),
        (ShapeError, "matrix_power: n is -1", lambda: F.matrix_power(t(X[0, :3, :3]), -1)),
        (ShapeError, "histc: 0 bins", lambda: F.histc(t(X), 0)),
        (ShapeError, "hsplit: .*divides axis 1", lambda: F.hsplit(t(X), 3)),
        (ShapeError, "unique: axis 3", lambda: F.unique(t(X), axis=3)),
        (DtypeError, "masked_scatter: float32 into float64", lambda: F.masked_scatter(t(X), t(X) > 0, t(X, "float32"))),
        (ShapeError, "cdist: .* and .*needed", lambda: F.cdist(t(X[0, 0]), t(X[0]))),
    ):
        with pytest.raises(error, match=pattern):
            call()


def test_an_artifact_gives_the_bits_of_dynamic_mode():
    def everything(x, label):
        values, counts = F.unique(label, return_counts=True)
        pooled, places = F.max_pool1d(x[None], 2, return_indices=True)
        return [
            values, counts, F.logcumsumexp(x, 1), F.nanquantile(x, [0.25, 0.5], 0), F.cov(x), F.kron(x[:2], x[:2]),
            F.interp(x, x[0] * 0 + F.arange(6), x[0]), F.cdist(x, x, 3), F.histogram(x, 4)[0], F.max_unpool1d(pooled, places, 2),
            F.embedding_bag(label, x, mode="max"), F.loss.multi_margin_loss(x, label[0]), F.diag_embed(x, 1), F.sinc(x),
            F.cummax(label.astype("uint64"), 1)[0], F.argsort(label.astype("uint64")), np.sum(np.exp(x) * x, axis=1),
        ]  # fmt: skip

    x = X.ravel()[:24].reshape(4, 6).astype("float32")
    label = np.array([[0, 3, 1, 1], [2, 2, 3, 0]], "int32")
    program = fer.compile({"f": (everything, [fer.Spec((4, 6)), fer.Spec((2, 4), "int32")])})
    got = fer.Session(program).run("f", x, label)
    for mine, wanted in zip(got, everything(fer.Tensor(x), fer.Tensor(label)), strict=True):
        np.testing.assert_array_equal(mine, wanted.numpy())
