"""Transformers with PyTorch's names, arguments and parameters, and encodings of positions."""

import copy
import math

import numpy as np

from .. import functional as F
from .._tensor import Parameter, Tensor
from ..errors import ShapeError, UnsupportedError
from ..shapes import is_static, show
from . import init
from .attention import MultiheadAttention
from .containers import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

_ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu, "tanh": F.tanh}


def _activation(kind, activation):
    if callable(activation):
        return activation
    if activation not in _ACTIVATIONS:
        raise UnsupportedError(f"{kind}: activation {activation!r}; allowed: a function, {', '.join(_ACTIVATIONS)}")
    return _ACTIVATIONS[activation]


class _Layer(Module):
    """What encoder and decoder layers share: self-attention and a network of two linear maps, each in a residual."""

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.self_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first)
        self.linear1 = Linear(d_model, dim_feedforward, bias)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias)
        self.norm1 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.norm2 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.norm_first = norm_first
        self.activation = _activation(type(self).__name__, activation)

    def _attend(self, x, mask, padding, is_causal):
        result, _ = self.self_attn(x, x, x, padding, False, mask, is_causal=is_causal)
        return self.dropout1(result)

    def _feed_forward(self, x, last):
        return last(self.linear2(self.dropout(self.activation(self.linear1(x)))))

    def _residual(self, x, norm, function):
        """x + f(norm(x)) with ``norm_first``, else norm(x + f(x))."""
        return x + function(norm(x)) if self.norm_first else norm(x + function(x))


_LAYER_ARGUMENTS = """

    Args:
        d_model: the width; a multiple of ``nhead``, the number of heads.
        dim_feedforward: the width between the two linear maps.
        dropout: the share that is dropped in training, of weights, between the maps and of each part's result.
        activation: between the maps: a function, ``"relu"``, ``"gelu"``, ``"silu"`` or ``"tanh"``.
        layer_norm_eps: of the norms.
        batch_first: tensors are (N, L, d_model) instead of (L, N, d_model).
        norm_first: norm what goes into each part, instead of the sum after it.
        bias: whether maps and norms have biases.
    """


class TransformerEncoderLayer(_Layer):
    """Self-attention and a network of two linear maps, each followed by a residual sum and a layer norm."""

    __doc__ += _LAYER_ARGUMENTS

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        """The masks are those of `MultiheadAttention`."""
        x = self._residual(src, self.norm1, lambda x: self._attend(x, src_mask, src_key_padding_mask, is_causal))
        return self._residual(x, self.norm2, lambda x: self._feed_forward(x, self.dropout2))


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to the encoder's result, and a network of two linear maps, each with a residual sum."""

    __doc__ += _LAYER_ARGUMENTS

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        **kwargs,
    ):
        super().__init__(
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            bias,
            **kwargs,
        )
        self.multihead_attn = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first)
        self.norm3 = LayerNorm(d_model, layer_norm_eps, bias=bias)
        self.dropout3 = Dropout(dropout)

    def forward(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=False,
        memory_is_causal=False,
    ):
        """``memory`` is the encoder's result; the masks are those of `MultiheadAttention`."""

        def attend_memory(x):
            result, _ = self.multihead_attn(
                x, memory, memory, memory_key_padding_mask, False, memory_mask, is_causal=memory_is_causal
            )
            return self.dropout2(result)

        x = self._residual(tgt, self.norm1, lambda x: self._attend(x, tgt_mask, tgt_key_padding_mask, tgt_is_causal))
        x = self._residual(x, self.norm2, attend_memory)
        return self._residual(x, self.norm3, lambda x: self._feed_forward(x, self.dropout3))


class _Stack(Module):
    """Copies of a layer, one after another.

    Args:
        layer: what is copied; every copy has parameters of its own, with the same first values.
        num_layers: how many copies.
        norm: a module for the result of the last one, or None.
    """

    def __init__(self, layer, num_layers, norm=None, **kwargs):
        super().__init__(**kwargs)
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm


class TransformerEncoder(_Stack):
    """Encoder layers, one after another."""

    __doc__ += "\n" + _Stack.__doc__

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=False):
        """The masks are those of `MultiheadAttention`."""
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, is_causal)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(_Stack):
    """Decoder layers, one after another."""

    __doc__ += "\n" + _Stack.__doc__

    def forward(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=False,
        memory_is_causal=False,
    ):
        """``memory`` is the encoder's result; the masks are those of `MultiheadAttention`."""
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask,
                memory_mask,
                tgt_key_padding_mask,
                memory_key_padding_mask,
                tgt_is_causal,
                memory_is_causal,
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder and a decoder.

    Args:
        d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias: as for
            `TransformerEncoderLayer`.
        num_encoder_layers, num_decoder_layers: how many layers each has.
    """

    def __init__(
        self,
        d_model=512,
        nhead=8,
        num_encoder_layers=6,
        num_decoder_layers=6,
        dim_feedforward=2048,
        dropout=0.1,
        activation="relu",
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        **kwargs,
    ):
        super().__init__(**kwargs)
        settings = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias
        )  # fmt: skip

        def norm():
            return LayerNorm(d_model, layer_norm_eps, bias=bias)

        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first
        self.encoder = TransformerEncoder(TransformerEncoderLayer(*settings), num_encoder_layers, norm())
        self.decoder = TransformerDecoder(TransformerDecoderLayer(*settings), num_decoder_layers, norm())
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self,
        src,
        tgt,
        src_mask=None,
        tgt_mask=None,
        memory_mask=None,
        src_key_padding_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        src_is_causal=False,
        tgt_is_causal=False,
        memory_is_causal=False,
    ):
        """The decoder's result for ``tgt`` after the encoder's for ``src``; masks as for `MultiheadAttention`."""
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask,
            memory_mask,
            tgt_key_padding_mask,
            memory_key_padding_mask,
            tgt_is_causal,
            memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(size):
        """(size, size) floats to add to scores: 0 where query i sees key j <= i, -inf elsewhere."""
        positions = F.arange(size)
        seen = F.expand_dims(positions, 1) >= F.expand_dims(positions, 0)
        return F.where(seen, 0.0, -math.inf)


def _steps(kind, inp, batch_first, max_len):
    """The number of steps of (T, N, E), or (N, T, E), which may be a dim."""
    if inp.ndim != 3:
        raise ShapeError(f"{kind}: input of shape {show(inp.shape)}; rank 3 is needed")
    steps = inp.shape[1 if batch_first else 0]
    if is_static(steps) and steps > max_len:
        raise ShapeError(f"{kind}: {steps} steps in an input of shape {show(inp.shape)}; max_len is {max_len}")
    return steps


def _rows(table, steps):
    """The first ``steps`` rows; a number of steps that is a dim is checked when the program runs."""
    return table[:steps] if is_static(steps) else F.take(table, F.arange(steps, dtype="int32"), 0)


class PositionalEncoding(Module):
    """Adds sines and cosines of the position: channel 2i is sin(t / 10000^(2i / d_model)), 2i + 1 the cosine of it.

    Args:
        d_model: the width.
        dropout: the share of the result that is dropped in training.
        max_len: the largest number of steps.
        batch_first: the input is (N, T, d_model) instead of (T, N, d_model).
    """

    def __init__(self, d_model, dropout=0.0, max_len=5000, batch_first=False, **kwargs):
        super().__init__(**kwargs)
        self.d_model = d_model
        self.max_len = max_len
        self.batch_first = batch_first
        self.dropout = Dropout(dropout)
        rates = 1.0 / 10000.0 ** (np.arange(0, d_model, 2) / d_model)
        angles = np.arange(max_len)[:, None] * rates
        table = np.zeros((max_len, d_model), "float32")
        table[:, 0::2] = np.sin(angles)
        table[:, 1::2] = np.cos(angles)[:, : d_model // 2]
        self.register_buffer("pe", Tensor(table), persistent=False)

    def forward(self, inp):
        table = _rows(self.pe, _steps("PositionalEncoding", inp, self.batch_first, self.max_len))
        return self.dropout(inp + F.expand_dims(table, 0 if self.batch_first else 1))


class LearnedPositionalEncoding(Module):
    """Adds a trained row for each position.

    Args:
        max_len: the largest number of steps.
        d_model: the width.
        batch_first: the input is (N, T, d_model) instead of (T, N, d_model).
    """

    def __init__(self, max_len, d_model, batch_first=False, **kwargs):
        super().__init__(**kwargs)
        self.max_len = max_len
        self.batch_first = batch_first
        self.weight = Parameter(np.zeros((max_len, d_model), "float32"))
        self.reset_parameters()

    def reset_parameters(self):
        """Draws the rows from the normal distribution with the standard deviation 0.02."""
        init.normal_(self.weight, 0.0, 0.02)

    def forward(self, inp):
        table = _rows(self.weight, _steps("LearnedPositionalEncoding", inp, self.batch_first, self.max_len))
        return inp + F.expand_dims(table, 0 if self.batch_first else 1)
