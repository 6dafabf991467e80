"""take, gather, scatter and their kin against NumPy, with gradients, errors and traced functions."""

import numpy as np
import pytest
from ferrule.jit import trace

import ferrule as fer
import ferrule.functional as F  # noqa: N812
from ferrule import errors

X = np.arange(24, dtype="float32").reshape(2, 3, 4) - 7


def both(function, *arrays):
    """The result of a function on tensors, the same recorded as a trace and run now."""
    tensors = [fer.Tensor(a) for a in arrays]
    now = function(*tensors).numpy()
    traced = trace(function, symbolic=True)(*tensors).numpy()
    np.testing.assert_array_equal(now, traced)
    return now


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3, None])
@pytest.mark.parametrize("index", [1, [0], [[1, 0], [-1, 1]], np.zeros((0, 2), "int32")])
def test_take_has_the_index_in_place_of_the_axis(axis, index):
    index = np.array(index, "int32")
    np.testing.assert_array_equal(both(lambda x, i: F.take(x, i, axis), X, index), np.take(X, index, axis))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64"])
def test_elements_of_every_size_move(dtype):
    x, index = (X % 2 if dtype == "bool" else X.clip(0)).astype(dtype), np.array([[2, 0], [1, -1]])
    np.testing.assert_array_equal(F.take(fer.Tensor(x), index, 1).numpy(), np.take(x, index, 1))


def test_rows_of_a_strided_view():
    x = np.arange(40, dtype="float16").reshape(5, 2, 4)
    for part in (0, 1):
        wanted = x[:, part, :][[3, 1]]
        np.testing.assert_array_equal(both(lambda t, p=part: F.take(t[:, p, :], np.array([3, 1]), 0), x), wanted)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "uint32", "int64"])
def test_indices_of_every_integer_type(dtype):
    index = np.array([1, 0, 1], dtype)
    np.testing.assert_array_equal(F.take(fer.Tensor(X), fer.Tensor(index), 0).numpy(), X[index])


def test_repeated_indices_add_up_in_the_gradient():
    weight = fer.Tensor([1.0, 2.0, 3.0])
    grad = fer.grad(lambda x: (F.take(x, np.array([0, 0, 2]), 0) * weight).sum())
    np.testing.assert_array_equal(grad(fer.Tensor([5.0, 6.0, 7.0])).numpy(), [3, 0, 3])


def test_embedding_counts_from_the_end_and_names_what_lies_outside():
    table = np.arange(10, dtype="float32").reshape(5, 2)
    ids = np.array([[2, -2, 4]], "int32")
    np.testing.assert_array_equal(both(F.embedding, ids, table), table[ids])
    for run in (F.embedding, trace(F.embedding, symbolic=True)):
        with pytest.raises(errors.ExecutionError, match=r"take.*indexing_test\.py:\d+.*index 7 at position 2 .*size 5.*-5 to 4"):
            run(fer.Tensor(np.array([2, -2, 7], "int32")), fer.Tensor(table)).numpy()


@pytest.mark.parametrize("padding_idx", [1, -2])
def test_the_row_of_padding_gets_no_gradient(padding_idx):
    table = fer.Tensor(np.ones((3, 2), "float32"))
    ids = fer.Tensor(np.array([0, 1, 1, -2, 2, 2], "int32"))
    grad = fer.grad(lambda w: F.embedding(ids, w, padding_idx).sum())
    np.testing.assert_array_equal(grad(table).numpy(), [[1, 1], [0, 0], [2, 2]])


def test_embedding_refuses_what_it_does_not_do():
    with pytest.raises(errors.UnsupportedError, match="norm_type 1.0 without max_norm"):
        F.embedding(fer.Tensor([0]), fer.Tensor(np.ones((2, 2), "float32")), norm_type=1.0)
    with pytest.raises(errors.ShapeError, match=r"padding_idx 5 .*\(allowed: -2 to 1\)"):
        F.embedding(fer.Tensor([0]), fer.Tensor(np.ones((2, 2), "float32")), padding_idx=5)
    with pytest.raises(errors.DtypeError, match="float32"):
        F.embedding(fer.Tensor([0.0]), fer.Tensor(np.ones((2, 2), "float32")))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gather_and_scatter_are_each_others_inverse(axis):
    random = np.random.default_rng(1)
    order = random.permuted(np.broadcast_to(np.arange(X.shape[axis]).reshape([-1 if i == axis % 3 else 1 for i in range(3)]),
                                            X.shape), axis=axis).astype("int32")
    gathered = both(lambda x, i: F.gather(x, axis, i), X, order)
    np.testing.assert_array_equal(gathered, np.take_along_axis(X, order, axis))
    zeros = np.zeros_like(X)
    np.testing.assert_array_equal(both(lambda z, i, s: F.scatter(z, axis, i, s), zeros, order, gathered), X)


def test_a_shorter_index_leaves_the_rest():
    index = np.array([[[2, 0]]], "int32")  # One row of two columns of [2, 3, 4].
    np.testing.assert_array_equal(F.gather(fer.Tensor(X), 1, index).numpy(), [[[X[0, 2, 0], X[0, 0, 1]]]])
    wanted = X.copy()
    wanted[0, 2, 0] = wanted[0, 0, 1] = 99
    np.testing.assert_array_equal(F.scatter(fer.Tensor(X), 1, index, 99).numpy(), wanted)
    with pytest.raises(errors.ShapeError, match="no larger"):
        F.gather(fer.Tensor(X), 1, np.zeros((3, 1, 1), "int32"))


def test_the_last_of_several_writes_stays_and_gets_the_gradient():
    x, source = fer.Tensor([0.0, 0.0, 0.0]), fer.Tensor([1.0, 2.0, 3.0, 4.0])
    index = np.array([1, 2, 1, 1], "int32")
    np.testing.assert_array_equal(F.scatter(x, 0, index, source).numpy(), [0, 4, 2])
    weight = fer.Tensor([10.0, 20.0, 30.0])
    dx, ds = fer.grad(lambda x, s: (F.scatter(x, 0, index, s) * weight).sum(), wrt=(0, 1))(x, source)
    np.testing.assert_array_equal(dx.numpy(), [10, 0, 0])
    np.testing.assert_array_equal(ds.numpy(), [0, 30, 0, 20])
    dx, ds = fer.grad(lambda x, s: (F.index_copy(x, 0, index, s) * weight).sum(), wrt=(0, 1))(x, source)
    np.testing.assert_array_equal(dx.numpy(), [10, 0, 0])
    np.testing.assert_array_equal(ds.numpy(), [0, 30, 0, 20])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int32", "int64"])
def test_sums_at_repeated_indices(dtype):
    x, source = np.array([1, 2, 3], dtype), np.array([10, 20, 30], dtype)
    index = np.array([2, 2, 0])
    wanted = np.array([31, 2, 33], dtype)
    for result in (F.scatter_add(fer.Tensor(x), 0, index, fer.Tensor(source)), F.index_add(fer.Tensor(x), 0, index, source)):
        assert result.dtype == dtype
        np.testing.assert_array_equal(result.numpy(), wanted)
    np.testing.assert_array_equal(F.index_add(fer.Tensor(x), 0, index, source, alpha=2).numpy(), [61, 2, 63])


def test_sums_run_in_the_order_of_the_index():
    # 1e8 + 1 rounds to 1e8 in float32: added one by one the ones are lost, whatever the number of threads.
    source = np.array([1e8] + [1.0] * 8, "float32")
    total = F.index_add(fer.Tensor(np.zeros(2, "float32")), 0, np.zeros(9, "int32"), source).numpy()
    assert total[0] == np.float32(1e8)


def test_places_named_by_vectors():
    index = np.array([[[0, 2], [1, -1]], [[1, 0], [0, 0]]], "int32")
    np.testing.assert_array_equal(both(F.gather_nd, X, index), X[index[..., 0], index[..., 1]])
    values = np.arange(16, dtype="float32").reshape(2, 2, 4)
    wanted = X.copy()
    wanted[index[..., 0], index[..., 1]] = values
    np.testing.assert_array_equal(both(F.scatter_nd, X, index, values), wanted)
    wanted = X.copy()
    np.add.at(wanted, (index[..., 0], index[..., 1]), values)
    np.testing.assert_array_equal(F.scatter_nd(fer.Tensor(X), index, values, accumulate=True).numpy(), wanted)


def test_numpys_names():
    index = np.array([[[1], [0]], [[0], [1]]], "int32")
    x = X[:, :2]
    np.testing.assert_array_equal(F.take_along_axis(fer.Tensor(x), index, 2).numpy(), np.take_along_axis(x, index, 2))
    wanted = x.copy()
    np.put_along_axis(wanted, index, 5, 2)
    np.testing.assert_array_equal(F.put_along_axis(fer.Tensor(x), index, 5, 2).numpy(), wanted)
    np.testing.assert_array_equal(F.index_select(fer.Tensor(X), 2, np.array([3, 1])).numpy(), X[:, :, [3, 1]])


def test_replaced_slices():
    wanted = X.copy()
    wanted[1, ::-1, 1:3] = 5
    replace = trace(lambda x: F.update_slice(x, 5, (1, None, 1), (2, None, 3), (1, -1, 1)), symbolic=True)
    np.testing.assert_array_equal(replace(fer.Tensor(X)).numpy(), wanted)
    grad = fer.grad(lambda x, v: (F.update_slice(x, v, (0, 1, 0), (2, 3, 4)) * fer.Tensor(X)).sum(), wrt=(0, 1))
    dx, dv = grad(fer.Tensor(X), fer.Tensor(np.zeros((2, 2, 4), "float32")))
    wanted = X.copy()
    wanted[:, 1:] = 0
    np.testing.assert_array_equal(dx.numpy(), wanted)
    np.testing.assert_array_equal(dv.numpy(), X[:, 1:])


def test_codes():
    np.testing.assert_array_equal(F.one_hot(fer.Tensor([0, 2]), 3).numpy(), [[1, 0, 0], [0, 0, 1]])
    picked = F.indexing_one_hot(fer.Tensor(X[0]), fer.Tensor([3, 0, 1]))
    np.testing.assert_array_equal(picked.numpy(), [X[0, 0, 3], X[0, 1, 0], X[0, 2, 1]])
    assert F.indexing_one_hot(fer.Tensor(X[0]), fer.Tensor([3, 0, 1]), keepdims=True).shape == (3, 1)


def test_a_symbolic_batch():
    batch = fer.Dim("batch", min=1, max=8)

    @trace(symbolic=True)
    def pick(x, index):
        return F.gather(x, 1, F.expand_dims(index, 1)), F.take(x, index, 1)

    program = fer.compile({"pick": (pick, [fer.Spec((batch, 4)), fer.Spec((batch,), "int32")])})
    session = fer.Session(program)
    for size in (1, 5):
        x, index = X.reshape(-1, 4)[:size], np.arange(size, dtype="int32") % 4
        own, table = session.run("pick", x, index)
        np.testing.assert_array_equal(own[:, 0], x[np.arange(size), index])
        np.testing.assert_array_equal(table, x[:, index])
    with pytest.raises(errors.ExecutionError, match="index -5 at position 0 .* size 4"):
        session.run("pick", X[0, :1], np.array([-5], "int32"))
