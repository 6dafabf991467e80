"""Sorting, and running sums, products and extremes, against NumPy."""

import numpy as np
import pytest
from ferrule.jit import trace

import ferrule as fer
import ferrule.functional as F  # noqa: N812
from ferrule import errors

X = np.array([[3.0, 1.0, 3.0, -2.0], [0.5, 7.0, -0.0, 0.0], [1.0, 1.0, 1.0, 9.0]], "float32")
DTYPES = ["int8", "uint8", "int16", "uint16", "uint32", "int32", "int64", "float16", "float32", "float64"]


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("descending", [False, True])
def test_sort_is_stable_both_ways(axis, descending):
    order = np.argsort(-X if descending else X, axis, kind="stable")
    values, positions = trace(lambda x: F.sort(x, descending, axis), symbolic=True)(fer.Tensor(X))
    np.testing.assert_array_equal(positions.numpy(), order)
    np.testing.assert_array_equal(values.numpy(), np.take_along_axis(X, order, axis))
    assert positions.dtype == "int32"
    np.testing.assert_array_equal(F.argsort(fer.Tensor(X), descending, axis).numpy(), order)


@pytest.mark.parametrize("dtype", ["bool", *DTYPES])
def test_every_type_sorts(dtype):
    x = (X > 0.7).astype(dtype) if dtype == "bool" else X.clip(0).astype(dtype)
    values, _ = F.sort(fer.Tensor(x))
    assert values.dtype == dtype
    np.testing.assert_array_equal(values.numpy(), np.sort(x, 1))


def test_nan_is_the_largest():
    x = fer.Tensor([np.nan, 1.0, np.inf, np.nan, -np.inf])
    np.testing.assert_array_equal(F.argsort(x).numpy(), [4, 1, 2, 0, 3])
    np.testing.assert_array_equal(F.argsort(x, descending=True).numpy(), [0, 3, 2, 1, 4])


def test_topk():
    values, positions = F.topk(fer.Tensor([1.0, 3.0, 3.0, 2.0]), 2)
    np.testing.assert_array_equal(positions.numpy(), [1, 2])
    np.testing.assert_array_equal(values.numpy(), [3, 3])
    values, positions = F.topk(fer.Tensor(X), 2, descending=False, no_sort=True)
    np.testing.assert_array_equal(positions.numpy(), np.argsort(X, 1, kind="stable")[:, :2])
    value, position = F.topk(fer.Tensor(X), 3, kth_only=True)
    np.testing.assert_array_equal(value.numpy(), -np.sort(-X, 1)[:, 2])
    np.testing.assert_array_equal(position.numpy(), np.argsort(-X, 1, kind="stable")[:, 2])
    with pytest.raises(errors.ShapeError, match="k is 5, axis 1 .* 4 elements"):
        F.topk(fer.Tensor(X), 5)


def test_values_carry_the_gradient_back():
    weight = np.array([1.0, 2.0], "float32")
    grad = fer.grad(lambda x: (F.topk(x, 2)[0] * weight).sum())(fer.Tensor(X[:1]))
    np.testing.assert_array_equal(grad.numpy(), [[1, 0, 2, 0]])


def test_topk_accuracy():
    logits = np.array([[0.1, 0.7, 0.2], [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]], "float32")
    target = np.array([1, 1, 0], "int32")
    first, second = F.topk_accuracy(fer.Tensor(logits), fer.Tensor(target), (1, 2))
    assert first.item() == pytest.approx(1 / 3)
    assert second.item() == pytest.approx(2 / 3)
    assert F.topk_accuracy(fer.Tensor(logits), fer.Tensor(target)).item() == pytest.approx(1 / 3)


@pytest.mark.parametrize("right", [False, True])
def test_searchsorted(right):
    steps, v = np.array([1.0, 2.0, 2.0, 7.0], "float32"), np.array([[0.0, 2.0], [7.0, 9.0]], "float32")
    wanted = np.searchsorted(steps, v, "right" if right else "left")
    np.testing.assert_array_equal(F.searchsorted(fer.Tensor(steps), fer.Tensor(v), right).numpy(), wanted)
    assert F.searchsorted(fer.Tensor(steps), 2.0, right).item() == (3 if right else 1)


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("values", ["uint8", "int32", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("steps", ["uint8", "int32", "int64", "float16", "float32", "float64"])
def test_searchsorted_compares_in_the_common_type(steps, values, right):
    """2.5 lies behind 2, however narrow the sequence."""
    sequence = np.array([1, 2, 2, 7], steps)
    found = np.array([0, 1, 2, 3, 200] if values == "uint8" else [-1, 0.5, 1.75, 2, 2.5, 6.999, 7, 300]).astype(values)
    wanted = np.searchsorted(sequence.astype("float64"), found.astype("float64"), "right" if right else "left")
    np.testing.assert_array_equal(F.searchsorted(fer.Tensor(sequence), fer.Tensor(found), right).numpy(), wanted)


@pytest.mark.parametrize("descending", [0, 1, -1, None, "yes"])
@pytest.mark.parametrize("name", ["sort", "argsort", "topk"])
def test_the_direction_is_a_bool(name, descending):
    """PyTorch has the axis in this place: taken as a direction, it would give the wrong elements in silence."""
    arguments = (fer.Tensor(X), 1, descending) if name == "topk" else (fer.Tensor(X), descending)
    with pytest.raises(TypeError, match=rf"{name}: descending is {descending!r} at ordering_test.py:\d+; a bool"):
        getattr(F, name)(*arguments)
    with pytest.raises(TypeError, match=f"{name}: descending"):
        getattr(fer.Tensor(X), name)(*arguments[1:])


# Runs.


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("ours", "theirs"), [(F.cumsum, np.cumsum), (F.cumprod, np.cumprod)])
def test_every_type_runs(dtype, ours, theirs):
    x = np.array([[1, 2, 3], [2, 1, 2]], dtype)
    for axis in (0, 1, -1, None):
        result = ours(fer.Tensor(x), axis)
        assert result.dtype == dtype
        np.testing.assert_array_equal(result.numpy(), theirs(x, axis, dtype=dtype))


def test_runs_either_way_and_without_the_element():
    x = fer.Tensor([1.0, 2.0, 4.0])
    np.testing.assert_array_equal(F.cumsum(x, 0, reverse=True).numpy(), [7, 6, 4])
    np.testing.assert_array_equal(F.cumsum(x, 0, exclusive=True).numpy(), [0, 1, 3])
    np.testing.assert_array_equal(F.cumprod(x, 0, reverse=True, exclusive=True).numpy(), [8, 4, 1])
    np.testing.assert_array_equal(F.cumsum(fer.Tensor([True, True]), 0).numpy(), [1, 2])
    assert F.cumsum(fer.Tensor(np.zeros((2, 0), "float32")), 1).shape == (2, 0)
    with pytest.raises(errors.ShapeError, match="rank 0"):
        F.cumsum(fer.Tensor(1.0), 0)
    with pytest.raises(errors.DtypeError, match="uint64"):
        F.cumsum(fer.Tensor(np.array([1], "uint64")), 0)


def test_the_largest_so_far():
    for function, accumulate in ((F.cummax, np.maximum), (F.cummin, np.minimum)):
        values, positions = trace(lambda x, f=function: f(x, 1), symbolic=True)(fer.Tensor(X))
        wanted = accumulate.accumulate(X, 1)
        np.testing.assert_array_equal(values.numpy(), wanted)
        np.testing.assert_array_equal(np.take_along_axis(X, positions.numpy(), 1), wanted)
    grad = fer.grad(lambda x: F.cummax(x, 0)[0].sum())(fer.Tensor([1.0, 3.0, 3.0, 2.0]))
    np.testing.assert_array_equal(grad.numpy(), [1, 3, 0, 0])


def test_gradients_of_runs():
    weight = fer.Tensor([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(
        fer.grad(lambda x: (F.cumsum(x, 0) * weight).sum())(fer.Tensor([5.0, 6.0, 7.0, 8.0])).numpy(), [10, 9, 7, 4]
    )
    # y = [2, 0, 0, 0]: only the elements before the first zero, and that zero, matter.
    grad = fer.grad(lambda x: (F.cumprod(x, 0) * weight).sum())
    np.testing.assert_array_equal(grad(fer.Tensor([2.0, 0.0, 3.0, 0.0])).numpy(), [1, 2 * 2 + 3 * 6, 0, 0])
    np.testing.assert_array_equal(grad(fer.Tensor([0.0, 5.0, 1.0, 2.0])).numpy(), [1 + 10 + 15 + 40, 0, 0, 0])
