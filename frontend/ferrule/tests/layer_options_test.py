"""Layers that torch does not have, or not in this form, and the options of those that it has."""

import ferrule as fer
import ferrule.module as M
import numpy as np
import pytest
from ferrule.errors import ShapeError, UnsupportedError


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


def test_borders_and_options_that_are_wrong_are_refused():
    for call, error, pattern in (
        (lambda: M.Conv2d(2, 2, 3, padding="full"), UnsupportedError, "padding 'full'; allowed: 'same', 'valid'"),
        (lambda: M.ConvTranspose2d(2, 2, 3, padding="same"), UnsupportedError, "padding 'same'; allowed: ints"),
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
