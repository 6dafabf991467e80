"""One step of recurrent networks: `RNNCell`, `LSTMCell`, `GRUCell`.

Weights have PyTorch's names and shapes: weight_ih (gates * hidden, input), weight_hh (gates * hidden, hidden), one
block of rows a gate.
"""

import math

import numpy as np

from .. import functional as F
from .._tensor import Parameter
from ..errors import ShapeError, UnsupportedError
from ..shapes import is_static, show
from . import init
from .module import Module

NONLINEARITIES = {"tanh": F.tanh, "relu": F.relu}


def check_nonlinearity(kind, name):
    """Refuses what is neither tanh nor relu."""
    if name not in NONLINEARITIES:
        raise UnsupportedError(f"{kind}: nonlinearity {name!r}; allowed: {', '.join(NONLINEARITIES)}")


def rnn_step(inputs, hidden, weight_hh, bias_hh, nonlinearity):
    """h = f(inputs + h @ weight_hh.T + bias_hh), where ``inputs`` holds the input's part."""
    return NONLINEARITIES[nonlinearity](inputs + F.linear(hidden, weight_hh, bias_hh))


def lstm_step(inputs, hidden, cell, weight_hh, bias_hh, weight_hr=None):
    """The gates i, f, g, o in this order: c = sigmoid(f) c + sigmoid(i) tanh(g); h = sigmoid(o) tanh(c), projected."""
    gates = inputs + F.linear(hidden, weight_hh, bias_hh)
    i, f, g, o = F.split(gates, 4, axis=-1)
    cell = F.sigmoid(f) * cell + F.sigmoid(i) * F.tanh(g)
    hidden = F.sigmoid(o) * F.tanh(cell)
    return (hidden if weight_hr is None else F.linear(hidden, weight_hr)), cell


def gru_step(inputs, hidden, weight_hh, bias_hh):
    """The gates r, z, n in this order: n = tanh(n_input + sigmoid(r) n_hidden); h = (1 - sigmoid(z)) n + sigmoid(z)
    h."""
    input_r, input_z, input_n = F.split(inputs, 3, axis=-1)
    hidden_r, hidden_z, hidden_n = F.split(F.linear(hidden, weight_hh, bias_hh), 3, axis=-1)
    reset, update = F.sigmoid(input_r + hidden_r), F.sigmoid(input_z + hidden_z)
    new = F.tanh(input_n + reset * hidden_n)
    return new + update * (hidden - new)


class _Cell(Module):
    """One step over a batch (N, input_size), or over one sample (input_size,).

    Args:
        input_size, hidden_size: the widths of the input and the state.
        bias: whether there are bias_ih and bias_hh.
    """

    _gates = 1

    def __init__(self, input_size, hidden_size, bias=True, **kwargs):
        super().__init__(**kwargs)
        self.input_size = input_size
        self.hidden_size = hidden_size
        rows = self._gates * hidden_size
        self.weight_ih = Parameter(np.zeros((rows, input_size), "float32"))
        self.weight_hh = Parameter(np.zeros((rows, hidden_size), "float32"))
        self.bias_ih = Parameter(np.zeros((rows,), "float32")) if bias else None
        self.bias_hh = Parameter(np.zeros((rows,), "float32")) if bias else None
        self.reset_parameters()

    def reset_parameters(self):
        """Draws everything from the uniform distribution within 1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size else 0.0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def _check(self, inp, *states):
        kind = type(self).__name__
        if inp.ndim not in (1, 2) or not _has_width(inp, self.input_size):
            raise ShapeError(
                f"{kind}: input of shape {show(inp.shape)}; (N, {self.input_size}) or ({self.input_size},) is needed"
            )
        for state in states:
            if state is not None and (state.ndim != inp.ndim or not _has_width(state, self.hidden_size)):
                wanted = (*inp.shape[:-1], self.hidden_size)
                raise ShapeError(f"{kind}: state of shape {show(state.shape)}; {show(wanted)} is needed")

    def _zeros(self, inp):
        return F.zeros((*inp.shape[:-1], self.hidden_size), dtype=inp.dtype)

    def extra_repr(self):
        return f"{self.input_size}, {self.hidden_size}, bias={self.bias_ih is not None}"


def _has_width(tensor, width):
    return not is_static(tensor.shape[-1]) or tensor.shape[-1] == width


class RNNCell(_Cell):
    """h = tanh(weight_ih x + bias_ih + weight_hh h + bias_hh), or relu of it."""

    __doc__ += "\n" + _Cell.__doc__ + '    nonlinearity: ``"tanh"`` or ``"relu"``.\n    '

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", **kwargs):
        check_nonlinearity("RNNCell", nonlinearity)
        super().__init__(input_size, hidden_size, bias, **kwargs)
        self.nonlinearity = nonlinearity

    def forward(self, inp, hx=None):
        """The next state; ``hx`` is the state before, zeros unless given."""
        self._check(inp, hx)
        inputs = F.linear(inp, self.weight_ih, self.bias_ih)
        return rnn_step(inputs, self._zeros(inp) if hx is None else hx, self.weight_hh, self.bias_hh, self.nonlinearity)


class LSTMCell(_Cell):
    """A step of an LSTM: the gates i, f, g, o are blocks of rows of the weights in this order.

    c = sigmoid(f) c + sigmoid(i) tanh(g); h = sigmoid(o) tanh(c).
    """

    __doc__ += "\n" + _Cell.__doc__
    _gates = 4

    def forward(self, inp, hx=None):
        """The next (h, c); ``hx`` is the pair before, zeros unless given."""
        hidden, cell = (None, None) if hx is None else hx
        self._check(inp, hidden, cell)
        hidden = self._zeros(inp) if hidden is None else hidden
        cell = self._zeros(inp) if cell is None else cell
        return lstm_step(F.linear(inp, self.weight_ih, self.bias_ih), hidden, cell, self.weight_hh, self.bias_hh)


class GRUCell(_Cell):
    """A step of a GRU: the gates r, z, n are blocks of rows of the weights in this order.

    n = tanh(n_input + sigmoid(r) n_hidden); h = (1 - sigmoid(z)) n + sigmoid(z) h.
    """

    __doc__ += "\n" + _Cell.__doc__
    _gates = 3

    def forward(self, inp, hx=None):
        """The next state; ``hx`` is the state before, zeros unless given."""
        self._check(inp, hx)
        inputs = F.linear(inp, self.weight_ih, self.bias_ih)
        return gru_step(inputs, self._zeros(inp) if hx is None else hx, self.weight_hh, self.bias_hh)
