"""Runs every op's data file through the whole compiler: <op>.json holds inputs, attributes and expected outputs.

make_cases.py describes a case and makes the files.
"""

import json
import pathlib

import numpy as np
import pytest
from ferrule._stream import apply

import ferrule as fer

CASES = [
    pytest.param(data["op"], case, id=f"{data['op']}-{i}")
    for data in (json.loads(path.read_text(encoding="utf-8")) for path in sorted(pathlib.Path(__file__).parent.glob("*.json")))
    # `gradient` is a request to the compiler, tested with the ops it differentiates.
    if data["op"] != "gradient"
    for i, case in enumerate(data["cases"])
]


def array(tensor):
    values = [float(value) if isinstance(value, str) else value for value in tensor["values"]]
    return np.array(values, tensor["dtype"]).reshape(tensor["shape"])


def assert_outputs(got, wanted, tolerance):
    assert got.shape == wanted.shape and got.dtype == wanted.dtype, f"{got.dtype}{got.shape}, wanted {wanted.dtype}{wanted.shape}"
    if tolerance == 0:
        np.testing.assert_array_equal(got, wanted)
        if got.dtype.kind == "f":
            zero = wanted == 0
            np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(wanted[zero]))
        return
    scale = np.maximum(1.0, np.abs(wanted, where=np.isfinite(wanted), out=np.ones(wanted.shape)))
    np.testing.assert_array_equal(np.isfinite(got), np.isfinite(wanted))
    finite = np.isfinite(wanted)
    assert np.all(np.abs(got - wanted.astype(np.float64))[finite] <= (tolerance * scale)[finite]), f"{got}\nwanted\n{wanted}"


@pytest.mark.parametrize(("op", "case"), CASES)
def test_values(op, case):
    inputs = [None if tensor is None else fer.Tensor(array(tensor))._handle for tensor in case["inputs"]]
    attributes = {
        name: array(value) if isinstance(value, dict) and "values" in value else value
        for name, value in case["attributes"].items()
    }
    outputs = apply(op, inputs, attributes)
    assert len(outputs) >= len(case["outputs"])
    for output, wanted in zip(outputs, case["outputs"]):
        assert_outputs(output.numpy(), array(wanted), case["tolerance"])
