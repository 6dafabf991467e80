"""The extension module ferrule._runtime, over the hand-made program of runtime/testing: no compiler involved."""

import pathlib
import re
import subprocess
import threading

import ferrule.program  # registers the error classes
import numpy as np
import pytest
from ferrule import _runtime, errors

ROOT = pathlib.Path(__file__).resolve().parents[3]
ARTIFACT = ROOT / "bazel-bin" / "runtime" / "testing" / "test_program.fer"


@pytest.fixture(scope="module")
def program():
    assert ARTIFACT.exists(), f"{ARTIFACT} is missing: bazel build //runtime/testing:test_program.fer"
    return _runtime.Program(str(ARTIFACT))


@pytest.fixture
def session(program):
    return _runtime.Session(program, threads=1)


def rows(batch, first=0.0):
    return (first + np.arange(batch * 4, dtype=np.float32)).reshape(batch, 4)


def test_links_the_runtime_only():
    libraries = subprocess.run(["ldd", _runtime.__file__], capture_output=True, text=True, check=True).stdout
    assert not re.search("LLVM|MLIR|python", libraries), libraries


def test_program(program):
    entries = {entry["name"]: entry for entry in program.entries()}
    train = entries["train"]
    assert train["inputs"] == [{"name": "x", "dtype": "float32", "shape": (-1, 4), "shape_text": "[batch, 4]"}]
    assert train["outputs"][0]["shape"] == ()
    assert train["dims"] == [{"name": "batch", "min": 1, "max": 8, "multiple_of": 1}]
    assert train["peak_bytes"] == train["lower_bound_bytes"] == 128
    assert [variable["name"] for variable in program.variables()] == ["w", "table", "counter"]
    assert program.variables()[1]["aliases"] == ["weights"]
    info = program.info()
    assert info["targets"][0]["name"] == "x86-64-v3"
    assert len(info["root_sha256"]) == 64
    assert info["file_bytes"] == ARTIFACT.stat().st_size


def test_open_from_bytes_and_by_hash(program):
    data, root = ARTIFACT.read_bytes(), program.info()["root_sha256"]
    for expected in (root, bytes.fromhex(root), None):
        assert len(_runtime.Program(data, verify="all", expected_sha256=expected).entries()) == len(program.entries())
    with pytest.raises(errors.ArtifactError, match=root):
        _runtime.Program(data, expected_sha256="0" * 64)
    with pytest.raises(ValueError, match="64 hex digits"):
        _runtime.Program(data, expected_sha256="12")
    with pytest.raises(ValueError, match="'structure' and 'all'"):
        _runtime.Program(data, verify="some")


def test_open_errors(tmp_path):
    with pytest.raises(errors.ArtifactError, match="missing.fer"):
        _runtime.Program(tmp_path / "missing.fer")
    with pytest.raises(errors.ArtifactError):
        _runtime.Program(ARTIFACT.read_bytes()[:-1])


def test_run(session):
    (y,) = session.run("predict", [rows(3)])
    assert np.array_equal(y, 2 * rows(3) + np.float32([1, 2, 3, 4]))
    (again,) = session.run("predict", {"x": rows(3)})
    assert np.array_equal(again, y)
    # Results are copies: a later run does not change them.
    session.run("predict", [rows(3, first=9)])
    assert np.array_equal(again, y)


def test_strided_and_foreign_byte_order_arrays(session):
    (wanted,) = session.run("predict", [rows(2)])
    for x in (np.asfortranarray(rows(2)), np.repeat(rows(2), 2, axis=1)[:, ::2], rows(2).astype(">f4")):
        assert np.array_equal(session.run("predict", [x])[0], wanted)


def test_training_and_variables(session):
    (loss,) = session.run("train", [rows(2)])
    assert loss.shape == () and loss == 76
    assert np.array_equal(session.get_variable("w"), np.float32([5, 8, 11, 14]))
    assert np.array_equal(session.get_variable("weights"), np.arange(10, 16, dtype=np.float32).reshape(3, 2))
    session.set_variable("w", np.zeros(4, np.float32))
    assert not session.get_variable("w").any()
    session.reset()
    assert np.array_equal(session.get_variable("w"), np.float32([1, 2, 3, 4]))
    for value in (np.zeros(5, np.float32), np.zeros(4), np.zeros((4, 1), np.float32)):
        with pytest.raises(errors.ExecutionError, match="'w' is float32"):
            session.set_variable("w", value)
    with pytest.raises(errors.ExecutionError, match="bias"):
        session.get_variable("bias")


@pytest.mark.parametrize(
    ("entry", "inputs", "message"),
    (
        ("infer", [], "infer"),
        ("predict", [], "1 input"),
        ("predict", [np.zeros((2, 5), np.float32)], "5"),
        ("predict", [np.zeros((2, 4))], "float64"),
        ("predict", [np.zeros((9, 4), np.float32)], "batch"),
        ("predict", {"y": np.zeros((2, 4), np.float32)}, "takes the inputs x"),
        ("check", [np.int32([1, 40])], "index 40"),
    ),
)
def test_wrong_calls(session, entry, inputs, message):
    with pytest.raises(errors.ExecutionError, match=message):
        session.run(entry, inputs)


def test_input_that_is_no_array(session):
    with pytest.raises(TypeError, match="NumPy array"):
        session.run("predict", [[1.0, 2.0]])


def test_checkpoint(session, program, tmp_path):
    session.run("train", [rows(1)])
    path = tmp_path / "state"
    position = {"seed": 1, "epoch": 2, "sample": 3, "step": 4}
    session.save_checkpoint(path, position)
    other = _runtime.Session(program, threads=1)
    assert other.load_checkpoint(path) == position
    assert np.array_equal(other.get_variable("w"), session.get_variable("w"))
    with pytest.raises(errors.ArtifactError, match="nowhere"):
        other.load_checkpoint("/nowhere/state")
    with pytest.raises(ValueError, match="seed, epoch, sample, step"):
        session.save_checkpoint(path, {"weeks": 1})


def test_a_delta_holds_what_changed(session, program, tmp_path):
    whole, delta = tmp_path / "whole", tmp_path / "delta"
    position = {"seed": 0, "epoch": 0, "sample": 0, "step": 1}
    session.run("train", [rows(1)])
    session.save_checkpoint(whole)
    session.save_checkpoint(delta, position, delta=True)
    assert b'"w"' in delta.read_bytes() and b'"table"' not in delta.read_bytes() and b'"table"' in whole.read_bytes()
    other = _runtime.Session(program, threads=1)
    other.run("train", [rows(2)])
    assert other.load_checkpoint(delta) == position
    for name in ("w", "table", "counter"):
        assert np.array_equal(other.get_variable(name), session.get_variable(name))


def test_variables_by_name(session, program, tmp_path):
    path = tmp_path / "some.safetensors"
    session.run("train", [rows(1)])
    session.save_variables(path, ["w", "weights"])
    other = _runtime.Session(program, threads=1)
    counter = other.get_variable("counter")
    assert other.load_variables(path) == 2
    assert np.array_equal(other.get_variable("w"), session.get_variable("w"))
    assert np.array_equal(other.get_variable("counter"), counter)
    with pytest.raises(errors.ExecutionError, match="bias"):
        session.save_variables(path, ["bias"])
    path.write_bytes(path.read_bytes().replace(b'"w"', b'"v"'))
    with pytest.raises(errors.ArtifactError, match="'v'"):
        other.load_variables(path)


def test_incomplete_state(session):
    with pytest.raises(errors.ExecutionError, match="incomplete"):
        session.run("fail", [rows(1), np.int32([99])])
    assert not session.info()["state_complete"]
    with pytest.raises(errors.ExecutionError, match="load a checkpoint or reset"):
        session.run("predict", [rows(1)])
    session.reset()
    session.run("predict", [rows(1)])


def test_share_and_targets(session, program):
    other = _runtime.Session(program, threads=2, share=session)
    session.run("train", [rows(1)])
    assert np.array_equal(other.get_variable("w"), np.float32([1, 3, 5, 7]))
    assert other.info()["threads"] == 2
    with pytest.raises(errors.ExecutionError, match="x86-64-v3"):
        _runtime.Session(program, target="x86-64-v9")


def test_the_session_outlives_the_program():
    session = _runtime.Session(_runtime.Program(ARTIFACT.read_bytes()), threads=1)
    assert session.run("predict", [rows(1)])[0].shape == (1, 4)


def test_threads_of_python_take_turns(session):
    def work():
        for _ in range(50):
            session.run("train", [np.ones((1, 4), np.float32)])

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert np.array_equal(session.get_variable("w"), np.float32([201, 202, 203, 204]))
