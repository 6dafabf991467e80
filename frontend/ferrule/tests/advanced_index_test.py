"""Subscripts with arrays, lists, tensors and masks: reads, writes and gradients against NumPy, dynamic and traced."""

import ferrule as fer
import ferrule.functional as F
import numpy as np
import pytest
from ferrule.errors import DtypeError, ExecutionError, ShapeError, UnsupportedError
from ferrule.jit import trace


def data(*shape):
    return np.arange(1, 1 + int(np.prod(shape)), dtype="float32").reshape(shape)


SHAPE = (3, 4, 5)
MASK = np.arange(12).reshape(3, 4) % 3 == 1
S = slice(None)
INDICES = {
    "list": [2, 0, 0],
    "negative": ([-1, 1],),
    "array of two axes": (np.array([[0, 2], [1, 1]]),),
    "second axis": (S, [3, 0]),
    "last axis": (Ellipsis, np.array([4, -5, 2])),
    "two adjacent": ([0, 2], [3, 1]),
    "two adjacent behind": (S, [0, 2, 1], [3, 1, 0]),
    "two broadcast": (np.array([[0], [2]]), np.array([3, 1, 1])),
    "separated by a slice": ([0, 2], S, [3, 1]),
    "separated by an axis": ([0, 2], None, [3, 1]),
    "separated by an empty Ellipsis": ([0, 2], [1, 1], Ellipsis, [3, 1]),
    "int counts as an array": (0, S, [1, 2, 4]),
    "int beside an array": (S, 1, [1, 2, 4]),
    "all three": ([0, 1, 2], [0, 1, 2], [0, 1, 2]),
    "with slices": (slice(1, None), [0, 3], slice(None, None, -2)),
    "new axis first": (None, [1, 2]),
    "0-d array": (np.array(1), [1, 2]),
    "empty": (np.zeros(0, "int64"),),
    "empty list": ([],),
    "uint8": (np.array([2, 1], "uint8"),),
    "mask of one axis": (np.array([True, False, True]),),
    "mask of a middle axis": (S, [True, False, False, True]),
    "mask of two axes": (MASK,),
    "mask of the last axes": (S, np.arange(20).reshape(4, 5) % 7 == 0),
    "mask of all": (data(*SHAPE) % 7 == 0,),
    "mask and array": (np.array([True, False, True]), [0, 3]),
    "mask and separated int": (np.array([True, False, True]), S, 2),
    "mask without true": (np.zeros(3, bool),),
    "True": (True,),
    "False": (False, S),
    "True beside an int": (True, 1),
}


def tensors_in(index):
    """The index with Tensors in place of lists and arrays."""
    if isinstance(index, tuple):
        return tuple(tensors_in(part) for part in index)
    if isinstance(index, list):
        return fer.tensor(np.asarray(index, None if index else "int64"))
    return fer.tensor(index) if isinstance(index, np.ndarray) else index


@pytest.mark.parametrize("name", INDICES)
def test_reads_are_those_of_numpy(name):
    index = INDICES[name]
    x = data(*SHAPE)
    for given in (index, tensors_in(index)):
        got = fer.tensor(x)[given]
        np.testing.assert_array_equal(got.numpy(), x[index])
        assert got.shape == x[index].shape
    np.testing.assert_array_equal(trace(lambda x: x[index])(x).numpy(), x[index])


@pytest.mark.parametrize("name", INDICES)
def test_writes_are_those_of_numpy(name):
    index = INDICES[name]
    selected = data(*SHAPE)[index]
    for value in (np.float32(-1), -selected, -selected[..., :1]):
        x = data(*SHAPE)
        x[index] = value
        for given in (index, tensors_in(index)):
            tensor = fer.tensor(data(*SHAPE))
            tensor[given] = value
            np.testing.assert_array_equal(tensor.numpy(), x)

        def write(x, value):
            y = x * 1
            y[index] = value
            return y

        np.testing.assert_array_equal(trace(write)(data(*SHAPE), value).numpy(), x)


def test_a_read_is_a_copy_and_the_last_of_repeated_writes_stays():
    for run in (lambda f: f, trace):

        def f(x):
            x = x * 1
            copy = x[[0, 1]]
            copy += 100
            x[[0, 0, 2, -3]] = fer.tensor([1.0, 2.0, 3.0, 4.0])
            x[[1, 1]] += 1
            x[1:][[0]] *= 2
            return x, copy

        x, copy = run(f)(fer.tensor(data(3)))
        assert x.tolist() == [4, 6, 3] and copy.tolist() == [101, 102]


def test_writes_at_arrays_go_through_views():
    x = fer.tensor(data(3, 4))
    turned = x.T
    turned[[0, -1]] = 0
    x[1:][:, [1, 2]] *= 10
    want = data(3, 4)
    want[:, [0, -1]] = 0
    want[1:, 1:3] *= 10
    np.testing.assert_array_equal(x.numpy(), want)
    np.testing.assert_array_equal(turned.numpy(), want.T)


def test_indices_that_are_computed():
    def f(argmax, x, i, mask):
        rows = x[i % 3]
        y = x * 1
        y[i - 1, argmax(rows)] = 0
        y[mask] = y[1:2] * 10
        return rows, y

    x, i, mask = data(3, 4), np.array([2, 0, 1], "int32"), np.array([True, False, False])
    want = f(lambda rows: rows.argmax(1), x, i, mask)
    for run in (lambda f: f, trace):
        call = run(lambda x, i, mask: f(lambda rows: F.argmax(rows, 1), x, i, mask))
        for got, expected in zip(call(fer.tensor(x), fer.tensor(i), fer.tensor(mask)), want):
            np.testing.assert_array_equal(got.numpy(), expected)


def test_gradients_of_reads_and_writes():
    w = np.array([1.0, 2.0, 3.0], "float32")
    f = fer.grad(lambda x: F.sum(x[[0, 0, 2]] * fer.tensor(w)))
    for run in (lambda f: f, trace):
        np.testing.assert_array_equal(run(f)(fer.tensor(data(3))).numpy(), [3, 0, 3])

        def g(x, v):
            y = x * 1
            y[[0, 0], [1, 1]] = v
            return F.sum(y * y)

        x, v = data(2, 2), np.array([5.0, 6.0], "float32")
        np.testing.assert_array_equal(run(fer.grad(g, wrt=0))(fer.tensor(x), fer.tensor(v)).numpy(), [[2, 0], [6, 8]])
        np.testing.assert_array_equal(run(fer.grad(g, wrt=1))(fer.tensor(x), fer.tensor(v)).numpy(), [0, 12])


def test_rows_of_a_strided_view():
    x = data(5, 2, 4)
    np.testing.assert_array_equal(fer.tensor(x)[:, 0, :][[3, 1]].numpy(), x[:, 0, :][[3, 1]])


def test_what_is_out_of_range_or_no_index_is_refused():
    x = fer.tensor(data(3, 4))
    with pytest.raises(ShapeError, match=r"index 3 .*axis 0 .*-3 to 2.*advanced_index_test.py"):
        x[[0, 3]]
    with pytest.raises(ShapeError, match=r"index -5 .*axis 1"):
        x[:, [-5]] = 1
    with pytest.raises(ExecutionError, match=r"index 7"):
        x[fer.tensor([0, 7])].numpy()
    with pytest.raises(ShapeError, match=r"\(2,\), \(3,\) .* do not broadcast"):
        x[[0, 1], [0, 1, 2]]
    with pytest.raises(ShapeError, match=r"mask of shape \(2,\).*\(3, 4\)"):
        x[np.array([True, False])]
    with pytest.raises(ShapeError, match="3 indices"):
        x[MASK, 0]
    with pytest.raises(DtypeError, match="float32.*integers or bools"):
        x[fer.tensor([0.0])]
    with pytest.raises(DtypeError, match="float64"):
        x[[0.5]]
    with pytest.raises(UnsupportedError, match="str"):
        x["a"]
    with pytest.raises(ShapeError, match=r"\(3,\).*\(2, 4\)"):
        x[[0, 1]] = fer.tensor(data(3))
    counts = fer.tensor(np.zeros(3, "int32"))
    with pytest.raises(DtypeError, match="float32 into int32"):
        counts[[0]] = fer.tensor([0.5])
    assert x.tolist() == data(3, 4).tolist()


def test_a_traced_mask_writes_one_value_and_selects():
    def clipped(x):
        x = x * 1
        x[x > 3] = 3
        x[:, x[0] < 2] = fer.tensor(data(1, 1))
        return x

    want = data(2, 3)
    want[want > 3] = 3
    want[:, want[0] < 2] = 1
    np.testing.assert_array_equal(trace(clipped)(data(2, 3)).numpy(), want)
    np.testing.assert_array_equal(clipped(fer.tensor(data(2, 3))).numpy(), want)
    assert trace(lambda x: x[x > 3])(data(2, 3)).tolist() == [4, 5, 6]
    with pytest.raises(UnsupportedError, match=r"traced bool without axes at advanced_index_test.py.*F\.where"):
        trace(lambda x: x[x[0, 0] > 3])(data(2, 3))
