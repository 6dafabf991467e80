"""One model, the same bits on every way to run it (docs/numerics.md).

The reference is one session with one thread; everything else must equal it bit for bit: the predictions of the untrained
network, and every variable after 20 training steps.
"""

import digits
import numpy as np
import pytest
from array_bits import bits
from ferrule import _compiler
from ferrule.data.shuffle import epoch_order
from safetensors.numpy import load_file, save_file

import ferrule as fer

LEVELS = ("x86-64-v3", "x86-64-v4")


def assert_same(state, reference):
    assert state.keys() == reference.keys()
    different = [name for name in reference if bits(state[name]) != bits(reference[name])]
    assert not different, f"different bits in {different}"


def train_session(session, oracle):
    """The losses of 20 steps and every variable after them."""
    losses = [session.run("train_step", image, label)[0] for image, label in zip(oracle.images, oracle.labels)]
    return np.array(losses), {name: session[name] for name in session.variables()}


@pytest.fixture(scope="module")
def reference(digits_artifact, oracle):
    """(prediction of batch 0 before training, losses, variables after 20 steps): one thread, the machine's best level."""
    session = fer.Session(fer.load(digits_artifact), threads=1)
    prediction = session.run("predict", oracle.images[0])[0]
    return prediction, *train_session(session, oracle)


def assert_equals_reference(session, reference, oracle):
    prediction, losses, state = reference
    assert bits(session.run("predict", oracle.images[0])[0]) == bits(prediction)
    own_losses, own_state = train_session(session, oracle)
    assert bits(own_losses) == bits(losses)
    assert_same(own_state, state)


@pytest.mark.parametrize("threads", (1, 2, 3))
@pytest.mark.parametrize("target", LEVELS)
def test_threads_and_cpu_levels(digits_artifact, oracle, reference, target, threads):
    assert_equals_reference(fer.Session(fer.load(digits_artifact), threads=threads, target=target), reference, oracle)


@pytest.mark.parametrize("target", LEVELS)
def test_a_row_has_the_bits_it_has_alone(digits_artifact, oracle, reference, target):
    session = fer.Session(fer.load(digits_artifact), threads=2, target=target)
    for row in range(64):
        alone = session.run("predict", oracle.images[0][row : row + 1])[0]
        assert bits(alone) == bits(reference[0][row : row + 1]), f"row {row}"
    for count in (2, 15, 16, 17, 63):
        assert bits(session.run("predict", oracle.images[0][:count])[0]) == bits(reference[0][:count]), f"{count} rows"


# What passes/Pipelines.cpp calls optional; tests/error checks that the compiler names exactly these.
OPTIONAL_PASSES = ("simplify", "fold", "prune", "attention", "fuse", "schedule", "memory")


@pytest.mark.parametrize("disabled", [*[(name,) for name in OPTIONAL_PASSES], OPTIONAL_PASSES], ids="+".join)
def test_optional_passes_off(make_digits, oracle, reference, disabled):
    program = digits.compile_digits(*make_digits(), targets=("host",), disable_passes=disabled)
    assert_equals_reference(fer.Session(program, threads=2), reference, oracle)


@pytest.mark.parametrize("mode", ("dynamic", "flush after every op", "traced"))
def test_python_modes(make_digits, oracle, reference, mode):
    net, optimizer = make_digits()
    train_step, _, predict = digits.make_entries(net, optimizer)
    train_step.enabled = predict.enabled = mode == "traced"
    prediction, losses, state = reference
    # A flush after every op compiles each op by itself; a few steps of that show the same as twenty.
    steps = 3 if mode == "flush after every op" else len(oracle.images)
    _compiler.flush_every_op(mode == "flush after every op")
    try:
        assert bits(predict(fer.Tensor(oracle.images[0])).numpy()) == bits(prediction)
        own = [
            train_step(fer.Tensor(image), fer.Tensor(label)).numpy()
            for image, label in zip(oracle.images[:steps], oracle.labels[:steps])
        ]
    finally:
        _compiler.flush_every_op(False)
    assert bits(np.array(own)) == bits(losses[:steps])
    if steps == len(oracle.images):
        for name, value in net.state_dict().items():
            assert bits(value) == bits(state["net." + name]), name


def test_ferrule_run_predicts(digits_artifact, oracle, reference, ferrule_run, tmp_path):
    inputs, outputs = tmp_path / "in.safetensors", tmp_path / "out.safetensors"
    save_file({"image": np.ascontiguousarray(oracle.images[0])}, inputs)
    for target in LEVELS:
        for threads in (1, 2, 3):
            ferrule_run("run", digits_artifact, "--entry", "predict", "--inputs", inputs, "--outputs", outputs,
                        "--target", target, "--threads", threads)  # fmt: skip
            (prediction,) = load_file(outputs).values()
            assert bits(prediction) == bits(reference[0]), (target, threads)


def test_ferrule_run_trains(digits_artifact, oracle, ferrule_run, tmp_path):
    """An epoch of 20 shuffled steps in ferrule-run gives the variables that Python's session gets from the same order."""
    images, labels = oracle.images.reshape(-1, 1, 8, 8), oracle.labels.reshape(-1)
    data, seed = tmp_path / "train.safetensors", 7
    save_file({"image": images, "label": labels}, data)
    session = fer.Session(fer.load(digits_artifact), threads=2)
    order = epoch_order(len(labels), seed, epoch=0)
    for start in range(0, len(order), 64):
        batch = order[start : start + 64]
        session.run("train_step", images[batch], labels[batch])
    wanted = {name: session[name] for name in session.variables()}
    for target in LEVELS:
        for threads in (1, 2, 3):
            checkpoint = tmp_path / f"{target}-{threads}"
            ferrule_run("train", digits_artifact, "--entry", "train_step", "--data", data, "--epochs", 1, "--batch", 64,
                        "--seed", seed, "--checkpoint", checkpoint, "--target", target, "--threads", threads)  # fmt: skip
            assert_same(load_file(checkpoint), wanted)
    session.reset()
    session.load_checkpoint(checkpoint)
    assert_same({name: session[name] for name in session.variables()}, wanted)
