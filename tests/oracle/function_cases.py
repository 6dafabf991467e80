"""Products, convolutions, pools, norms, attention, losses and images that PyTorch has too; see case_table.py.

make_functions.py runs the calls of torch in float64 and stores values and gradients; tests/e2e/function_oracle_test.py
compares Ferrule's with them. Neither module is imported here.
"""

import math

import numpy as np
from case_table import case_table

CASES, case = case_table()


def labels(*values):
    return np.array(values, "int64")


# --- products ---------------------------------------------------------------------------------------------------------

RANKS = [(4,), (3, 4), (2, 3, 4), (5, 2, 3, 4)]
for left in RANKS:
    for right in [(4,), (4, 3), (2, 4, 3), (5, 1, 4, 3), (5, 2, 4, 1)]:
        case(
            f"matmul {left} {right}",
            {"a": left, "b": right},
            lambda F, a, b: F.matmul(a, b),
            lambda torch, f, a, b: torch.matmul(a, b),
        )
case(
    "matmul transposed",
    {"a": (2, 4, 3), "b": (5, 4)},
    lambda F, a, b: F.matmul(a, b, transpose_a=True, transpose_b=True),
    lambda torch, f, a, b: a.mT @ b.mT,
)
case("matmul inner 0", {"a": (2, 3, 0), "b": (0, 4)}, lambda F, a, b: F.matmul(a, b), lambda torch, f, a, b: a @ b)
case("matmul empty batch", {"a": (0, 3, 2), "b": (2, 4)}, lambda F, a, b: F.matmul(a, b), lambda torch, f, a, b: a @ b)
case("dot", {"a": (37,), "b": (37,)}, lambda F, a, b: F.dot(a, b), lambda torch, f, a, b: torch.dot(a, b))
case("outer", {"a": (3,), "b": (4,)}, lambda F, a, b: F.outer(a, b), lambda torch, f, a, b: torch.outer(a, b))
case(
    "addmm",
    {"c": (4,), "a": (3, 5), "b": (5, 4)},
    lambda F, c, a, b: F.addmm(c, a, b, beta=0.5, alpha=2),
    lambda torch, f, c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2),
)
case(
    "baddbmm",
    {"c": (2, 3, 4), "a": (2, 3, 5), "b": (2, 5, 4)},
    lambda F, c, a, b: F.baddbmm(c, a, b),
    lambda torch, f, c, a, b: torch.baddbmm(c, a, b),
)
case(
    "tensordot axes",
    {"a": (2, 3, 4, 5), "b": (5, 3, 6)},
    lambda F, a, b: F.tensordot(a, b, ([3, 1], [0, 1])),
    lambda torch, f, a, b: torch.tensordot(a, b, ([3, 1], [0, 1])),
)
case(
    "tensordot 0",
    {"a": (2, 3), "b": (4,)},
    lambda F, a, b: F.tensordot(a, b, 0),
    lambda torch, f, a, b: torch.tensordot(a, b, 0),
)
case(
    "linear",
    {"x": (2, 3, 4), "w": (5, 4), "b": (5,)},
    lambda F, x, w, b: F.linear(x, w, b),
    lambda torch, f, x, w, b: f.linear(x, w, b),
)
for equation, shapes in [
    ("ij,jk->ik", [(2, 3), (3, 4)]),
    ("ij,jk", [(2, 3), (3, 4)]),
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
    ("ij,j->i", [(3, 4), (4,)]),
    ("i,i->", [(5,), (5,)]),
    ("i,j->ij", [(3,), (4,)]),
    ("ii->", [(4, 4)]),
    ("ii->i", [(4, 4)]),
    ("iij->j", [(3, 3, 2)]),
    ("ijk->kij", [(2, 3, 4)]),
    ("ij->", [(2, 3)]),
    ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 2)]),
    ("...i->...", [(2, 3, 4)]),
    ("b...,b...->...", [(2, 3, 4), (2, 3, 4)]),
    ("ij,kj,lk->il", [(2, 3), (4, 3), (5, 4)]),
    ("bhqd,bhkd->bhqk", [(2, 2, 3, 4), (2, 2, 5, 4)]),
    ("ab,bc,ca->", [(2, 3), (3, 4), (4, 2)]),
    ("ij,ij->ij", [(2, 3), (2, 3)]),
    ("ij,kl->il", [(2, 3), (4, 5)]),
]:
    case(
        f"einsum {equation}",
        dict(zip("abc", shapes)),
        lambda F, *x, equation=equation: F.einsum(equation, *x),
        lambda torch, f, *x, equation=equation: torch.einsum(equation, *x),
    )

# --- convolutions -----------------------------------------------------------------------------------------------------

SPACE = {1: (9,), 2: (7, 8), 3: (4, 6, 5)}
KERNEL = {1: (3,), 2: (3, 2), 3: (2, 3, 2)}
for rank in (1, 2, 3):
    for name, arguments, groups in [
        ("plain", {}, 1),
        ("stride", {"stride": 2}, 1),
        ("padding", {"padding": 1}, 1),
        ("dilation", {"dilation": 2, "padding": 2}, 1),
        ("groups", {"padding": 1, "stride": 2}, 2),
        ("depthwise", {"padding": 1}, 4),
        ("same", {"padding": "same"}, 1),
        ("valid", {"padding": "valid", "stride": 2}, 1),
    ]:
        case(
            f"conv{rank}d {name}",
            {"x": (2, 4, *SPACE[rank]), "w": (4, 4 // groups, *KERNEL[rank]), "b": (4,)},
            lambda F, x, w, b, r=rank, a=arguments, g=groups: getattr(F, f"conv{r}d")(x, w, b, groups=g, **a),
            lambda torch, f, x, w, b, r=rank, a=arguments, g=groups: getattr(f, f"conv{r}d")(x, w, b, groups=g, **a),
        )
    case(
        f"conv{rank}d kernel 1",
        {"x": (2, 3, *SPACE[rank]), "w": (5, 3, *(1,) * rank)},
        lambda F, x, w, r=rank: getattr(F, f"conv{r}d")(x, w),
        lambda torch, f, x, w, r=rank: getattr(f, f"conv{r}d")(x, w),
    )
    case(
        f"conv{rank}d one sample",
        {"x": (3, *SPACE[rank]), "w": (5, 3, *KERNEL[rank])},
        lambda F, x, w, r=rank: getattr(F, f"conv{r}d")(x, w),
        lambda torch, f, x, w, r=rank: getattr(f, f"conv{r}d")(x, w),
    )
    case(
        f"conv{rank}d empty batch",
        {"x": (0, 3, *SPACE[rank]), "w": (5, 3, *KERNEL[rank])},
        lambda F, x, w, r=rank: getattr(F, f"conv{r}d")(x, w),
        lambda torch, f, x, w, r=rank: getattr(f, f"conv{r}d")(x, w),
    )
    for name, arguments, groups in [
        ("plain", {}, 1),
        ("stride", {"stride": 2}, 1),
        ("crop", {"stride": 2, "padding": 1}, 1),
        ("output padding", {"stride": 3, "padding": 1, "output_padding": 2}, 1),
        ("output padding beyond", {"stride": 2, "output_padding": 1}, 1),
        ("output padding by dilation", {"dilation": 3, "output_padding": 2, "padding": 1}, 1),
        ("dilation", {"dilation": 2}, 1),
        ("groups", {"stride": 2, "padding": 1}, 2),
    ]:
        case(
            f"conv_transpose{rank}d {name}",
            {"x": (2, 4, *(4, 3, 3)[:rank]), "w": (4, 6 // groups, *KERNEL[rank]), "b": (6,)},
            lambda F, x, w, b, r=rank, a=arguments, g=groups: getattr(F, f"conv_transpose{r}d")(x, w, b, groups=g, **a),
            lambda torch, f, x, w, b, r=rank, a=arguments, g=groups: getattr(f, f"conv_transpose{r}d")(
                x, w, b, groups=g, **a
            ),
        )
case(
    "conv2d uneven padding",
    {"x": (2, 3, 5, 6), "w": (4, 3, 3, 3)},
    lambda F, x, w: F.conv2d(x, w, padding=((0, 2), (1, 3)), stride=2),
    lambda torch, f, x, w: f.conv2d(f.pad(x, (1, 3, 0, 2)), w, stride=2),
)
case(
    "conv2d turned kernel",
    {"x": (2, 3, 5, 6), "w": (4, 3, 3, 2)},
    lambda F, x, w: F.conv2d(x, w, conv_mode="convolution"),
    lambda torch, f, x, w: f.conv2d(x, w.flip(2, 3)),
)
case(
    "conv2d weight of groups",
    {"x": (2, 4, 5, 6), "w": (2, 3, 2, 3, 2)},
    lambda F, x, w: F.conv2d(x, w, groups=2),
    lambda torch, f, x, w: f.conv2d(x, w.reshape(6, 2, 3, 2), groups=2),
)

# --- pools ------------------------------------------------------------------------------------------------------------

for rank in (1, 2, 3):
    for name, arguments in [
        ("plain", {"kernel_size": 2}),
        ("overlap", {"kernel_size": 3, "stride": 1, "padding": 1}),
        ("dilation", {"kernel_size": 2, "stride": 1, "dilation": 2}),
        ("ceil", {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True}),
    ]:
        case(
            f"max_pool{rank}d {name}",
            {"x": (1, 2, *SPACE[rank])},
            lambda F, x, r=rank, a=arguments: getattr(F, f"max_pool{r}d")(x, **a),
            lambda torch, f, x, r=rank, a=arguments: getattr(f, f"max_pool{r}d")(x, **a),
        )
    for name, arguments in [
        ("plain", {"kernel_size": 2, "count_include_pad": True}),
        ("count padding", {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": True}),
        ("leave padding out", {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False}),
        ("ceil", {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True, "count_include_pad": True}),
        ("ceil, no padding", {"kernel_size": 2, "stride": 2, "ceil_mode": True, "count_include_pad": False}),
    ]:
        case(
            f"avg_pool{rank}d {name}",
            {"x": (1, 2, *SPACE[rank])},
            lambda F, x, r=rank, a=arguments: getattr(F, f"avg_pool{r}d")(x, **a),
            lambda torch, f, x, r=rank, a=arguments: getattr(f, f"avg_pool{r}d")(x, **a),
        )
    for size in [1, 3, 4, 7]:
        for kind in ("max", "avg"):
            case(
                f"adaptive_{kind}_pool{rank}d {size}",
                {"x": (1, 2, *SPACE[rank])},
                lambda F, x, r=rank, n=size, k=kind: getattr(F, f"adaptive_{k}_pool{r}d")(x, n),
                lambda torch, f, x, r=rank, n=size, k=kind: getattr(f, f"adaptive_{k}_pool{r}d")(x, n),
            )
case(
    "avg_pool2d divisor",
    {"x": (2, 3, 6, 6)},
    lambda F, x: F.avg_pool2d(x, 2, divisor_override=3),
    lambda torch, f, x: f.avg_pool2d(x, 2, divisor_override=3),
)
case(
    "max_pool2d ties",
    {"x": np.array([[[[1.0, 1.0, 0.0], [1.0, 2.0, 2.0], [2.0, 2.0, 1.0]]]])},
    lambda F, x: F.max_pool2d(x, 2, 1),
    lambda torch, f, x: f.max_pool2d(x, 2, 1),
)

# --- norms ------------------------------------------------------------------------------------------------------------

for shape in [(6, 3), (4, 3, 5), (2, 3, 4, 5), (2, 3, 2, 3, 2)]:
    case(
        f"batch_norm {shape}",
        {"x": shape, "w": (3,), "b": (3,)},
        lambda F, x, w, b: F.batch_norm(x, weight=w, bias=b, training=True),
        lambda torch, f, x, w, b: f.batch_norm(x, None, None, w, b, True),
    )
case(
    "batch_norm evaluation",
    {"x": (2, 3, 4, 5), "m": (3,), "v": np.array([0.5, 1.5, 2.0]), "w": (3,), "b": (3,)},
    lambda F, x, m, v, w, b: F.batch_norm(x, m, v, w, b),
    lambda torch, f, x, m, v, w, b: (x - m[:, None, None]) / torch.sqrt(v + 1e-5)[:, None, None] * w[:, None, None]
    + b[:, None, None],
)
case("batch_norm plain", {"x": (4, 3, 5)}, lambda F, x: F.batch_norm(x, training=True),
     lambda torch, f, x: f.batch_norm(x, None, None, None, None, True))
case(
    "layer_norm",
    {"x": (3, 4, 5), "w": (4, 5), "b": (4, 5)},
    lambda F, x, w, b: F.layer_norm(x, (4, 5), True, w, b),
    lambda torch, f, x, w, b: f.layer_norm(x, (4, 5), w, b),
)
case("layer_norm plain", {"x": (3, 4, 5)}, lambda F, x: F.layer_norm(x, 5, False),
     lambda torch, f, x: f.layer_norm(x, (5,)))
case(
    "general_norm",
    {"x": (3, 4, 5), "w": (3, 5), "b": (3, 5)},
    lambda F, x, w, b: F.general_norm(x, (0, 2), True, w, b),
    lambda torch, f, x, w, b: f.layer_norm(x.permute(1, 0, 2), (3, 5), w, b).permute(1, 0, 2),
)
for shape in [(2, 6), (2, 6, 5), (2, 6, 3, 4)]:
    case(
        f"group_norm {shape}",
        {"x": shape, "w": (6,), "b": (6,)},
        lambda F, x, w, b: F.group_norm(x, 3, True, w, b),
        lambda torch, f, x, w, b: f.group_norm(x, 3, w, b),
    )
for shape in [(2, 3, 5), (2, 3, 4, 5)]:
    case(
        f"instance_norm {shape}",
        {"x": shape, "w": (3,), "b": (3,)},
        lambda F, x, w, b: F.instance_norm(x, True, w, b),
        lambda torch, f, x, w, b: f.instance_norm(x, None, None, w, b),
    )
case(
    "rms_norm",
    {"x": (3, 4, 5), "w": (5,)},
    lambda F, x, w: F.rms_norm(x, (5,), w, 1e-6),
    lambda torch, f, x, w: x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w,
)
case(
    "local_response_norm",
    {"x": (2, 7, 3, 4)},
    lambda F, x: F.local_response_norm(x, 5, 2.0, 0.1, 0.75),
    lambda torch, f, x: f.local_response_norm(x, 5, 0.5, 0.75, 2.0),
)

# --- attention --------------------------------------------------------------------------------------------------------

QKV = {"q": (2, 4, 3, 6), "k": (2, 4, 5, 6), "v": (2, 4, 5, 7)}
case(
    "attention",
    QKV,
    lambda F, q, k, v: F.scaled_dot_product_attention(q, k, v),
    lambda torch, f, q, k, v: f.scaled_dot_product_attention(q, k, v),
)
case(
    "attention scale",
    QKV,
    lambda F, q, k, v: F.attention(q, k, v, scale=0.3),
    lambda torch, f, q, k, v: f.scaled_dot_product_attention(q, k, v, scale=0.3),
)
case(
    "attention causal",
    QKV,
    lambda F, q, k, v: F.attention(q, k, v, is_causal=True),
    lambda torch, f, q, k, v: f.scaled_dot_product_attention(q, k, v, is_causal=True),
)
case(
    "attention bool mask",
    {**QKV, "m": np.array([[1, 1, 0, 0, 1], [0, 1, 1, 1, 0], [1, 0, 0, 0, 0]], bool)},
    lambda F, q, k, v, m: F.attention(q, k, v, m),
    lambda torch, f, q, k, v, m: f.scaled_dot_product_attention(q, k, v, m),
)
case(
    "attention additive mask",
    {**QKV, "m": (2, 1, 3, 5)},
    lambda F, q, k, v, m: F.attention(q, k, v, m),
    lambda torch, f, q, k, v, m: f.scaled_dot_product_attention(q, k, v, m),
)
case(
    "attention grouped",
    {"q": (2, 4, 3, 6), "k": (2, 2, 5, 6), "v": (2, 2, 5, 7)},
    lambda F, q, k, v: F.attention(q, k, v, enable_gqa=True),
    lambda torch, f, q, k, v: f.scaled_dot_product_attention(
        q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
    ),
)


def packed(torch, p, width):
    """Weights (out, in) for query, key and value together, and for the output, of MegEngine's packed tensor."""
    square = width * width
    weights = [p[i * square : (i + 1) * square].reshape(width, width).T for i in range(4)]
    return torch.cat(weights[:3]), weights[3]


for bias in (False, True):
    case(
        f"multi_head_attention bias {bias}",
        {"q": (2, 3, 6), "k": (2, 5, 6), "v": (2, 5, 6), "p": (4 * 36 + 24 * bias,)},
        lambda F, q, k, v, p, b=bias: F.nn.multi_head_attention(
            q, k, v, 6, 2, 0.0, 0.0, p, qbias=b, kbias=b, vbias=b, obias=b
        )[0],
        lambda torch, f, q, k, v, p, b=bias: f.multi_head_attention_forward(
            q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1), 6, 2, packed(torch, p, 6)[0],
            p[144:162] if b else None, None, None, False, 0.0, packed(torch, p, 6)[1], p[162:] if b else None,
            need_weights=False,
        )[0].transpose(0, 1),
    )
case(
    "multi_head_attention masked",
    {"q": (2, 3, 6), "k": (2, 5, 6), "v": (2, 5, 6), "p": (144,), "a": (3, 5),
     "m": np.array([[0, 0, 1, 0, 1], [0, 1, 0, 0, 0]], bool)},
    lambda F, q, k, v, p, a, m: F.nn.multi_head_attention(
        q, k, v, 6, 2, 0.0, 0.0, p, attn_mask=a, key_padding_mask=m, need_weights=True, average_attn_weights=True
    )[1],
    lambda torch, f, q, k, v, p, a, m: f.multi_head_attention_forward(
        q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1), 6, 2, packed(torch, p, 6)[0], None, None, None, False,
        0.0, packed(torch, p, 6)[1], None,
        attn_mask=a, key_padding_mask=torch.zeros(2, 5, dtype=torch.float64).masked_fill(m, -math.inf),
    )[1],
)

# --- losses -----------------------------------------------------------------------------------------------------------

ROWS = {"x": (4, 5), "y": labels(1, 4, -100, 0)}
WEIGHTS = np.array([0.5, 1.0, 2.0, 0.25, 1.5])
for reduction in ("none", "sum", "mean"):
    case(
        f"cross_entropy {reduction}",
        ROWS,
        lambda F, x, y, r=reduction: F.cross_entropy(x, y, reduction=r, ignore_index=-100),
        lambda torch, f, x, y, r=reduction: f.cross_entropy(x, y, reduction=r),
    )
    case(
        f"cross_entropy weight smooth {reduction}",
        {**ROWS, "w": WEIGHTS},
        lambda F, x, y, w, r=reduction: F.cross_entropy(
            x, y, reduction=r, ignore_index=-100, weight=F.stop_gradient(w), label_smooth=0.1
        ),
        lambda torch, f, x, y, w, r=reduction: f.cross_entropy(x, y, w.detach(), reduction=r, label_smoothing=0.1)
        + 0 * w.sum(),
    )
    case(
        f"nll_loss {reduction}",
        ROWS,
        lambda F, x, y, r=reduction: F.nll_loss(x, y, reduction=r),
        lambda torch, f, x, y, r=reduction: f.nll_loss(x, y, reduction=r),
    )
    case(
        f"smooth_l1_loss {reduction}",
        {"x": (3, 4), "y": (3, 4)},
        lambda F, x, y, r=reduction: F.smooth_l1_loss(x, y, r, 0.7),
        lambda torch, f, x, y, r=reduction: f.smooth_l1_loss(x, y, reduction=r, beta=0.7),
    )
    case(
        f"huber_loss {reduction}",
        {"x": (3, 4), "y": (3, 4)},
        lambda F, x, y, r=reduction: F.huber_loss(x, y, r, 0.7),
        lambda torch, f, x, y, r=reduction: f.huber_loss(x, y, reduction=r, delta=0.7),
    )
case(
    "cross_entropy smooth",
    ROWS,
    lambda F, x, y: F.cross_entropy(x, y, label_smooth=0.2, ignore_index=-100),
    lambda torch, f, x, y: f.cross_entropy(x, y, label_smoothing=0.2),
)
case(
    "cross_entropy space",
    {"x": (2, 5, 3), "y": labels([0, 1, 4], [3, 3, 2])},
    lambda F, x, y: F.cross_entropy(x, y),
    lambda torch, f, x, y: f.cross_entropy(x, y),
)
case(
    "cross_entropy axis",
    {"x": (2, 3, 5), "y": labels([0, 1, 4], [3, 3, 2])},
    lambda F, x, y: F.cross_entropy(x, y, axis=-1),
    lambda torch, f, x, y: f.cross_entropy(x.movedim(-1, 1), y),
)
case(
    "cross_entropy probabilities",
    {"x": np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]]), "y": labels(1, 2)},
    lambda F, x, y: F.cross_entropy(x, y, with_logits=False),
    lambda torch, f, x, y: f.nll_loss(torch.log(x), y),
)
case(
    "cross_entropy soft",
    {"x": (2, 3), "y": np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]])},
    lambda F, x, y: F.cross_entropy(x, y, label_smooth=0.1),
    lambda torch, f, x, y: f.cross_entropy(x, y, label_smoothing=0.1),
)
case(
    "binary_cross_entropy logits",
    {"x": (3, 4), "y": np.linspace(0, 1, 12).reshape(3, 4), "p": np.array([1.0, 2.0, 0.5, 3.0])},
    lambda F, x, y, p: F.binary_cross_entropy(x, y, pos_weight=p),
    lambda torch, f, x, y, p: -(p * y * f.logsigmoid(x) + (1 - y) * f.logsigmoid(-x)).mean(),
)
case(
    "binary_cross_entropy",
    {"x": np.array([0.1, 0.5, 0.9, 0.3]), "y": np.array([0.0, 1.0, 1.0, 0.25]), "w": np.array([1.0, 2.0, 1.0, 0.5])},
    lambda F, x, y, w: F.binary_cross_entropy(x, y, False, "sum", weight=w),
    lambda torch, f, x, y, w: f.binary_cross_entropy(x, y, w.detach(), reduction="sum")
    + (w - w.detach()).mul(-(y * torch.log(x) + (1 - y) * torch.log(1 - x)).detach()).sum(),
)
case("mse_loss", {"x": (3, 4), "y": (3, 4)}, lambda F, x, y: F.mse_loss(x, y), lambda torch, f, x, y: f.mse_loss(x, y))
case("l1_loss", {"x": (3, 4), "y": (3, 4)}, lambda F, x, y: F.l1_loss(x, y), lambda torch, f, x, y: f.l1_loss(x, y))
case(
    "kl_div",
    {"x": (2, 3), "y": np.array([[0.2, 0.5, 0.3], [0.6, 0.4, 0.0]])},
    lambda F, x, y: F.kl_div(x, F.stop_gradient(y), "batchmean"),
    lambda torch, f, x, y: f.kl_div(x, y.detach(), reduction="batchmean") + 0 * y.sum(),
)
case(
    "kl_div log target",
    {"x": (2, 3), "y": (2, 3)},
    lambda F, x, y: F.kl_div(x, y, log_target=True),
    lambda torch, f, x, y: f.kl_div(x, y, log_target=True),
)
case(
    "cosine_similarity",
    {"x": (2, 3, 4), "y": (2, 3, 4)},
    lambda F, x, y: F.cosine_similarity(x, y),
    lambda torch, f, x, y: f.cosine_similarity(x, y),
)
case(
    "cosine_embedding_loss",
    {"x": (3, 4), "y": (3, 4), "t": labels(1, -1, -1)},
    lambda F, x, y, t: F.cosine_embedding_loss(x, y, t, 0.1),
    lambda torch, f, x, y, t: f.cosine_embedding_loss(x, y, t, 0.1),
)
case(
    "triplet_margin_loss",
    {"a": (3, 4), "p": (3, 4), "n": (3, 4)},
    lambda F, a, p, n: F.triplet_margin_loss(a, p, n, swap=True),
    lambda torch, f, a, p, n: f.triplet_margin_loss(a, p, n, swap=True),
)
case(
    "margin_ranking_loss",
    {"a": (5,), "b": (5,), "t": labels(1, -1, 1, -1, 1)},
    lambda F, a, b, t: F.margin_ranking_loss(a, b, t, 0.2),
    lambda torch, f, a, b, t: f.margin_ranking_loss(a, b, t, 0.2),
)

CTC = {"x": (7, 3, 5), "y": labels([1, 2, 2], [3, 3, 4], [4, 1, 1]), "t": labels(7, 6, 4), "n": labels(3, 2, 1)}
for reduction in ("none", "sum", "mean"):
    case(
        f"ctc_loss {reduction}",
        CTC,
        lambda F, x, y, t, n, r=reduction: F.ctc_loss(F.softmax(x, -1), t, y, n, reduction=r),
        lambda torch, f, x, y, t, n, r=reduction: f.ctc_loss(f.log_softmax(x, -1), y, t, n, reduction=r),
    )

# --- images -----------------------------------------------------------------------------------------------------------

for mode, shape, sizes in [
    ("linear", (2, 3, 7), (12, 4, 1)),
    ("bilinear", (2, 3, 5, 7), ((9, 4), (3, 13), (1, 1))),
    ("trilinear", (1, 2, 3, 4, 5), ((5, 3, 9),)),
    ("bicubic", (2, 3, 5, 7), ((9, 4), (1, 13))),
]:
    for size in sizes:
        for align in (False, True):
            case(
                f"interpolate {mode} {size} align {align}",
                {"x": shape},
                lambda F, x, s=size, m=mode, a=align: F.interpolate(x, s, mode=m, align_corners=a),
                lambda torch, f, x, s=size, m=mode, a=align: f.interpolate(x, s, mode=m, align_corners=a),
            )
for shape, size in [((2, 3, 7), 12), ((2, 3, 5, 7), (9, 4)), ((1, 2, 3, 4, 5), (5, 3, 9))]:
    case(
        f"interpolate nearest {size}",
        {"x": shape},
        lambda F, x, s=size: F.interpolate(x, s, mode="nearest"),
        lambda torch, f, x, s=size: f.interpolate(x, s, mode="nearest"),
    )
case(
    "interpolate scale",
    {"x": (2, 3, 5, 7)},
    lambda F, x: F.interpolate(x, scale_factor=2),
    lambda torch, f, x: f.interpolate(x, scale_factor=2, mode="bilinear"),
)


def grid(torch, points, height, width):
    """Pixels as the positions from -1 to 1 that grid_sample takes with align_corners."""
    return points * torch.tensor([2 / (width - 1), 2 / (height - 1)], dtype=points.dtype) - 1


POINTS = np.random.default_rng(7).uniform(-1.5, 6.5, (2, 4, 3, 2))
for border, padding in (("replicate", "border"), ("constant", "zeros")):
    case(
        f"remap {border}",
        {"x": (2, 3, 5, 6), "p": POINTS},
        lambda F, x, p, b=border: F.remap(x, p, b),
        lambda torch, f, x, p, m=padding: f.grid_sample(x, grid(torch, p, 5, 6), padding_mode=m, align_corners=True),
    )
for padding in ("zeros", "border", "reflection"):
    for mode in ("bilinear", "nearest"):
        for align in (False, True):
            options = {"mode": mode, "padding_mode": padding, "align_corners": align}
            case(
                f"grid_sample {mode} {padding} align {align}",
                {"x": (2, 3, 5, 6), "p": np.random.default_rng(8).uniform(-1.7, 1.7, (2, 4, 3, 2))},
                lambda F, x, p, o=options: F.grid_sample(x, p, **o),
                lambda torch, f, x, p, o=options: f.grid_sample(x, p, **o),
            )
for align in (False, True):
    case(
        f"affine_grid align {align}",
        {"x": (2, 2, 3)},
        lambda F, x, a=align: F.affine_grid(x, (2, 3, 4, 5), a),
        lambda torch, f, x, a=align: f.affine_grid(x, (2, 3, 4, 5), align_corners=a),
    )
    case(
        f"affine_grid single align {align}",
        {"x": (1, 2, 3)},
        lambda F, x, a=align: F.affine_grid(x, (1, 1, 1, 4), a),
        lambda torch, f, x, a=align: f.affine_grid(x, (1, 1, 1, 4), align_corners=a),
    )
