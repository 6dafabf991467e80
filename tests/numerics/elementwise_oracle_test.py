"""Elementwise functions, activations and reductions against PyTorch's values and derivatives (tests/oracle/elementwise.npz)."""

import pathlib

import numpy as np
import pytest

import ferrule as fer
import ferrule.functional as F
from ferrule.errors import DtypeError, ShapeError

ORACLE = np.load(pathlib.Path(__file__).parents[1] / "oracle" / "elementwise.npz")
INF, NAN = float("inf"), float("nan")
# What is not called as in PyTorch, or with arguments.
SPECIAL = {
    "celu": lambda x: F.celu(x, 0.75),
    "elu": lambda x: F.elu(x, 1.3),
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "hardshrink": lambda x: F.hardshrink(x, 0.6),
    "hardtanh": lambda x: F.hardtanh(x, -1.5, 2.0),
    "leaky_relu": lambda x: F.leaky_relu(x, 0.2),
    "softplus_beta": lambda x: F.softplus(x, 2.5, 15.0),
    "softshrink": lambda x: F.softshrink(x, 0.6),
    "threshold": lambda x: F.threshold(x, 0.25, -3.0),
    "norm_0": lambda x: F.norm(x, 0, 1),
    "norm_1": lambda x: F.norm(x, 1, 1),
    "norm_2": lambda x: F.norm(x, axis=1),
    "norm_3": lambda x: F.norm(x, 3, 1),
    "norm_half": lambda x: F.norm(x, 0.5, 1),
    "norm_inf": lambda x: F.norm(x, INF, 1),
    "norm_-inf": lambda x: F.norm(x, -INF, 1),
}
NAMES = sorted({tuple(key.split("/")[:2]) for key in ORACLE.files if key.count("/") == 2})


def weights(shape):
    return np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(shape)


def function_of(group, name):
    if name in SPECIAL:
        return SPECIAL[name]
    function = getattr(F, name)
    return (lambda x: function(x, axis=1)) if group == "rows" else function


@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-13), ("float32", 2e-6)])
@pytest.mark.parametrize("group, name", NAMES, ids=str)
def test_values_and_derivatives(group, name, dtype, tolerance):
    inputs = [ORACLE[f"{group}/x"], *([ORACLE["pairs/y"]] if group == "pairs" else [])]
    tensors = [fer.Tensor(x.astype(dtype)) for x in inputs]
    function = function_of(group, name)
    y = function(*tensors)
    wanted = ORACLE[f"{group}/{name}/y"]
    assert y.dtype == dtype
    np.testing.assert_allclose(y.numpy(), wanted, rtol=tolerance, atol=tolerance * 0.1)

    w = fer.Tensor(weights(wanted.shape).astype(dtype))
    gradients = fer.grad(lambda *x: F.sum(function(*x) * w), wrt=tuple(range(len(tensors))))(*tensors)
    for i, gradient in enumerate(gradients):
        expected = ORACLE[f"{group}/{name}/d{i}"]
        # A remainder's derivative counts its divisors, up to thousands.
        np.testing.assert_allclose(gradient.numpy(), expected, rtol=20 * tolerance, atol=tolerance)


SMOOTH = ("celu elu gelu hardtanh hsigmoid hswish leaky_relu logsigmoid mish relu relu6 selu sigmoid silu softplus softsign "
          "tanh tanhshrink").split()  # fmt: skip


@pytest.mark.parametrize("dtype", ("float16", "float32", "float64"))
@pytest.mark.parametrize("name", SMOOTH)
def test_activations_are_finite_at_extremes(name, dtype):
    """Where x is the largest number, the activation is at most a few times |x|, and its derivative stays bounded."""
    top = float(np.finfo(dtype).max) / 8
    x = np.array([-top, -1e4, -100.0, -50.0, -1e-8, 0.0, 1e-8, 50.0, 100.0, 1e4, top], dtype)
    y = getattr(F, name)(fer.Tensor(x)).numpy()
    (dx,) = fer.grad(lambda x: F.sum(getattr(F, name)(x)), wrt=(0,))(fer.Tensor(x))
    assert np.isfinite(y).all(), y
    assert np.isfinite(dx.numpy()).all(), dx.numpy()
    assert (np.abs(dx.numpy()) < 2.0).all(), dx.numpy()


@pytest.mark.parametrize("count", (1, 3, 4, 9, 16, 17, 33))
def test_nan_is_kept_in_every_lane(count):
    x = np.full(count, np.nan, np.float32)
    t, one = fer.Tensor(x), fer.Tensor(np.ones(count, np.float32))
    for y in (F.relu(t), F.clip(t, 0.0, 1.0), F.maximum(t, one), F.maximum(one, t), F.minimum(t, one), F.minimum(one, t),
              F.relu6(t), F.leaky_relu(t), F.softplus(t), F.hardshrink(t), F.softshrink(t), F.threshold(t, 0.0, 1.0),
              F.sign(t), F.elu(t), F.gelu(t)):  # fmt: skip
        assert np.isnan(y.numpy()).all()


def test_prelu_has_one_slope_or_one_a_channel():
    x = np.arange(-8, 8, dtype=np.float32).reshape(1, 4, 2, 2)
    slopes = np.array([0.1, 0.2, 0.3, 0.4], np.float32)
    wanted = np.where(x > 0, x, x * slopes[:, None, None])
    for shape in ((4,), (4, 1, 1), (1, 4, 1, 1)):
        np.testing.assert_array_equal(F.prelu(fer.Tensor(x), fer.Tensor(slopes.reshape(shape))).numpy(), wanted)
    np.testing.assert_array_equal(F.prelu(fer.Tensor(x), fer.Tensor([0.5])).numpy(), np.where(x > 0, x, x * np.float32(0.5)))
    (dslope,) = fer.grad(lambda s: F.sum(F.prelu(fer.Tensor(x), s)), wrt=(0,))(fer.Tensor(slopes))
    np.testing.assert_array_equal(dslope.numpy(), np.minimum(x, 0).sum((0, 2, 3)))
    with pytest.raises(ShapeError, match=r"prelu: \(3,\) slopes .* at elementwise_oracle_test.py:\d+: .* axis 1"):
        F.prelu(fer.Tensor(x), fer.Tensor([0.1, 0.2, 0.3]))


def test_glu_and_softmin():
    x = np.array([[1.0, 2.0, 0.0, -1.0]], np.float32)
    np.testing.assert_allclose(F.glu(fer.Tensor(x)).numpy(), [[0.5, 2 / (1 + np.e)]], rtol=1e-6)
    e = np.exp(-x)
    np.testing.assert_allclose(F.softmin(fer.Tensor(x), 1).numpy(), e / e.sum(), rtol=1e-6)
    with pytest.raises(ShapeError, match="odd size"):
        F.glu(fer.Tensor(x[:, :3]))


# ---- reductions ------------------------------------------------------------------------------------------------------


def test_nanmean_of_columns():
    x = np.arange(1.0, 17.0, dtype=np.float32).reshape(2, 8)
    np.testing.assert_array_equal(F.nanmean(fer.Tensor(x), 0).numpy(), np.arange(5.0, 13.0))
    x[0, 0] = np.nan
    np.testing.assert_array_equal(F.nanmean(fer.Tensor(x), 0).numpy(), [9, *range(6, 13)])
    np.testing.assert_array_equal(F.nansum(fer.Tensor(x), 1).numpy(), [35, 100])
    np.testing.assert_array_equal(F.nanmax(fer.Tensor([[NAN, 1.0], [NAN, NAN]]), 1).numpy(), [1.0, NAN])


def test_nan_wins_wherever_it_stands():
    x = fer.Tensor([[NAN, 1.0], [2.0, NAN]])
    for reduction in (F.max, F.min):
        assert np.isnan(reduction(x, 0).numpy()).all()
        assert np.isnan(reduction(x, 1).numpy()).all()


def test_logsumexp_of_infinities():
    x = fer.Tensor([[-INF, -INF], [INF, 1.0], [-INF, 3.0], [1000.0, 1000.0]])
    got = F.logsumexp(x, 1).numpy()
    np.testing.assert_allclose(got, [-INF, INF, 3.0, 1000.0 + np.log(2)])
    (dx,) = fer.grad(lambda x: F.sum(F.logsumexp(x, 1)), wrt=(0,))(fer.Tensor([[-INF, -INF], [0.0, 0.0]]))
    np.testing.assert_array_equal(dx.numpy(), [[0, 0], [0.5, 0.5]])


def test_logaddexp_of_infinities():
    x, y = fer.Tensor([-INF, INF, -INF, 2.0]), fer.Tensor([-INF, INF, 1.0, 2.0])
    np.testing.assert_allclose(F.logaddexp(x, y).numpy(), [-INF, INF, 1.0, 2.0 + np.log(2)], rtol=1e-6)


def test_empty_and_scalar():
    empty = fer.Tensor(np.zeros((0, 3), np.float32))
    np.testing.assert_array_equal(F.sum(empty, 0).numpy(), [0, 0, 0])
    np.testing.assert_array_equal(F.prod(empty, 0).numpy(), [1, 1, 1])
    assert np.isnan(F.mean(empty, 0).numpy()).all()
    assert np.isnan(F.mean(empty).numpy())
    assert not F.any(empty).numpy() and F.all(empty).numpy()
    assert F.sum(empty, 1).shape == (0,)
    for reduction in (F.max, F.min, F.argmax):
        with pytest.raises(ShapeError, match=r"axis 0 must not be empty.*elementwise_oracle_test.py:\d+"):
            reduction(empty, 0)
    for shape, axis in (((0,), None), ((0,), 0), ((0, 3), 0), ((3, 0), -1), ((2, 0, 3), (0, 1))):
        got = F.logsumexp(fer.Tensor(np.zeros(shape, np.float32)), axis)
        np.testing.assert_array_equal(got.numpy(), np.full(got.shape, -INF))
    assert F.logsumexp(empty, 1).shape == (0,)
    scalar = fer.Tensor(3.0)
    for reduction in (F.sum, F.max, F.mean, F.prod, F.logsumexp, F.norm):
        assert reduction(scalar).numpy() == pytest.approx(3.0)
        assert reduction(scalar, keepdims=True).shape == ()
    assert F.argmax(scalar).numpy() == 0


def test_axes():
    x = np.random.default_rng(1).standard_normal((2, 3, 4)).astype(np.float32)
    t = fer.Tensor(x)
    for axis in (None, 0, -1, (0, 2), (-1, 0), (0, 1, 2)):
        for keepdims in (False, True):
            for ours, numpys in ((F.max, np.max), (F.sum, np.sum), (F.any, np.any), (F.ptp, np.ptp)):
                wanted = numpys(x, axis=axis, keepdims=keepdims)
                got = ours(t, axis, keepdims)
                assert tuple(got.shape) == wanted.shape
                np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-5)
    for ours, numpys in ((F.argmax, np.argmax), (F.argmin, np.argmin)):
        np.testing.assert_array_equal(ours(t, (0, 2)).numpy(), numpys(x.transpose(1, 0, 2).reshape(3, 8), 1))
        assert ours(t, keepdims=True).shape == (1, 1, 1)
    with pytest.raises(ShapeError, match="axis stands twice"):
        F.sum(t, (0, -3))
    with pytest.raises(ShapeError, match="axis 3 is out of range"):
        F.sum(t, 3)


# ---- operators and methods -------------------------------------------------------------------------------------------


def test_operators_of_integers_and_bools():
    a, b = np.array([12, -7, 5], np.int32), np.array([10, 2, 0], np.int32)
    x, y = fer.Tensor(a), fer.Tensor(b)
    for got, wanted in ((x & y, a & b), (x | y, a | b), (x ^ y, a ^ b), (~x, ~a), (x << 2, a << 2), (x >> 1, a >> 1),
                        (1 << y, 1 << b), (6 & x, 6 & a), (x & 6, a & 6), (-x, -a), (abs(x), abs(a))):  # fmt: skip
        np.testing.assert_array_equal(got.numpy(), wanted)
        assert got.dtype == "int32"
    p, q = fer.Tensor([True, False]), fer.Tensor([True, True])
    for got, wanted in ((p & q, [True, False]), (p | q, [True, True]), (p ^ q, [False, True]), (~p, [False, True]),
                        (p & True, [True, False])):  # fmt: skip
        np.testing.assert_array_equal(got.numpy(), wanted)
        assert got.dtype == "bool"
    x &= 6
    np.testing.assert_array_equal(x.numpy(), a & 6)
    with pytest.raises(DtypeError, match=r"not float32, at .*elementwise_oracle_test.py:\d+"):
        _ = fer.Tensor([1.0]) & 1


@pytest.mark.parametrize("op", ["atan2", "hypot", "copysign", "fmod", "bitwise_and", "bitwise_xor", "left_shift", "right_shift"])
def test_two_operands_broadcast(op):
    dtype = "int32" if "_" in op else "float32"
    x, y = np.array([[3], [5]], dtype), np.array([2, 1, 4], dtype)
    wanted = getattr(np, {"atan2": "arctan2"}.get(op, op))(x, y)
    np.testing.assert_allclose(getattr(F, op)(fer.Tensor(x), fer.Tensor(y)).numpy(), wanted, rtol=1e-6)
    wanted = getattr(np, {"atan2": "arctan2"}.get(op, op))(x, y.dtype.type(2))
    np.testing.assert_allclose(getattr(F, op)(fer.Tensor(x), 2).numpy(), wanted, rtol=1e-6)


def test_integer_division_by_zero_and_by_a_scalar_tensor():
    x = np.array([-7, -1, 0, 5, 7])
    for dtype in ("int32", "int64"):
        t = fer.Tensor(x.astype(dtype))
        np.testing.assert_array_equal((t // fer.Tensor(np.array(3, dtype))).numpy(), [-3, -1, 0, 1, 2])
        np.testing.assert_array_equal((t // fer.Tensor(np.array(-3, dtype))).numpy(), [2, 0, 0, -2, -3])
        np.testing.assert_array_equal((t // 0).numpy(), 0)
        np.testing.assert_array_equal((t % 0).numpy(), 0)
    quotient, remainder = divmod(fer.Tensor([7.5, -7.5]), 2)
    np.testing.assert_array_equal([quotient.numpy(), remainder.numpy()], [[3, -4], [1.5, 0.5]])


def test_truncation_of_exact_quotients():
    x, y = fer.Tensor([148.0, 1073.0, 2112.0, 14.999999]), fer.Tensor([37.0, 37.0, 33.0, 3.0])
    np.testing.assert_array_equal(F.trunc(x / y).numpy(), [4, 29, 64, 4])


def test_rounding_at_ties_is_to_even():
    np.testing.assert_array_equal(round(fer.Tensor([0.5, 1.5, 2.5, -0.5, -1.5])).numpy(), [0, 2, 2, -0.0, -2])


def test_int64_does_not_narrow():
    x = fer.Tensor(np.array([2**31 - 1, 1], np.int64))
    assert F.sum(x).numpy() == 2147483648
    assert (fer.Tensor(np.array(65536, np.int64)) * 65536).numpy() == 2**32
    np.testing.assert_array_equal(F.cumsum(x, 0).numpy(), [2**31 - 1, 2**31])
    np.testing.assert_array_equal(F.cumprod(fer.Tensor(np.array([65536, 65536], np.int64)), 0).numpy(), [2**16, 2**32])


@pytest.mark.parametrize("start", (2**31 - 1, 2**53 + 1, 2**63 - 2, -(2**63), 2**63 - 1, 2**64 - 3))
def test_arange_counts_exactly(start):
    """Also where float64 has no number for each integer, and beyond int64."""
    dtype = "uint64" if start > 2**62 else "int64"
    for arguments in ((start, start + 3), (start + 2, start - (dtype == "uint64"), -1)):
        wanted = [each for each in range(*arguments) if -(2**63) <= each]
        assert F.arange(*arguments, dtype=dtype).numpy().tolist() == wanted


def test_methods_are_the_functions():
    x = fer.Tensor([[0.25, 1.0], [2.0, 4.0]])
    for name, arguments in (("exp", ()), ("log2", ()), ("clip", (0.5, 2.0)), ("std", (0,)), ("logsumexp", (1,)),
                            ("argmax", (1,)), ("all", ()), ("sigmoid", ()), ("floor", ()), ("pow", (3.0,))):  # fmt: skip
        got, wanted = getattr(x, name)(*arguments), getattr(F, name)(x, *arguments)
        np.testing.assert_array_equal(got.numpy(), wanted.numpy())


def test_nan_to_num_and_lerp():
    x = fer.Tensor([NAN, INF, -INF, 1.0])
    limit = np.finfo(np.float32).max
    np.testing.assert_array_equal(F.nan_to_num(x).numpy(), [0, limit, -limit, 1])
    np.testing.assert_array_equal(F.nan_to_num(x, 7.0, 8.0, 9.0).numpy(), [7, 8, 9, 1])
    start, end = fer.Tensor([1.0, -3.0]), fer.Tensor([0.1, 1e8])
    np.testing.assert_array_equal(F.lerp(start, end, 1.0).numpy(), np.float32([0.1, 1e8]))
    np.testing.assert_array_equal(F.lerp(start, end, 0.0).numpy(), [1, -3])

