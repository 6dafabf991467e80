"""Images resampled and in other colours. Interpolation and `remap` are compared with torch in tests/e2e."""

import numpy as np
import pytest
from ferrule.errors import ShapeError, UnsupportedError

import ferrule as fer
import ferrule.functional as F


def t(values, dtype="float32"):
    return fer.Tensor(np.array(values, dtype))


def image(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype("float32")


def test_positions_of_every_mode():
    line = t([[[0, 1, 2, 3]]])
    aligned = F.interpolate(line, 7, mode="linear", align_corners=True).numpy().ravel()
    assert aligned.tolist() == [0, 0.5, 1, 1.5, 2, 2.5, 3]
    halves = F.interpolate(line, 8, mode="linear").numpy().ravel()
    assert halves.tolist() == [0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3]
    assert F.interpolate(line, 7, mode="nearest").numpy().ravel().tolist() == [0, 0, 1, 1, 2, 2, 3]
    # The middle of four by the cubic: -3/32, 19/32, 19/32, -3/32.
    square = t(np.broadcast_to([[0.0], [1.0], [2.0], [3.0]], (1, 1, 4, 1)).copy())
    assert F.interpolate(square, (1, 1), mode="bicubic").item() == 1.5


def test_interpolation_refuses_by_name():
    x = t(np.ones((1, 1, 4, 4)))
    for call, words in [
        (lambda: F.interpolate(x, 2, mode="linear"), "'linear'"),
        (lambda: F.interpolate(x, 2, mode="nearest", align_corners=True), "align_corners"),
        (lambda: F.interpolate(x), "one of them is needed"),
        (lambda: F.interpolate(x, 2, 2.0), "one of them is needed"),
        (lambda: F.interpolate(x, (1, 2, 3)), "2 axes"),
        (lambda: F.interpolate(x, scale_factor=0.1), "from size 4 to 0"),
        (lambda: F.remap(x, x), r"\(N, OH, OW, 2\)"),
        (lambda: F.warp_affine(x, t(np.ones((1, 3, 3))), 2), r"\(N, 2, 3\)"),
        (lambda: F.cvt_color(x, "RGB2XYZ"), "'RGB2XYZ'"),
        (lambda: F.cvt_color(x, "RGB2GRAY"), r"\(N, H, W, 3\)"),
    ]:
        with pytest.raises((ShapeError, UnsupportedError), match=words):
            call()


def test_warps_move_and_turn():
    x = image(2, 3, 4, 5)
    same = np.broadcast_to(np.eye(3, dtype="float32"), (2, 3, 3)).copy()
    assert F.warp_perspective(fer.Tensor(x), t(same), (4, 5)).numpy().tobytes() == x.tobytes()
    moved = same.copy()
    moved[:, 0, 2], moved[:, 1, 2] = 1, 2  # Result (x, y) reads (x + 1, y + 2).
    result = F.warp_perspective(fer.Tensor(x), t(moved), (2, 4)).numpy()
    assert result.tolist() == x[:, :, 2:, 1:].tolist()
    outside = F.warp_perspective(fer.Tensor(x), t(moved), (4, 5), border_mode="constant", border_val=7.0).numpy()
    assert (outside[:, :, 2:] == 7).all() and (outside[:, :, :, 4] == 7).all()
    assert F.warp_perspective(fer.Tensor(x), t(same[:1]), (4, 5), [1]).numpy().tolist() == x[1:].tolist()
    # A quarter turn of channels-last images: result (x, y) reads (y, 3 - x).
    turn = t(np.broadcast_to(np.array([[0.0, 1, 0], [-1, 0, 3]], "float32"), (2, 2, 3)).copy())
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    turned = F.warp_affine(fer.Tensor(last), turn, (5, 4)).numpy()
    assert turned.tolist() == np.rot90(last, -1, (1, 2)).tolist()


@pytest.mark.parametrize(
    ("border", "wanted"),
    [("replicate", [0, 0, 0, 2, 2, 2]), ("wrap", [0, 1, 2, 0, 1, 2]), ("reflect", [2, 1, 0, 2, 1, 0]),
     ("reflect_101", [1, 2, 1, 1, 0, 1]), ("constant", [9, 9, 9, 9, 9, 9])],
)  # fmt: skip
def test_borders(border, wanted):
    x = t([[[[0, 1, 2]]]])
    points = np.zeros((1, 1, 6, 2), "float32")
    points[0, 0, :, 0] = [-3, -2, -1, 3, 4, 5]
    assert F.remap(x, t(points), border, 9.0, "nearest").numpy().ravel().tolist() == wanted


def test_roi_align_is_the_mean_or_the_largest_of_its_points():
    x = image(2, 3, 6, 7)
    rois = np.array([[1, 0.5, 1.0, 5.0, 4.5], [0, 2.0, 0.0, 6.0, 3.0]], "float32")
    cells, points, scale = (2, 3), (2, 2), 0.8

    def sample(n, y, x_):
        y, x_ = np.clip(y, 0, 5), np.clip(x_, 0, 6)
        top, left = int(y), int(x_)
        low, right = min(top + 1, 5), min(left + 1, 6)
        v, u = y - top, x_ - left
        a = x[n, :, top, left] * (1 - u) + x[n, :, top, right] * u
        b = x[n, :, low, left] * (1 - u) + x[n, :, low, right] * u
        return a * (1 - v) + b * v

    for mode, pool in (("average", np.mean), ("max", np.max)):
        got = F.roi_align(fer.Tensor(x), fer.Tensor(rois), cells, mode, scale, points).numpy()
        for r, (n, x1, y1, x2, y2) in enumerate(rois):
            x1, y1, x2, y2 = (v * scale - 0.5 for v in (x1, y1, x2, y2))
            for i, j in np.ndindex(*cells):
                values = [
                    sample(int(n), y1 + (i + (a + 0.5) / 2) * (y2 - y1) / 2, x1 + (j + (b + 0.5) / 2) * (x2 - x1) / 3)
                    for a, b in np.ndindex(*points)
                ]
                np.testing.assert_allclose(got[r, :, i, j], pool(values, 0), rtol=1e-5, atol=1e-5)


def test_colours():
    pixel = np.array([10, 100, 200], "uint8").reshape(1, 1, 1, 3)
    assert F.cvt_color(fer.Tensor(pixel), "RGB2BGR").numpy().ravel().tolist() == [200, 100, 10]
    assert F.cvt_color(fer.Tensor(pixel), "BGR2RGBA").numpy().ravel().tolist() == [200, 100, 10, 255]
    # 0.299 * 10 + 0.587 * 100 + 0.114 * 200 = 84.49
    assert F.cvt_color(fer.Tensor(pixel), "RGB2GRAY").numpy().ravel().tolist() == [84]
    gray = F.cvt_color(fer.Tensor(pixel.astype("float32")), "RGB2GRAY")
    np.testing.assert_allclose(gray.numpy().ravel(), [84.49], rtol=1e-6)
    assert F.cvt_color(gray, "GRAY2RGB").shape == (1, 1, 1, 3)


def test_roi_pooling_rounds_its_corners():
    x = np.arange(32, dtype="float32").reshape(1, 2, 4, 4)
    rois = t([[0, 0.4, 0.0, 3.0, 2.6], [0, 2.0, 1.0, 2.0, 1.0]])
    # The first covers columns 0 to 3 and rows 0 to 3: four cells of 2 by 2. The second is one pixel, in every cell.
    largest = F.roi_pooling(fer.Tensor(x), rois, 2).numpy()
    assert largest[0, 0].tolist() == [[5, 7], [13, 15]] and (largest[1, 0] == 6).all()
    assert F.roi_pooling(fer.Tensor(x), rois, 2, "average").numpy()[0, 0].tolist() == [[2.5, 4.5], [10.5, 12.5]]
    assert (F.roi_pooling(fer.Tensor(x), t([[0, 8, 8, 9, 9]]), 2).numpy() == 0).all()


@pytest.mark.parametrize("multiply", (True, False))
def test_correlation(multiply):
    a, b = image(1, 2, 5, 6), image(1, 2, 5, 6)[:, ::-1].copy()
    got = F.correlation(fer.Tensor(a), fer.Tensor(b), 1, 2, 1, 2, 2, multiply).numpy()
    assert got.shape == (1, 9, 5, 6)
    padded = np.pad(b, ((0, 0), (0, 0), (2, 2), (2, 2)))
    for plane, (dy, dx) in enumerate((dy, dx) for dy in (-2, 0, 2) for dx in (-2, 0, 2)):
        there = padded[:, :, 2 + dy : 7 + dy, 2 + dx : 8 + dx]
        wanted = (a * there if multiply else np.abs(a - there)).mean(1)
        np.testing.assert_allclose(got[:, plane], wanted, rtol=1e-5, atol=1e-6)
