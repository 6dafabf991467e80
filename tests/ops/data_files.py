"""The data files of this folder, as the tests read them."""

import json
import pathlib

import numpy as np

from ferrule import dtypes


def load():
    """{op: [case]} of every data file."""
    files = sorted(pathlib.Path(__file__).parent.glob("*.json"))
    return {data["op"]: data["cases"] for data in (json.loads(path.read_text(encoding="utf-8")) for path in files)}


def array(tensor):
    """The array of {"dtype", "shape", "values"}; NaN and infinities are strings in the file."""
    values = [float(value) if isinstance(value, str) else value for value in tensor["values"]]
    return np.array(values).astype(dtypes.to_numpy(tensor["dtype"])).reshape(tensor["shape"])


def inputs_of(case):
    """The inputs as arrays, None for an absent operand."""
    return [None if tensor is None else array(tensor) for tensor in case["inputs"]]


def attributes_of(case):
    """The attributes as `apply` takes them."""
    return {
        name: array(value) if isinstance(value, dict) and "values" in value else value
        for name, value in case["attributes"].items()
    }
