"""Layers over [batch, steps, width]: how many kernels they take, and that their bits are those of the rows."""

import numpy as np
import pytest

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
from ferrule.autodiff import GradManager

WIDTH, BATCH, STEPS = 24, 3, 5


class Block(M.Module):
    """Two layers with a norm before and a residual behind, as a transformer has them."""

    def __init__(self):
        super().__init__()
        self.norm = M.LayerNorm(WIDTH)
        self.widen, self.narrow = M.Linear(WIDTH, 2 * WIDTH), M.Linear(2 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.narrow(F.gelu(self.widen(self.norm(x))))


def make_net(blocks=2):
    """The blocks with weights that are the same in each call."""
    random = np.random.default_rng(1)
    net = M.Sequential(*[Block() for _ in range(blocks)])
    net.load_state_dict({name: random.standard_normal(value.shape).astype(np.float32) * 0.2
                         for name, value in net.state_dict().items()})  # fmt: skip
    return net


def inputs(*shape):
    return np.random.default_rng(2).standard_normal((*shape, WIDTH)).astype(np.float32)


def compile_predict(*shape, **options):
    net = make_net()
    return fer.compile({"predict": (net, [fer.Spec((*shape, WIDTH), "float32")])}, modules={"net": net}, **options)


def compile_step(*shape, **options):
    net = make_net()
    gradients, optimizer = GradManager().attach(net.parameters()), optim.SGD(net.parameters(), 0.1, momentum=0.9)

    def train_step(x):
        with gradients:
            y = net(x)
            loss = (y * y).mean()
            gradients.backward(loss)
        optimizer.step().clear_grad()
        return loss

    return fer.compile({"train_step": (train_step, [fer.Spec((*shape, WIDTH), "float32")])}, modules={"net": net}, **options)


def run(program, entry, x):
    """The outputs, the variables behind the run and the calls of kernels."""
    session = fer.Session(program, threads=1)
    with session.profile() as profile:
        outputs = session.run(entry, x)
    kernels = sum(not event["kernel"].startswith("copy") for event in profile.events)
    return outputs, {name: session[name] for name in session.variables()}, kernels


def test_kernels_of_a_block():
    """Statistics, norm, and two products with bias, gelu and residual: four for each block."""
    x = inputs(BATCH, STEPS)
    (y,), _, kernels = run(compile_predict(BATCH, STEPS), "predict", x)
    assert kernels == 2 * 4
    (rows,), _, rows_kernels = run(compile_predict(BATCH * STEPS), "predict", x.reshape(-1, WIDTH))
    assert rows_kernels == kernels
    np.testing.assert_array_equal(y.reshape(rows.shape), rows)


@pytest.mark.parametrize("batch", [1, 3, 8])
def test_batch_of_any_size(batch):
    x = inputs(batch, STEPS)
    (y,), _, kernels = run(compile_predict(fer.Dim("batch", min=1, max=8), STEPS), "predict", x)
    assert kernels == 2 * 4
    (rows,), _, _ = run(compile_predict(batch * STEPS), "predict", x.reshape(-1, WIDTH))
    np.testing.assert_array_equal(y.reshape(rows.shape), rows)


def test_training_step():
    """The gradients too: as many kernels as over rows, the same loss and the same weights behind the step."""
    x = inputs(BATCH, STEPS)
    (loss,), weights, kernels = run(compile_step(BATCH, STEPS), "train_step", x)
    (rows_loss,), rows_weights, rows_kernels = run(compile_step(BATCH * STEPS), "train_step", x.reshape(-1, WIDTH))
    assert kernels == rows_kernels
    assert loss == rows_loss
    for name, value in weights.items():
        np.testing.assert_array_equal(value, rows_weights[name], err_msg=name)


def test_bits_without_fusion():
    x = inputs(BATCH, STEPS)
    fused, apart = compile_step(BATCH, STEPS), compile_step(BATCH, STEPS, disable_passes=["fuse"])
    (loss,), weights, _ = run(fused, "train_step", x)
    (other_loss,), other_weights, _ = run(apart, "train_step", x)
    assert loss == other_loss
    for name, value in weights.items():
        np.testing.assert_array_equal(value, other_weights[name], err_msg=name)


def test_positions_told_apart():
    """A value for each step is repeated along the batch alone: the sum with it is over [batch, steps, width]."""
    net = M.Linear(WIDTH, WIDTH)
    positions = inputs(STEPS)

    def add_positions(x):
        return net(x) + fer.tensor(positions)

    program = fer.compile({"run": (add_positions, [fer.Spec((BATCH, STEPS, WIDTH), "float32")])}, modules={"net": net})
    x = inputs(BATCH, STEPS)
    (y,), _, kernels = run(program, "run", x)
    assert kernels == 2
    expected = np.asarray(net(fer.tensor(x))) + positions
    np.testing.assert_array_equal(y, expected)
