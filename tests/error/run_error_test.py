"""What is refused at run time, by Python's session and by ferrule-run, with what is allowed."""

import numpy as np
import pytest
from ferrule.errors import ExecutionError, FerruleError
from safetensors.numpy import save_file

import ferrule as fer


def images(*shape, dtype="float32"):
    return np.zeros(shape, dtype)


@pytest.fixture(scope="module")
def session(digits_artifact):
    return fer.Session(fer.load(digits_artifact), threads=1)


def refused(call, *parts, error=FerruleError):
    with pytest.raises(error) as caught:
        call()
    missing = [part for part in parts if part not in str(caught.value)]
    assert not missing, f"the message lacks {missing}:\n{caught.value}"


def test_unknown_entry(session):
    refused(lambda: session.run("predicts", images(1, 1, 8, 8)), "predicts", "train_step", "evaluate", "predict")


def test_unknown_input_name(session):
    refused(lambda: session.run("predict", picture=images(1, 1, 8, 8)), "predict", "picture", "image")


def test_missing_and_superfluous_inputs(session):
    refused(lambda: session.run("train_step", images(1, 1, 8, 8)), "train_step", "label")
    refused(lambda: session.run("predict", images(1, 1, 8, 8), images(1)), "predict", "2", "1")


def test_rank(session):
    refused(lambda: session.run("predict", images(8, 8)), "predict", "image", "2", "4", error=ExecutionError)


def test_dim(session):
    refused(lambda: session.run("predict", images(2, 1, 8, 9)), "predict", "image", "9", "8", error=ExecutionError)


def test_dtype(session):
    refused(lambda: session.run("predict", images(2, 1, 8, 8, dtype="float64")), "image", "float64", "float32", error=ExecutionError)


@pytest.mark.parametrize("batch", (0, 65, 1000))
def test_batch_outside_its_range(session, batch):
    refused(lambda: session.run("predict", images(batch, 1, 8, 8)), "predict", "batch", str(batch), "1", "64", error=ExecutionError)


def test_inputs_that_disagree_on_a_dim(session):
    refused(lambda: session.run("train_step", images(3, 1, 8, 8), images(4, dtype="int32")), "label", "batch", "3", "4", error=ExecutionError)


def test_a_refused_run_changes_nothing(session):
    before = {name: session[name] for name in session.variables()}
    with pytest.raises(ExecutionError):
        session.run("train_step", images(65, 1, 8, 8), images(65, dtype="int32"))
    assert all(np.array_equal(session[name], value) for name, value in before.items())
    assert session.run("predict", images(1, 1, 8, 8))[0].shape == (1, 10)


def test_threads_and_targets(digits_artifact):
    program = fer.load(digits_artifact)
    refused(lambda: fer.Session(program, threads=0), "threads", "0", "1")
    refused(lambda: fer.Session(program, target="x86-64-v9"), "x86-64-v9", "x86-64-v3", "x86-64-v4")


def test_unknown_variable(session):
    refused(lambda: session["net.conv9.weight"], "net.conv9.weight")


@pytest.fixture
def command(ferrule_run, digits_artifact, tmp_path):
    """command(*arguments) runs `ferrule-run run` on the predict entry; returns (exit code, messages)."""
    inputs = tmp_path / "in.safetensors"
    save_file({"image": images(2, 1, 8, 8)}, inputs)

    def call(*arguments):
        options = {"--entry": "predict", "--inputs": inputs, "--outputs": tmp_path / "out.safetensors"}
        options.update(zip(arguments[::2], arguments[1::2]))
        flat = [item for pair in options.items() for item in pair]
        done = ferrule_run("run", digits_artifact, *flat, check=False)
        return done.returncode, done.stderr

    return call


@pytest.mark.parametrize(
    ("arguments", "parts"),
    (
        (("--threads", "0"), ("--threads", "0", "1")),
        (("--threads", "two"), ("--threads", "two")),
        (("--entry", "predicts"), ("predicts", "train_step", "evaluate", "predict")),
        (("--target", "x86-64-v9"), ("x86-64-v9", "x86-64-v3", "x86-64-v4")),
        (("--inputs", "/nowhere/in.safetensors"), ("/nowhere/in.safetensors",)),
        (("--checkpoint", "/nowhere/checkpoint"), ("/nowhere/checkpoint",)),
        (("--colour", "red"), ("--colour",)),
    ),
)
def test_ferrule_run_options(command, arguments, parts):
    code, message = command(*arguments)
    assert code not in (0, 134, 139), message
    missing = [part for part in parts if part not in message]
    assert not missing, f"the message lacks {missing}:\n{message}"


def test_ferrule_run_good_call(command):
    code, message = command("--threads", "2")
    assert code == 0, message


def test_ferrule_run_artifacts(ferrule_run, tmp_path):
    for name, data in (("missing.fer", None), ("foreign.fer", b"not an artifact" * 20), ("empty.fer", b"")):
        path = tmp_path / name
        if data is not None:
            path.write_bytes(data)
        for verb in ("info", "run"):
            done = ferrule_run(verb, path, *(("--entry", "predict") if verb == "run" else ()), check=False)
            assert done.returncode not in (0, 134, 139) and name in done.stderr, (verb, name, done.stderr)


def test_ferrule_run_help(ferrule_run):
    for arguments in (("--help",), ("run", "--help"), ("train", "--help"), ("info", "--help")):
        done = ferrule_run(*arguments)
        assert "ferrule-run" in done.stdout, arguments
