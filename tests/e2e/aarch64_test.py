"""Code for 64-bit ARM under qemu's emulation of a processor: the bits are those of x86-64 (docs/numerics.md)."""

import pathlib
import subprocess

import data_files
import digits
import gpt
import numpy as np
import pytest
import resnet18
import tagger
from array_bits import bits
from example_training import compile_example
from ferrule._stream import apply
from model_cases import SIZES, batches_of
from safetensors.numpy import load_file, save_file

import ferrule as fer
import ferrule.functional as F

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNNER = ROOT / "build" / "aarch64" / "bin" / "ferrule-run"
MODELS = {
    "resnet18": lambda size: resnet18.make(resnet18.ResNet18(size["width"]), size["batch"], size["lr"]),
    "gpt": lambda size: gpt.make(
        gpt.GPT(size["width"], size["heads"], size["depth"], size["length"]), size["batch"], size["length"]
    ),
    "tagger": lambda size: tagger.make(tagger.Tagger(size["width"]), max_batch=size["batch"], longest=size["longest"]),
}
CASES = {op: each for op, each in data_files.load().items() if op != "gradient"}


def assert_same(got, wanted):
    assert wanted and got.keys() == wanted.keys()
    for name in wanted:
        assert got[name].dtype == wanted[name].dtype and got[name].shape == wanted[name].shape, name
        assert bits(got[name]) == bits(wanted[name]), name


@pytest.fixture(scope="module")
def emulated_run():
    """run(*arguments, cpu, page_bytes, check): ferrule-run for aarch64 under qemu-user."""
    assert RUNNER.exists(), f"{RUNNER} is missing: ./dev build --target aarch64 makes it"

    def run(*arguments, cpu="max", page_bytes=4096, check=True):
        command = ["qemu-aarch64", "-cpu", cpu, "-p", str(page_bytes), "-L", "/usr/aarch64-linux-gnu", str(RUNNER)]
        command += map(str, arguments)
        done = subprocess.run(command, capture_output=True, text=True, timeout=1800, stdin=subprocess.DEVNULL)
        if check:
            assert done.returncode == 0, f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    return run


@pytest.fixture(scope="module")
def digits_for_both(make_digits, tmp_path_factory):
    """The demo's artifact with code for x86-64 and for ARM."""
    path = tmp_path_factory.mktemp("aarch64") / "digits.fer"
    digits.compile_digits(*make_digits(), targets=("x86-64-v3", "aarch64", "aarch64-dotprod")).save(path)
    return path


# A Cortex-A53 has no dot product: it takes the code of the lower level.
@pytest.mark.parametrize("cpu", ("cortex-a53", "max"))
@pytest.mark.parametrize("threads", (1, 3))
def test_a_network_predicts(digits_for_both, oracle, ferrule_run, emulated_run, tmp_path, threads, cpu):
    inputs, native, emulated = (tmp_path / f"{name}.safetensors" for name in ("inputs", "native", "emulated"))
    save_file({"image": np.ascontiguousarray(oracle.images[0])}, inputs)
    arguments = ("run", digits_for_both, "--entry", "predict", "--inputs", inputs, "--threads", threads, "--outputs")
    ferrule_run(*arguments, native)
    emulated_run(*arguments, emulated, cpu=cpu)
    assert_same(load_file(emulated), load_file(native))


def test_a_level_needs_its_feature(digits_for_both, emulated_run, tmp_path):
    """A machine without the dot product names it; one that has it runs both levels."""
    only = tmp_path / "only.fer"
    fer.compile({"main": (lambda x: x + 1, [fer.Spec((4,))])}, targets=["aarch64-dotprod"]).save(only)
    save_file({"x": np.zeros(4, np.float32)}, tmp_path / "inputs")
    arguments = ("run", only, "--entry", "main", "--inputs", tmp_path / "inputs", "--outputs", tmp_path / "outputs")
    emulated_run(*arguments)
    refused = emulated_run(*arguments, cpu="cortex-a53", check=False)
    assert refused.returncode != 0
    assert "target 'aarch64-dotprod' needs the CPU feature 'dotprod', which this machine lacks" in refused.stderr
    lines = [line for line in emulated_run("info", digits_for_both).stdout.splitlines() if line.startswith("  aarch64")]
    assert len(lines) == 2 and not any("does not" in line for line in lines), lines


def test_weights_are_mapped_with_large_pages(ferrule_run, emulated_run, tmp_path):
    """64 MB of weights with pages of 64 KiB, which is how segments are aligned."""
    weight = fer.Parameter(np.random.default_rng(0).standard_normal((4096, 4096)).astype(np.float32))
    program = fer.compile({"main": (lambda x: F.matmul(x, weight), [fer.Spec((1, 4096))])},
                          modules={"weight": weight}, targets=["x86-64-v3", "aarch64"])  # fmt: skip
    program.save(tmp_path / "big.fer")
    name = program.signature("main")["inputs"][0]["name"]
    save_file({name: np.linspace(-1, 1, 4096, dtype=np.float32)[None]}, tmp_path / "inputs")
    arguments = ("run", tmp_path / "big.fer", "--entry", "main", "--inputs", tmp_path / "inputs", "--outputs")
    ferrule_run(*arguments, tmp_path / "native")
    emulated_run(*arguments, tmp_path / "emulated", page_bytes=65536)
    assert_same(load_file(tmp_path / "emulated"), load_file(tmp_path / "native"))


def test_a_product_whose_rows_and_panels_are_copied_on_x86(ferrule_run, emulated_run, tmp_path):
    """The gradient of a weight, over enough rows; on ARM the panels alone are copied."""
    random, shapes = np.random.default_rng(0), {"x": (512, 256), "g": (512, 260)}

    def gradient(x, g):
        return F.matmul(x, g, transpose_a=True)

    program = fer.compile({"main": (gradient, [fer.Spec(each) for each in shapes.values()])},
                          targets=["x86-64-v3", "aarch64"])  # fmt: skip
    program.save(tmp_path / "gradient.fer")
    save_file({name: random.standard_normal(each).astype(np.float32) for name, each in shapes.items()}, tmp_path / "inputs")
    arguments = ("run", tmp_path / "gradient.fer", "--entry", "main", "--inputs", tmp_path / "inputs", "--threads", 2)
    ferrule_run(*arguments, "--outputs", tmp_path / "native")
    emulated_run(*arguments, "--outputs", tmp_path / "emulated")
    assert_same(load_file(tmp_path / "emulated"), load_file(tmp_path / "native"))


def test_a_network_trains(digits_for_both, oracle, ferrule_run, emulated_run, tmp_path):
    """20 steps: every variable and the optimizer's state."""
    data = tmp_path / "train.safetensors"
    save_file({"image": oracle.images.reshape(-1, 1, 8, 8), "label": oracle.labels.reshape(-1)}, data)
    arguments = ("train", digits_for_both, "--entry", "train_step", "--data", data, "--epochs", 1, "--batch", 64,
                 "--seed", 7, "--threads", 2, "--checkpoint")  # fmt: skip
    ferrule_run(*arguments, tmp_path / "native")
    emulated_run(*arguments, tmp_path / "emulated")
    assert_same(load_file(tmp_path / "emulated"), load_file(tmp_path / "native"))


@pytest.mark.parametrize(
    ("model", "size"),
    [
        pytest.param(model, size, id=f"{model}-{size}", marks=[pytest.mark.long] if size == "full" else [])
        for model in MODELS
        for size in SIZES[model]
    ],
)
def test_models_train_and_predict(model, size, ferrule_run, emulated_run, tmp_path):
    """Three steps, and what the trained state predicts: convolutions with batch norm, attention, a loop over time; outputs
    and all state."""
    size, path = SIZES[model][size], tmp_path / "model.fer"
    program = compile_example(MODELS[model](size), targets=("x86-64-v3", "aarch64"))
    program.save(path)
    state = {kind: tmp_path / f"{kind}_state" for kind in ("native", "emulated")}

    def run_both(entry, batch, *options):
        names = [each["name"] for each in program.signature(entry)["inputs"]]
        save_file(dict(zip(names, batch)), tmp_path / "inputs")
        for run, kind in ((ferrule_run, "native"), (emulated_run, "emulated")):
            resume = ["--checkpoint", state[kind]] if state[kind].exists() else []
            save = [each.format(state[kind]) for each in options]
            run("run", path, "--entry", entry, "--inputs", tmp_path / "inputs", "--outputs", tmp_path / kind,
                *save, *resume)  # fmt: skip
        assert_same(load_file(tmp_path / "emulated"), load_file(tmp_path / "native"))

    batches = batches_of(model, size)[:3]
    for batch in batches:
        run_both("train_step", batch, "--save", "{}")
        assert_same(load_file(state["emulated"]), load_file(state["native"]))
    others = set(program.entries) - {"train_step"}
    assert others
    for entry in others:
        run_both(entry, batches[0])


@pytest.mark.parametrize("op", CASES)
def test_ops(op, ferrule_run, emulated_run, tmp_path):
    """Every case of the op's data file, in one entry."""
    cases = CASES[op]
    arrays = [data_files.inputs_of(case) for case in cases]
    present = [(c, i) for c, each in enumerate(arrays) for i, array in enumerate(each) if array is not None]

    def run(inputs):
        handles = [[None] * len(each) for each in arrays]
        for (c, i), tensor in zip(present, inputs):
            handles[c][i] = tensor._handle
        outputs = [apply(op, each, data_files.attributes_of(case)) for each, case in zip(handles, cases)]
        return [fer.Tensor._wrap(handle) for each in outputs for handle in each]

    specs = [fer.Spec(arrays[c][i].shape, arrays[c][i].dtype) for c, i in present]
    program = fer.compile({"main": (run, [specs])}, targets=["x86-64-v3", "aarch64"])
    program.save(tmp_path / "op.fer")
    inputs, native, emulated = (tmp_path / f"{name}.safetensors" for name in ("inputs", "native", "emulated"))
    names = [each["name"] for each in program.signature("main")["inputs"]]
    save_file({name: arrays[c][i].copy() for name, (c, i) in zip(names, present)}, inputs)
    arguments = ("run", tmp_path / "op.fer", "--entry", "main", "--inputs", inputs, "--outputs")
    ferrule_run(*arguments, native)
    emulated_run(*arguments, emulated)
    assert_same(load_file(emulated), load_file(native))
