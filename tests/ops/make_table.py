"""Writes docs/ops.md: every operation with its element types, its gradient and how it is tested.

./dev python tests/ops/make_table.py
"""

import pathlib

import data_files
import dtype_test
import numpy as np
from ferrule import _compiler, dtypes

TABLE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "ops.md"
HEAD = """# Operations

Made by `./dev python tests/ops/make_table.py` from what each operation says of itself; a test fails when it is old.

Every operation here has a data file in `tests/ops/`. On its cases the tests compare values with NumPy, bits between
dynamic mode, artifacts for each CPU level, numbers of threads and constant folding, and every element type that is
accepted with float64 or int64. `rule`: the gradient is compared with central differences, its own gradient too, and
forward with reverse mode. `zero`: it is zero wherever it exists, or by request. `none`: refused at the user's line.

The functions of `ferrule.functional` take every element type where that has a meaning: those that sort, search, run along
an axis or add at indices compute other types in one of those below that keeps every value apart (uint64 in int64, in
whose order or modulo 2^64), products of integers are exact sums, and bools compare as 0 and 1.

| operation | element types | gradient | cases |
|---|---|---|---|
"""
GROUPS = (
    ("float", ("float64", "float32", "float16", "bfloat16")),
    ("int", ("int8", "int16", "int32", "int64")),
    ("uint", ("uint8", "uint16", "uint32", "uint64")),
    ("bool", ("bool",)),
)


def describe_types(names):
    """The types by group: all of one by the group's name, else each."""
    parts = []
    for group, members in GROUPS:
        found = [name for name in members if name in names]
        parts += [f"{group}*"] if len(found) == len(members) > 1 else found
    return ", ".join(parts)


def accepted_types(op, cases):
    """What the type rule takes for the first operand, and for those of its type; the values do not matter."""
    accepted = set()
    for case in cases:
        arrays = data_files.inputs_of(case)
        first = next((array for array in arrays if array is not None), None)
        for name in dtypes.ALL if first is not None else ():
            of_type = [
                array if array is None or array.dtype != first.dtype else np.ones(array.shape, dtypes.to_numpy(name))
                for array in arrays
            ]
            if dtype_test.record(op, case, of_type):
                accepted.add(name)
    return describe_types(accepted) or "by attribute"


def make_table():
    """The text of docs/ops.md."""
    operations, rows = _compiler.operations(), []
    for op, cases in data_files.load().items():
        gradient = operations[op]["gradient"]
        if gradient == "none":
            gradient += f": {operations[op]['reason']}"
        rows.append(f"| {op} | {accepted_types(op, cases)} | {gradient} | {len(cases)} |\n")
    return HEAD + "".join(rows)


if __name__ == "__main__":
    TABLE.write_text(make_table(), encoding="utf-8")
    print(TABLE)
