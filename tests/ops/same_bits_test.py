"""Every op, on the inputs of its data file, has the same bits however it is run: in dynamic mode, from a saved artifact
on each CPU level with one and with several threads, and where all of it is folded to a constant."""

import data_files
import numpy as np
import pytest
from ferrule._stream import apply

import ferrule as fer

CASES = {op: each for op, each in data_files.load().items() if op != "gradient"}


def assert_same_bits(got, wanted, what):
    assert got.dtype == wanted.dtype and got.shape == wanted.shape, what
    got, wanted = np.atleast_1d(got), np.atleast_1d(wanted)
    if wanted.dtype.kind not in "biu":
        np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted), what)
        got, wanted = got[~np.isnan(got)], wanted[~np.isnan(wanted)]
    assert got.tobytes() == wanted.tobytes(), f"{what}: {got}, wanted {wanted}"


def entries_of(op, case):
    """(inputs, {suffix: (function, specs)}): the op on inputs, and the same on constants."""
    arrays, attributes = data_files.inputs_of(case), data_files.attributes_of(case)
    present = [i for i, each in enumerate(arrays) if each is not None]

    def run(tensors):
        handles = [None] * len(arrays)
        for i, tensor in zip(present, tensors):
            handles[i] = tensor._handle
        return [fer.Tensor._wrap(handle) for handle in apply(op, handles, attributes)]

    constants = [fer.Tensor(arrays[i]) for i in present]
    specs = [fer.Spec(arrays[i].shape, arrays[i].dtype) for i in present]
    return [arrays[i] for i in present], run, {
        "run": (lambda inputs: run(inputs), [specs]),
        "folded": (lambda: run(constants), []),
    }


@pytest.mark.parametrize("op", CASES)
def test_same_bits(op, tmp_path):
    entries, inputs, wanted = {}, {}, {}
    for number, case in enumerate(CASES[op]):
        arrays, run, both = entries_of(op, case)
        wanted[number] = [tensor.numpy() for tensor in run([fer.Tensor(each) for each in arrays])]
        for kind, entry in both.items():
            name = f"{kind}{number}"
            entries[name], inputs[name] = entry, (arrays if kind == "run" else [])
    fer.compile(entries, targets=["x86-64-v3", "x86-64-v4"]).save(tmp_path / "op.fer")
    program = fer.load(tmp_path / "op.fer")
    for target, threads in (("x86-64-v3", 1), ("x86-64-v4", 1), ("x86-64-v4", 3)):
        session = fer.Session(program, threads=threads, target=target)
        for name in entries:
            for got, expected in zip(session.run(name, *inputs[name]), wanted[int(name.lstrip("runfolde"))]):
                assert_same_bits(got, expected, f"{op} {name} on {target} with {threads} threads")
