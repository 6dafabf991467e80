"""LSTM, GRU and RNN: one or both directions, peepholes, initial states, lengths of sequences, either layout.

The input's part of all steps is one matrix product; the steps are one loop of the graph.
"""

from ... import functional as F
from ...errors import UnsupportedError
from ..registry import operator
from ..values import Known, tensor_of

_ACTIVATIONS = {
    "Relu": lambda x, alpha, beta: F.relu(x),
    "Tanh": lambda x, alpha, beta: F.tanh(x),
    "Sigmoid": lambda x, alpha, beta: F.sigmoid(x),
    "Affine": lambda x, alpha, beta: x * (1.0 if alpha is None else alpha) + (0.0 if beta is None else beta),
    "LeakyRelu": lambda x, alpha, beta: F.leaky_relu(x, 0.01 if alpha is None else alpha),
    "ThresholdedRelu": lambda x, alpha, beta: F.threshold(x, 1.0 if alpha is None else alpha, 0.0),
    "ScaledTanh": lambda x, alpha, beta: (
        F.tanh(x * (1.0 if beta is None else beta)) * (1.0 if alpha is None else alpha)
    ),
    "HardSigmoid": lambda x, alpha, beta: F.clip(
        x * (0.2 if alpha is None else alpha) + (0.5 if beta is None else beta), 0.0, 1.0
    ),
    "Elu": lambda x, alpha, beta: F.elu(x, 1.0 if alpha is None else alpha),
    "Softsign": lambda x, alpha, beta: F.softsign(x),
    "Softplus": lambda x, alpha, beta: F.softplus(x),
}
_WITH_ALPHA = ("Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu")
_WITH_BETA = ("Affine", "ScaledTanh", "HardSigmoid")


def _activations(node, defaults, directions):
    """The functions of each direction; parameters stand in the order of the functions that have some."""
    names = node.get("activations") or list(defaults) * directions
    alphas, betas = iter(node.get("activation_alpha") or ()), iter(node.get("activation_beta") or ())
    functions = []
    for name in names:
        key = next((known for known in _ACTIVATIONS if known.lower() == name.lower()), None)
        if key is None:
            raise UnsupportedError(f"the activation {name!r}; allowed are {', '.join(_ACTIVATIONS)}")
        alpha = next(alphas, None) if key in _WITH_ALPHA else None
        beta = next(betas, None) if key in _WITH_BETA else None
        functions.append(lambda x, f=_ACTIVATIONS[key], alpha=alpha, beta=beta: f(x, alpha, beta))
    count = len(defaults)
    return [functions[i * count : (i + 1) * count] for i in range(directions)]


class _Layer:
    """What the three operators share: arguments cut by direction, the loop, and the results put together.

    Args:
        node: the call.
        gates: how many blocks of ``hidden_size`` rows the weights have.
        x: (steps, batch, input), or (batch, steps, input) with ``layout`` 1.
    """

    def __init__(self, node, gates, x, weight, recurrence, bias, lengths):
        x = tensor_of(x)
        self.node = node
        self.batch_first = bool(node.get("layout", 0))
        self.x = F.transpose(x, (1, 0, 2)) if self.batch_first else x
        self.hidden = node.get("hidden_size") or recurrence.shape[-1]
        kind = node.get("direction", "forward").lower()
        if kind not in ("forward", "reverse", "bidirectional"):
            raise UnsupportedError(f"the direction {kind!r}")
        self.reversed = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[kind]
        self.weight, self.recurrence = _by_direction(weight), _by_direction(recurrence)
        self.bias = None if bias is None else _by_direction(bias)
        self.gates = gates
        self.clip = node.get("clip")
        self.lengths = tensor_of(lengths)

    def first_state(self, given, direction):
        """The state before the first step: (batch, hidden)."""
        if given is None:
            return F.zeros((self.x.shape[1], self.hidden), dtype=self.x.dtype)
        given = tensor_of(given)
        return given[:, direction] if self.batch_first else given[direction]

    def biases(self, direction):
        """The two biases of a direction, each (gates * hidden,); None without."""
        if self.bias is None:
            return None, None
        rows = self.gates * self.hidden
        return self.bias[direction][:rows], self.bias[direction][rows:]

    def clipped(self, x):
        """Held within the node's ``clip``."""
        return x if self.clip is None else F.clip(x, -self.clip, self.clip)

    def run(self, direction, states, inputs, step):
        """(outputs of all steps, last states) of one direction.

        Args:
            states: the first states; the first of them is the output.
            inputs: the input's part: (steps, batch, gates * hidden).
            step: from (an input, states) to the next states.
        """
        slices = (inputs,)
        if self.lengths is not None:
            steps = F.reshape(F.arange(self.x.shape[0], dtype=self.lengths.dtype), (-1, 1, 1))
            slices = (inputs, F.less(steps, F.reshape(self.lengths, (1, -1, 1))))

        def body(before, items):
            after = step(items[0], before)
            output = after[0]
            if len(items) == 2:
                # Behind its end a sequence keeps its state, which for the reverse direction is the first one.
                after = tuple(F.where(items[1], new, old) for new, old in zip(after, before))
                output = F.where(items[1], output, F.zeros_like(output))
            return after, output

        last, outputs = F.scan(body, tuple(states), slices, reverse=self.reversed[direction])
        return outputs, last

    def results(self, outputs, *last):
        """The operator's results: outputs (steps, directions, batch, hidden) and states (directions, batch, hidden)."""
        y = F.stack(outputs, 1)
        states = [F.stack(each, 0) for each in last]
        if self.batch_first:
            y = F.transpose(y, (2, 0, 1, 3))
            states = [F.transpose(state, (1, 0, 2)) for state in states]
        return [y, *states]

    def blocks(self, x):
        """A row of gates cut into its blocks."""
        return [x[..., i * self.hidden : (i + 1) * self.hidden] for i in range(self.gates)]


def _sum(a, b):
    return a if b is None else a + b


def _by_direction(value):
    """Weights of one or two directions as a list; known ones are cut while importing, so that each is stored packed."""
    if not isinstance(value, Known) or (value.store is not None and value.store.trains):
        value = tensor_of(value)
        return [value[i] for i in range(value.shape[0])]
    return [value.part(value.array[i], f"[{i}]").as_tensor() for i in range(value.shape[0])]


@operator("RNN", since=7, raw=True)
def rnn(node, x, weight, recurrence, bias=None, lengths=None, first=None):
    """h = f(x W' + h R' + both biases)."""
    layer = _Layer(node, 1, x, weight, recurrence, bias, lengths)
    functions = _activations(node, ["Tanh"], len(layer.reversed))
    outputs, last = [], []
    for i in range(len(layer.reversed)):
        (activate,) = functions[i]
        input_bias, state_bias = layer.biases(i)
        inputs = _sum(F.matmul(layer.x, layer.weight[i], transpose_b=True), input_bias)
        inputs = _sum(inputs, state_bias)
        rows = layer.recurrence[i]

        def step(part, states, rows=rows, activate=activate):
            return (activate(layer.clipped(part + F.matmul(states[0], rows, transpose_b=True))),)

        y, (h,) = layer.run(i, (layer.first_state(first, i),), inputs, step)
        outputs.append(y)
        last.append(h)
    return layer.results(outputs, last)


@operator("GRU", since=7, raw=True)
def gru(node, x, weight, recurrence, bias=None, lengths=None, first=None):
    """Gates in the order update, reset, hidden; ``linear_before_reset`` applies the reset behind the product."""
    layer = _Layer(node, 3, x, weight, recurrence, bias, lengths)
    functions = _activations(node, ["Sigmoid", "Tanh"], len(layer.reversed))
    behind = bool(node.get("linear_before_reset", 0))
    outputs, last = [], []
    for i in range(len(layer.reversed)):
        inputs, state_bias = F.matmul(layer.x, layer.weight[i], transpose_b=True), layer.biases(i)[1]
        inputs = _sum(inputs, layer.biases(i)[0])
        step = _gru_step(layer, layer.recurrence[i], state_bias, functions[i], behind)
        y, (h,) = layer.run(i, (layer.first_state(first, i),), inputs, step)
        outputs.append(y)
        last.append(h)
    return layer.results(outputs, last)


def _gru_step(layer, rows, bias, functions, behind):
    gate, activate = functions
    size = layer.hidden
    gate_rows, hidden_rows = rows[: 2 * size], rows[2 * size :]

    def step(part, states):
        (h,) = states
        part_z, part_r, part_h = layer.blocks(part)
        if behind:
            z, r, candidate = layer.blocks(_sum(F.matmul(h, rows, transpose_b=True), bias))
            z, r = gate(layer.clipped(part_z + z)), gate(layer.clipped(part_r + r))
            candidate = activate(layer.clipped(part_h + r * candidate))
        else:
            both = F.matmul(h, gate_rows, transpose_b=True)
            both = both if bias is None else both + bias[: 2 * size]
            z = gate(layer.clipped(part_z + both[..., :size]))
            r = gate(layer.clipped(part_r + both[..., size:]))
            product = F.matmul(r * h, hidden_rows, transpose_b=True)
            product = product if bias is None else product + bias[2 * size :]
            candidate = activate(layer.clipped(part_h + product))
        return ((1.0 - z) * candidate + z * h,)

    return step


@operator("LSTM", since=7, raw=True)
def lstm(node, x, weight, recurrence, bias=None, lengths=None, first=None, first_cell=None, peepholes=None):
    """Gates in the order input, output, forget, cell; with peepholes the gates also see the cell."""
    layer = _Layer(node, 4, x, weight, recurrence, bias, lengths)
    functions = _activations(node, ["Sigmoid", "Tanh", "Tanh"], len(layer.reversed))
    outputs, last, last_cells = [], [], []
    for i in range(len(layer.reversed)):
        inputs = F.matmul(layer.x, layer.weight[i], transpose_b=True)
        for part in layer.biases(i):
            inputs = _sum(inputs, part)
        seen = None
        if peepholes is not None:
            seen = [tensor_of(peepholes)[i, k * layer.hidden : (k + 1) * layer.hidden] for k in range(3)]
        step = _lstm_step(layer, layer.recurrence[i], seen, functions[i], bool(node.get("input_forget", 0)))
        states = layer.first_state(first, i), layer.first_state(first_cell, i)
        y, (h, c) = layer.run(i, states, inputs, step)
        outputs.append(y)
        last.append(h)
        last_cells.append(c)
    return layer.results(outputs, last, last_cells)


def _lstm_step(layer, rows, peepholes, functions, coupled):
    gate, activate, squash = functions
    see_input, see_output, see_forget = peepholes or (None, None, None)

    def seen(part, cell, weight):
        return layer.clipped(part if weight is None else part + weight * cell)

    def step(part, states):
        h, c = states
        i, o, f, g = layer.blocks(part + F.matmul(h, rows, transpose_b=True))
        i = gate(seen(i, c, see_input))
        f = 1.0 - i if coupled else gate(seen(f, c, see_forget))
        cell = f * c + i * activate(layer.clipped(g))
        o = gate(seen(o, cell, see_output))
        return o * squash(cell), cell

    return step
