"""Detection and colours against the same arithmetic written out one number at a time."""

import numpy as np
import pytest
from ferrule.autodiff import grad
from ferrule.errors import DtypeError, ShapeError, UnsupportedError
from ferrule.jit import trace

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M


def t(values, dtype="float32"):
    return fer.Tensor(np.array(values, dtype))


def boxes_and_scores(count, seed=0):
    generator = np.random.default_rng(seed)
    corner = generator.integers(0, 40, (count, 2))
    boxes = np.concatenate([corner, corner + generator.integers(1, 30, (count, 2))], 1).astype("float32")
    return boxes, (generator.integers(0, 20, count) / 20).astype("float32")  # with ties


def kept(boxes, scores, share):
    """The positions that stay, by two loops."""
    order, result = np.argsort(-scores, kind="stable"), []
    for i in order:
        a = boxes[i]
        for j in result:
            b = boxes[j]
            width = max(min(a[2], b[2]) - max(a[0], b[0]), 0)
            height = max(min(a[3], b[3]) - max(a[1], b[1]), 0)
            areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
            if width * height > np.float32(share) * (areas[0] + areas[1] - width * height):
                break
        else:
            result.append(int(i))
    return result


@pytest.mark.parametrize("share", (0.0, 0.3, 0.7, 1.0))
@pytest.mark.parametrize("count", (1, 2, 17, 60))
def test_nms_keeps_what_two_loops_keep(count, share):
    boxes, scores = boxes_and_scores(count, count)
    wanted = kept(boxes, scores, share)
    got = F.nms(fer.Tensor(boxes), fer.Tensor(scores), share)
    assert got.dtype == "int32" and got.numpy().tolist() == wanted
    assert F.vision.nms(fer.Tensor(boxes), fer.Tensor(scores), share, 3).numpy().tolist() == wanted[:3]


def test_nms_by_hand():
    # The second shares 81 of 119 with the first; the third lies apart; the fourth is the first again.
    boxes = t([[0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30], [0, 0, 10, 10]])
    scores = t([0.5, 0.9, 0.7, 0.5])
    assert F.nn.nms(boxes, scores, 0.6).numpy().tolist() == [1, 2]
    assert F.nn.nms(boxes, scores, 0.7).numpy().tolist() == [1, 2, 0]
    assert F.nn.nms(boxes, scores, 1.0).numpy().tolist() == [1, 2, 0, 3]
    assert F.nn.nms(boxes, scores, 0.7, max_output=0).numpy().tolist() == []
    assert F.nms(t(np.zeros((0, 4))), t(np.zeros(0)), 0.5).numpy().tolist() == []


def test_what_overlaps_exactly_as_much_as_allowed_stays():
    # They share 1 of 2. With 1 added to widths and heights it would be 4 of 6, with "at least" one would go.
    boxes, scores = t([[0, 0, 2, 1], [0, 0, 1, 1]]), t([0.9, 0.8])
    assert F.nn.nms(boxes, scores, 0.5).numpy().tolist() == [0, 1]
    assert F.nn.nms(boxes, scores, 0.49).numpy().tolist() == [0]


def test_nms_in_a_program_for_any_number_of_boxes():
    @trace(symbolic=True)
    def select(boxes, scores):
        positions = F.nms(boxes, scores, 0.5, 10)
        return positions, F.take(boxes, positions, 0)

    count = fer.Dim("count", min=0, max=64)
    specs = [fer.Spec((count, 4), "float32"), fer.Spec((count,), "float32")]
    session = fer.Session(fer.compile({"select": (select, specs)}))
    for n in (0, 1, 33, 64, 5):
        boxes, scores = boxes_and_scores(n, n)
        positions, chosen = session.run("select", boxes, scores)
        assert positions.tolist() == kept(boxes, scores, 0.5)[:10]
        np.testing.assert_array_equal(chosen, boxes[positions])


def pooled(inp, rois, trans, part, height, width, points, scale, deviation):
    """deformable_psroi_pooling in float64, point by point."""
    channels, rows, columns = inp.shape[1:]
    groups = 1 if trans is None else trans.shape[1] // 2
    result = np.zeros((len(rois), channels, height, width))
    for n, c, ph, pw in np.ndindex(result.shape):
        left, top, right, bottom = (np.floor(v + 0.5) for v in rois[n, 1:])
        left, top = left * scale - 0.5, top * scale - 0.5
        right, bottom = (right + 1) * scale - 0.5, (bottom + 1) * scale - 0.5
        wide, tall = max(right - left, 0.1), max(bottom - top, 0.1)
        x0, y0 = left + pw * wide / width, top + ph * tall / height
        if trans is not None:
            group, place = c // (channels // groups), (ph * part // height, pw * part // width)
            x0 += trans[n, 2 * group][place] * deviation * wide
            y0 += trans[n, 2 * group + 1][place] * deviation * tall
        values = []
        for i, j in np.ndindex(points, points):
            y, x = y0 + i * tall / height / points, x0 + j * wide / width / points
            if -0.5 <= y <= rows - 0.5 and -0.5 <= x <= columns - 0.5:
                y, x = np.clip(y, 0, rows - 1), np.clip(x, 0, columns - 1)
                image, (a, b), (c0, c1) = inp[int(rois[n, 0]), c], (int(y), int(np.ceil(y))), (int(x), int(np.ceil(x)))
                above = image[a, c0] * (1 - (x - c0)) + image[a, c1] * (x - c0)
                below = image[b, c0] * (1 - (x - c0)) + image[b, c1] * (x - c0)
                values.append(above * (1 - (y - a)) + below * (y - a))
        result[n, c, ph, pw] = np.mean(values) if values else 0.0
    return result


@pytest.mark.parametrize("no_trans", (True, False))
def test_deformable_psroi_pooling(no_trans):
    generator = np.random.default_rng(0)
    inp = generator.standard_normal((2, 4, 6, 7))
    # Corners between pixels, a region of one pixel, one that leaves the image, and one outside.
    rois = np.array([[0, 1, 2, 9, 8], [1, 3.4, 3.5, 3.4, 3.5], [1, 8, 0, 20, 9], [0, 30, 30, 40, 40]], "float64")
    trans = None if no_trans else generator.standard_normal((4, 4, 2, 2))
    wanted = pooled(inp, rois, trans, 2, 3, 2, 2, 0.5, 0.2)
    layer = M.DeformablePSROIPooling(no_trans, 2, 3, 2, 2, 0.5, 0.2)
    offsets = fer.Tensor(np.zeros((4, 4, 2, 2)) if no_trans else trans)
    got = layer(fer.Tensor(inp), fer.Tensor(rois), offsets).numpy()
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)
    assert np.abs(wanted[:2]).min() > 0 and not wanted[3].any()

    def total(x, moves):
        weights = fer.Tensor(np.arange(wanted.size).reshape(wanted.shape) % 7 - 3.0)
        return (layer(x, fer.Tensor(rois), moves) * weights).sum()

    arguments = [fer.Tensor(inp), offsets]
    for i, slope in enumerate(grad(total, wrt=(0, 1))(*arguments)):
        direction = generator.standard_normal(arguments[i].shape)
        step = [np.zeros(each.shape) for each in arguments]
        step[i] = direction * 1e-6
        ends = [
            total(*(fer.Tensor(each.numpy() + sign * move) for each, move in zip(arguments, step))).item()
            for sign in (1, -1)
        ]
        np.testing.assert_allclose((slope.numpy() * direction).sum(), (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-6)


def frame_colors(frame, video, y, u, v):
    """R, G and B of one pixel in Python's integers, which shift as two's complement does."""
    if video:
        bright = (y * 0x0101 * 18997 >> 16) - 1160
        green = bright - (u - 128) * 25 - (v - 128) * 52
        values = [bright + (v - 128) * 102 >> 6, green >> 6, bright + (u - 128) * 128 >> 6]
    else:
        values = [
            y + (359 * (v - 128) >> 8), y - (88 * (u - 128) + 183 * (v - 128) >> 8), y + (454 * (u - 128) >> 8)
        ]  # fmt: skip
    return [min(max(value, 0), 255) for value in values]


@pytest.mark.parametrize("prefix", ("", "BT601_"))
@pytest.mark.parametrize("frame", ("NV12", "NV21", "YU12", "YV12"))
def test_frames(frame, prefix):
    height, width = 6, 4
    inp = np.random.default_rng(0).integers(0, 256, (2, height * 3 // 2, width, 1)).astype("uint8")
    wanted = np.zeros((2, height, width, 3), "uint8")
    for n, i, j in np.ndindex(2, height, width):
        stored = inp[n, height:].ravel()
        place = i // 2 * (width // 2) + j // 2
        pair = [stored[2 * place], stored[2 * place + 1]]
        if frame in ("YU12", "YV12"):
            pair = [stored[place], stored[place + height * width // 4]]
        u, v = map(int, pair if frame in ("NV12", "YU12") else pair[::-1])
        wanted[n, i, j] = frame_colors(frame, prefix, int(inp[n, i, j, 0]), u, v)
    assert F.cvt_color(fer.Tensor(inp), f"{prefix}YUV2RGB_{frame}").numpy().tolist() == wanted.tolist()
    assert F.cvt_color(fer.Tensor(inp), f"{prefix}YUV2BGR_{frame}").numpy().tolist() == wanted[..., ::-1].tolist()
    if not prefix:
        assert F.cvt_color(fer.Tensor(inp), f"YUV2GRAY_{frame}").numpy().tolist() == inp[:, :height].tolist()
    if frame == "NV21" and not prefix:
        assert F.cvt_color(fer.Tensor(inp), "YCrCb2RGB").numpy().tolist() == wanted.tolist()
        assert F.cvt_color(fer.Tensor(inp), "YCrCb2BGR").numpy().tolist() == wanted[..., ::-1].tolist()


def test_yuv():
    # 0.114 * 1 + 0.587 * 2 + 0.299 * 3 = 2.185; (1 - 2.185) * 0.492 + 0.5; (3 - 2.185) * 0.877 + 0.5.
    there = F.cvt_color(t([[[[1, 2, 3]]]]), "RGB2YUV")
    np.testing.assert_allclose(there.numpy().ravel(), [2.185, -0.08302, 1.214755], rtol=1e-6)
    np.testing.assert_allclose(F.cvt_color(there, "YUV2RGB").numpy().ravel(), [1, 2, 3], atol=5e-3)
    # (10 * 1868 + 200 * 9617 + 90 * 4899 + 8192) >> 14 = 145; (-135 * 8061 + 128.5 * 2**14) >> 14 = 62;
    # (-55 * 14369 + 128.5 * 2**14) >> 14 = 80. And back: 145 + ((62 - 128) * 33292 + 8192 >> 14) = 11, and so on.
    there = F.cvt_color(t([[[[10, 200, 90]]]], "uint8"), "RGB2YUV")
    assert there.numpy().ravel().tolist() == [145, 62, 80]
    assert F.cvt_color(there, "YUV2RGB").numpy().ravel().tolist() == [11, 199, 90]


def test_refusals_name_what_is_allowed():
    x, boxes, regions = (t(np.ones(shape)) for shape in ((1, 4, 6, 6), (3, 4), (3, 5)))
    for call, kind, words in [
        (lambda: F.nms(boxes, t([1, 2]), 0.5), ShapeError, r"\(N, 4\) and \(N,\)"),
        (lambda: F.nms(boxes, t([1, 2, 3]), 0.5, -1), ShapeError, "max_output -1"),
        (lambda: F.deformable_psroi_pooling(x, boxes, x, True, 1, 1, 1, 1, 1.0), ShapeError, r"\(R, 5\)"),
        (lambda: F.deformable_psroi_pooling(x, regions, x, False, 2, 1, 1, 1, 1.0), ShapeError, r"2 \* K, 2, 2"),
        (lambda: F.cvt_color(x, "YUV2RGB_NV12"), DtypeError, "uint8"),
        (lambda: F.cvt_color(t(np.ones((1, 4, 6, 1)), "uint8"), "YUV2RGB_NV12"), ShapeError, "3 H / 2"),
        (lambda: F.cvt_color(x, "YUV2RGB"), ShapeError, r"\(N, H, W, 3\)"),
        (lambda: F.cvt_color(x, "BT601_YUV2GRAY_NV12"), UnsupportedError, "BT601_YUV2B_F"),
    ]:
        with pytest.raises(kind, match=words):
            call()
