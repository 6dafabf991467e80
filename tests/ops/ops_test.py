"""Runs every op's data file through the whole compiler: <op>.json holds inputs, attributes and expected outputs.

make_cases.py describes a case and makes the files.
"""

import data_files
import numpy as np
import pytest
from ferrule._stream import apply

import ferrule as fer

CASES = [
    pytest.param(op, case, id=f"{op}-{i}")
    for op, cases in data_files.load().items()
    # `gradient` is a request to the compiler, tested with the ops it differentiates.
    if op != "gradient"
    for i, case in enumerate(cases)
]


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
    inputs = [None if array is None else fer.Tensor(array)._handle for array in data_files.inputs_of(case)]
    outputs = apply(op, inputs, data_files.attributes_of(case))
    assert len(outputs) >= len(case["outputs"])
    for output, wanted in zip(outputs, case["outputs"]):
        assert_outputs(output.numpy(), data_files.array(wanted), case["tolerance"])
