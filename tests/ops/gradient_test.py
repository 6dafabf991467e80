"""Every op's gradient rule against finite differences, in float64, along one random direction.

Also second derivatives, and forward against reverse mode. The cases are those of the data files (make_cases.py): inputs
where a rule is not smooth (ties, zeros of abs) would not agree, so float inputs are moved by a small seeded amount first.
"""

import data_files
import numpy as np
import pytest
from ferrule import _compiler, dtypes
from ferrule._stream import apply, record_gradient

import ferrule as fer

OPERATIONS = _compiler.operations()
CASES = [
    pytest.param(op, case, id=f"{op}-{i}")
    for op, cases in data_files.load().items()
    if OPERATIONS[op]["gradient"] == "rule"
    for i, case in enumerate(cases)
    if any(x and x["dtype"] == "float32" and x["values"] for x in case["inputs"])
    and any(dtypes.is_float(y["dtype"]) for y in case["outputs"])
]
POSITIVE = {"log", "log10", "log1p", "log2", "sqrt", "pow"}
INSIDE_ONE = {"asin", "acos", "atanh"}


def weighted_sum(results, random):
    """The sum of all float results, each element weighted; the same weights for the same generator."""
    total = 0.0
    for result in results:
        if dtypes.is_float(result.dtype):
            weight = fer.Tensor(random.uniform(0.5, 1.5, tuple(result.shape)))._handle
            product = apply("mul", [result, weight])[0]
            total = apply("add", [apply("reduce_sum", [product], {"axes": list(range(len(result.shape)))})[0], total])[0]
    return total


def make_input(op, tensor, random):
    """The case's tensor in float64, finite and away from kinks; integers and bools as they are."""
    values = np.array([float(value) for value in tensor["values"]]).reshape(tensor["shape"])
    if not tensor["dtype"].startswith("float"):
        return values.astype(tensor["dtype"])
    values = np.where(np.abs(np.nan_to_num(values)) > 1e6, 3 * np.sign(values), np.nan_to_num(values))
    values = values + random.uniform(0.05, 0.3, values.shape) * random.choice([-1, 1], values.shape)
    if op in INSIDE_ONE:
        return np.clip(values, -0.9, 0.9)
    if op == "acosh":
        return np.abs(values) + 1.1
    return np.abs(values) + 0.1 if op in POSITIVE else values


class Function:
    """The op on a case's inputs, as a function of those that are float64."""

    def __init__(self, op, case):
        random = np.random.default_rng(3)
        self.op, self.attributes = op, data_files.attributes_of(case)
        self.inputs = [None if x is None else make_input(op, x, random) for x in case["inputs"]]
        self.smooth = [i for i, x in enumerate(self.inputs) if x is not None and x.dtype == np.float64]
        self.points = [self.inputs[i] for i in self.smooth]
        self.directions = [random.standard_normal(point.shape) for point in self.points]

    def cost(self, tensors):
        handles = [None if x is None else fer.Tensor(x)._handle for x in self.inputs]
        for i, tensor in zip(self.smooth, tensors):
            handles[i] = tensor._handle
        return fer.Tensor._wrap(weighted_sum(apply(self.op, handles, self.attributes), np.random.default_rng(4)))

    def gradient(self, tensors):
        handles = record_gradient(self.cost(tensors)._handle, [], [tensor._handle for tensor in tensors])
        return [fer.Tensor._wrap(handle) for handle in handles]

    def moved(self, t):
        return [fer.Tensor(point + t * direction) for point, direction in zip(self.points, self.directions)]


@pytest.mark.parametrize(("op", "case"), CASES)
def test_against_central_differences(op, case):
    function, step = Function(op, case), 1e-6
    gradients = [gradient.numpy() for gradient in function.gradient(function.moved(0.0))]
    slope = (function.cost(function.moved(step)).item() - function.cost(function.moved(-step)).item()) / (2 * step)
    predicted = sum(float((g * d).sum()) for g, d in zip(gradients, function.directions))
    assert predicted == pytest.approx(slope, rel=2e-5, abs=2e-6)


@pytest.mark.parametrize(("op", "case"), CASES)
def test_second_order(op, case):
    """The product of the Hessian with a direction, against differences of the gradient, along another direction."""
    function, step = Function(op, case), 1e-5
    other = [np.random.default_rng(5).standard_normal(point.shape) for point in function.points]

    def along(*tensors):
        parts = [fer.functional.sum(g * fer.Tensor(o)) for g, o in zip(function.gradient(tensors), other)]
        return sum(parts[1:], parts[0])

    products = fer.grad(along, wrt=tuple(range(len(other))))(*function.moved(0.0))
    slope = (along(*function.moved(step)).item() - along(*function.moved(-step)).item()) / (2 * step)
    predicted = sum(float((p.numpy() * d).sum()) for p, d in zip(products, function.directions))
    assert predicted == pytest.approx(slope, rel=2e-4, abs=2e-5)


@pytest.mark.parametrize(("op", "case"), CASES)
def test_forward_and_reverse_mode_are_transposes(op, case):
    """<u, J v> = <J^T u, v>: one number, summed in two orders."""
    function = Function(op, case)
    tensors = function.moved(0.0)
    _, pushed = fer.jvp(lambda *xs: function.cost(xs), tensors, [fer.Tensor(d) for d in function.directions])
    gradients = function.gradient(tensors)
    pulled = sum(float((g.numpy() * d).sum()) for g, d in zip(gradients, function.directions))
    assert pushed.item() == pytest.approx(pulled, rel=1e-10, abs=1e-12)
