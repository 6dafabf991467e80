"""Every op's gradient rule against finite differences, in float64, along one random direction.

The cases are those of the data files (make_cases.py): inputs where a rule is not smooth (ties, zeros of abs) would not
agree, so float inputs are moved by a small seeded amount first.
"""

import json
import pathlib

import numpy as np
import pytest
from ferrule._stream import apply, record_gradient

import ferrule as fer

# No rule, a rule that is zero by definition, or a result that no gradient leaves.
WITHOUT_RULE = {
    "argmax", "argmin", "cast", "ceil", "constant", "cross_entropy_rows_gradient", "dim", "equal", "floor", "floor_div",
    "gradient", "greater", "greater_equal", "iota", "less", "less_equal", "logical_and", "logical_not", "logical_or",
    "logical_xor", "max_pool_gradient", "not_equal", "round", "sign", "stop_gradient",
}
CASES = [
    pytest.param(data["op"], case, id=f"{data['op']}-{i}")
    for data in (json.loads(path.read_text(encoding="utf-8")) for path in sorted(pathlib.Path(__file__).parent.glob("*.json")))
    if data["op"] not in WITHOUT_RULE
    for i, case in enumerate(data["cases"])
    if any(x and x["dtype"] == "float32" and x["values"] for x in case["inputs"])
]
POSITIVE = {"log", "log1p", "sqrt", "pow"}


def make_input(op, tensor, random):
    """The case's tensor in float64, finite and away from kinks; integers and bools as they are."""
    values = np.array([float(value) for value in tensor["values"]]).reshape(tensor["shape"])
    if not tensor["dtype"].startswith("float"):
        return values.astype(tensor["dtype"])
    values = np.nan_to_num(values) + random.uniform(0.05, 0.3, values.shape) * random.choice([-1, 1], values.shape)
    return np.abs(values) + 0.1 if op in POSITIVE else values


@pytest.mark.parametrize(("op", "case"), CASES)
def test_gradient(op, case):
    random = np.random.default_rng(3)
    inputs = [None if x is None else make_input(op, x, random) for x in case["inputs"]]
    smooth = [i for i, x in enumerate(inputs) if x is not None and x.dtype == np.float64]
    weights = None

    def record(arrays):
        """The handles of the inputs, and the sum of all results, each weighted."""
        nonlocal weights
        handles = [None if x is None else fer.Tensor(x)._handle for x in arrays]
        results = apply(op, handles, case["attributes"])
        if weights is None:
            weights = [random.uniform(0.5, 1.5, tuple(result.shape)) for result in results]
        total = 0.0
        for result, weight in zip(results, weights):
            product = apply("mul", [result, fer.Tensor(weight)._handle])[0]
            axes = list(range(weight.ndim))
            total = apply("add", [apply("reduce_sum", [product], {"axes": axes})[0], total])[0]
        return handles, total

    handles, cost = record(inputs)
    gradients = [g.numpy() for g in record_gradient(cost, [], [handles[i] for i in smooth])]

    directions = {i: random.standard_normal(inputs[i].shape) for i in smooth}
    step = 1e-6

    def cost_at(t):
        return float(record([x + t * directions[i] if i in directions else x for i, x in enumerate(inputs)])[1].numpy())

    slope = (cost_at(step) - cost_at(-step)) / (2 * step)
    predicted = sum(float((g * directions[i]).sum()) for g, i in zip(gradients, smooth))
    assert predicted == pytest.approx(slope, rel=2e-5, abs=2e-6)
