"""A call of every function of `ferrule.functional` that records ops, on operands so small that running them is nothing."""

import numpy as np

import ferrule as fer
import ferrule.functional as F

from . import array_function_calls
from .operands import array, named

# Functions that look at values, run as they go, or hold regions: what they cost is no recording.
NOT_RECORDED = {
    *("argwhere", "cond_take", "flatnonzero", "masked_select", "nms", "non_zero", "nonzero"),  # as many results as found
    *("unique", "unique_consecutive"),
    *("cond", "scan", "while_loop"),
}


def _elementwise():
    x, y, z = (fer.tensor(array(3, 4)) for _ in range(3))
    i, j = (fer.tensor(np.arange(12, dtype=np.int32).reshape(3, 4)) for _ in range(2))
    mask, slope = fer.tensor(np.eye(3, 4, dtype=bool)), fer.tensor(0.1)
    unary = """abs absolute acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh cbrt ceil celu copy
        cos cosh deg2rad degrees elu erf erfc exp exp2 expm1 fix floor frac gelu hardshrink hardsigmoid hardswish hardtanh
        hsigmoid hswish isfinite isinf isnan leaky_relu log log10 log1p log2 logical_not logit logsigmoid mish nan_to_num
        neg negative positive rad2deg radians reciprocal relu relu6 rint round rsqrt selu sigmoid sign silu sin sinh
        softplus softshrink softsign sqrt square stop_gradient swish tan tanh tanhshrink trunc"""
    binary = """add arctan2 atan2 copysign div divide eq equal floor_div floor_divide fmax fmin fmod ge greater greater_equal
        gt hypot isclose allclose le less less_equal logaddexp logical_and logical_or logical_xor lt maximum minimum mod
        mul multiply ne not_equal pow power remainder sub subtract true_divide xlogy"""
    integers = "bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor left_shift right_shift"
    return {
        **named(unary, lambda f: f(x)),
        **named(binary, lambda f: f(x, y)),
        **named(integers, lambda f: f(i, j)),
        **named("bitwise_not invert", lambda f: f(i)),
        **named("addcdiv addcmul fma", lambda f: f(x, y, z)),
        **named("clamp clip", lambda f: f(x, -0.5, 0.5)),
        "glu": lambda: F.glu(x),
        "gumbel_softmax": lambda: F.gumbel_softmax(x),
        "rrelu": lambda: F.rrelu(x, training=True),
        "lerp": lambda: F.lerp(x, y, 0.3),
        "masked_fill": lambda: F.masked_fill(x, mask, 2.0),
        "prelu": lambda: F.prelu(x, slope),
        "threshold": lambda: F.threshold(x, 0.1, 2.0),
        "where": lambda: F.where(mask, x, y),
    }


def _reductions():
    x = fer.tensor(array(3, 4))
    over_rows = """all amax amin any argmax argmin count_nonzero cummax cummin cumprod cumsum log_softmax logsoftmax logsumexp
        max mean median min nanmax nanmean nanmin nanprod nansum norm normalize prod ptp softmax softmin std sum var"""
    return {
        **named(over_rows, lambda f: f(x, axis=1)),
        **named("percentile quantile", lambda f: f(x, 0.5, axis=1)),
        "diff": lambda: F.diff(x),
        "trace": lambda: F.trace(x),
        "argsort": lambda: F.argsort(x),
        "sort": lambda: F.sort(x),
        "topk": lambda: F.topk(x, 2),
    }


def _products():
    x, y, row = fer.tensor(array(3, 4)), fer.tensor(array(4, 3)), fer.tensor(array(4))
    batch, other, square = fer.tensor(array(2, 3, 4)), fer.tensor(array(2, 4, 3)), fer.tensor(array(3, 3))
    heads, packed = fer.tensor(array(2, 2, 5, 8)), fer.tensor(array(4 * 8 * 8))
    words, columns, cube = fer.tensor(array(2, 5, 8)), fer.tensor(array(3)), fer.tensor(array(3, 3, 3))
    return {
        "bilinear": lambda: F.bilinear(square, square, cube, columns),
        "addmm": lambda: F.addmm(square, x, y),
        "baddbmm": lambda: F.baddbmm(square, batch, other),
        "bmm": lambda: F.bmm(batch, other),
        "dot": lambda: F.dot(row, row),
        "einsum": lambda: F.einsum("bij,bkj->bik", words, words),
        "linear": lambda: F.linear(x, x, columns),
        "matmul": lambda: F.matmul(x, y),
        "mm": lambda: F.mm(x, y),
        "mv": lambda: F.mv(x, row),
        "outer": lambda: F.outer(row, row),
        "tensordot": lambda: F.tensordot(batch, x, ([2], [1])),
        "attention": lambda: F.attention(heads, heads, heads),
        "attention_with_weights": lambda: F.attention_with_weights(heads, heads, heads),
        "scaled_dot_product_attention": lambda: F.scaled_dot_product_attention(heads, heads, heads, is_causal=True),
        "multi_head_attention": lambda: F.multi_head_attention(words, words, words, 8, 2, 0.0, 0.0, packed),
    }


def _windows():
    sequence, image, volume = (fer.tensor(array(2, 4, *[6] * rank)) for rank in (1, 2, 3))
    kernels = [fer.tensor(array(4, 4, *[3] * rank)) for rank in (1, 2, 3)]
    columns, local = fer.tensor(array(2, 16, 25)), fer.tensor(array(1, 5, 5, 4, 2, 2, 4))
    offset, mask = fer.tensor(array(2, 18, 4, 4)), fer.tensor(array(2, 9, 4, 4))
    boxes = fer.tensor(np.array([[0, 0, 0, 4, 4], [1, 1, 1, 5, 5]], np.float32))
    regions, part = fer.tensor(np.zeros((2, 6, 6), np.int32)), fer.tensor(np.zeros((2, 4, 4), np.int32))
    grid, theta = fer.tensor(array(2, 3, 3, 2)), fer.tensor(array(2, 2, 3))
    matrix, shifts = fer.tensor(np.stack([np.eye(3, dtype=np.float32)] * 2)), fer.tensor(array(2, 2, 3, 3))
    calls = {}
    for rank, (inp, kernel) in enumerate(zip((sequence, image, volume), kernels), 1):
        calls |= named(f"conv{rank}d conv_transpose{rank}d", lambda f, inp=inp, kernel=kernel: f(inp, kernel))
        calls |= named(f"max_pool{rank}d avg_pool{rank}d", lambda f, inp=inp: f(inp, 2, 2))
        adaptive = f"adaptive_avg_pool{rank}d adaptive_max_pool{rank}d"
        calls |= named(f"lp_pool{rank}d", lambda f, inp=inp: f(inp, 2.0, 2))
        halves, places = getattr(F, f"max_pool{rank}d")(inp, 2, 2), fer.tensor(np.zeros((2, 4, *[3] * rank), np.int32))
        calls |= named(f"max_unpool{rank}d", lambda f, halves=halves, places=places: f(halves, places, 2))
        calls |= named(adaptive, lambda f, inp=inp, rank=rank: f(inp, 2 if rank == 1 else (2,) * rank))
    return calls | {
        "affine_grid": lambda: F.affine_grid(theta, (2, 4, 3, 3)),
        "channel_shuffle": lambda: F.channel_shuffle(image, 2),
        "correlation": lambda: F.correlation(image, image),
        "cvt_color": lambda: F.cvt_color(image[:, :3].transpose(0, 2, 3, 1), "RGB2GRAY"),
        "deformable_conv2d": lambda: F.deformable_conv2d(image, kernels[1], offset, mask),
        "deformable_psroi_pooling": lambda: F.deformable_psroi_pooling(image, boxes, shifts, True, 2, 2, 2, 2, 1.0),
        "fold": lambda: F.fold(columns, (6, 6), 2),
        "grid_sample": lambda: F.grid_sample(image, grid),
        "interpolate": lambda: F.interpolate(image, scale_factor=2),
        "local_conv2d": lambda: F.local_conv2d(image, local),
        "pad": lambda: F.pad(image, ((0, 0), (0, 0), (1, 1), (2, 0))),
        "pixel_shuffle": lambda: F.pixel_shuffle(image, 2),
        "pixel_unshuffle": lambda: F.pixel_unshuffle(image, 2),
        "region_restricted_conv": lambda: F.region_restricted_conv(image, kernels[1], regions, part),
        "remap": lambda: F.remap(image, grid),
        "roi_align": lambda: F.roi_align(image, boxes, 2),
        "roi_pooling": lambda: F.roi_pooling(image, boxes, 2),
        "sliding_window": lambda: F.sliding_window(image, 2),
        "sliding_window_transpose": lambda: F.sliding_window_transpose(F.sliding_window(image, 2), (6, 6), 2),
        "unfold": lambda: F.unfold(image, 2),
        "warp_affine": lambda: F.warp_affine(image, theta, (4, 4), format="NCHW"),
        "warp_perspective": lambda: F.warp_perspective(image, matrix, (4, 4)),
    }


def _norms_and_losses():
    x, y, row = fer.tensor(array(3, 4)), fer.tensor(array(3, 4)), fer.tensor(array(4))
    image, scale = fer.tensor(array(2, 4, 6, 6)), fer.tensor(array(4))
    mean, variance = fer.tensor(array(4)), fer.tensor(np.ones(4, np.float32))
    labels, signs = fer.tensor(np.array([0, 2, 1], np.int32)), fer.tensor(np.ones(3, np.float32))
    positive, several = fer.tensor(np.ones((3, 4), np.float32)), fer.tensor(np.array([[0, 1, -1, -1]] * 3, np.int32))
    volume = fer.tensor(array(2, 4, 2, 2, 2))
    steps, counts = fer.tensor(array(5, 2, 4)), fer.tensor(np.array([5, 5], np.int32))
    words, lengths = fer.tensor(np.array([[1, 2], [2, 3]], np.int32)), fer.tensor(np.array([2, 2], np.int32))
    pairs = """binary_cross_entropy binary_cross_entropy_with_logits hinge_loss huber_loss kl_div l1_loss mse_loss
        smooth_l1_loss square_loss cosine_similarity pairwise_distance"""
    return {
        **named(pairs, lambda f: f(x, y)),
        **named("cross_entropy nll_loss multi_margin_loss", lambda f: f(x, labels)),
        **named("cdist dist hinge_embedding_loss poisson_nll_loss soft_margin_loss", lambda f: f(x, y)),
        "multilabel_soft_margin_loss": lambda: F.multilabel_soft_margin_loss(x, y),
        "triplet_margin_with_distance_loss": lambda: F.triplet_margin_with_distance_loss(x, y, x),
        **named("alpha_dropout feature_alpha_dropout", lambda f: f(image, 0.5, True)),
        "dropout1d": lambda: F.dropout1d(steps, 0.5),
        "dropout2d": lambda: F.dropout2d(image, 0.5),
        "dropout3d": lambda: F.dropout3d(volume, 0.5),
        "gaussian_nll_loss": lambda: F.gaussian_nll_loss(x, y, positive),
        "multilabel_margin_loss": lambda: F.multilabel_margin_loss(x, several),
        "pdist": lambda: F.pdist(x),
        "cosine_embedding_loss": lambda: F.cosine_embedding_loss(x, y, signs),
        "margin_ranking_loss": lambda: F.margin_ranking_loss(row, row, row),
        "triplet_margin_loss": lambda: F.triplet_margin_loss(x, y, x),
        "ctc_loss": lambda: F.ctc_loss(steps, counts, words, lengths),
        "batch_norm": lambda: F.batch_norm(image, mean, variance, scale, scale, training=True),
        "sync_batch_norm": lambda: F.sync_batch_norm(image, mean, variance, scale, scale),
        "general_norm": lambda: F.general_norm(x, 1, True, row, row),
        "group_norm": lambda: F.group_norm(image, 2, True, scale, scale),
        "instance_norm": lambda: F.instance_norm(image, True, scale, scale),
        "layer_norm": lambda: F.layer_norm(x, (4,), True, row, row),
        "local_response_norm": lambda: F.local_response_norm(image, 3),
        "rms_norm": lambda: F.rms_norm(x, (4,), row),
        "dropout": lambda: F.dropout(x, 0.5),
        "topk_accuracy": lambda: F.topk_accuracy(x, labels),
    }


def _shapes():
    x, y, row, image = fer.tensor(array(3, 4)), fer.tensor(array(3, 4)), fer.tensor(array(4)), fer.tensor(array(2, 4, 6, 6))
    single = fer.tensor(array(3, 1, 4))
    joined = "cat concat concatenate hstack stack vstack"
    return {
        **named(joined, lambda f: f([x, y])),
        **named("broadcast_arrays broadcast_tensors meshgrid", lambda f: f(row, row)),
        **named("broadcast_to", lambda f: f(row, (3, 4))),
        **named("expand_dims unsqueeze", lambda f: f(x, 1)),
        **named("flatten ravel fliplr flipud rot90 tril triu diagonal", lambda f: f(x)),
        **named("moveaxis movedim swapaxes swapdims", lambda f: f(x, 0, 1)),
        **named("repeat repeat_interleave", lambda f: f(x, 2, 1)),
        **named("full_like", lambda f: f(x, 2.0)),
        **named("ones_like zeros_like", lambda f: f(x)),
        **named("ones zeros", lambda f: f((3, 4))),
        **named("unbind unstack", lambda f: f(x)),
        "arange": lambda: F.arange(4),
        "chunk": lambda: F.chunk(x, 2, 1),
        "diag": lambda: F.diag(row),
        "expand": lambda: F.expand(row, 3, 4),
        "eye": lambda: F.eye(3),
        "flip": lambda: F.flip(x, 0),
        "full": lambda: F.full((3, 4), 2.0),
        "linspace": lambda: F.linspace(0, 1, 5),
        "permute": lambda: F.permute(x, 1, 0),
        "reshape": lambda: F.reshape(x, (4, 3)),
        "roll": lambda: F.roll(x, 1, 0),
        "split": lambda: F.split(x, 2, 1),
        "squeeze": lambda: F.squeeze(single, 1),
        "tile": lambda: F.tile(x, (2, 1)),
        "transpose": lambda: F.transpose(x, (1, 0)),
        "unflatten": lambda: F.unflatten(image, 1, (2, 2)),
        "update_slice": lambda: F.update_slice(x, row, (0, 0), (1, 4)),
    }


def _positions():
    x, y = fer.tensor(array(3, 4)), fer.tensor(array(3, 4))
    places, grid = fer.tensor(np.array([0, 2, 1], np.int32)), fer.tensor(np.zeros((3, 4), np.int32))
    cells, row = fer.tensor(np.array([[0, 1], [2, 2]], np.int32)), fer.tensor(array(2))
    return {
        "bincount": lambda: F.bincount(places, length=3),
        "embedding": lambda: F.embedding(places, x),
        "embedding_bag": lambda: F.embedding_bag(cells, x),
        "gather": lambda: F.gather(x, 1, grid),
        "gather_nd": lambda: F.gather_nd(x, cells),
        "index_add": lambda: F.index_add(x, 0, places, y),
        "index_copy": lambda: F.index_copy(x, 0, places, y),
        "index_select": lambda: F.index_select(x, 0, places),
        "indexing_one_hot": lambda: F.indexing_one_hot(x, places),
        "one_hot": lambda: F.one_hot(places, 4),
        "put_along_axis": lambda: F.put_along_axis(x, grid, y, 1),
        "scatter": lambda: F.scatter(x, 1, grid, y),
        "scatter_add": lambda: F.scatter_add(x, 1, grid, y),
        "scatter_nd": lambda: F.scatter_nd(x, cells, row),
        "searchsorted": lambda: F.searchsorted(row, row),
        "take": lambda: F.take(x, places, 0),
        "take_along_axis": lambda: F.take_along_axis(x, grid, 1),
    }


def function_calls():
    """{name: a call}, one for each function."""
    more = array_function_calls
    groups = (_elementwise, _reductions, _products, _windows, _norms_and_losses, _shapes, _positions, more.statistics,
              more.elementwise, more.products, more.parts, more.created)  # fmt: skip
    calls = {}
    for group in groups:
        for name, call in group().items():
            assert name not in calls, name
            calls[name] = call
    return calls
