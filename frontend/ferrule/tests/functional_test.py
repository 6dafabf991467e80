"""Functions against NumPy, and their refusals."""

import math

import ferrule as fer
import ferrule.functional as F
import numpy as np
import pytest
from ferrule.errors import DtypeError, ShapeError, UnsupportedError


def data(*shape, seed=0, low=-2.0, high=2.0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype("float32")


def close(value, wanted, tolerance=1e-6):
    np.testing.assert_allclose(value.numpy(), wanted, rtol=tolerance, atol=tolerance)


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


UNARY = {
    "neg": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.round,
    "exp": np.exp,
    "expm1": np.expm1,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "erf": lambda x: np.vectorize(math.erf)(x),
    "square": np.square,
    "sigmoid": _sigmoid,
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "silu": lambda x: x * _sigmoid(x),
    "hsigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "hswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "leaky_relu": lambda x: np.where(x > 0, x, 0.01 * x),
    "gelu": lambda x: 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "softplus": lambda x: np.log1p(np.exp(x)),
    "logsigmoid": lambda x: np.log(_sigmoid(x)),
}


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    x = data(3, 37)
    close(getattr(F, name)(fer.tensor(x)), UNARY[name](x.astype("float64")).astype("float32"), 2e-6)


@pytest.mark.parametrize("name", ("log", "log1p", "sqrt"))
def test_functions_of_positive_numbers(name):
    x = data(50, low=0.01, high=100.0)
    close(getattr(F, name)(fer.tensor(x)), getattr(np, name)(x.astype("float64")).astype("float32"))
    assert getattr(F, name)(fer.tensor([1, 2, 3])).dtype == "float32"


def test_rounding_and_nan_rules():
    np.testing.assert_array_equal(F.round(fer.tensor([0.5, 1.5, 2.5, -0.5, -1.5])).numpy(), [0, 2, 2, 0, -2])
    nan = float("nan")
    a, b = [nan, 1.0, nan], [1.0, nan, nan]
    assert np.isnan(F.maximum(fer.tensor(a), fer.tensor(b)).numpy()).all()
    assert np.isnan(F.minimum(fer.tensor(a), fer.tensor(b)).numpy()).all()
    assert (
        np.isnan(F.relu(fer.tensor([nan])).numpy()).all()
        and np.isnan(F.clip(fer.tensor([nan]), 0.0, 1.0).numpy()).all()
    )
    np.testing.assert_array_equal(F.isnan(fer.tensor(a)).numpy(), [True, False, True])
    np.testing.assert_array_equal(F.isinf(fer.tensor([np.inf, 1.0, -np.inf, nan])).numpy(), [True, False, True, False])


def test_pairs():
    x, y = data(4, 5), data(5, seed=1)
    a, b = fer.tensor(x), fer.tensor(y)
    close(F.maximum(a, b), np.maximum(x, y))
    close(F.pow(F.abs(a), b), np.abs(x) ** y, 3e-6)
    close(F.logaddexp(a, b), np.logaddexp(x, y), 2e-6)
    close(F.where(a > b, a, b), np.where(x > y, x, y))
    close(F.where(a > 0, a, 0.0), np.where(x > 0, x, 0))
    np.testing.assert_array_equal(
        F.logical_and(a, fer.tensor([0.0, 1.0, 0.0, 1.0, 2.0])).numpy(), np.logical_and(x, [0, 1, 0, 1, 2])
    )
    close(F.clip(a, -0.5, 0.5), np.clip(x, -0.5, 0.5))
    with pytest.raises(ShapeError, match=r"4, 5.*functional_test.py"):
        a + fer.tensor(data(4))


AXES = (None, 0, 1, -1, (0, 2), (2, 0), (-1, 0, 1))


@pytest.mark.parametrize("keepdims", (False, True))
@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("name", ("sum", "mean", "max", "min", "prod", "var", "std"))
def test_reductions(name, axis, keepdims):
    x = data(3, 4, 5)
    value = getattr(F, name)(fer.tensor(x), axis, keepdims)
    wanted = getattr(np, name)(x.astype("float64"), axis=axis, keepdims=keepdims)
    assert value.shape == np.shape(wanted)
    close(value, wanted, 3e-6)


def test_reductions_of_integers_and_nothing():
    assert F.sum(fer.tensor([1, 2, 3])).item() == 6 and F.sum(fer.tensor([1, 2, 3])).dtype == "int32"
    assert F.sum(fer.tensor([True, True, False])).item() == 2
    assert F.mean(fer.tensor([1, 2])).item() == 1.5
    assert F.sum(fer.zeros((0,))).item() == 0 and F.prod(fer.zeros((0,))).item() == 1
    assert math.isnan(F.mean(fer.zeros((0,))).item())


def test_axes_out_of_range_are_refused():
    x = fer.tensor(data(3, 4))
    with pytest.raises(ShapeError, match="axis 2 .*rank 2.*-2 to 1.*functional_test.py"):
        F.sum(x, 2)
    with pytest.raises(ShapeError, match="twice"):
        F.sum(x, (0, -2))


@pytest.mark.parametrize("axis", (None, 0, -1))
def test_positions_norms_and_logsumexp(axis):
    x = data(4, 6)
    t = fer.tensor(x)
    np.testing.assert_array_equal(F.argmax(t, axis).numpy(), x.argmax(axis))
    np.testing.assert_array_equal(F.argmin(t, axis).numpy(), x.argmin(axis))
    assert F.argmax(t, axis).dtype == "int32"
    close(F.norm(t, axis=axis), np.linalg.norm(x, axis=axis) if axis is not None else np.linalg.norm(x.ravel()))
    close(F.logsumexp(t, axis), np.log(np.exp(x.astype("float64")).sum(axis)))


def test_shapes():
    x = data(2, 3, 4)
    t = fer.tensor(x)
    for value, wanted in (
        (F.reshape(t, (4, -1)), x.reshape(4, -1)),
        (t.reshape(6, 4), x.reshape(6, 4)),
        (F.flatten(t, 1), x.reshape(2, 12)),
        (F.flatten(t), x.ravel()),
        (F.transpose(t, (2, 0, 1)), x.transpose(2, 0, 1)),
        (t.T, x.T),
        (F.swapaxes(t, 0, -1), x.swapaxes(0, -1)),
        (F.broadcast_to(t, (5, 2, 3, 4)), np.broadcast_to(x, (5, 2, 3, 4))),
        (F.expand_dims(t, (0, -1)), x[None, ..., None]),
        (F.squeeze(F.expand_dims(t, 1)), x),
        (F.concat([t, t * 2], 1), np.concatenate([x, x * 2], 1)),
        (F.stack([t, t], -1), np.stack([x, x], -1)),
        (F.repeat(t, 2, 1), np.repeat(x, 2, 1)),
        (F.tile(t, (2, 1, 3)), np.tile(x, (2, 1, 3))),
        (F.roll(t, 1, 2), np.roll(x, 1, 2)),
        (F.roll(t, (1, -1), (0, 1)), np.roll(x, (1, -1), (0, 1))),
    ):
        np.testing.assert_array_equal(value.numpy(), wanted)
    assert [part.shape for part in F.split(t, 2, 2)] == [(2, 3, 2), (2, 3, 2)]
    assert [part.shape for part in F.split(t, [1, 3], 2)] == [(2, 3, 1), (2, 3, 2), (2, 3, 1)]
    assert F.concat([t, fer.tensor([[[1] * 4] * 3])], 0).dtype == "float32"


def test_wrong_shapes_are_refused_with_both():
    t = fer.tensor(data(2, 3))
    for call, pattern in (
        (lambda: t.reshape(4, -1), r"\(2, 3\).*6 elements.*4"),
        (lambda: t.reshape(-1, -1), "one size may be -1"),
        (lambda: t.reshape(7), "7"),
        (lambda: F.transpose(t, (0, 0)), r"\(0, 0\)"),
        (lambda: F.squeeze(t, 0), "size 2"),
        (lambda: F.split(t, 2, 1), "3.*2 parts"),
        (lambda: F.broadcast_to(t, (2, 4)), "broadcast"),
        (lambda: F.concat([t, fer.zeros((2, 2, 2))]), "concat"),
        (lambda: fer.zeros((2, -1)), "-1"),
    ):
        with pytest.raises(ShapeError, match=pattern):
            call()


@pytest.mark.parametrize(
    ("left", "right"),
    (
        ((3, 4), (4, 5)),
        ((4,), (4, 5)),
        ((3, 4), (4,)),
        ((4,), (4,)),
        ((2, 3, 4), (4, 5)),
        ((2, 3, 4), (2, 4, 5)),
        ((2, 1, 3, 4), (5, 4, 2)),
    ),
)
def test_matmul(left, right):
    a, b = data(*left), data(*right, seed=1)
    value = F.matmul(fer.tensor(a), fer.tensor(b))
    assert value.shape == np.matmul(a, b).shape
    close(value, np.matmul(a.astype("float64"), b.astype("float64")), 2e-6)


def test_matmul_transposed_and_linear():
    a, b, bias = data(3, 4), data(5, 4, seed=1), data(5, seed=2)
    close(F.matmul(fer.tensor(a), fer.tensor(b), transpose_b=True), a @ b.T, 2e-6)
    close(F.matmul(fer.tensor(a), fer.tensor(data(3, 2)), transpose_a=True), a.T @ data(3, 2), 2e-6)
    close(F.linear(fer.tensor(a), fer.tensor(b), fer.tensor(bias)), a @ b.T + bias, 2e-6)
    x = data(2, 3, 4)
    close(F.linear(fer.tensor(x), fer.tensor(b), fer.tensor(bias)), x @ b.T + bias, 2e-6)
    close(fer.tensor(a) @ fer.tensor(b.T.copy()), a @ b.T, 2e-6)


def _convolution(x, w, stride, padding, groups=1):
    n, c, _, _ = x.shape
    o, cg, kh, kw = w.shape
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (kh, kw), (2, 3))[:, :, ::stride, ::stride]
    windows = windows.reshape(n, groups, cg, *windows.shape[2:])
    out = np.einsum("ngchwij,gocij->ngohw", windows, w.reshape(groups, o // groups, cg, kh, kw))
    return out.reshape(n, o, *out.shape[3:])


@pytest.mark.parametrize(("stride", "padding", "groups"), ((1, 0, 1), (2, 1, 1), (1, 1, 2)))
def test_conv2d(stride, padding, groups):
    x, w, b = data(2, 4, 7, 6), data(6, 4 // groups, 3, 3, seed=1), data(6, seed=2)
    wanted = _convolution(x.astype("float64"), w.astype("float64"), stride, padding, groups) + b.reshape(1, 6, 1, 1)
    close(F.conv2d(fer.tensor(x), fer.tensor(w), fer.tensor(b), stride, padding, groups=groups), wanted, 3e-6)
    grouped = fer.tensor(w.reshape(groups, 6 // groups, 4 // groups, 3, 3))
    close(
        F.conv2d(fer.tensor(x), grouped, fer.tensor(b.reshape(1, 6, 1, 1)), stride, padding, groups=groups),
        wanted,
        3e-6,
    )


def test_pooling():
    x = data(2, 3, 6, 6)
    windows = np.lib.stride_tricks.sliding_window_view(x, (2, 2), (2, 3))[:, :, ::2, ::2]
    close(F.max_pool2d(fer.tensor(x), 2), windows.max((-1, -2)))
    close(F.avg_pool2d(fer.tensor(x), 2), windows.mean((-1, -2)))
    ones = fer.ones((1, 1, 2, 2))
    close(F.avg_pool2d(ones, 2, 1, 1), np.ones((1, 1, 3, 3)))
    close(F.avg_pool2d(ones, 2, 1, 1, mode="average"), [[[[0.25, 0.5, 0.25], [0.5, 1, 0.5], [0.25, 0.5, 0.25]]]])
    with pytest.raises(UnsupportedError, match="'median'.*average"):
        F.avg_pool2d(ones, 2, mode="median")


def test_softmax():
    x = data(3, 5)
    e = np.exp(x.astype("float64"))
    close(F.softmax(fer.tensor(x)), e / e.sum(1, keepdims=True))
    close(F.softmax(fer.tensor(x), axis=0), e / e.sum(0))
    close(F.logsoftmax(fer.tensor(x), axis=1), np.log(e / e.sum(1, keepdims=True)), 2e-6)


def test_batch_norm_in_training_and_evaluation():
    x = data(4, 3, 2, 2)
    w, b = data(3, seed=1), data(3, seed=2)
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    running_mean, running_var = fer.zeros((3,)), fer.ones((3,))
    value = F.batch_norm(fer.tensor(x), running_mean, running_var, fer.tensor(w), fer.tensor(b), training=True)
    shaped = [v.reshape(1, 3, 1, 1) for v in (mean, var, w, b)]
    close(value, (x - shaped[0]) / np.sqrt(shaped[1] + 1e-5) * shaped[2] + shaped[3], 5e-6)
    close(running_mean, 0.1 * mean)
    close(running_var, 0.9 + 0.1 * var * 16 / 15)
    value = F.batch_norm(fer.tensor(x), running_mean, running_var, fer.tensor(w), fer.tensor(b))
    m, v = (t.numpy().reshape(1, 3, 1, 1) for t in (running_mean, running_var))
    close(value, (x - m) / np.sqrt(v + 1e-5) * shaped[2] + shaped[3], 5e-6)


def test_layer_norm():
    x = np.array([[1999, 2000, 2001, 2002]], "float32")
    close(F.layer_norm(fer.tensor(x), (4,), False), [[-1.3416354, -0.4472118, 0.4472118, 1.3416354]])
    with pytest.raises(ShapeError, match=r"\(1, 4\).*\(5,\)"):
        F.layer_norm(fer.tensor(x), (5,), False)


def test_losses():
    logits, labels = data(6, 4), np.array([0, 3, 1, 1, 2, 0], "int32")
    logs = logits - np.log(np.exp(logits.astype("float64")).sum(1, keepdims=True))
    rows = -logs[np.arange(6), labels]
    t, y = fer.tensor(logits), fer.tensor(labels)
    close(F.nn.cross_entropy(t, y), rows.mean(), 2e-6)
    close(F.nn.cross_entropy(t, y, reduction="sum"), rows.sum(), 2e-6)
    close(F.nn.cross_entropy(t, y, reduction="none"), rows, 2e-6)
    close(F.nn.cross_entropy(t, y, label_smooth=0.1), (0.9 * rows - 0.1 * logs.mean(1)).mean(), 2e-6)
    close(F.nn.cross_entropy(t, y, ignore_index=1), rows[labels != 1].mean(), 2e-6)
    close(F.nn.cross_entropy(F.softmax(t), y, with_logits=False), rows.mean(), 5e-6)
    close(
        F.nn.cross_entropy(F.softmax(t), y, with_logits=False, label_smooth=0.1),
        (0.9 * rows - 0.1 * logs.mean(1)).mean(),
        5e-6,
    )
    assert math.isnan(F.nn.cross_entropy(t, fer.tensor(np.full(6, 2, "int32")), ignore_index=2).item())
    spatial, places = data(2, 3, 4, 5), np.random.default_rng(1).integers(0, 3, (2, 4, 5)).astype("int32")
    assert F.nn.cross_entropy(fer.tensor(spatial), fer.tensor(places), reduction="none").shape == (2, 4, 5)
    a, b = data(3, 2), data(3, 2, seed=1)
    close(F.nn.square_loss(fer.tensor(a), fer.tensor(b)), np.square(a - b).mean())
    close(F.nn.l1_loss(fer.tensor(a), fer.tensor(b), "sum"), np.abs(a - b).sum(), 2e-6)
    target = (b > 0).astype("float32")
    p = _sigmoid(a)
    close(
        F.nn.binary_cross_entropy(fer.tensor(a), fer.tensor(target)),
        -np.where(target > 0, np.log(p), np.log(1 - p)).mean(),
        2e-6,
    )


def test_wrong_losses_are_refused():
    t = fer.tensor(data(6, 4))
    with pytest.raises(DtypeError, match="float32.*integer"):
        F.nn.cross_entropy(t, fer.zeros((6,)))
    with pytest.raises(ShapeError, match=r"\(6, 4\).*\(6, 1\)"):
        F.nn.cross_entropy(t, fer.zeros((6, 1), dtype="int32"))
    with pytest.raises(UnsupportedError, match="'average'.*'mean'"):
        F.nn.cross_entropy(t, fer.zeros((6,), dtype="int32"), reduction="average")


def test_one_hot():
    np.testing.assert_array_equal(F.one_hot(fer.tensor([2, 0]), 3).numpy(), [[0, 0, 1], [1, 0, 0]])
    x = data(3, 4)
    index = np.array([1, 3, 0], "int32")
    close(F.indexing_one_hot(fer.tensor(x), fer.tensor(index)), x[np.arange(3), index])
