"""Inputs for an entry whose values do not matter: for measuring."""

import numpy as np

from .errors import ExecutionError


def make_inputs(signature, sizes, given=None):
    """One array an input of an entry.

    Args:
        signature: `Program.signature` of the entry.
        sizes: ``{name: size}`` of its dims.
        given: ``{name: array}`` of the inputs that are not made: floating-point numbers from a seeded normal distribution,
            zeros for integers and False for booleans, which every index and label allows.

    Raises:
        ExecutionError: a size that no dim gives.
    """
    given, random = given or {}, np.random.default_rng(0)
    arrays = []
    for spec in signature["inputs"]:
        if spec["name"] in given:
            arrays.append(given[spec["name"]])
            continue
        shape = [_size(spec, text, sizes) for text in spec["shape_text"].strip("[]").split(", ") if text]
        dtype = np.dtype("float32") if spec["dtype"] == "bfloat16" else np.dtype(spec["dtype"])
        made = random.standard_normal(shape) if dtype.kind == "f" else np.zeros(shape)
        arrays.append(made.astype(dtype))
    return arrays


def _size(spec, text, sizes):
    if text in sizes or text.isdigit():
        return int(sizes.get(text, text))
    raise ExecutionError(f"input {spec['name']} has the size {text}, which no dim gives: give the array itself")
