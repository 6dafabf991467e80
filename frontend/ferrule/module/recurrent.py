"""Recurrent networks over sequences of any length: `RNN`, `LSTM`, `GRU`.

The input's part of all steps is one matrix product; the steps are one loop of the graph (`F.scan`), so that the length
may be a dim and the program does not grow with it.
"""

import math

import numpy as np

from .. import functional as F
from .._tensor import Parameter
from ..errors import ShapeError, UnsupportedError
from ..shapes import is_static, show
from . import init
from .module import Module
from .recurrent_cell import check_nonlinearity, gru_step, lstm_step, rnn_step
from .sequences import PackedSequence, step_mask


class _Recurrent(Module):
    """A recurrent network of one or more layers.

    Args:
        input_size, hidden_size: the widths of the input and the state.
        num_layers: each layer reads the output of the one below.
        bias: whether there are biases.
        batch_first: sequences are (N, T, input_size) instead of (T, N, input_size).
        dropout: the share of each layer's output, but the last one's, that is dropped in training.
        bidirectional: a second network reads the sequence from its end; the outputs stand side by side.

    Layer k has the parameters weight_ih_lk (gates * hidden, input), weight_hh_lk (gates * hidden, hidden), bias_ih_lk
    and bias_hh_lk (gates * hidden,); those of the second direction end in ``_reverse``.
    """

    _gates = 1

    def __init__(
        self,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        kind = type(self).__name__
        if num_layers < 1:
            raise ValueError(f"{kind}: num_layers is {num_layers}; allowed: 1 or more")
        if not 0.0 <= dropout < 1.0:
            raise ValueError(f"{kind}: dropout is {dropout}; allowed: 0 up to below 1")
        if proj_size and (self._gates != 4 or not 0 < proj_size < hidden_size):
            raise UnsupportedError(f"{kind}: proj_size {proj_size}; allowed: 0, and for LSTM less than hidden_size")
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = dropout
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._suffixes = ("", "_reverse") if bidirectional else ("",)
        rows, width = self._gates * hidden_size, proj_size or hidden_size
        for layer in range(num_layers):
            below = input_size if layer == 0 else width * len(self._suffixes)
            for suffix in self._suffixes:
                place = f"l{layer}{suffix}"
                self._add(f"weight_ih_{place}", (rows, below))
                self._add(f"weight_hh_{place}", (rows, width))
                self._add(f"bias_ih_{place}", (rows,) if bias else None)
                self._add(f"bias_hh_{place}", (rows,) if bias else None)
                if proj_size:
                    self._add(f"weight_hr_{place}", (proj_size, hidden_size))
        self.reset_parameters()

    def _add(self, name, shape):
        setattr(self, name, None if shape is None else Parameter(np.zeros(shape, "float32")))

    def reset_parameters(self):
        """Draws everything from the uniform distribution within 1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def _step(self, inputs, state, place):
        """The next state, a tuple whose first item is the output; ``inputs`` holds the input's part of the step."""
        raise NotImplementedError(f"{type(self).__name__} does not define _step")

    def _state_widths(self):
        """The width of each item of the state."""
        return (self.proj_size or self.hidden_size,)

    # From outside to (T, N, width) and back.

    def forward(self, inp, hx=None, lengths=None):
        """Runs over whole sequences.

        Args:
            inp: (T, N, input_size), (N, T, input_size) with ``batch_first``, (T, input_size) for one sequence, or a
                PackedSequence.
            hx: the first state of each layer and direction, (num_layers * directions, N, width); zeros unless given.
            lengths: (N,) whole numbers: sequence n ends after lengths[n] steps. Its outputs behind the end are 0, its
                last state is the one at its end, and the reverse direction begins there.

        Returns:
            (outputs of the last layer at every step, last states in the form of ``hx``); the outputs are a
            PackedSequence if ``inp`` is one.
        """
        if isinstance(inp, PackedSequence):
            data, packed_lengths, batch_first = inp
            output, state = self._run(data, hx, packed_lengths, batch_first)
            return PackedSequence(output, packed_lengths, batch_first), state
        return self._run(inp, hx, lengths, self.batch_first)

    def _run(self, inp, hx, lengths, batch_first):
        alone = inp.ndim == 2
        if alone:
            inp = F.expand_dims(inp, 1)
            hx = hx if hx is None else self._each(hx, lambda state: F.expand_dims(state, 1))
            batch_first = False
        kind = type(self).__name__
        if inp.ndim != 3 or (is_static(inp.shape[2]) and inp.shape[2] != self.input_size):
            order = "(N, T" if batch_first else "(T, N"
            raise ShapeError(
                f"{kind}: input of shape {show(inp.shape)}; {order}, {self.input_size}) is needed, or "
                f"(T, {self.input_size}) for one sequence"
            )
        inp = F.swapaxes(inp, 0, 1) if batch_first else inp
        present = None if lengths is None else F.expand_dims(step_mask(inp.shape[0], lengths), 2)
        output, states = self._layers(inp, self._first_states(inp, hx), present)
        output = F.swapaxes(output, 0, 1) if batch_first else output
        if alone:
            output, states = F.squeeze(output, 1), tuple(F.squeeze(state, 1) for state in states)
        return output, self._joined(states)

    def _each(self, hx, change):
        """``change`` on each item of a state as the user gives it."""
        return tuple(map(change, hx)) if isinstance(hx, (tuple, list)) else change(hx)

    def _joined(self, states):
        """The state as the user gets it."""
        return states[0]

    def _first_states(self, inp, hx):
        """[one (N, width) tensor for each item of the state] for each layer and direction."""
        count, samples = self.num_layers * len(self._suffixes), inp.shape[1]
        widths = self._state_widths()
        if hx is None:
            zeros = [F.zeros((samples, width), dtype=inp.dtype) for width in widths]
            return [tuple(zeros)] * count
        items = hx if isinstance(hx, (tuple, list)) else (hx,)
        if len(items) != len(widths):
            raise ShapeError(f"{type(self).__name__}: a state of {len(items)} tensors; {len(widths)} are needed")
        for item, width in zip(items, widths):
            if item.ndim != 3 or any(
                is_static(size) and is_static(wanted) and size != wanted
                for size, wanted in zip(item.shape, (count, samples, width))
            ):
                raise ShapeError(
                    f"{type(self).__name__}: state of shape {show(item.shape)}; "
                    f"{show((count, samples, width))} is needed"
                )
        return [tuple(item[i] for item in items) for i in range(count)]

    # The loops.

    def _layers(self, inp, first, present):
        """(T, N, ...) through all layers: the outputs, and the last states stacked over layers and directions."""
        last = []
        for layer in range(self.num_layers):
            outputs = []
            for suffix in self._suffixes:
                output, state = self._direction(inp, first[len(last)], f"l{layer}{suffix}", bool(suffix), present)
                outputs.append(output)
                last.append(state)
            inp = outputs[0] if len(outputs) == 1 else F.concat(outputs, axis=2)
            if self.dropout and self.training and layer + 1 < self.num_layers:
                inp = F.dropout(inp, self.dropout, True)
        return inp, tuple(F.stack(items) for items in zip(*last))

    def _direction(self, inp, state, place, reverse, present):
        """One layer in one direction: (outputs of all steps, last state)."""
        inputs = F.linear(inp, getattr(self, f"weight_ih_{place}"), getattr(self, f"bias_ih_{place}"))

        def step(before, now):
            if present is None:
                after = self._step(now, before, place)
                return after, after[0]
            part, here = now
            after = self._step(part, before, place)
            kept = tuple(F.where(here, new, old) for new, old in zip(after, before))
            return kept, F.where(here, after[0], 0.0)

        xs = inputs if present is None else (inputs, present)
        state, outputs = F.scan(step, state, xs, reverse=reverse)
        return outputs, state

    def _hidden_parameters(self, place):
        return getattr(self, f"weight_hh_{place}"), getattr(self, f"bias_hh_{place}")

    def extra_repr(self):
        parts = [f"{self.input_size}, {self.hidden_size}"]
        for name, default in (
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0.0),
            ("bidirectional", False),
            ("proj_size", 0),
        ):
            if getattr(self, name) != default:
                parts.append(f"{name}={getattr(self, name)}")
        return ", ".join(parts)


class RNN(_Recurrent):
    """h = tanh(weight_ih x + bias_ih + weight_hh h + bias_hh) at every step, or relu of it."""

    __doc__ += "\n" + _Recurrent.__doc__

    def __init__(self, input_size, hidden_size, num_layers=1, nonlinearity="tanh", *args, **kwargs):
        check_nonlinearity("RNN", nonlinearity)
        super().__init__(input_size, hidden_size, num_layers, *args, **kwargs)
        self.nonlinearity = nonlinearity

    def _step(self, inputs, state, place):
        return (rnn_step(inputs, state[0], *self._hidden_parameters(place), self.nonlinearity),)


class LSTM(_Recurrent):
    """An LSTM: the gates i, f, g, o are blocks of rows of the weights in this order. The state is (h, c).

    With ``proj_size`` the state h is weight_hr_lk (proj_size, hidden) times what it would be, and has that width.
    """

    __doc__ += "\n" + _Recurrent.__doc__
    _gates = 4

    def _state_widths(self):
        return self.proj_size or self.hidden_size, self.hidden_size

    def _joined(self, states):
        return states

    def _step(self, inputs, state, place):
        projection = getattr(self, f"weight_hr_{place}") if self.proj_size else None
        return lstm_step(inputs, *state, *self._hidden_parameters(place), projection)


class GRU(_Recurrent):
    """A GRU: the gates r, z, n are blocks of rows of the weights in this order."""

    __doc__ += "\n" + _Recurrent.__doc__
    _gates = 3

    def _step(self, inputs, state, place):
        return (gru_step(inputs, state[0], *self._hidden_parameters(place)),)
