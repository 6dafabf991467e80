"""The eleven models of the benchmark beside ONNX Runtime, in Python's session and in ferrule-run.

Long: it needs the models and ONNX Runtime's environment, which `./dev bench infer` makes in the cache folder.
"""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import ferrule as fer
import ferrule.onnx

CACHE = pathlib.Path(os.environ.get("FERRULE_CACHE", "~/.cache/ferrule")).expanduser()
MODELS, ORT_PYTHON = CACHE / "models", CACHE / "peers/ort/bin/python"
NAMES = (
    "resnet50",
    "mobilenet_v2",
    "efficientnet_b0",
    "vit_b_16",
    "minilm_l6",
    "gpt2_s64",
    "lstm2",
    "ocr_det",
    "ocr_rec",
    "ocr_cls",
    "magika",
)
# As a share of the largest output. On noise the detector's last layer squeezes values around -8 to ones below 1e-3, so
# that ONNX Runtime with and without its optimisations differs by 2.4e-4.
TOLERANCE = {"ocr_det": 5e-4}
# How many different numbers an input of integers may hold; "mask" is 0 or 1.
NUMBERS = {"ids": 30000, "bytes": 257, "mask": 2}


def inputs_of(described):
    """Random inputs by name."""
    rng = np.random.default_rng(0)
    arrays = {}
    for name, spec in described.items():
        shape, dtype = spec["shape"], np.dtype(spec["dtype"])
        drawn = rng.standard_normal(shape) if dtype.kind == "f" else rng.integers(0, NUMBERS[name], shape)
        arrays[name] = drawn.astype(dtype)
    return arrays


def expected(path, arrays, folder):
    """What ONNX Runtime computes."""
    np.savez(folder / "in.npz", **arrays)
    script = pathlib.Path(__file__).with_name("ort_outputs.py")
    subprocess.run([ORT_PYTHON, script, path, folder / "in.npz", folder / "out.npz"], check=True)
    return dict(np.load(folder / "out.npz"))


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_onnx_runtime(name, tmp_path, ferrule_run):
    path = MODELS / f"{name}.onnx"
    assert path.exists() and ORT_PYTHON.exists(), f"{path} or {ORT_PYTHON} is missing: ./dev bench infer makes them"
    described = json.loads((MODELS / "list.json").read_text())[name]
    arrays = inputs_of(described)
    program = ferrule.onnx.compile(path, shapes={input_: spec["shape"] for input_, spec in described.items()})
    program.save(tmp_path / "model.fer")
    names = [output["name"] for output in program.signature("main")["outputs"]]
    results = dict(zip(names, fer.Session(program, threads=1).run("main", **arrays)))
    for output, wanted in expected(path, arrays, tmp_path).items():
        assert results[output].dtype == wanted.dtype and results[output].shape == wanted.shape
        scale = np.abs(wanted).max()
        assert scale > 0
        assert np.abs(results[output] - wanted).max() <= TOLERANCE.get(name, 1e-4) * scale
    # The artifact in the C++ runtime gives the same bits.
    save_file(arrays, tmp_path / "in.safetensors")
    files = ("--inputs", tmp_path / "in.safetensors", "--outputs", tmp_path / "out.safetensors")
    ferrule_run("run", tmp_path / "model.fer", "--entry", "main", *files)
    for output, array in load_file(tmp_path / "out.safetensors").items():
        np.testing.assert_array_equal(array, results[output])
