"""Products, convolutions, pools, norms, attention and losses: special values, shapes at the edge, and refusals.

Ordinary values and gradients are compared with torch in tests/e2e/function_oracle_test.py.
"""

import math

import numpy as np
import pytest
from ferrule.errors import DtypeError, ExecutionError, ShapeError, UnsupportedError

import ferrule as fer
import ferrule.functional as F

NAN, INF = math.nan, math.inf


def t(values, dtype="float32"):
    return fer.Tensor(np.array(values, dtype))


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def refuses(error, call, *words):
    with pytest.raises(error) as raised:
        call()
    for word in words:
        assert word in str(raised.value), f"{word!r} is not in: {raised.value}"
    assert "windows_test.py" in str(raised.value), "the message names no line"


# --- products ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ("int32", "int64"))
def test_products_of_integers_are_exact(dtype):
    a, b = np.arange(24).reshape(2, 3, 4).astype(dtype) - 7, np.arange(20).reshape(4, 5).astype(dtype) * 1000003
    for x, y in ((a, b), (a[0], b[:, 0]), (a[0, 0], b), (a[0, 0], b[:, 0])):
        got = F.matmul(fer.Tensor(x), fer.Tensor(y)).numpy()
        np.testing.assert_array_equal(got, x @ y)
        assert got.dtype == (x @ y).dtype
    left, right = fer.Tensor(a.transpose(0, 2, 1).copy()), fer.Tensor(b.T.copy())
    turned = F.matmul(left, right, transpose_a=True, transpose_b=True)
    np.testing.assert_array_equal(turned.numpy(), a @ b)
    np.testing.assert_array_equal(F.einsum("bij,jk->bik", fer.Tensor(a), fer.Tensor(b)).numpy(), a @ b)


def test_a_product_of_bools_is_any_of_the_ands():
    a, b = np.array([[True, False], [False, False]]), np.array([[False, True], [True, True]])
    np.testing.assert_array_equal(F.matmul(fer.Tensor(a), fer.Tensor(b)).numpy(), a @ b)


def test_products_over_nothing_are_zeros():
    assert F.matmul(t(np.zeros((3, 0))), t(np.zeros((0, 2)))).numpy().tolist() == [[0, 0]] * 3
    assert F.dot(t([]), t([])).numpy() == 0
    assert F.matmul(t(np.zeros((3, 0, 0))), t(np.zeros((0, 0)))).shape == (3, 0, 0)


def test_a_vector_on_the_right_sums_like_a_reduction_and_a_matrix_of_one_column_does_not():
    a, v = random(5, 999), random(999, seed=1)
    by_vector = F.matmul(fer.Tensor(a), fer.Tensor(v)).numpy()
    by_column = F.matmul(fer.Tensor(a), fer.Tensor(v[:, None])).numpy()[:, 0]
    rows = [F.dot(fer.Tensor(row), fer.Tensor(v)).numpy() for row in a]
    assert by_vector.tobytes() == np.array(rows).tobytes()
    assert by_vector.tobytes() != by_column.tobytes()
    assert F.einsum("ij,j->i", fer.Tensor(a), fer.Tensor(v)).numpy().tobytes() == by_vector.tobytes()


def test_the_gradient_of_a_form_in_a_matrix_is_an_outer_product():
    u, w, v = t([1, 2]), t([[1, 2, 3], [4, 5, 6]]), t([3, -1, 2])
    gradient = fer.grad(lambda w: F.dot(u, F.matmul(w, v)))(w)
    assert gradient.numpy().tolist() == [[3, -1, 2], [6, -2, 4]]


def test_products_refuse_by_name_with_both_sizes():
    a, b = t(np.ones((2, 3))), t(np.ones((4, 5)))
    refuses(ShapeError, lambda: F.matmul(a, b), "matmul", "(2, 3)", "(4, 5)", "inner sizes 3 and 4")
    refuses(ShapeError, lambda: F.matmul(a, t(np.ones(4))), "inner sizes 3 and 4")
    refuses(ShapeError, lambda: F.matmul(t(1.0), b), "rank 1 or more")
    refuses(ShapeError, lambda: F.dot(a, b), "two vectors")
    refuses(ShapeError, lambda: F.bmm(a, b), "bmm", "inp1", "(2, 3)")
    refuses(ShapeError, lambda: F.tensordot(a, b, 3), "0 to 2")
    refuses(ShapeError, lambda: F.tensordot(a, b, ([1], [0])), "axis 1 of (2, 3)")


def test_einsum_refuses_what_it_cannot_mean():
    a = t(np.ones((2, 3)))
    refuses(ShapeError, lambda: F.einsum("ij,jk->ik", a, a), "'j'", "3 and 2")
    refuses(ShapeError, lambda: F.einsum("ijk", a), "'ijk'", "2 axes")
    refuses(ShapeError, lambda: F.einsum("ij->ik", a), "'k'")
    refuses(ShapeError, lambda: F.einsum("ij->ii", a), "twice")
    refuses(ShapeError, lambda: F.einsum("ij,jk", a), "2 operands")
    refuses(ShapeError, lambda: F.einsum("ii", a), "'i'", "2 and 3")
    refuses(ShapeError, lambda: F.einsum("ii", t(np.ones((1, 3)))), "diagonal", "1 and 3")


def test_einsum_takes_lists_of_axes_and_a_list_of_operands():
    a, b = random(2, 3), random(3, 4)
    wanted = a @ b
    for got in (
        F.einsum(fer.Tensor(a), [0, 1], fer.Tensor(b), [1, 2], [0, 2]),
        F.einsum("ij,jk->ik", [fer.Tensor(a), fer.Tensor(b)]),
    ):
        np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-5)


# --- convolutions -----------------------------------------------------------------------------------------------------


def test_convolutions_refuse_with_the_numbers():
    x, w = t(np.ones((1, 3, 5, 5))), t(np.ones((4, 3, 3, 3)))
    refuses(ShapeError, lambda: F.conv2d(x, w, padding=(-1, 0)), "padding (-1, 0)", "0 or more")
    refuses(ShapeError, lambda: F.conv2d(x, w, padding=((0, -1), (0, 0))), "padding", "0 or more")
    refuses(ShapeError, lambda: F.conv2d(x, t(np.ones((4, 4, 3, 3)))), "4 channels")
    refuses(ShapeError, lambda: F.conv2d(x, t(np.ones((4, 3, 7, 3)))), "kernel of 7", "input of 5")
    refuses(ShapeError, lambda: F.conv2d(x, w, dilation=3), "dilated kernel of 7", "input of 5")
    refuses(ShapeError, lambda: F.conv2d(x, w, stride=0), "stride 0")
    refuses(ShapeError, lambda: F.conv2d(t(np.ones((3, 5))), w), "(N, C, H, W)")
    refuses(ShapeError, lambda: F.conv2d(x, w, padding="full"), "'same', 'valid'")
    refuses(UnsupportedError, lambda: F.conv2d(x, w, conv_mode="other"), "'cross_correlation', 'convolution'")


def test_a_transposed_convolution_crops_its_result():
    x, w = t([[[[1.0, 2.0], [3.0, 4.0]]]]), t([[[[1.0, 10.0], [100.0, 1000.0]]]])
    whole = F.conv_transpose2d(x, w, stride=2).numpy()
    assert whole.shape == (1, 1, 4, 4)
    cropped = F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1).numpy()
    assert cropped.tolist() == whole[:, :, 1:, 1:].tolist()
    assert F.conv_transpose2d(x, w, stride=2, padding=1).numpy().tolist() == whole[:, :, 1:3, 1:3].tolist()


def test_transposed_convolutions_refuse_with_the_formula():
    x, w = t(np.ones((1, 1, 2, 2))), t(np.ones((1, 1, 2, 2)))
    refuses(ShapeError, lambda: F.conv_transpose2d(x, w, stride=2, output_padding=2), "output_padding 2", "below 2")
    refuses(ShapeError, lambda: F.conv_transpose2d(x, w, stride=2, padding=2), "(2 - 1) * 2 - 4 + 1 + 1 + 0 = 0")


def test_same_padding_with_a_stride_rounds_the_size_up():
    x, w = t(np.ones((1, 1, 7, 8))), t(np.ones((1, 1, 3, 3)))
    assert F.conv2d(x, w, stride=3, padding="same").shape == (1, 1, 3, 3)
    assert F.conv2d(x, t(np.ones((1, 1, 1, 1))), stride=4, padding="same").shape == (1, 1, 2, 2)


def test_convolutions_of_a_symbolic_batch_and_space_agree_with_known_ones(tmp_path):
    w = fer.Tensor(random(4, 2, 3, 3))
    batch, height = fer.Dim("batch", max=8), fer.Dim("height", min=3, max=16)
    entry = lambda x: F.avg_pool2d(F.conv2d(x, w, stride=2, padding=1), 2, 1)  # noqa: E731
    program = fer.compile({"run": (entry, [fer.Spec((batch, 2, height, 9))])}, modules={"w": w})
    session = fer.Session(program)
    for size in ((1, 2, 3, 9), (8, 2, 16, 9), (3, 2, 7, 9)):
        x = random(*size)
        assert session.run("run", x)[0].tobytes() == entry(fer.Tensor(x)).numpy().tobytes()


# --- pools ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pool", (F.max_pool2d, F.avg_pool2d))
def test_a_window_that_the_ceiling_would_start_in_the_padding_is_dropped(pool):
    assert pool(t(np.ones((1, 1, 2, 2))), 3, 3, 1, ceil_mode=True).shape == (1, 1, 1, 1)
    assert pool(t(np.ones((1, 1, 4, 5))), 1, 2, ceil_mode=True).shape == (1, 1, 2, 3)
    assert pool(t(np.ones((1, 1, 5, 4))), 2, 2, ceil_mode=True).shape == (1, 1, 3, 2)


def test_max_pool_takes_nan_wherever_it_stands_and_sends_the_gradient_there():
    for place in range(4):
        values = [1.0, 2.0, 3.0, 4.0]
        values[place] = NAN
        x = t([[values]])
        assert math.isnan(F.max_pool1d(x, 4).item())
        gradient = fer.grad(lambda x: F.max_pool1d(x, 4).sum())(x).numpy().ravel()
        assert gradient.tolist() == [float(i == place) for i in range(4)]


@pytest.mark.parametrize("dtype", ("int8", "uint16", "int32", "uint32", "int64", "uint64", "bool"))
def test_max_pools_of_integers_keep_every_digit(dtype):
    """The largest numbers, which differ only where float32 and float64 round; of equal ones the first is found."""
    most = 1 if dtype == "bool" else int(np.iinfo(dtype).max)
    steps = np.array([[3, 1, 0, 2], [2, 1, 0, 0], [5, 5, 6, 7], [4, 5, 7, 6]])
    x = (steps % 2 if dtype == "bool" else most - steps.astype(object)).astype(dtype)[None]
    x = np.concatenate([x, np.roll(x, 1, 2) ^ x.dtype.type(1)])
    windows = x.reshape(2, 2, 2, 2, 2).swapaxes(2, 3).reshape(2, 2, 2, 4)
    found = windows.argmax(3)
    rows, columns = np.mgrid[:2, :2]
    for call in (lambda x: F.max_pool2d(x, 2, return_indices=True), lambda x: F.adaptive_max_pool2d(x, 2, return_indices=True)):
        largest, places = call(fer.Tensor(x[None], dtype=dtype))
        assert largest.dtype == dtype
        np.testing.assert_array_equal(largest.numpy()[0], windows.max(3))
        np.testing.assert_array_equal(places.numpy()[0], (2 * rows + found // 2) * 4 + 2 * columns + found % 2)


def test_average_pools_with_holes():
    """0 to 6, two elements three apart: (0 + 3) / 2, (1 + 4) / 2, ...; padding counts only where it is asked for."""
    x = np.arange(7, dtype=np.float32).reshape(1, 1, 7)
    assert F.avg_pool1d(x, 2, 1, dilation=3).numpy().tolist() == [[[1.5, 2.5, 3.5, 4.5]]]
    padded = F.avg_pool1d(x, 2, 1, ((1, 0),), dilation=3, count_include_pad=True)
    assert padded.numpy().tolist() == [[[1.0, 1.5, 2.5, 3.5, 4.5]]]


def test_pools_refuse_with_the_numbers():
    x = t(np.ones((1, 2, 4, 4)))
    refuses(ShapeError, lambda: F.max_pool2d(x, 5), "kernel of 5", "input of 4")
    refuses(ShapeError, lambda: F.max_pool2d(x, 2, padding=2), "pads below")
    refuses(ShapeError, lambda: F.max_pool2d(x, 0), "kernel_size 0")
    refuses(ShapeError, lambda: F.adaptive_avg_pool2d(x, (1, 2, 3)), "(1, 2, 3)")
    refuses(ShapeError, lambda: F.adaptive_avg_pool2d(x, 0), "output size [0, 0]")
    refuses(UnsupportedError, lambda: F.avg_pool2d(x, 2, mode="median"), "'median'", "average")


def test_adaptive_pools_keep_an_axis_for_none_and_take_symbolic_sizes():
    x = random(2, 3, 5, 6)
    assert F.adaptive_max_pool2d(fer.Tensor(x), (None, 2)).shape == (2, 3, 5, 2)
    height = fer.Dim("height", max=9)
    entry = lambda x: F.adaptive_avg_pool2d(x, (3, 1))  # noqa: E731
    session = fer.Session(fer.compile({"run": (entry, [fer.Spec((2, 3, height, 6))])}))
    for size in (1, 5, 9):
        x = random(2, 3, size, 6)
        got = session.run("run", x)[0]
        assert got.tobytes() == entry(fer.Tensor(x)).numpy().tobytes()
        rows = [x[:, :, i * size // 3 : -(-(i + 1) * size // 3)].mean((2, 3)) for i in range(3)]
        np.testing.assert_allclose(got[..., 0], np.stack(rows, 2), rtol=1e-5, atol=1e-6)


# --- norms ------------------------------------------------------------------------------------------------------------


def test_statistics_far_from_zero_and_near_the_largest_number():
    far = F.layer_norm(t([1999, 2000, 2001, 2002]), 4, False).numpy()
    np.testing.assert_allclose(far, [-1.3416354, -0.4472118, 0.4472118, 1.3416354], rtol=2e-7)
    assert F.layer_norm(t([1e30, -1e30]), 2, False).numpy().tolist() == [1, -1]
    assert F.rms_norm(t([1e30, -1e30]), 2).numpy().tolist() == [1, -1]
    for norm in (F.group_norm(t([[[1e4, 1e4 + 1, 1e4 + 2]]]), 1), F.instance_norm(t([[[1e4, 1e4 + 1, 1e4 + 2]]]))):
        np.testing.assert_allclose(norm.numpy().ravel(), [-1.2247356, 0, 1.2247356], rtol=1e-6)


@pytest.mark.parametrize("shape", ((6, 2), (3, 2, 2), (3, 2, 2, 1), (3, 2, 1, 2, 1)))
def test_batch_norm_keeps_momentum_of_the_old_statistics_and_the_unbiased_variance(shape):
    x = random(*shape)
    mean, variance = t([1.0, 2.0]), t([3.0, 4.0])
    F.batch_norm(fer.Tensor(x), mean, variance, training=True, momentum=0.75)
    axes = tuple(axis for axis in range(len(shape)) if axis != 1)
    np.testing.assert_allclose(mean.numpy(), 0.75 * np.array([1, 2]) + 0.25 * x.mean(axes), rtol=1e-5)
    np.testing.assert_allclose(variance.numpy(), 0.75 * np.array([3, 4]) + 0.25 * x.var(axes, ddof=1), rtol=1e-5)


def test_batch_norm_returns_the_statistics_when_not_in_place():
    x, mean, variance = fer.Tensor(random(4, 2, 3)), t([1.0, 2.0]), t([3.0, 4.0])
    y, new_mean, new_variance = F.batch_norm(x, mean, variance, training=True, inplace=False)
    assert mean.numpy().tolist() == [1, 2] and new_mean.numpy().tolist() != [1, 2]
    assert y.numpy().tobytes() == F.sync_batch_norm(x, new_mean, new_variance, training=True).numpy().tobytes()


def test_norms_refuse_with_the_shapes():
    x = t(np.ones((2, 6, 4)))
    refuses(ShapeError, lambda: F.group_norm(x, 4), "4 groups", "6 channels")
    refuses(ShapeError, lambda: F.layer_norm(x, (6, 5)), "(6, 5)", "(2, 6, 4)")
    refuses(ShapeError, lambda: F.layer_norm(x, 4, True, t(np.ones(5))), "weight of shape (5,)", "(4,)")
    refuses(ShapeError, lambda: F.batch_norm(x), "running_mean")
    refuses(ShapeError, lambda: F.batch_norm(x, t(np.ones(4)), t(np.ones(6))), "running_mean of shape (4,)", "(6,)")
    refuses(ShapeError, lambda: F.instance_norm(t(np.ones((2, 3)))), "rank 3")
    refuses(ShapeError, lambda: F.local_response_norm(x, 4), "odd")
    refuses(ShapeError, lambda: F.general_norm(x, (0, 3)), "axis 3")


# --- attention --------------------------------------------------------------------------------------------------------


def test_a_row_with_every_key_masked_is_zero_and_sends_no_gradient():
    q, k, v = random(1, 4, 3), random(1, 4, 3, seed=1), random(1, 4, 3, seed=2)
    mask = np.array([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0]], bool)
    for form in (mask, np.where(mask, 0.0, -INF).astype("float32")):
        tensors = [fer.Tensor(x) for x in (q, k, v)]
        output = F.attention(*tensors, fer.Tensor(form)).numpy()
        assert output[0, 1].tolist() == [0, 0, 0]
        np.testing.assert_allclose(output[0, 3], v[0, 1], rtol=1e-6)
        gradients = fer.grad(lambda q, k, v: F.attention(q, k, v, fer.Tensor(form)).sum(), (0, 1, 2))(*tensors)
        assert all(np.isfinite(gradient.numpy()).all() for gradient in gradients)
        assert gradients[0].numpy()[0, 1].tolist() == [0, 0, 0]


def test_a_masked_key_is_absent_even_if_it_is_nan():
    q, k, v = random(1, 4, 3), random(1, 4, 3, seed=1), random(1, 4, 3, seed=2)
    mask = np.ones((4, 4), bool)
    mask[:, 2] = False
    clean = F.attention(*map(fer.Tensor, (q, k, v, mask)))
    for broken in (NAN, INF, -INF):
        bad_k, bad_v = k.copy(), v.copy()
        bad_k[0, 2], bad_v[0, 2] = broken, broken
        tensors = [fer.Tensor(x) for x in (q, bad_k, bad_v)]
        assert F.attention(*tensors, fer.Tensor(mask)).numpy().tobytes() == clean.numpy().tobytes()
        gradients = fer.grad(lambda q, k, v: F.attention(q, k, v, fer.Tensor(mask)).sum(), (0, 1, 2))(*tensors)
        assert all(np.isfinite(gradient.numpy()).all() for gradient in gradients)


def test_under_a_causal_mask_a_nan_reaches_only_the_queries_that_see_it():
    q, k, v = random(2, 4, 3), random(2, 4, 3, seed=1), random(2, 4, 3, seed=2)
    clean = F.attention(*map(fer.Tensor, (q, k, v)), is_causal=True).numpy()
    v[1, 2, 0] = NAN
    got = F.attention(*map(fer.Tensor, (q, k, v)), is_causal=True).numpy()
    assert got[0].tobytes() == clean[0].tobytes() and got[1, :2].tobytes() == clean[1, :2].tobytes()
    assert np.isnan(got[1, 2:, 0]).all() and np.isfinite(got[1, 2:, 1:]).all()
    k[0, 3, 1] = NAN
    got = F.attention(*map(fer.Tensor, (q, k, v)), is_causal=True).numpy()
    assert got[0, :3].tobytes() == clean[0, :3].tobytes() and np.isnan(got[0, 3]).all()


def test_attention_refuses_by_name():
    q, k = t(np.ones((4, 3, 2))), t(np.ones((3, 3, 2)))
    refuses(ShapeError, lambda: F.attention(q, k, k, enable_gqa=True), "4 heads", "3 of the key")
    refuses(UnsupportedError, lambda: F.attention(q, q, q, t(np.ones((3, 3)), "int32")), "int32", "bool or float")
    packed = t(np.ones(7))
    refuses(
        ShapeError,
        lambda: F.nn.multi_head_attention(q, q, q, 2, 1, 0.0, 0.0, packed),
        "io_weight_bias has 7 elements",
        "need 16",
    )


def test_multi_head_attention_without_projections_and_with_extra_keys():
    q, k, v = random(2, 3, 4), random(2, 5, 4, seed=1), random(2, 5, 6, seed=2)
    sizes = dict(qproj_size=0, kproj_size=0, vproj_size=0, oproj_size=0)
    output, weights = F.nn.multi_head_attention(
        *map(fer.Tensor, (q, k, v)), 4, 2, 0.0, 0.0, None, need_weights=True, add_zero_attn=True, **sizes
    )
    # Each head sees the same: the two halves of the result are equal. A key of zeros has the score 0.
    scores = np.concatenate([q @ k.transpose(0, 2, 1) / 2, np.zeros((2, 3, 1))], -1)
    powers = np.exp(scores)
    wanted = powers / powers.sum(-1, keepdims=True)
    np.testing.assert_allclose(weights.numpy().reshape(2, 2, 3, 6), np.stack([wanted] * 2, 1), rtol=1e-5, atol=1e-6)
    half = wanted[..., :5] @ v
    np.testing.assert_allclose(output.numpy(), np.concatenate([half, half], -1), rtol=1e-4, atol=1e-5)


def test_multi_head_attention_reads_ranges_of_keys():
    x, p = random(2, 4, 4), random(64, seed=3)
    begin, end = np.array([0, 0, 1, 2]), np.array([1, 3, 4, 4])
    counts = np.array([[4, 4], [4, 3]])
    by_ranges = F.nn.multi_head_attention(
        *[fer.Tensor(x)] * 3, 4, 2, 0.0, 0.0, fer.Tensor(p),
        attn_mask=fer.Tensor(np.stack([begin, end]).astype("int32")),
        key_padding_mask=fer.Tensor(counts.astype("int32")), maybe_cudnn_style_mask=True,
    )[0]  # fmt: skip
    keys = np.arange(4)
    outside = (keys < begin[:, None]) | (keys >= end[:, None])
    by_masks = F.nn.multi_head_attention(
        *[fer.Tensor(x)] * 3, 4, 2, 0.0, 0.0, fer.Tensor(p),
        attn_mask=fer.Tensor(outside), key_padding_mask=fer.Tensor(keys >= counts[1][:, None]),
    )[0]  # fmt: skip
    assert by_ranges.numpy().tobytes() == by_masks.numpy().tobytes()


# --- losses -----------------------------------------------------------------------------------------------------------


def test_the_mean_counts_only_rows_that_are_not_ignored():
    logits = random(3, 4)
    rows = F.cross_entropy(fer.Tensor(logits), t([0, 3, 1], "int32"), reduction="none").numpy()
    mean = F.cross_entropy(fer.Tensor(logits), t([0, -1, 1], "int32"), ignore_index=-1).item()
    assert mean == pytest.approx((rows[0] + rows[2]) / 2, rel=1e-6)
    assert math.isnan(F.cross_entropy(fer.Tensor(logits), t([-1, -1, -1], "int32"), ignore_index=-1).item())


def test_the_negative_log_likelihood_with_ignored_rows():
    logs = np.log(np.array([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8], [0.6, 0.2, 0.2], [0.3, 0.4, 0.3]], "float32"))
    labels = t([0, -100, 2, 1], "int64")
    wanted = -np.array([logs[0, 0], 0, logs[2, 2], logs[3, 1]])
    np.testing.assert_allclose(F.nll_loss(fer.Tensor(logs), labels, reduction="none").numpy(), wanted, rtol=1e-6)
    assert F.nll_loss(fer.Tensor(logs), labels).item() == pytest.approx(wanted.sum() / 3, rel=1e-6)


def test_losses_are_finite_where_they_saturate():
    far = t([1e4, -1e4])
    assert F.binary_cross_entropy(far, t([1.0, 0.0])).item() == 0
    assert F.binary_cross_entropy(far, t([0.0, 1.0])).item() == 1e4
    certain = t([0.0, 1.0])
    assert F.binary_cross_entropy(certain, t([1.0, 0.0]), False).item() == 100
    gradient = fer.grad(lambda p: F.binary_cross_entropy(p, t([0.0, 1.0]), False))(certain)
    assert np.isfinite(gradient.numpy()).all()
    logits = t([[1e4, -1e4]])
    assert F.cross_entropy(logits, t([0], "int32")).item() == 0
    assert F.cross_entropy(logits, t([1], "int32")).item() == 2e4
    assert F.kl_div(t([0.0, -1.0]), t([0.0, 0.0])).item() == 0


def test_hinge_loss_of_both_norms():
    pred, label = t([[0.5, -0.5, 0.1], [-0.6, 0.7, 0.8]]), t([[1, -1, -1], [-1, 1, 1]])
    # max(0, 1 - p * l): rows (0.5, 0.5, 1.1) and (0.4, 0.3, 0.2)
    assert F.hinge_loss(pred, label).item() == pytest.approx((2.1 + 0.9) / 2)
    assert F.hinge_loss(pred, label, "L2", "none").numpy() == pytest.approx([1.71, 0.29])
    refuses(UnsupportedError, lambda: F.hinge_loss(pred, label, "L3"), "'L3'")


def test_losses_refuse_by_name():
    logits = t(np.ones((2, 3)))
    refuses(ShapeError, lambda: F.cross_entropy(logits, t([[1, 2]], "int32")), "a label for each row")
    refuses(ShapeError, lambda: F.cross_entropy(logits, t(np.ones((2, 4)))), "a probability for each class")
    refuses(ShapeError, lambda: F.cross_entropy(logits, t([1, 2], "int32"), label_smooth=2), "label_smooth 2")
    refuses(ShapeError, lambda: F.cross_entropy(logits, t([1, 2], "int32"), weight=t([1.0, 2.0])), "3 classes")
    refuses(DtypeError, lambda: F.nll_loss(logits, t([1.0, 2.0])), "float32")
    refuses(UnsupportedError, lambda: F.l1_loss(logits, logits, "median"), "'mean', 'sum', 'none'")
    refuses(ShapeError, lambda: F.huber_loss(logits, logits, delta=0), "delta 0")


def test_a_label_outside_the_classes_is_an_error_when_it_runs():
    logs = t(np.zeros((2, 3)))
    for call in (
        lambda label: F.nll_loss(logs, label),
        lambda label: F.cross_entropy(logs, label),
        lambda label: F.cross_entropy(logs, label, weight=t([1, 1, 1]), ignore_index=-100),
    ):
        for wrong in (-1, 3):
            with pytest.raises(ExecutionError):
                call(t([0, wrong], "int32")).numpy()


def test_what_stands_behind_the_labels_of_ctc_is_not_read():
    probability = F.softmax(fer.Tensor(random(5, 2, 4)), 2)
    steps, lengths = t([5, 4], "int32"), t([2, 1], "int32")
    losses = [
        F.ctc_loss(probability, steps, t(label, "int32"), lengths, reduction="none").numpy()
        for label in ([[1, 2], [3, 1]], [[1, 2], [3, -100]], [1, 2, 3])
    ]
    assert losses[0].tobytes() == losses[1].tobytes() == losses[2].tobytes()
    refuses(ShapeError, lambda: F.ctc_loss(probability, steps, t([[1], [1]], "int32"), lengths, blank=4), "0 to 3")
    refuses(DtypeError, lambda: F.ctc_loss(probability, steps, t([[1.0], [1.0]]), lengths), "float32")
