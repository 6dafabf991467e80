"""Scaled dot-product attention, and MegEngine's multi-head attention."""

import math

from .. import dtypes
from .._stream import apply
from .._tensor import Tensor, as_tensor
from ..errors import ShapeError, UnsupportedError
from ..location import user_location
from ..shapes import is_static, show
from .contraction import matmul
from .creation import zeros
from .elementwise import equal, exp, greater, logical_and, not_equal, stop_gradient, where
from .recording import remembered
from .reduce import max as max_of
from .reduce import mean as mean_of
from .reduce import sum as sum_of
from .shape import broadcast_to, concat, expand_dims, reshape, transpose

__all__ = ["attention", "attention_with_weights", "multi_head_attention", "scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """softmax(query @ key.T * scale + mask) @ value, over the last two axes.

    A key that a mask excludes is absent: its scores and values are not read, even if they are NaN. A query whose keys
    are all excluded has the output 0 and sends no gradient. A key or value that takes part and is not finite makes NaN.

    Args:
        query: (..., heads, L, E).
        key, value: (..., heads, S, E) and (..., heads, S, V). With ``enable_gqa`` they may have fewer heads, a divisor
            of the query's: neighbouring query heads share one.
        attn_mask: broadcasts to (..., heads, L, S); of bools, True for the keys that take part; or of floats, added to
            the scores, where -inf excludes.
        dropout_p: the share of weights that is dropped.
        is_causal: query i sees the keys 0 to i.
        scale: 1 / sqrt(E) unless given.

    Returns:
        (..., heads, L, V)
    """
    op = "scaled_dot_product_attention"
    return _attended(op, query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)[0]


def attention(query, key, value, mask=None, *, is_causal=False, scale=None, enable_gqa=False):
    """`scaled_dot_product_attention` without dropout."""
    return _attended("attention", query, key, value, mask, 0.0, is_causal, scale, enable_gqa)[0]


def attention_with_weights(
    query, key, value, mask=None, *, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    """`scaled_dot_product_attention` and its weights (..., heads, L, S), as they are before dropout."""
    op = "attention_with_weights"
    return _attended(op, query, key, value, mask, dropout_p, is_causal, scale, enable_gqa)


def _attend(op, query, key, value, mask, dropout, is_causal, scale, grouped):
    """The output and the weights (before dropout)."""
    query, key, value = as_tensor(query), as_tensor(key), as_tensor(value)
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if tensor.ndim < 2:
            raise ShapeError(
                f"{op}: {name} of shape {show(tensor.shape)} at {user_location()}; rank 2 or more is needed"
            )
    if grouped:
        key, value = (_repeat_heads(op, query, tensor) for tensor in (key, value))
    if scale is None:
        width = query.shape[-1]
        if not is_static(width):
            raise ShapeError(f"{op}: query of shape {show(query.shape)} at {user_location()}; give the scale")
        scale = 1.0 / math.sqrt(width) if width else 1.0
    present, bias = _masks(op, query, key, mask, is_causal)
    if present is None:
        scores = matmul(query, key, transpose_b=True) * scale
        weights = _softmax(scores if bias is None else scores + bias)
        return matmul(_dropped(weights, dropout), value), weights
    scores = matmul(query, _finite(key), transpose_b=True) * scale
    broken_keys = stop_gradient((key - key).sum(-1))  # NaN for a key that is not finite, else 0
    scores = scores + expand_dims(broken_keys, -2)
    scores = scores if bias is None else scores + bias
    weights = _masked_softmax(scores, present)
    output = matmul(_dropped(weights, dropout), _finite(value))
    return output + _broken_values(present, value, weights), weights


_attend_without_dropout = remembered(_attend)


def _attended(op, query, key, value, mask, dropout, is_causal, scale, grouped):
    """As `_attend`; only dropout draws random numbers, so that other calls can be remembered."""
    attend = _attend if dropout else _attend_without_dropout
    return attend(op, query, key, value, mask, dropout, is_causal, scale, grouped)


def _repeat_heads(op, query, tensor):
    if query.ndim < 3 or tensor.ndim != query.ndim:
        raise ShapeError(
            f"{op}: query of shape {show(query.shape)} and key or value of shape {show(tensor.shape)} "
            f"at {user_location()}; with enable_gqa both have an axis of heads before the last two"
        )
    heads, given = query.shape[-3], tensor.shape[-3]
    if given == heads:
        return tensor
    if not given or heads % given:
        raise ShapeError(
            f"{op}: {heads} heads of the query and {given} of the key or value at {user_location()}; "
            f"with enable_gqa the second must divide the first"
        )
    shape = tensor.shape
    wide = broadcast_to(expand_dims(tensor, -3), shape[:-2] + (heads // given,) + shape[-2:])
    return reshape(wide, shape[:-3] + (heads,) + shape[-2:])


def _masks(op, query, key, mask, is_causal):
    """Which keys take part (bools that broadcast over the scores) and what is added to the scores, each or None."""
    present = bias = None
    if mask is not None:
        mask = as_tensor(mask)
        if mask.dtype == "bool":
            present = mask
        elif dtypes.is_float(mask.dtype):
            present = not_equal(mask, -math.inf)
            bias = where(present, mask, 0.0)
        else:
            raise UnsupportedError(f"{op}: a mask of {mask.dtype} at {user_location()}; bool or float is needed")
    if is_causal:
        rows, columns = _positions(query.shape[-2], 0), _positions(key.shape[-2], 1)
        causal = rows >= columns
        present = causal if present is None else logical_and(present, causal)
    return present, bias


def _positions(size, axis):
    shape = [1, 1]
    shape[axis] = size
    return Tensor._wrap(apply("iota", [], {"shape": shape, "axis": axis, "dtype": "int32"})[0])


def _softmax(scores):
    return Tensor._wrap(apply("softmax", [scores._handle], {"axis": scores.ndim - 1})[0])


def _masked_softmax(scores, present):
    """softmax over the keys that are present; 0 for the others, and for rows without any."""
    seen = where(present, scores, -math.inf)
    top = stop_gradient(max_of(seen, -1, keepdims=True))
    top = where(equal(top, -math.inf), 0.0, top)
    powers = where(present, exp(where(present, scores - top, 0.0)), 0.0)
    total = sum_of(powers, -1, keepdims=True)
    return powers * where(equal(total, 0.0), 0.0, 1.0 / where(equal(total, 0.0), 1.0, total))


def _finite(x):
    """x with 0 in place of NaN and infinities."""
    return where(equal(x - x, 0.0), x, 0.0)


def _broken_values(present, value, weights):
    """NaN where a value that takes part is not finite, else 0: (..., L, V)."""
    broken = where(equal(value - value, 0.0), 0.0, 1.0).astype(weights.dtype)
    takes_part = broadcast_to(where(present, 1.0, 0.0).astype(weights.dtype), weights.shape)
    return stop_gradient(where(greater(matmul(takes_part, broken), 0.0), math.nan, 0.0).astype(weights.dtype))


def _dropped(x, share):
    """Elements zeroed with the probability ``share``, the others scaled up."""
    if not share:
        return x
    if not 0 <= share < 1:
        raise ShapeError(f"attention: a share of {share} to drop at {user_location()}; 0 to below 1 is needed")
    from ..random import uniform

    return where(uniform(size=x.shape) >= share, x * (1.0 / (1.0 - share)), 0.0)


def multi_head_attention(
    query,
    key,
    value,
    embed_dim,
    num_heads,
    attn_drop,
    out_drop,
    io_weight_bias,
    qproj_size=None,
    kproj_size=None,
    vproj_size=None,
    oproj_size=None,
    qbias=False,
    kbias=False,
    vbias=False,
    obias=False,
    bias_k=None,
    bias_v=None,
    add_zero_attn=False,
    key_padding_mask=None,
    attn_mask=None,
    need_weights=False,
    average_attn_weights=False,
    is_causal=False,
    maybe_cudnn_style_mask=False,
    reslink=False,
    training=True,
):
    """Attention of several heads between projections, all of whose parameters lie in one tensor.

    Args:
        query, key, value: (N, L, Eq), (N, S, Ek) and (N, S, Ev), or each without N.
        embed_dim: the width of the model; the scores are scaled by 1 / sqrt(embed_dim / num_heads), or by
            1 / sqrt(embed_dim) where the query is not projected.
        num_heads: the number of heads; a projection is cut into so many parts, and what is not projected is seen whole
            by each head.
        attn_drop, out_drop: the shares of weights and of results that are dropped in training.
        io_weight_bias: the weights for query, key, value and output, (in, out) each, then their biases, flattened.
        qproj_size, kproj_size, vproj_size, oproj_size: the width of each projection; embed_dim unless given, 0 for
            none.
        qbias, kbias, vbias, obias: whether ``io_weight_bias`` holds that bias.
        bias_k, bias_v: one more key and value, (1, 1, kproj_size) and (1, 1, vproj_size), added after the projection.
        add_zero_attn: add a key and a value of zeros.
        key_padding_mask: (N, S); of bools, True for keys that are ignored, or of floats that are added to the scores.
        attn_mask: (L, S) or (N * num_heads, L, S), as ``key_padding_mask``.
        is_causal: query i sees the keys 0 to i, where there is no ``attn_mask``.
        maybe_cudnn_style_mask: ``attn_mask`` is (2, L): the first key that each query sees, and the end; and
            ``key_padding_mask`` (2, N): the number of queries and of keys of each sample.
        reslink: add the query to the result.

    Returns:
        The result (N, L, oproj_size), and the weights (N * num_heads, L, S), or (N, L, S) with
        ``average_attn_weights``, or None without ``need_weights``.
    """
    op = "multi_head_attention"
    query, key, value = as_tensor(query), as_tensor(key), as_tensor(value)
    alone = query.ndim == 2
    if alone:
        query, key, value = (expand_dims(tensor, 0) for tensor in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else expand_dims(as_tensor(key_padding_mask), 0)
    for name, tensor in (("query", query), ("key", key), ("value", value)):
        if tensor.ndim != 3:
            raise ShapeError(f"{op}: {name} of shape {show(tensor.shape)} at {user_location()}; (N, L, E) is needed")
    sizes = [embed_dim if size is None else size for size in (qproj_size, kproj_size, vproj_size, oproj_size)]
    joined = sizes[2] or value.shape[2] * num_heads
    parts = _unpacked(
        op, io_weight_bias, (query.shape[2], key.shape[2], value.shape[2], joined), sizes, (qbias, kbias, vbias, obias)
    )
    q, k, v = (_projected(tensor, *part) for tensor, part in zip((query, key, value), parts))
    k, v, extra = _extended(k, v, bias_k, bias_v, add_zero_attn)
    q, k, v = (_split_heads(op, tensor, num_heads, bool(size)) for tensor, size in zip((q, k, v), sizes))
    mask = _mha_mask(op, query, key, num_heads, key_padding_mask, attn_mask, is_causal, maybe_cudnn_style_mask)
    if mask is not None and extra:
        mask = concat([mask, zeros(mask.shape[:-1] + (extra,), dtype=mask.dtype)], -1)
    scale = (embed_dim / num_heads if sizes[0] else embed_dim) ** -0.5
    heads, weights = _attended(op, q, k, v, mask, attn_drop if training else 0.0, False, scale, False)
    result = transpose(heads, (0, 2, 1, 3))
    result = _projected(reshape(result, result.shape[:2] + (joined,)), *parts[3])
    result = _dropped(result, out_drop if training else 0.0)
    result = result + query if reslink else result
    if need_weights:
        weights = mean_of(weights, 1) if average_attn_weights else reshape(weights, (-1,) + weights.shape[2:])
    return (reshape(result, result.shape[1:]) if alone else result), (weights if need_weights else None)


def _unpacked(op, packed, widths, sizes, biases):
    """(weight, bias) of each projection; None for what is absent."""
    wanted = sum(width * size for width, size in zip(widths, sizes))
    wanted += sum(size for size, bias in zip(sizes, biases) if bias)
    for size, bias, name in zip(sizes, biases, "qkvo"):
        if bias and not size:
            raise ShapeError(f"{op}: {name}bias is True and {name}proj_size is 0 at {user_location()}")
    flat = None if packed is None else reshape(as_tensor(packed), (-1,))
    count = 0 if flat is None else flat.shape[0]
    if count != wanted:
        raise ShapeError(
            f"{op}: io_weight_bias has {count} elements at {user_location()}; projections of {tuple(widths)} to "
            f"{tuple(sizes)} with biases {tuple(bool(bias) for bias in biases)} need {wanted}"
        )
    weights, place = [], 0
    for width, size in zip(widths, sizes):
        weights.append(reshape(flat[place : place + width * size], (width, size)) if size else None)
        place += width * size
    parts = []
    for weight, size, bias in zip(weights, sizes, biases):
        parts.append((weight, flat[place : place + size] if bias else None))
        place += size if bias else 0
    return parts


def _projected(tensor, weight, bias):
    if weight is None:
        return tensor
    result = matmul(tensor, weight)
    return result if bias is None else result + bias


def _extended(key, value, bias_k, bias_v, add_zero_attn):
    """The keys and values with the extra ones behind them, and how many these are."""
    extra = 0
    for wanted, k, v in ((bias_k is not None, bias_k, bias_v), (add_zero_attn, 0.0, 0.0)):
        if wanted:
            shapes = [(tensor.shape[0], 1, tensor.shape[2]) for tensor in (key, value)]
            k, v = (broadcast_to(as_tensor(x, key.dtype), shape) for x, shape in zip((k, v), shapes))
            key, value, extra = concat([key, k], 1), concat([value, v], 1), extra + 1
    return key, value, extra


def _split_heads(op, tensor, heads, projected):
    """(N, L, E) as (N, heads, L, E / heads); what was not projected is repeated for each head."""
    samples, length, width = tensor.shape
    if not projected:
        return broadcast_to(expand_dims(tensor, 1), (samples, heads, length, width))
    if width % heads:
        raise ShapeError(f"{op}: {heads} heads for a projection of {width} at {user_location()}; they must divide it")
    return transpose(reshape(tensor, (samples, length, heads, width // heads)), (0, 2, 1, 3))


def _mha_mask(op, query, key, heads, padding, mask, is_causal, ranges):
    """What is added to the scores (N or 1, heads or 1, L, S): -inf excludes a key; None without any mask."""
    samples, rows, columns = query.shape[0], query.shape[1], key.shape[1]
    if ranges:
        if mask is None or padding is None:
            raise ShapeError(f"{op}: maybe_cudnn_style_mask needs attn_mask and key_padding_mask at {user_location()}")
        mask, padding = as_tensor(mask), as_tensor(padding)
        position = reshape(_positions(columns, 1), (1, 1, 1, columns))
        begin, end = (reshape(mask[i], (1, 1, rows, 1)) for i in (0, 1))
        seen = logical_and(position >= begin, position < end)
        present = logical_and(seen, position < reshape(padding[1], (samples, 1, 1, 1)))
        return where(present, 0.0, -math.inf).astype(query.dtype)
    total = None
    if mask is not None:
        mask = _additive(op, "attn_mask", mask, query.dtype)
        total = reshape(mask, (1, 1, rows, columns) if mask.ndim == 2 else (samples, heads, rows, columns))
    elif is_causal:
        causal = _positions(rows, 0) >= _positions(columns, 1)
        total = reshape(where(causal, 0.0, -math.inf).astype(query.dtype), (1, 1, rows, columns))
    if padding is not None:
        padding = reshape(_additive(op, "key_padding_mask", padding, query.dtype), (samples, 1, 1, columns))
        total = padding if total is None else total + padding
    return total


def _additive(op, name, mask, dtype):
    """A mask of bools (True: ignored) or floats as floats that are added to the scores."""
    mask = as_tensor(mask)
    if mask.dtype == "bool":
        return where(mask, -math.inf, 0.0).astype(dtype)
    if not dtypes.is_float(mask.dtype):
        raise UnsupportedError(f"{op}: {name} of {mask.dtype} at {user_location()}; bool or float is needed")
    return mask.astype(dtype)
