"""The demo as a user runs it: accuracy, agreement of C++ and Python, and the JSON line at the end."""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEYS = {
    "test_accuracy",
    "train_seconds",
    "compile_seconds",
    "artifact_bytes",
    "weight_bytes",
    "runtime_bytes",
    "peak_bytes",
    "lower_bound_bytes",
}


def test_demo(tmp_path):
    command = [sys.executable, ROOT / "frontend/examples/digits_demo.py", "--folder", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout.strip().splitlines()[-1])
    assert result.keys() == KEYS
    assert result["test_accuracy"] >= 0.98
    assert "C++ and Python agree bit for bit: yes" in done.stdout
    assert result["artifact_bytes"] == (tmp_path / "digits.fer").stat().st_size
    assert result["lower_bound_bytes"] <= result["peak_bytes"]
