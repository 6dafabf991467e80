"""Artifacts that older compilers wrote run in this runtime with the outputs that they had, bit for bit, on every target."""

import pathlib
import subprocess

import golden_files
import make_golden
import numpy as np
import golden_programs
import pytest
from ferrule import _runtime
from ferrule.errors import FerruleError
from safetensors.numpy import load_file, save_file

import ferrule as fer

ROOT = pathlib.Path(__file__).resolve().parents[2]
EMULATED = ROOT / "build" / "aarch64" / "bin" / "ferrule-run"
CASES = [(version, path.name.split(".")[0]) for version, folder in golden_files.versions().items() for path in folder.glob("*.npz")]


def assert_same(got, wanted):
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    assert np.ascontiguousarray(got).tobytes() == np.ascontiguousarray(wanted).tobytes()


@pytest.fixture(params=CASES, ids=lambda case: f"v{case[0]}-{case[1]}")
def golden(request, tmp_path):
    """(path of the artifact, calls)."""
    version, name = request.param
    artifact, calls = golden_files.read(golden_files.versions()[version], name)
    path = tmp_path / f"{name}.fer"
    path.write_bytes(artifact)
    return path, calls


@pytest.mark.parametrize("threads", (1, 3))
@pytest.mark.parametrize("target", ("x86-64-v3", "x86-64-v4"))
def test_the_same_outputs(golden, target, threads):
    path, calls = golden
    try:
        session = fer.Session(fer.load(path, verify="all", weights_key=golden_programs.WEIGHTS_KEY), threads=threads, target=target)
    except FerruleError as error:
        assert f"{target} (does not run here)" in str(error), error
        pytest.skip(f"this machine does not run {target}")
    assert calls
    for entry, inputs, outputs in calls:
        got = session.run(entry, **inputs)
        assert len(got) == len(outputs)
        for result, wanted in zip(got, outputs.values()):
            assert_same(result, wanted)


def test_the_same_outputs_under_emulation(golden, tmp_path):
    """ferrule-run for 64-bit ARM; the variables go from call to call in a checkpoint."""
    path, calls = golden
    if fer.load(path).weights_key_name is not None:
        pytest.skip("ferrule-run takes no key")
    assert EMULATED.exists(), f"{EMULATED} is missing: ./dev build --target aarch64 makes it"
    state = tmp_path / "state"
    for number, (entry, inputs, outputs) in enumerate(calls):
        given, made = tmp_path / "in.safetensors", tmp_path / f"out{number}.safetensors"
        save_file({name: np.asarray(array, order="C") for name, array in inputs.items()}, given)
        command = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", EMULATED, "run", path, "--entry", entry, "--inputs", given,
                   "--outputs", made, "--save", state, *(["--checkpoint", state] if number else [])]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=300)
        assert done.returncode == 0, done.stderr
        got = load_file(made)
        assert got.keys() == outputs.keys()
        for name, wanted in outputs.items():
            assert_same(got[name], wanted)


@pytest.mark.parametrize("version", range(1, _runtime.FORMAT_VERSION + 1))
def test_every_version_has_its_files(version):
    assert {name for each, name in CASES if each == version} == set(golden_programs.PROGRAMS[version])


def test_frozen_files_are_never_written_again():
    for folder in golden_files.versions().values():
        with pytest.raises(SystemExit, match="never written again"):
            make_golden.make(folder)
