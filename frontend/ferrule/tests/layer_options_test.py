"""Layers that torch does not have, or not in this form, and the options of those that it has."""

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import numpy as np
import pytest
from ferrule.autodiff import GradManager
from ferrule.errors import ExecutionError, ShapeError, UnsupportedError
from ferrule.jit import trace


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def test_multi_head_attention_of_both_frameworks():
    """MegEngine's one tensor of projections, (in, out) each and then the biases, against PyTorch's parameters."""
    ours, other = (
        M.MultiHeadAttention(6, 2, kdim=4, vdim=5),
        M.MultiheadAttention(6, 2, kdim=4, vdim=5, batch_first=True),
    )
    weights = [other.q_proj_weight, other.k_proj_weight, other.v_proj_weight, other.out_proj.weight]
    other.in_proj_bias.set_value(normal(18, seed=1))
    other.out_proj.bias.set_value(normal(6, seed=2))
    flat = [w.numpy().T.ravel() for w in weights] + [other.in_proj_bias.numpy(), other.out_proj.bias.numpy()]
    ours.io_weight_bias.set_value(np.concatenate(flat)[None])
    q, k, v = fer.tensor(normal(2, 3, 6)), fer.tensor(normal(2, 4, 4)), fer.tensor(normal(2, 4, 5))
    got, weights = ours(q, k, v, need_weights=True, average_attn_weights=True)
    wanted, wanted_weights = other(q, k, v)
    np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(weights.numpy(), wanted_weights.numpy(), rtol=1e-5, atol=1e-6)
    assert ours.eval()(q, k, v)[1] is None
    extra = M.MultiHeadAttention(4, 2, bias=False, add_bias_kv=True, add_zero_attn=True)
    result, weights = extra(fer.tensor(normal(1, 3, 4)), need_weights=True)
    assert result.shape == (1, 3, 4) and weights.shape == (2, 3, 5)
    assert [name for name, _ in extra.named_parameters()] == ["io_weight_bias", "bias_k", "bias_v"]
    with pytest.raises(ShapeError, match="embed_dim 5 does not divide into 2 heads"):
        M.MultiHeadAttention(5, 2)


def test_causal_attention_is_that_with_a_mask():
    net, x = M.MultiheadAttention(4, 2, batch_first=True), fer.tensor(normal(2, 5, 4))
    mask = np.triu(np.ones((5, 5), bool), 1)
    causal, _ = net(x, x, x, need_weights=False, is_causal=True)
    masked, weights = net(x, x, x, attn_mask=mask)
    np.testing.assert_allclose(causal.numpy(), masked.numpy(), rtol=1e-5, atol=1e-6)
    assert not weights.numpy()[:, mask].any()
    added = M.Transformer.generate_square_subsequent_mask(5)
    np.testing.assert_array_equal(added.numpy(), np.where(mask, -np.inf, 0))
    with pytest.raises(ShapeError, match="all have rank 2 or all rank 3"):
        net(x, x[0], x)


def test_stacked_layers_have_parameters_of_their_own():
    layer = M.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
    net = M.TransformerEncoder(layer, 2, M.LayerNorm(4))
    first, second = net.layers
    np.testing.assert_array_equal(first.linear1.weight.numpy(), second.linear1.weight.numpy())
    assert first.linear1.weight is not second.linear1.weight and first.linear1.weight is not layer.linear1.weight
    names = [name for name, _ in net.named_parameters()]
    assert names[:2] == ["layers.0.self_attn.in_proj_weight", "layers.0.self_attn.in_proj_bias"]
    assert names[-2:] == ["norm.weight", "norm.bias"] and net(fer.tensor(normal(1, 3, 4))).shape == (1, 3, 4)
    with pytest.raises(UnsupportedError, match="activation 'swish'"):
        M.TransformerEncoderLayer(4, 2, activation="swish")


def test_encodings_of_positions():
    net = M.PositionalEncoding(4, max_len=6, batch_first=True)
    got = net(fer.zeros((2, 5, 4))).numpy()
    t = np.arange(5)[:, None] * np.array([1.0, 0.01])
    wanted = np.stack([np.sin(t), np.cos(t)], -1).reshape(5, 4)
    np.testing.assert_allclose(got, np.broadcast_to(wanted, (2, 5, 4)), atol=1e-6)
    assert net.state_dict() == {} and M.PositionalEncoding(3)(fer.zeros((2, 1, 3))).shape == (2, 1, 3)
    learned = M.LearnedPositionalEncoding(6, 4)
    np.testing.assert_array_equal(learned(fer.zeros((5, 2, 4))).numpy()[:, 1], learned.weight.numpy()[:5])
    for module in (net, learned):
        with pytest.raises(ShapeError, match="7 steps in an input of shape .*; max_len is 6"):
            module(fer.zeros((7, 7, 4)))


@pytest.mark.parametrize("kind", (M.PositionalEncoding, M.LearnedPositionalEncoding))
def test_encodings_of_any_number_of_positions(kind):
    net = kind(d_model=4, max_len=6, batch_first=True)
    steps = fer.Dim("steps", max=8)
    session = fer.Session(fer.compile({"f": (lambda x: net(x), [fer.Spec((2, steps, 4))])}, modules={"net": net}))
    for count in (1, 5, 6):
        x = normal(2, count, 4)
        np.testing.assert_array_equal(session.run("f", x)[0], net(fer.tensor(x)).numpy())
    with pytest.raises(ExecutionError, match="6"):
        session.run("f", normal(2, 7, 4))


def test_dropout():
    x = fer.ones((64, 32, 4, 4))
    fer.random.seed(3)
    for kind, values, axes in ((M.Dropout, 2 * 16384, ()), (M.Dropout2d, 2048, (2, 3))):
        net = kind(0.25)
        got = net(x).numpy()
        assert sorted(set(got.ravel().tolist())) == [0, pytest.approx(4 / 3)]
        assert abs((got == 0).mean() - 0.25) < 5 * np.sqrt(0.25 * 0.75 / values)
        assert (got == got.mean(axes, keepdims=True)).all() if axes else True
        assert net.eval()(x) is x and kind(p=0.25).drop_prob == 0.25 and kind()(x) is x
    z = fer.tensor(normal(200, 200))
    got = M.AlphaDropout(0.3)(z).numpy()
    assert abs(got.mean()) < 0.03 and abs(got.std() - 1) < 0.03
    assert M.Dropout1d(0.5)(fer.ones((4, 8, 5))).shape == (4, 8, 5)
    got = M.FeatureAlphaDropout(0.3)(fer.tensor(normal(200, 200, 4))).numpy()
    assert abs(got.mean()) < 0.05 and abs(got.std() - 1) < 0.05
    dropped = np.isclose(got, got[:, :, :1]).all(2)
    assert abs(dropped.mean() - 0.3) < 5 * np.sqrt(0.3 * 0.7 / 40000)
    with pytest.raises(ShapeError, match="rank 4 is needed"):
        M.Dropout2d(0.5)(fer.ones((2, 3, 4)))
    assert not M.Dropout(1.0)(x).numpy().any()
    for wrong in (lambda: M.Dropout(1.5), lambda: M.AlphaDropout(1.0)):
        with pytest.raises(ValueError, match="drop_prob is 1"):
            wrong()


def test_slopes_drawn_for_each_element():
    net, x = M.RReLU(0.25, 0.5), fer.tensor(np.array([2.0] + [-1.0] * 4096, "float32"))
    got = net(x).numpy()
    assert got[0] == 2 and got[1:].min() >= -0.5 and got[1:].max() <= -0.25
    assert abs(got[1:].mean() + 0.375) < 5 * 0.25 / np.sqrt(12 * 4096)
    assert net.eval()(x).numpy()[:2].tolist() == [2, -0.375]


def test_a_class_is_drawn_with_its_probability():
    logits = F.broadcast_to(fer.tensor(np.log(np.array([0.5, 0.25, 0.25], "float32"))), (4096, 3))
    manager = GradManager().attach(logits)
    with manager:
        hard = F.nn.gumbel_softmax(logits, 0.5, hard=True)
        manager.backward((hard * fer.tensor([1.0, 2.0, 3.0])).sum())
    assert set(hard.numpy().ravel()) == {0, 1} and (hard.numpy().sum(1) == 1).all()
    assert abs(hard.numpy()[:, 0].mean() - 0.5) < 5 * 0.5 / 64
    assert logits.grad.numpy().any() and np.allclose(logits.grad.numpy().sum(1), 0, atol=1e-5)
    soft = F.gumbel_softmax(logits, 10.0).numpy()
    np.testing.assert_allclose(soft.sum(1), 1, rtol=1e-5)


def test_a_table_keeps_the_norm_of_the_rows_that_are_looked_up():
    table = np.array([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]], "float32")
    net = M.Embedding(3, 2, max_norm=1.0, initial_weight=table)
    traced = trace(lambda x: net(x))
    for call in (net, traced):
        net.weight.set_value(table)
        np.testing.assert_allclose(call(np.array([0, 1], "int32")).numpy(), [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)
        np.testing.assert_allclose(net.weight.numpy(), [[0.6, 0.8], [0.3, 0.4], [6.0, 8.0]], rtol=1e-6)
        np.testing.assert_array_equal(net.weight.numpy()[1:], table[1:])
    assert np.linalg.norm(net.weight.numpy()[0]) <= 1.0
    with pytest.raises(UnsupportedError, match="norm_type without max_norm"):
        M.Embedding(3, 2, norm_type=1.0)


def test_a_max_pool_and_the_way_back():
    x = normal(2, 3, 6, 4)
    pool, back = M.MaxPool2d(2, return_indices=True), M.MaxUnpool2d(2)
    values, indices = pool(fer.tensor(x))
    got = back(values, indices).numpy()
    np.testing.assert_array_equal(M.MaxPool2d(2)(fer.tensor(got)).numpy().clip(0), values.numpy().clip(0))
    assert np.count_nonzero(got) == values.size and set(got.ravel()) <= {0, *x.ravel()}
    assert indices.dtype == "int32" and back(values, indices, (7, 5)).shape == (2, 3, 7, 5)
    values, indices = M.AdaptiveMaxPool2d(1, return_indices=True)(fer.tensor(x))
    np.testing.assert_array_equal(indices.numpy().ravel(), x.reshape(6, -1).argmax(1))


def test_ctc_takes_logarithms():
    logits, lengths = normal(6, 2, 4), (np.array([6, 5]), np.array([2, 1]))
    label = np.array([[1, 3], [2, 0]])
    logs = F.logsoftmax(fer.tensor(logits), -1)
    wanted = F.loss.ctc_loss(F.softmax(fer.tensor(logits), -1), lengths[0], label, lengths[1], reduction="sum")
    got = M.CTCLoss(reduction="sum")(logs, label, *lengths)
    np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-5)


def test_dropout_draws_anew_in_a_traced_function():
    net = M.Dropout(0.5)
    traced = trace(lambda x: net(x))
    x = np.ones(256, "float32")
    assert not np.array_equal(traced(x).numpy(), traced(x).numpy()) and traced.capture_count == 1
    net.eval()
    np.testing.assert_array_equal(traced(x).numpy(), x)


def test_embedding():
    table = normal(5, 2)
    net = M.Embedding(5, 2, initial_weight=table)
    np.testing.assert_array_equal(net(np.array([2, -2, 4], "int32")).numpy(), table[[2, 3, 4]])
    padded = M.Embedding(5, 2, padding_idx=-1)
    assert not padded.weight.numpy()[4].any() and padded.weight.numpy()[:4].all()
    manager = GradManager().attach(padded.parameters())
    with manager:
        manager.backward(padded(np.array([4, 0, 0, -1], "int32")).sum())
    np.testing.assert_array_equal(padded.weight.grad.numpy(), [[2, 2], [0, 0], [0, 0], [0, 0], [0, 0]])
    frozen = M.Embedding.from_pretrained(table)
    assert not frozen.weight.requires_grad and M.Embedding(5, 2, freeze=True).weight.requires_grad is False
    assert M.Embedding.from_pretrained(table, freeze=False).weight.requires_grad
    for call, pattern in (
        (lambda: M.Embedding(5, 2, padding_idx=5), "padding_idx 5 of 5 rows; allowed: -5 to 4"),
        (lambda: M.Embedding(5, 3, initial_weight=table), r"shape \(5, 2\), wanted \(5, 3\)"),
        (lambda: M.Embedding.from_pretrained(table[0]), "rank 2"),
    ):
        with pytest.raises(ShapeError, match=pattern):
            call()


def test_layers_under_one_name_are_those_that_they_join():
    x = fer.tensor(normal(2, 3, 6, 6))
    for kind, relu in ((M.ConvBn2d, False), (M.ConvBnRelu2d, True)):
        net = kind(3, 4, 3, padding=1, eps=1e-3, momentum=0.5)
        wanted = net.bn(net.conv(x)).numpy()
        np.testing.assert_array_equal(net(x).numpy(), np.maximum(wanted, 0) if relu else wanted)
        assert net.bn.eps == 1e-3 and net.bn.momentum == 0.5 and net.conv.padding == (1, 1)
    for kind, relu in ((M.ConvTransposeBn2d, False), (M.ConvTransposeBnRelu2d, True)):
        net = kind(3, 4, 2, stride=2)
        wanted = net.bn(net.conv(x)).numpy()
        np.testing.assert_array_equal(net(x).numpy(), np.maximum(wanted, 0) if relu else wanted)
    for fused, plain in ((M.ConvRelu2d, M.Conv2d), (M.ConvTransposeRelu2d, M.ConvTranspose2d)):
        net, other = fused(3, 4, 3), plain(3, 4, 3)
        other.load_state_dict(net.state_dict())
        np.testing.assert_array_equal(net(x).numpy(), np.maximum(other(x).numpy(), 0))
    rows = fer.tensor(normal(5, 3))
    net = M.LinearBnRelu1d(3, 4)
    np.testing.assert_array_equal(net(rows).numpy(), np.maximum(net.bn(net.linear(rows)).numpy(), 0))
    assert M.LinearBn1d(3, 4)(rows).shape == (5, 4)
    net, other = M.LinearRelu(3, 4), M.Linear(3, 4)
    other.load_state_dict(net.state_dict())
    np.testing.assert_array_equal(net(rows).numpy(), np.maximum(other(rows).numpy(), 0))


def test_small_modules_of_megengine():
    x, y = fer.tensor(normal(2, 3)), fer.tensor(normal(2, 3, seed=1))
    a, b = x.numpy(), y.numpy()
    assert M.Concat()([x, y], axis=1).shape == (2, 6)
    assert M.QuantStub()(x) is x and M.DequantStub()(x) is x and M.Identity(3, anything=4)(x) is x
    np.testing.assert_array_equal(M.Elemwise("ADD")(x, y).numpy(), a + b)
    np.testing.assert_array_equal(M.Elemwise("fuse_add_relu")(x, y).numpy(), np.maximum(a + b, 0))
    np.testing.assert_array_equal(M.Elemwise("fuse_mul_add3")(x, y, x).numpy(), a * b + a)
    np.testing.assert_array_equal(M.Elemwise("switch_gt0")(x, y).numpy(), np.where(a > 0, b, 0))
    with pytest.raises(UnsupportedError, match="'fly'; allowed: relu"):
        M.Elemwise("fly")
    net = M.BatchMatMulActivation(2, 3, 4, nonlinear_mode="relu")
    z = normal(2, 3, 5)
    wanted = np.maximum(net.weight.numpy() @ z + net.bias.numpy(), 0)
    np.testing.assert_allclose(net(fer.tensor(z)).numpy(), wanted, rtol=1e-5, atol=1e-6)
    named = M.ReLU("first"), M.GELU("second"), M.Sigmoid(name="third"), M.ReLU(inplace=True)
    assert [m.name for m in named] == ["first", "second", "third", None]


def test_general_norm_and_group_statistics():
    x = normal(2, 3, 4)
    net = M.GeneralNorm((4, 2), (2, 0))
    assert net.weight.shape == (2, 4)
    got = net(fer.tensor(x)).numpy()
    np.testing.assert_allclose(got.mean((0, 2)), 0, atol=1e-6)
    np.testing.assert_allclose(got.var((0, 2)), 1, atol=1e-4)
    assert M.GeneralNorm(normalized_axis=1, affine=False)(fer.tensor(x)).shape == x.shape
    assert M.InstanceNorm(3)(fer.tensor(x)).numpy().mean(2) == pytest.approx(np.zeros((2, 3)), abs=1e-6)
    with pytest.raises(ShapeError, match="one size an axis"):
        M.GeneralNorm(4, (0, 1))
    with pytest.raises(ShapeError, match="6 channels do not divide into 4 groups"):
        M.GroupNorm(4, 6)


def test_batch_norm_of_one_device():
    x = fer.tensor(normal(4, 3, 2, 2))
    one, other = M.SyncBatchNorm(3), M.BatchNorm2d(3)
    np.testing.assert_array_equal(one(x).numpy(), other(x).numpy())
    np.testing.assert_array_equal(one.running_var.numpy(), other.running_var.numpy())


@pytest.mark.parametrize(("padding", "stride", "dilation"), ((0, 1, 1), ((1, 2), (2, 1), 1), (1, 2, 2)))
def test_windows_of_images(padding, stride, dilation):
    x = normal(2, 3, 6, 7)
    pads, strides, steps = (v if isinstance(v, tuple) else (v, v) for v in (padding, stride, dilation))
    got = M.SlidingWindow((2, 3), padding, stride, dilation)(fer.tensor(x)).numpy()
    whole = np.pad(x, ((0, 0), (0, 0), (pads[0],) * 2, (pads[1],) * 2))
    for i in range(got.shape[2]):
        for j in range(got.shape[3]):
            top, left = i * strides[0], j * strides[1]
            rows = slice(top, top + steps[0] + 1, steps[0])
            part = whole[:, :, rows, left : left + 2 * steps[1] + 1 : steps[1]]
            np.testing.assert_array_equal(got[:, :, i, j], part)
    # The sum at the places is the transpose: <windows(x), w> = <x, sum(w)>.
    w = normal(*got.shape, seed=1)
    back = M.SlidingWindowTranspose((6, 7), (2, 3), padding, stride, dilation)(fer.tensor(w)).numpy()
    assert back.shape == x.shape
    np.testing.assert_allclose((back * x).sum(), (got * w).sum(), rtol=1e-3)


@pytest.mark.parametrize("groups", (1, 2))
def test_a_convolution_with_weights_of_its_own_at_every_place(groups):
    net = M.LocalConv2d(4, 6, 5, 6, (2, 3), stride=2, padding=1, groups=groups)
    x = normal(2, 4, 5, 6)
    got = net(fer.tensor(x)).numpy()
    weight = net.weight.numpy()
    windows = F.nn.sliding_window(fer.tensor(x), (2, 3), 1, 2).numpy()
    windows = windows.reshape(2, groups, 4 // groups, *windows.shape[2:])
    wanted = np.einsum("ngcxyhw,gxychwo->ngoxy", windows, weight).reshape(got.shape)
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
    # With one weight for all places it is a convolution.
    same = M.Conv2d(4, 6, (2, 3), stride=2, padding=1, groups=groups, bias=False)
    kernels = same.weight.numpy().reshape(groups, 6 // groups, 4 // groups, 2, 3).transpose(0, 2, 3, 4, 1)
    net.weight.set_value(np.broadcast_to(kernels[:, None, None], weight.shape))
    np.testing.assert_allclose(net(fer.tensor(x)).numpy(), same(fer.tensor(x)).numpy(), rtol=1e-4, atol=1e-5)
    with pytest.raises(ShapeError, match="weight of shape"):
        net(fer.zeros((2, 4, 9, 9)))


def test_a_convolution_restricted_to_regions():
    net, x = M.RegionRestrictedConv(4, 6, 3, groups=2, padding=1), normal(2, 4, 5, 6)
    plain = M.Conv2d(4, 6, 3, padding=1, groups=2)
    plain.load_state_dict(net.state_dict())
    regions = np.random.default_rng(0).integers(0, 2, (2, 5, 6)).astype("int32")
    got = net(fer.tensor(x), regions, regions).numpy()
    for region in (0, 1):
        alone = plain(fer.tensor(np.where(regions[:, None] == region, x, 0).astype("float32"))).numpy()
        inside = np.broadcast_to(regions[:, None] == region, got.shape)
        np.testing.assert_allclose(got[inside], alone[inside], rtol=1e-4, atol=1e-5)
    one = np.zeros((2, 5, 6), "int32")
    np.testing.assert_allclose(net(fer.tensor(x), one, one).numpy(), plain(fer.tensor(x)).numpy(), rtol=1e-4, atol=1e-5)


def test_a_convolution_with_moved_windows():
    net, x = M.DeformableConv2d(4, 6, (2, 3), stride=2, padding=1, groups=2), normal(2, 4, 5, 6)
    plain = M.Conv2d(4, 6, (2, 3), stride=2, padding=1, groups=2)
    plain.load_state_dict(net.state_dict())
    none, ones = np.zeros((2, 12, 3, 3), "float32"), np.ones((2, 6, 3, 3), "float32")
    wanted = plain(fer.tensor(x)).numpy()
    np.testing.assert_allclose(net(fer.tensor(x), none, ones).numpy(), wanted, rtol=1e-4, atol=1e-5)
    # One down and half to the right, for each of two groups of channels: the mean of two moved images.
    moves = np.tile(np.array([1, 0.5], "float32")[None, :, None, None], (2, 12, 3, 3))
    wide = np.pad(x, ((0, 0), (0, 0), (1, 2), (1, 2)))
    moved = (wide[:, :, 1:, :-1] + wide[:, :, 1:, 1:]) / 2
    got = net(fer.tensor(x), moves, np.full((2, 12, 3, 3), 2, "float32")).numpy()
    bare = M.Conv2d(4, 6, (2, 3), stride=2, groups=2, bias=False)
    bare.weight.set_value(net.weight)
    wanted = 2 * bare(fer.tensor(moved)).numpy()[:, :, :3, :3] + net.bias.numpy()
    np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)
    with pytest.raises(ShapeError, match="2 and 1 numbers a tap"):
        net(fer.tensor(x), none, none)


def test_sizes_by_hand():
    x = fer.tensor(np.arange(4, dtype="float32").reshape(1, 1, 4))
    got = M.Upsample(7, mode="linear", align_corners=True)(x)
    assert got.numpy().ravel().tolist() == [0, 0.5, 1, 1.5, 2, 2.5, 3]
    assert M.Upsample(scale_factor=2)(x).numpy().ravel().tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    image = F.reshape(x, (1, 1, 2, 2))
    assert M.UpsamplingNearest2d(scale_factor=2)(image).numpy()[0, 0, 1].tolist() == [0, 0, 1, 1]
    assert M.UpsamplingBilinear2d((2, 3))(image).numpy()[0, 0].tolist() == [[0, 0.5, 1], [2, 2.5, 3]]


def test_borders_and_options_that_are_wrong_are_refused():
    for call, error, pattern in (
        (lambda: M.Conv2d(2, 2, 3, padding="full"), UnsupportedError, "padding 'full'; allowed: 'same', 'valid'"),
        (lambda: M.ConvTranspose2d(2, 2, 3, padding="same"), UnsupportedError, "padding 'same'; allowed: ints"),
        (lambda: M.ReflectionPad2d((1, 2, 3)), ShapeError, "an int or 4 ints"),
        (lambda: M.LSTM(2, 3, proj_size=3), UnsupportedError, "proj_size 3"),
        (lambda: M.GRU(2, 3, proj_size=1), UnsupportedError, "proj_size 1"),
        (lambda: M.RNN(2, 3, nonlinearity="sine"), UnsupportedError, "'sine'; allowed: tanh, relu"),
        (lambda: M.LSTM(2, 3, num_layers=0), ValueError, "num_layers is 0"),
        (lambda: M.L1Loss("median"), UnsupportedError, "'median'; allowed: mean, sum, none"),
        (lambda: M.LSTM(2, 3)(fer.zeros((4, 1, 5))), ShapeError, r"\(T, N, 2\) is needed"),
        (lambda: M.GRU(2, 3)(fer.zeros((4, 1, 2)), fer.zeros((1, 2, 3))), ShapeError, r"\(1, 1, 3\) is needed"),
        (lambda: M.LSTM(2, 3)(fer.zeros((4, 1, 2)), fer.zeros((1, 1, 3))), ShapeError, "1 tensors; 2 are needed"),
        (lambda: M.LSTMCell(2, 3)(fer.zeros((4, 3))), ShapeError, r"\(N, 2\) or \(2,\) is needed"),
        (lambda: M.GRUCell(2, 3)(fer.zeros((4, 2)), fer.zeros((4, 2))), ShapeError, r"\(4, 3\) is needed"),
    ):
        with pytest.raises(error, match=pattern):
            call()


def test_the_classes_of_an_adaptive_softmax():
    net, x = M.AdaptiveLogSoftmaxWithLoss(6, 7, [2, 4], 2.0), fer.tensor(normal(5, 6))
    logs = net.log_prob(x).numpy()
    np.testing.assert_allclose(np.exp(logs).sum(1), 1, rtol=1e-5)
    np.testing.assert_array_equal(net.predict(x).numpy(), logs.argmax(1))
    for cutoffs in ([], [3, 2], [2, 2], [0, 3], [7]):
        with pytest.raises(ShapeError, match="cutoffs .*; allowed: ascending numbers from 1 to 6"):
            M.AdaptiveLogSoftmaxWithLoss(6, 7, cutoffs)
    with pytest.raises(ShapeError, match=r"\(N, in_features\) is needed"):
        net.log_prob(x[0])
