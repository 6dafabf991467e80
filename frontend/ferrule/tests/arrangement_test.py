"""Padding, mirrors, diagonals, grids and windows against NumPy."""

import numpy as np
import pytest
from ferrule.jit import trace

import ferrule as fer
import ferrule.functional as F  # noqa: N812
from ferrule import errors

X = np.arange(24, dtype="float32").reshape(2, 3, 4) - 7


def check(function, wanted, *arrays):
    """A function on tensors gives ``wanted``, now and traced."""
    tensors = [fer.Tensor(a) for a in arrays]
    for run in (function, trace(function, symbolic=True)):
        result = run(*tensors).numpy()
        assert result.shape == wanted.shape
        np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize(
    ("mode", "numpys"),
    [("constant", "constant"), ("reflect", "reflect"), ("symmetric", "symmetric"), ("edge", "edge"), ("replicate", "edge"),
     ("circular", "wrap"), ("wrap", "wrap"), ("REFLECT", "reflect")],
)
@pytest.mark.parametrize("widths", [((0, 0), (0, 0), (2, 3)), ((1, 0), (0, 2), (3, 0)), ((1, 1),), 1, (1, 0)])
def test_pad(mode, numpys, widths):
    wanted = widths if isinstance(widths, int) or isinstance(widths[0], int) else list(widths) + [(0, 0)] * (3 - len(widths))
    check(lambda x: F.pad(x, widths, mode), np.pad(X, wanted, numpys), X)


def test_pad_with_a_value_and_its_gradient():
    check(lambda x: F.nn.pad(x, ((1, 2), (0, 1), (0, 0)), constant_value=-1.5),
          np.pad(X, ((1, 2), (0, 1), (0, 0)), constant_values=-1.5), X)
    for mode in ("constant", "reflect", "edge", "circular", "symmetric"):
        weight = np.arange(7, dtype="float32") + 1
        grad = fer.grad(lambda x, m=mode: (F.pad(x, ((2, 2),), m) * weight).sum())(fer.Tensor([1.0, 2.0, 3.0]))
        wanted = np.zeros(3)
        sources = np.pad(np.arange(3), 2, {"circular": "wrap"}.get(mode, mode), **({"constant_values": -1} if mode == "constant" else {}))
        for source, w in zip(sources, weight):
            if source >= 0:
                wanted[source] += w
        np.testing.assert_array_equal(grad.numpy(), wanted)


@pytest.mark.parametrize(
    ("widths", "mode", "message"),
    [
        (((0, 0), (0, 0), (-1, 0)), "constant", "width .* axis 2 is negative"),
        (((3, -3),), "reflect", "negative"),
        (((0, 0), (3, 0)), "reflect", r"reflect takes at most 2 elements from axis 1 of \(2, 3, 4\)"),
        (((0, 3),), "symmetric", "symmetric takes at most 2"),
        (((1, 1),) * 4, "constant", "at most 3 pairs"),
        (1, "mirror", "'mirror' is none of"),
    ],
)
def test_pad_refuses(widths, mode, message):
    with pytest.raises(errors.ShapeError, match=message):
        F.pad(fer.Tensor(X), widths, mode)


def test_a_single_element_has_nothing_to_reflect():
    with pytest.raises(errors.ShapeError, match="at most 0"):
        F.pad(fer.Tensor([[1.0], [1.0]]), 1, "reflect")


def test_pad_of_a_symbolic_axis():
    n = fer.Dim("n", min=3, max=9)
    modes = ("constant", "reflect", "edge", "circular", "symmetric")

    @trace(symbolic=True)
    def pad(x):
        return [F.pad(x, ((2, 1),), mode) for mode in modes]

    session = fer.Session(fer.compile({"pad": (pad, [fer.Spec((n, 2))])}))
    for size in (3, 7):
        x = np.arange(2 * size, dtype="float32").reshape(size, 2)
        for mode, got in zip(modes, session.run("pad", x)):
            np.testing.assert_array_equal(got, np.pad(x, ((2, 1), (0, 0)), {"circular": "wrap"}.get(mode, mode)))


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2)])
def test_flip(axis):
    check(lambda x: F.flip(x, axis), np.flip(X, axis), X)


@pytest.mark.parametrize("k", [-1, 0, 1, 2, 3, 5])
@pytest.mark.parametrize("axes", [(0, 1), (2, 0)])
def test_rot90(k, axes):
    check(lambda x: F.rot90(x, k, axes), np.rot90(X, k, axes), X)


@pytest.mark.parametrize("k", [-4, -1, 0, 1, 2, 9])
def test_diagonals_and_triangles(k):
    check(lambda x: F.tril(x, k), np.tril(X, k), X)
    check(lambda x: F.triu(x, k), np.triu(X, k), X)
    check(lambda x: F.diag(x, k), np.diag(X[0, 0], k), X[0, 0])
    check(lambda x: F.diag(x, k), np.diag(X[0], k), X[0])
    check(lambda x: F.diagonal(x, k, 2, 0), np.diagonal(X, k, 2, 0), X)
    grad = fer.grad(lambda x: (F.diag(x, k) * F.diag(x, k)).sum())(fer.Tensor(X[0, 0]))
    np.testing.assert_array_equal(grad.numpy(), 2 * X[0, 0])


@pytest.mark.parametrize("indexing", ["xy", "ij"])
def test_meshgrid(indexing):
    vectors = [np.arange(n, dtype="float32") for n in (2, 3, 4)]
    for count in (1, 2, 3):
        wanted = np.meshgrid(*vectors[:count], indexing=indexing)
        for i, grid in enumerate(F.meshgrid(*map(fer.Tensor, vectors[:count]), indexing=indexing)):
            np.testing.assert_array_equal(grid.numpy(), wanted[i])


def test_axes_in_other_places():
    for source, destination in ((0, -1), ((0, 1), (2, 0)), (2, 0)):
        check(lambda x, s=source, d=destination: F.moveaxis(x, s, d), np.moveaxis(X, source, destination), X)
    check(lambda x: F.permute(x, 2, 0, 1), X.transpose(2, 0, 1), X)
    check(lambda x: F.unflatten(x, 2, (2, -1)), X.reshape(2, 3, 2, 2), X)
    with pytest.raises(errors.ShapeError, match="as many axes"):
        F.moveaxis(fer.Tensor(X), (0, 1), 0)


def test_parts():
    assert [p.shape[2] for p in F.chunk(fer.Tensor(X), 3, -1)] == [2, 2]
    for part, wanted in zip(F.unstack(fer.Tensor(X), 1), X.transpose(1, 0, 2)):
        np.testing.assert_array_equal(part.numpy(), wanted)
    check(lambda x: F.vstack([x, x]), np.vstack([X[0, 0]] * 2), X[0, 0])
    check(lambda x: F.hstack([x, x]), np.hstack([X[0, 0]] * 2), X[0, 0])
    a, b = F.broadcast_tensors(fer.Tensor(X[:, :1]), fer.Tensor(X[0, :, :1]))
    assert a.shape == b.shape == X.shape


def test_repeats():
    check(lambda x: F.repeat(x, 2, 1), np.repeat(X, 2, 1), X)
    check(lambda x: F.repeat(x, [2, 0, 1], 1), np.repeat(X, [2, 0, 1], 1), X)
    check(lambda x: F.tile(x, (2, 1, 1, 3)), np.tile(X, (2, 1, 1, 3)), X)
    check(lambda x: F.roll(x, (1, -2), (0, 2)), np.roll(X, (1, -2), (0, 2)), X)
    check(lambda x: F.roll(x, 5), np.roll(X, 5), X)
    with pytest.raises(errors.ShapeError, match="must hold one number"):
        F.repeat(fer.Tensor(X), [1, 2], 1)


def windows_of(x, kernel, stride, dilation):
    views = np.lib.stride_tricks.sliding_window_view(
        x, (dilation * (kernel[0] - 1) + 1, dilation * (kernel[1] - 1) + 1), axis=(2, 3)
    )
    return views[:, :, ::stride, ::stride, ::dilation, ::dilation]


@pytest.mark.parametrize(("kernel", "padding", "stride", "dilation"), [(2, 0, 1, 1), ((3, 2), 1, 2, 1), ((2, 1), (0, 1), 1, 2)])
def test_windows(kernel, padding, stride, dilation):
    x = np.arange(2 * 3 * 5 * 6, dtype="float32").reshape(2, 3, 5, 6)
    pad = padding if isinstance(padding, tuple) else (padding, padding)
    size = kernel if isinstance(kernel, tuple) else (kernel, kernel)
    padded = np.pad(x, ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2))
    wanted = windows_of(padded, size, stride, dilation)
    check(lambda t: F.nn.sliding_window(t, kernel, padding, stride, dilation), wanted, x)
    # The transpose adds each window where it came from: an element comes back as often as windows hold it.
    counts = np.zeros_like(padded)
    rows = np.arange(wanted.shape[2]) * stride
    columns = np.arange(wanted.shape[3]) * stride
    for i in range(size[0]):
        for j in range(size[1]):
            counts[:, :, (rows + i * dilation)[:, None], columns + j * dilation] += 1
    back = F.nn.sliding_window_transpose(fer.Tensor(wanted.copy()), (5, 6), kernel, padding, stride, dilation)
    cut = (slice(None), slice(None), slice(pad[0], pad[0] + 5), slice(pad[1], pad[1] + 6))
    np.testing.assert_array_equal(back.numpy(), (padded * counts)[cut])
    unfolded = F.nn.unfold(fer.Tensor(x), kernel, dilation, padding, stride)
    n, c, oh, ow, kh, kw = wanted.shape
    np.testing.assert_array_equal(unfolded.numpy(), wanted.transpose(0, 1, 4, 5, 2, 3).reshape(n, c * kh * kw, oh * ow))
    np.testing.assert_array_equal(F.nn.fold(unfolded, (5, 6), kernel, dilation, padding, stride).numpy(), back.numpy())


def test_pixels():
    x = np.arange(16, dtype="float32").reshape(1, 4, 2, 2)
    wanted = np.array([[0, 4, 1, 5], [8, 12, 9, 13], [2, 6, 3, 7], [10, 14, 11, 15]], "float32")[None, None]
    check(lambda t: F.nn.pixel_shuffle(t, 2), wanted, x)
    check(lambda t: F.nn.pixel_unshuffle(F.nn.pixel_shuffle(t, 2), 2), x, x)
    with pytest.raises(errors.ShapeError, match="C \\* 9"):
        F.nn.pixel_shuffle(fer.Tensor(x), 3)


def test_sources():
    n = fer.Dim("n", min=2, max=9)

    @trace(symbolic=True)
    def count(x):
        return F.arange(x.shape[0], dtype="int32"), F.arange(1, x.shape[0], 2, dtype="int32")

    session = fer.Session(fer.compile({"count": (count, [fer.Spec((n,))])}))
    for size in (2, 6, 9):
        whole, odd = session.run("count", np.zeros(size, "float32"))
        np.testing.assert_array_equal(whole, np.arange(size))
        np.testing.assert_array_equal(odd, np.arange(1, size, 2))
    assert F.zeros_like(fer.Tensor(X), dtype="int8").dtype == "int8"
    with pytest.raises(errors.ShapeError, match="step is 0"):
        F.arange(0, 5, 0)
