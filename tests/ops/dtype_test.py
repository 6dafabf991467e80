"""Every op runs in every element type that its type rule accepts, or the type rule refuses it: nothing in between.

The reference is the same op in float64 or int64, which ops_test.py compares with NumPy.
"""

import data_files
import ml_dtypes
import numpy as np
import pytest
from ferrule import _compiler, dtypes
from ferrule._stream import apply

import ferrule as fer

# `gradient` is expanded; `constant` and `iota` have no operands, their types are attributes; the size of what `nonzero`
# finds is bound by a program, not by one op.
WITHOUT_TYPES = ("gradient", "constant", "iota", "dim", "nonzero")
CASES = {op: cases for op, cases in data_files.load().items() if op not in WITHOUT_TYPES}


def accepted_types(op, case):
    """The element types of the first operand that the type rule accepts, with the inputs in that type."""
    arrays = data_files.inputs_of(case)
    first = next((array for array in arrays if array is not None), None)
    if first is None:
        return {}
    accepted = {}
    for name in dtypes.ALL:
        inputs = [convert(array, first.dtype, name) for array in arrays]
        if any(given is None and array is not None for given, array in zip(inputs, arrays)):
            continue
        if record(op, case, inputs):
            accepted[name] = inputs
    return accepted


def convert(array, primary, name):
    """`array` in the element type `name` if it has the primary one; None where values would change."""
    if array is None or array.dtype != primary:
        return array
    wanted = dtypes.to_numpy(name)
    with np.errstate(invalid="ignore", over="ignore"):
        converted = array.astype(wanted)
        back = converted.astype(array.dtype)
    if wanted.kind in "biu" and not np.array_equal(back, array):
        return None
    return converted


def record(op, case, inputs):
    """Whether the op can be recorded on inputs of these types; nothing is run."""
    with _compiler.Trace("probe") as trace:
        handles = [
            None if array is None else trace.input(f"x{i}", array.shape, dtypes.canonical(array.dtype))
            for i, array in enumerate(inputs)
        ]
        try:
            apply(op, handles, data_files.attributes_of(case))
        except (fer.errors.FerruleError, ValueError):
            return False
    return True


def run_on(op, case, inputs):
    handles = [None if array is None else fer.Tensor(array)._handle for array in inputs]
    return [handle.numpy() for handle in apply(op, handles, data_files.attributes_of(case))]


def in_widest(array):
    """The same values in float64 or int64."""
    if array is None or array.dtype == np.bool_ or array.dtype == np.uint64:
        return array
    return array.astype(np.int64 if array.dtype.kind in "iu" else np.float64)


def assert_close(got, wanted, what):
    if wanted.dtype.kind in "biu" and got.dtype.kind in "biu":
        limits = None if got.dtype == np.bool_ else np.iinfo(got.dtype)
        fits = np.ones(wanted.shape, bool) if limits is None else (wanted >= limits.min) & (wanted <= limits.max)
        np.testing.assert_array_equal(got[fits], wanted[fits].astype(got.dtype), what)
        return
    info = ml_dtypes.finfo(got.dtype)
    got, wanted = got.astype(np.float64), wanted.astype(np.float64)
    finite = np.isfinite(wanted) & (np.abs(wanted) < float(info.max))
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted), what)
    scale = np.maximum(1.0, np.abs(wanted[finite]))
    assert np.all(np.abs(got - wanted)[finite] <= 16 * float(info.eps) * scale), f"{what}: {got}, wanted {wanted}"


@pytest.mark.parametrize("op", CASES)
def test_every_accepted_type_runs(op):
    case = CASES[op][0]
    accepted = accepted_types(op, case)
    assert accepted, f"{op} accepts no element type on its own first case"
    for name, inputs in accepted.items():
        wanted = run_on(op, case, [in_widest(array) for array in inputs])
        for got, expected in zip(run_on(op, case, inputs), wanted):
            assert_close(np.asarray(got), np.asarray(expected), f"{op} in {name}")
