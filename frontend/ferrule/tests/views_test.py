"""Views and writes through them: the aliasing that NumPy gives, in dynamic mode, in a trace, and under gradients."""

import gc

import ferrule as fer
import ferrule.functional as F
import numpy as np
import pytest
from ferrule.autodiff import GradManager
from ferrule.errors import ShapeError, UnsupportedError
from ferrule.jit import trace


def data(*shape, dtype="float32"):
    return np.arange(1, 1 + int(np.prod(shape)), dtype=dtype).reshape(shape)


def numpy_split(x, parts, axis):
    return np.split(x, parts, axis)


VIEWS = {
    "slice": (lambda x: x[1:], None),
    "strided": (lambda x: x[::2, 1:6:3], None),
    "backwards": (lambda x: x[::-1, 5:1:-2], None),
    "row": (lambda x: x[2], None),
    "column": (lambda x: x[:, -1], None),
    "new axis": (lambda x: x[:, None, 2:4], None),
    "whole": (lambda x: x[...], None),
    "element": (lambda x: x[1, 2, ...], None),
    "reshape": (lambda x: x.reshape(2, -1), None),
    "T": (lambda x: x.T, None),
    "transpose": (lambda x: F.transpose(x, (1, 0)), lambda x: x.transpose(1, 0)),
    "swapaxes": (lambda x: F.swapaxes(x, 0, 1), lambda x: x.swapaxes(0, 1)),
    "expand_dims": (lambda x: F.expand_dims(x, 1), lambda x: np.expand_dims(x, 1)),
    "squeeze": (lambda x: F.squeeze(x[1:2, 3:]), lambda x: np.squeeze(x[1:2, 3:])),
    "split": (lambda x: F.split(x, 3, 1)[1], lambda x: np.split(x, 3, 1)[1]),
    "chain": (lambda x: x[1:].T[::-2].reshape(3, 3)[1], None),
    "row of a row": (lambda x: x.T[1:][2][1:3], None),
}


def write_both_ways(x, take):
    """Writes into a view and into the whole; returns everything that can see it."""
    y = take(x)
    before = y * 1
    y[...] = before * 10
    x += 0.5
    y -= 2
    return [x, y, take(x), before]


@pytest.mark.parametrize("name", VIEWS)
def test_a_write_through_either_side_is_seen_on_the_other(name):
    take, reference = VIEWS[name]
    expected = write_both_ways(data(4, 6), reference or take)
    for got, want in zip(write_both_ways(fer.tensor(data(4, 6)), take), expected):
        np.testing.assert_array_equal(got.numpy(), want)
    traced = trace(lambda x: write_both_ways(x * 1, take))
    for got, want in zip(traced(data(4, 6)), expected):
        np.testing.assert_array_equal(got.numpy(), want)


COPIES = {
    "element": lambda x: x[1, 2],
    "arithmetic": lambda x: +x * 1,
    "copy": F.copy,
    "constructor": fer.Tensor,
    "astype": lambda x: x.astype("float32"),
    "flatten": lambda x: x.flatten(),
    "detach": lambda x: x.detach(),
    "roll by nothing": lambda x: F.roll(x, 0, 0),
    "tile once": lambda x: F.tile(x, 1),
    "concat of one": lambda x: F.concat([x]),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_follows_no_write(name):
    x = fer.tensor(data(4, 6))
    copy = COPIES[name](x)
    before = copy.numpy()
    x *= 3
    np.testing.assert_array_equal(copy.numpy(), before)
    copy += 1
    np.testing.assert_array_equal(x.numpy(), data(4, 6) * 3)


def test_siblings_and_views_of_views_share_one_memory():
    def f(x):
        rows, turned = x[1:], x.T
        corner = rows[:2][:, :2]
        corner += 100
        turned[0] = 7
        rows[1, 1:] *= 2
        del x
        return rows, turned, corner

    expected = f(data(4, 3))
    for run in (lambda: f(fer.tensor(data(4, 3))), lambda: trace(lambda x: f(x * 1))(data(4, 3))):
        for got, want in zip(run(), expected):
            np.testing.assert_array_equal(got.numpy(), want)


def test_random_programs_of_views_and_writes():
    random = np.random.default_rng(7)

    def step(names, arrays, pick):
        kind, which, other = pick
        a = arrays[which % len(arrays)]
        if kind == 0:
            arrays.append(a[1:] if a.ndim and a.shape[0] > 1 else a[None])
        elif kind == 1:
            arrays.append(a.T)
        elif kind == 2:
            arrays.append(a[..., ::-1] if a.ndim else a[...])
        elif kind == 3:
            a[...] = float(other)
        elif kind == 4:
            a += float(other)
        elif a.ndim:
            a[-1] *= float(other % 3)
        names.append(kind)

    for _ in range(12):
        picks = [tuple(int(v) for v in random.integers(0, (6, 100, 50))) for _ in range(12)]
        numpy_arrays, tensors = [data(3, 4)], [fer.tensor(data(3, 4))]
        for pick in picks:
            step([], numpy_arrays, pick)
            step([], tensors, pick)
        for got, want in zip(tensors, numpy_arrays, strict=True):
            np.testing.assert_array_equal(got.numpy(), want, err_msg=str(picks))


WRITES = (
    (Ellipsis, 5.0),
    (0, 1.0),
    (-1, [1.0, 2.0, 3.0, 4.0, 5.0]),
    ((slice(None), 1), 9.0),
    ((slice(1, 3), slice(0, 4, 3)), data(2, 2)),
    ((slice(None, None, -1),), data(4, 5)),
    ((slice(3, 0, -2), slice(-1, -4, -1)), data(2, 3)),
    ((2, 3), 4.0),
    ((slice(2, 2),), 4.0),
    ((None, slice(1, 2)), data(1, 1, 5)),
    (slice(1, 2), data(1, 1, 1, 5)),
    ((slice(None), slice(None, 2)), data(4, 1)),
)


@pytest.mark.parametrize(("index", "value"), WRITES, ids=str)
def test_writes_with_basic_indices(index, value):
    x = data(4, 5)
    x[index] = value
    for given in (value, np.asarray(value, "float32"), fer.tensor(np.asarray(value, "float32"))):
        tensor = fer.tensor(data(4, 5))
        tensor[index] = given
        np.testing.assert_array_equal(tensor.numpy(), x)


def test_an_overlapping_write_reads_before_it_writes():
    x, y = data(5), fer.tensor(data(5))
    x[1:], y[1:] = x[:-1].copy(), y[:-1]
    np.testing.assert_array_equal(y.numpy(), x)


def test_writes_keep_the_dtype_and_refuse_other_shapes():
    x = fer.tensor(data(4, dtype="int32"))
    x[1:3] = fer.tensor(np.array([True, False]))
    assert x.dtype == "int32" and x.tolist() == [1, 1, 0, 4]
    with pytest.raises(ShapeError, match=r"\(3,\).*\(2,\).*views_test.py"):
        x[1:3] = fer.tensor([1, 2, 3])
    with pytest.raises(ShapeError, match="index 4 .*-4 to 3"):
        x[4] = 1
    assert x.tolist() == [1, 1, 0, 4]


def test_a_broadcast_view_follows_writes_and_cannot_be_written():
    x = fer.tensor(data(3))
    wide = F.broadcast_to(x, (2, 3))
    x[0] = 9
    np.testing.assert_array_equal(wide.numpy(), [[9, 2, 3]] * 2)
    with pytest.raises(UnsupportedError, match=r"\(2, 3\).*views_test.py.*F\.copy"):
        wide += 1


def test_a_view_of_a_parameter_writes_the_parameter():
    p = fer.Parameter(data(2, 3))
    row = p[0]
    row *= 2
    np.testing.assert_array_equal(p.numpy(), [[2, 4, 6], [4, 5, 6]])
    p.set_value(data(2, 3) * 10)
    np.testing.assert_array_equal(row.numpy(), [10, 20, 30])

    @trace
    def double(x):
        row[1:] = row[1:] * 2 + x
        return p.sum()

    assert double(np.ones(2, "float32")).item() == 10 + 41 + 61 + 150
    np.testing.assert_array_equal(row.numpy(), [10, 41, 61])
    assert double(np.ones(2, "float32")).item() == 10 + 83 + 123 + 150 and double.capture_count == 1


def test_a_view_of_a_tensor_from_outside_makes_it_state():
    total = fer.tensor(np.zeros((2, 2), "float32"))
    first, turned = total[0], total.T

    @trace
    def add(x):
        first[...] = first + x
        return turned * 1

    for count in (1, 2, 3):
        got = add(np.array([1, 2], "float32")).numpy()
        np.testing.assert_array_equal(got, [[count, 0], [2 * count, 0]])
    np.testing.assert_array_equal(total.numpy(), [[3, 6], [0, 0]])
    total[0, 0] = 10
    np.testing.assert_array_equal(turned.numpy(), [[10, 0], [6, 0]])
    np.testing.assert_array_equal(add(np.zeros(2, "float32")).numpy(), [[10, 0], [6, 0]])
    assert add.capture_count == 1


def test_a_view_of_a_constant_has_a_value_in_a_recording_and_after_it():
    table, kept = fer.tensor(data(2, 2)), {}

    @trace
    def f(x):
        part = table[1]
        vars(kept["holder"])["part"] = part
        gm = GradManager().attach([part])
        with gm:
            gm.backward(F.sum(part * x))
        return part.grad

    class Holder:
        pass

    kept["holder"] = Holder()
    np.testing.assert_array_equal(f(data(2) * 5).numpy(), [5, 10])
    np.testing.assert_array_equal(vars(kept["holder"])["part"].numpy(), [3, 4])


def test_gradients_go_through_views_and_writes():
    def loss(x, v):
        y = x * 1
        y.T[1:, 0] = v * v
        y[1] *= x[0]
        y[::-1, ::2] += 3 * x[:, ::2]
        return F.sum(y * fer.tensor(data(2, 3)))

    x, v = data(2, 3) / 4, data(2) / 2
    weights = data(2, 3)
    want_x = weights.copy()
    want_x[0, 1:] = 0
    want_x[1] = weights[1] * x[0]
    want_x[0] += weights[1] * x[1]
    want_x[:, ::2] += 3 * weights[::-1, ::2]
    want_v = 2 * v * weights[0, 1:]
    for run in (lambda f: f, trace):
        for wrt, want in ((0, want_x), (1, want_v)):
            got = run(fer.grad(loss, wrt=wrt))(fer.tensor(x), fer.tensor(v))
            np.testing.assert_allclose(got.numpy(), want, rtol=1e-6)


def test_a_view_taken_before_the_recording_belongs_to_what_is_attached():
    p = fer.Parameter(data(2, 3))
    row = p[1]
    row.numpy()
    gm = GradManager().attach([p])

    def backward(x):
        with gm:
            gm.backward(F.sum(row * x))
        gradient, p.grad = p.grad, None
        return gradient

    want = np.array([[0, 0, 0], [1, 2, 3]], "float32")
    np.testing.assert_array_equal(backward(fer.tensor(data(3))).numpy(), want)
    np.testing.assert_array_equal(trace(backward)(data(3)).numpy(), want)


def test_a_temporary_is_not_kept_for_its_view():
    x = fer.tensor(data(4))
    y = (x * 2).reshape(2, 2)
    assert y._view.steps == () and len(y._view.storage._members) == 1
    z, w = y[0], y[1]
    del y
    z += 1
    del z
    gc.collect()
    np.testing.assert_array_equal(w.numpy(), [6, 8])


def test_argmax_after_a_write_in_place_and_a_transpose():
    x = np.random.default_rng(1).normal(size=(4, 8)).astype("float32") * 3

    def f(x):
        x = x * 1
        turned = x.T
        x[...] = F.sin(x)
        return turned, F.argmax(turned.flatten(), 0)

    for run in (f, trace(f)):
        turned, place = run(fer.tensor(x))
        assert place.item() == np.argmax(turned.numpy())
        np.testing.assert_allclose(turned.numpy(), np.sin(x.T), rtol=1e-6)


def test_views_and_writes_of_empty_tensors():
    x = fer.tensor(np.zeros((0, 3), "float32"))
    assert x[::-1].shape == (0, 3) and x[:, ::-2].shape == (0, 2) and x[1:, 1].shape == (0,)
    x[::-1] = 1
    x[:, 0] += fer.tensor(np.zeros(0, "float32"))
    assert x.T.tolist() == [[], [], []] and x.reshape(3, 0).shape == (3, 0)
    with pytest.raises(ShapeError, match="the axis is empty"):
        x[0]


def test_an_artifact_has_the_views_and_writes():
    state = fer.tensor(np.zeros((2, 3), "float32"))

    def update(x):
        row = state[1]
        row += x[0]
        x.T[1:] = 0
        state[:, ::2] *= 2
        return x, row

    program = fer.compile({"update": (update, [fer.Spec((2, 3))])}, modules={"state": state})
    session = fer.Session(program)
    x, want = data(2, 3), np.zeros((2, 3), "float32")
    for _ in range(3):
        got, row = session.run("update", x)
        want[1] += x[0]
        want[:, ::2] *= 2
        np.testing.assert_array_equal(got, [[1, 0, 0], [4, 0, 0]])
        np.testing.assert_array_equal(row, want[1])
        np.testing.assert_array_equal(session["state"], want)
