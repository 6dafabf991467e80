"""Attention of several heads: MegEngine's `MultiHeadAttention` and PyTorch's `MultiheadAttention`."""

import math

import numpy as np

from .. import functional as F
from .._tensor import Parameter, as_tensor
from ..errors import ShapeError
from ..shapes import show
from . import init
from .linear import Linear
from .module import Module


def _check_heads(kind, embed_dim, num_heads):
    if num_heads < 1 or embed_dim % num_heads:
        raise ShapeError(f"{kind}: embed_dim {embed_dim} does not divide into {num_heads} heads")


class MultiHeadAttention(Module):
    """Attention of several heads, with MegEngine's arguments: batches come first, and one tensor holds all projections.

    Args:
        embed_dim: the width of the model; a multiple of ``num_heads``.
        num_heads: the number of heads.
        attn_dropout, out_dropout: the shares of weights and of results that are dropped in training.
        bias: whether the four projections have biases.
        add_bias_kv: add a trained key and value behind the others.
        add_zero_attn: add a key and a value of zeros.
        kdim, vdim: the widths of keys and values; embed_dim unless given.
    """

    def __init__(
        self,
        embed_dim,
        num_heads,
        attn_dropout=0.0,
        out_dropout=0.0,
        bias=True,
        add_bias_kv=False,
        add_zero_attn=False,
        kdim=None,
        vdim=None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        _check_heads("MultiHeadAttention", embed_dim, num_heads)
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.attn_dropout = attn_dropout
        self.out_dropout = out_dropout
        self.bias = bias
        self.add_zero_attn = add_zero_attn
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        weights = (embed_dim + self.kdim + self.vdim + embed_dim) * embed_dim
        self.io_weight_bias = Parameter(np.zeros((1, weights + (4 * embed_dim if bias else 0)), "float32"))
        self.bias_k = Parameter(np.zeros((1, 1, embed_dim), "float32")) if add_bias_kv else None
        self.bias_v = Parameter(np.zeros((1, 1, embed_dim), "float32")) if add_bias_kv else None
        self.reset_parameters()

    def reset_parameters(self):
        """Draws each projection as `init.xavier_uniform_` does, extra keys as `init.xavier_normal_`; biases are 0."""
        flat, place = np.zeros(self.io_weight_bias.shape, "float32"), 0
        for width in (self.embed_dim, self.kdim, self.vdim, self.embed_dim):
            weight = Parameter(np.zeros((width, self.embed_dim), "float32"))
            init.xavier_uniform_(weight)
            flat[0, place : place + weight.size] = weight.numpy().ravel()
            place += weight.size
        self.io_weight_bias.set_value(flat)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.normal_(extra, 0.0, math.sqrt(1.0 / self.embed_dim))

    def forward(
        self,
        query,
        key=None,
        value=None,
        key_padding_mask=None,
        attn_mask=None,
        need_weights=False,
        average_attn_weights=False,
        is_causal=False,
        maybe_cudnn_style_mask=False,
    ):
        """Attention of ``query`` (N, L, embed_dim) to ``key`` (N, S, kdim) and ``value`` (N, S, vdim).

        Without key and value it is self-attention. The masks, the weights and the results are those of
        `functional.nn.multi_head_attention`: (result (N, L, embed_dim), weights or None).
        """
        key = query if key is None else key
        value = key if value is None else value
        return F.nn.multi_head_attention(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            attn_drop=self.attn_dropout,
            out_drop=self.out_dropout,
            io_weight_bias=self.io_weight_bias,
            qbias=self.bias,
            kbias=self.bias,
            vbias=self.bias,
            obias=self.bias,
            bias_k=self.bias_k,
            bias_v=self.bias_v,
            add_zero_attn=self.add_zero_attn,
            key_padding_mask=key_padding_mask,
            attn_mask=attn_mask,
            need_weights=need_weights,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
            maybe_cudnn_style_mask=maybe_cudnn_style_mask,
            training=self.training,
        )

    def extra_repr(self):
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}, bias={self.bias}"


class MultiheadAttention(Module):
    """Attention of several heads, with PyTorch's arguments and parameters.

    Args:
        embed_dim: the width of the model; a multiple of ``num_heads``.
        num_heads: the number of heads.
        dropout: the share of weights that is dropped in training.
        bias: whether the projections have biases.
        kdim, vdim: the widths of keys and values; embed_dim unless given.
        batch_first: tensors are (N, L, E) instead of (L, N, E).

    Parameters: in_proj_weight (3 * embed_dim, embed_dim), or q_proj_weight, k_proj_weight and v_proj_weight where the
    widths differ; in_proj_bias; out_proj.weight and out_proj.bias.
    """

    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, kdim=None, vdim=None, batch_first=False, **kwargs):
        super().__init__(**kwargs)
        _check_heads("MultiheadAttention", embed_dim, num_heads)
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._joint = self.kdim == embed_dim and self.vdim == embed_dim
        if self._joint:
            self.in_proj_weight = Parameter(np.zeros((3 * embed_dim, embed_dim), "float32"))
        else:
            self.q_proj_weight = Parameter(np.zeros((embed_dim, embed_dim), "float32"))
            self.k_proj_weight = Parameter(np.zeros((embed_dim, self.kdim), "float32"))
            self.v_proj_weight = Parameter(np.zeros((embed_dim, self.vdim), "float32"))
        self.in_proj_bias = Parameter(np.zeros((3 * embed_dim,), "float32")) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        self.reset_parameters()

    def reset_parameters(self):
        """Draws the projections as `init.xavier_uniform_` does and sets the biases to 0."""
        for name in ("in_proj_weight",) if self._joint else ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
            init.xavier_uniform_(getattr(self, name))
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None:
                init.zeros_(bias)

    def forward(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
        is_causal=False,
    ):
        """Attention of ``query`` (L, N, E) to ``key`` (S, N, kdim) and ``value`` (S, N, vdim), or each without N.

        Args:
            key_padding_mask: (N, S); of bools, True for keys that are ignored, or of floats that are added to the
                scores.
            need_weights: give the weights as well.
            attn_mask: (L, S) or (N * num_heads, L, S), as ``key_padding_mask``.
            average_attn_weights: give the mean of the heads' weights.
            is_causal: query i sees the keys 0 to i.

        Returns:
            (result (L, N, embed_dim), weights (N, L, S), (N, num_heads, L, S), or None); N comes first in tensors with
            ``batch_first``.
        """
        alone = query.ndim == 2
        query, key, value = self._batches(query, key, value, alone)
        if key_padding_mask is not None and alone:
            key_padding_mask = F.expand_dims(as_tensor(key_padding_mask), 0)
        projected = self._projected(query, key, value)
        q, k, v = (self._heads(tensor) for tensor in projected)
        mask = self._mask(query, key, key_padding_mask, attn_mask)
        dropout = self.dropout if self.training else 0.0
        if need_weights:
            heads, weights = F.nn.attention_with_weights(q, k, v, mask, dropout_p=dropout, is_causal=is_causal)
            weights = F.mean(weights, 1) if average_attn_weights else weights
        else:
            heads = F.nn.scaled_dot_product_attention(q, k, v, mask, dropout, is_causal)
            weights = None
        result = F.reshape(F.transpose(heads, (0, 2, 1, 3)), (query.shape[0], query.shape[1], self.embed_dim))
        result = self.out_proj(result)
        if alone:
            return F.squeeze(result, 0), None if weights is None else F.squeeze(weights, 0)
        return (result if self.batch_first else F.swapaxes(result, 0, 1)), weights

    def _batches(self, query, key, value, alone):
        """The three as (N, L, E); one tensor that is given several times stays one."""
        changed = {}
        for name, tensor in (("query", query), ("key", key), ("value", value)):
            if tensor.ndim != (2 if alone else 3):
                raise ShapeError(
                    f"MultiheadAttention: {name} of shape {show(tensor.shape)} with a query of shape "
                    f"{show(query.shape)}; all have rank 2 or all rank 3"
                )
            if id(tensor) not in changed:
                if alone:
                    changed[id(tensor)] = F.expand_dims(tensor, 0)
                else:
                    changed[id(tensor)] = tensor if self.batch_first else F.swapaxes(tensor, 0, 1)
        return changed[id(query)], changed[id(key)], changed[id(value)]

    def _projected(self, query, key, value):
        if self._joint and query is key and key is value:
            return F.split(F.linear(query, self.in_proj_weight, self.in_proj_bias), 3, axis=-1)
        if self._joint:
            weights = F.split(self.in_proj_weight, 3)
        else:
            weights = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        biases = (None,) * 3 if self.in_proj_bias is None else F.split(self.in_proj_bias, 3)
        return [F.linear(*each) for each in zip((query, key, value), weights, biases)]

    def _heads(self, tensor):
        """(N, L, E) as (N, heads, L, E / heads)."""
        split = F.reshape(tensor, (tensor.shape[0], tensor.shape[1], self.num_heads, self.head_dim))
        return F.transpose(split, (0, 2, 1, 3))

    def _mask(self, query, key, padding, mask):
        """One mask for (N, heads, L, S), in the sense of `scaled_dot_product_attention`: True takes part."""
        samples, rows, columns = query.shape[0], query.shape[1], key.shape[1]
        if mask is not None:
            mask = as_tensor(mask)
            shape = (1, 1, rows, columns) if mask.ndim == 2 else (samples, self.num_heads, rows, columns)
            mask = F.reshape(mask, shape)
        if padding is not None:
            padding = F.reshape(as_tensor(padding), (samples, 1, 1, columns))
        given = [each for each in (mask, padding) if each is not None]
        if not given:
            return None
        if all(each.dtype == "bool" for each in given):
            ignored = given[0] if len(given) == 1 else F.logical_or(*given)
            return F.logical_not(ignored)
        added = [F.where(each, -math.inf, 0.0).astype(query.dtype) if each.dtype == "bool" else each for each in given]
        return added[0] if len(added) == 1 else added[0] + added[1]

    def extra_repr(self):
        return f"embed_dim={self.embed_dim}, num_heads={self.num_heads}, batch_first={self.batch_first}"
