"""Recurrent networks over sequences of any length: one loop in the graph, also in an artifact. Values:
layers_test.py."""

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
import numpy as np
import pytest
from ferrule.autodiff import GradManager
from ferrule.jit import trace

KINDS = ("RNN", "LSTM", "GRU")


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def make(kind, *args, **kwargs):
    fer.random.seed(1)
    return getattr(M, kind)(*args, **kwargs)


def first(state):
    return state[0] if isinstance(state, tuple) else state


@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_is_its_cell_step_by_step(kind):
    net, cell = make(kind, 3, 5), getattr(M, kind + "Cell")(3, 5)
    cell.load_state_dict({name[:-3]: value for name, value in net.state_dict().items()})
    x, state = fer.tensor(normal(6, 2, 3)), None
    outputs, last = net(x)
    for t in range(6):
        state = cell(x[t], state)
        np.testing.assert_array_equal(outputs[t].numpy(), first(state).numpy())
    np.testing.assert_array_equal(first(last)[0].numpy(), first(state).numpy())


@pytest.mark.parametrize("kind", KINDS)
def test_one_artifact_for_every_length_and_batch(kind):
    net = make(kind, 3, 4, 2, bidirectional=True)
    steps, samples = fer.Dim("steps", max=64), fer.Dim("samples", max=8)
    specs = [fer.Spec((steps, samples, 3)), fer.Spec((samples,), "int32")]
    program = fer.compile({"run": (lambda x, lengths: net(x, lengths=lengths), specs)}, modules={"net": net})
    session = fer.Session(program)
    for count, batch in ((1, 1), (7, 3), (20, 2), (7, 3)):
        x, lengths = normal(count, batch, 3), np.arange(batch, dtype="int32") % count + 1
        outputs, *states = session.run("run", x, lengths)
        wanted, last = net(fer.tensor(x), lengths=fer.tensor(lengths))
        np.testing.assert_array_equal(outputs, wanted.numpy())
        np.testing.assert_array_equal(states[0], first(last).numpy())
        for n, length in enumerate(lengths):
            assert not outputs[length:, n].any()
            alone, _ = net(fer.tensor(x[:length, n : n + 1]))
            np.testing.assert_array_equal(outputs[:length, n], alone.numpy()[:, 0])


def test_the_program_does_not_grow_with_the_length():
    net = make("LSTM", 3, 4)

    def size(steps):
        program = fer.compile({"run": (lambda x: net(x)[0], [fer.Spec((steps, 2, 3))])}, modules={"net": net})
        return program.sizes()["file"]

    assert size(500) < 1.2 * size(50)


@pytest.mark.parametrize("kind", KINDS)
def test_training_over_sequences_of_different_lengths(kind):
    """The tagger learns to repeat the sign of the input one step before; padded steps change nothing."""
    net, head = make(kind, 1, 8, batch_first=True), M.Linear(8, 2)
    parameters = [*net.parameters(), *head.parameters()]
    optimizer, manager = optim.Adam(parameters, lr=0.03), GradManager().attach(parameters)

    def loss_of(x, labels, lengths):
        outputs, _ = net(x, lengths=lengths)
        logits = head(outputs)
        present = F.expand_dims(F.arange(x.shape[1], dtype="int32"), 0) < F.expand_dims(lengths, 1)
        each = F.logsumexp(logits, 2) - F.where(labels > 0, logits[:, :, 1], logits[:, :, 0])
        return F.where(present, each, 0.0).sum() / present.astype("float32").sum()

    @trace
    def step(x, labels, lengths):
        with manager:
            loss = loss_of(x, labels, lengths)
            manager.backward(loss)
        optimizer.step().clear_grad()
        return loss

    rng, losses = np.random.default_rng(0), []
    for _ in range(60):
        signs = rng.choice([-1.0, 1.0], (8, 6)).astype("float32")
        labels = np.concatenate([np.zeros((8, 1)), signs[:, :-1] > 0], 1).astype("int32")
        lengths = rng.integers(1, 7, 8).astype("int32")
        losses.append(step(signs[:, :, None], labels, lengths).item())
    assert step.capture_count == 1 and np.mean(losses[-5:]) < 0.5 * np.mean(losses[:5])


def test_what_lies_behind_the_end_has_no_influence():
    net = make("GRU", 3, 4, bidirectional=True)
    x, lengths = normal(6, 2, 3), fer.tensor(np.array([2, 6], "int32"))
    manager = GradManager()
    tensor = fer.tensor(x)
    manager.attach(tensor)
    with manager:
        outputs, last = net(tensor, lengths=lengths)
        manager.backward([outputs.sum(), last.sum()])
    assert not tensor.grad.numpy()[2:, 0].any() and tensor.grad.numpy()[:2, 0].all()
    x[2:, 0] = 1e6
    again, last_again = net(fer.tensor(x), lengths=lengths)
    np.testing.assert_array_equal(again.numpy(), outputs.numpy())
    np.testing.assert_array_equal(last_again.numpy(), last.numpy())


def test_packed_and_padded():
    x, lengths = normal(2, 5, 3), np.array([5, 2])
    packed = M.pack_padded_sequence(fer.tensor(x), lengths, batch_first=True)
    assert isinstance(packed, M.PackedSequence) and packed.lengths.dtype == "int32"
    result, state = make("LSTM", 3, 4)(packed)  # the packing says which axis comes first
    data, got_lengths = M.pad_packed_sequence(result, batch_first=True, padding_value=-1.0)
    assert data.shape == (2, 5, 4) and (data.numpy()[1, 2:] == -1).all() and got_lengths.numpy().tolist() == [5, 2]
    assert M.pad_packed_sequence(result)[0].shape == (5, 2, 4) and state[0].shape == (1, 2, 4)
    padded = M.pad_sequence([np.ones(2, "float32"), np.ones(3, "float32")], padding_value=9.0)
    assert padded.numpy().tolist() == [[1, 1], [1, 1], [9, 1]]
    with pytest.raises(fer.errors.ShapeError, match="one length a sequence"):
        M.pack_padded_sequence(fer.tensor(x), [5, 2, 1], batch_first=True)


def test_dropout_between_layers_only_in_training():
    net, x = make("LSTM", 3, 4, 2, dropout=0.5), fer.tensor(normal(5, 2, 3))
    drawn = [net(x)[0].numpy() for _ in range(2)]
    assert not np.array_equal(*drawn)
    net.eval()
    assert np.array_equal(net(x)[0].numpy(), net(x)[0].numpy())
    alone = make("LSTM", 3, 4, 1, dropout=0.5)  # the last layer's output is not dropped
    assert np.array_equal(alone(x)[0].numpy(), alone(x)[0].numpy())
