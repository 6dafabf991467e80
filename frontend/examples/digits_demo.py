"""The main job, start to end: compile a network, train it in C++, predict from C++ and from Python, compare the bits.

`./dev demo` builds what is missing and runs this file. Its last line is one JSON object.
"""

import argparse
import hashlib
import json
import pathlib
import subprocess
import sys
import time

import numpy as np
from digits import compile_digits, make_net
from digits_data import load_digits, write_digits
from safetensors.numpy import load_file, save_file

import ferrule as fer

ROOT = pathlib.Path(__file__).resolve().parents[2]
FERRULE_RUN = ROOT / "build" / "bin" / "ferrule-run"
WANTED_ACCURACY = 0.98


def heading(text):
    print(f"\n== {text}", flush=True)


def run_tool(*arguments, shown=True):
    """Runs ferrule-run, with its command line and progress shown or not."""
    command = [str(FERRULE_RUN), *map(str, arguments)]
    if shown:
        print("$", " ".join(command), flush=True)
    done = subprocess.run(command, capture_output=not shown, text=True, check=False)
    if done.returncode:
        sys.exit(f"ferrule-run ended with exit code {done.returncode}\n{'' if shown else done.stderr}")


def compile_to(path, targets):
    """Compiles and saves the demo's program; returns it with the seconds of the compile."""
    net, optimizer = make_net()
    start = time.perf_counter()
    program = compile_digits(net, optimizer, targets=targets)
    seconds = time.perf_counter() - start
    program.save(path)
    return program, seconds


def print_memory(program):
    """The memory plan, an entry a line; returns {entry: plan}."""
    plans = {entry: program.memory(entry) for entry in program.entries}
    print(f"{'entry':<12} {'peak':>12} {'lower bound':>12} {'naive sum':>12}  bytes, for any batch up to 64")
    for entry, plan in plans.items():
        print(f"{entry:<12} {plan['peak']:>12,} {plan['lower_bound']:>12,} {plan['naive']:>12,}")
    return plans


def predict_both(artifact, checkpoint, images, threads, folder, shown):
    """Probabilities of up to 64 images from ferrule-run and from Python's session, with the trained state."""
    inputs, outputs = folder / "predict_in.safetensors", folder / "predict_out.safetensors"
    save_file({"image": images}, inputs)
    run_tool("run", artifact, "--entry", "predict", "--inputs", inputs, "--outputs", outputs,
             "--checkpoint", checkpoint, "--threads", threads, shown=shown)  # fmt: skip
    (from_cpp,) = load_file(outputs).values()
    session = fer.Session(fer.load(artifact), threads=threads)
    session.load_checkpoint(checkpoint)
    (from_python,) = session.run("predict", images)
    return from_cpp, from_python


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "demo", help="where the files go (default: %(default)s)")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0, help="of the shuffle (default: %(default)s)")
    parser.add_argument("--targets", default="x86-64-v3,x86-64-v4", help="CPU levels in the artifact (default: %(default)s)")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    artifact, checkpoint = folder / "digits.fer", folder / "digits.checkpoint"

    heading("data: scikit-learn's handwritten digits, 80/20 by a fixed seed")
    train_data, test_data = write_digits(folder)
    images, labels = load_digits()[1].values()
    print(f"{train_data}\n{test_data}  ({len(labels)} images)")

    heading("compile: Python definition -> one artifact")
    program, compile_seconds = compile_to(artifact, tuple(arguments.targets.split(",")))
    sizes = {"artifact_bytes": artifact.stat().st_size, "weight_bytes": program.sizes()["weights"],
             "runtime_bytes": FERRULE_RUN.with_suffix(".stripped").stat().st_size}  # fmt: skip
    print(f"{artifact}: {sizes['artifact_bytes']:,} bytes, weights {sizes['weight_bytes']:,}; compiled in {compile_seconds:.2f} s")
    print(f"{FERRULE_RUN}: {sizes['runtime_bytes']:,} bytes stripped")
    plans = print_memory(program)

    heading("train: ferrule-run, without Python, MLIR or LLVM")
    start = time.perf_counter()
    run_tool("train", artifact, "--entry", "train_step", "--data", train_data, "--evaluate", "evaluate", "--test-data", test_data,
             "--epochs", arguments.epochs, "--batch", 64, "--seed", arguments.seed, "--checkpoint", checkpoint,
             "--threads", arguments.threads)  # fmt: skip
    train_seconds = time.perf_counter() - start
    print(f"{checkpoint}: {checkpoint.stat().st_size:,} bytes; trained in {train_seconds:.2f} s")

    heading("predict: the trained state, from C++ and from Python")
    probabilities, same = [], True
    for start in range(0, len(labels), 64):
        batch = images[start : start + 64]
        from_cpp, from_python = predict_both(artifact, checkpoint, batch, arguments.threads, folder, shown=start == 0)
        same = same and from_cpp.tobytes() == from_python.tobytes()
        probabilities.append(from_python)
    probabilities = np.concatenate(probabilities)
    accuracy = float(np.mean(probabilities.argmax(axis=1) == labels))
    print(f"sha256 of all {len(labels)} predictions: {hashlib.sha256(probabilities.tobytes()).hexdigest()[:16]}")
    print(f"C++ and Python agree bit for bit: {'yes' if same else 'NO'}; test accuracy {accuracy:.4f}\n")

    print(json.dumps({
        "test_accuracy": round(accuracy, 4), "train_seconds": round(train_seconds, 3), "compile_seconds": round(compile_seconds, 3),
        **sizes, "peak_bytes": max(plan["peak"] for plan in plans.values()),
        "lower_bound_bytes": max(plan["lower_bound"] for plan in plans.values()),
    }))  # fmt: skip
    if not same or accuracy < WANTED_ACCURACY:
        sys.exit(f"the demo failed: accuracy {accuracy:.4f} (wanted {WANTED_ACCURACY}), same bits: {same}")


if __name__ == "__main__":
    main()
