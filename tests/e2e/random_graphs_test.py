"""Random graphs and their gradients: one result however they run, NumPy's values, and no byte touched that is not theirs."""

import numpy as np
import pytest
from array_bits import bits
from ferrule.errors import BudgetError
from memory_budget_test import smallest_of
from random_graphs import FUNCTIONAL, REFERENCE, RandomGraph
from safetensors.numpy import save_file

import ferrule as fer
import ferrule.functional as F
from ferrule import _compiler

SEEDS = [*range(6), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(6, 300))]
TOLERANCE = {"float16": 0.1, "float32": 2e-3, "float64": 1e-9}


class Entries:
    """The entries of a graph: ``forward``, and ``gradient`` of half the sum of the squares of its outputs."""

    def __init__(self, graph):
        self.graph = graph

    def forward(self, *inputs):
        return tuple(self.graph(FUNCTIONAL, *inputs))

    def cost(self, *inputs):
        return sum(F.sum(output * output) for output in self.forward(*inputs)) * 0.5

    def gradient(self, *inputs):
        cost, gradients = fer.value_and_grad(self.cost, wrt=tuple(range(len(inputs))))(*inputs)
        return (cost, *gradients) if isinstance(gradients, (tuple, list)) else (cost, gradients)

    def compile(self, specs, names=("forward", "gradient"), **options):
        return fer.compile({name: (getattr(self, name), specs) for name in names}, **options)

    def dynamic(self, arrays):
        """[results of forward, results of gradient] in dynamic mode."""
        return [[each.numpy() for each in entry(*map(fer.Tensor, arrays))] for entry in (self.forward, self.gradient)]


def assert_same(got, wanted, how):
    for entry, (results, expected) in enumerate(zip(got, wanted)):
        for number, (result, value) in enumerate(zip(results, expected, strict=True)):
            assert bits(result) == bits(value), f"result {number} of {('forward', 'gradient')[entry]} {how}"


def run(session, arrays):
    return [session.run(entry, *arrays) for entry in ("forward", "gradient")]


def assert_near_numpy(graph, arrays, results):
    expected = graph(REFERENCE, *(each.astype("float64") for each in arrays))
    for result, value in zip(results, expected, strict=True):
        assert result.dtype == graph.dtype and result.shape == value.shape
        tolerance = TOLERANCE[graph.dtype]
        np.testing.assert_allclose(result, value, rtol=tolerance, atol=tolerance * (1 + np.abs(value).max()))


def assert_near_difference(graph, arrays, gradients):
    """The derivative along a random direction by central differences, where two step sizes agree (no kink is near)."""
    rng = np.random.default_rng(graph.seed)
    direction = [rng.standard_normal(each.shape) for each in arrays]

    def cost(step):
        return sum((each * each).sum() for each in graph(REFERENCE, *(a + step * d for a, d in zip(arrays, direction)))) / 2

    near, far = ((cost(step) - cost(-step)) / (2 * step) for step in (1e-6, 2e-6))
    if abs(near - far) < 1e-5 * (1 + abs(near)):
        along = sum((gradient * each).sum() for gradient, each in zip(gradients, direction))
        assert abs(along - near) < 1e-4 * (1 + abs(near)), f"{along}, by differences {near}"


def dtype_of(seed):
    return ("float32", "float64", "float16")[seed % 3]


@pytest.mark.parametrize("seed", SEEDS)
def test_one_result(seed, ferrule_run, tmp_path):
    graph = RandomGraph(seed, dtype_of(seed))
    print(graph)
    entries, arrays = Entries(graph), graph.arrays()
    wanted = entries.dynamic(arrays)
    assert_near_numpy(graph, arrays, wanted[0])
    if graph.dtype == "float64":
        assert_near_difference(graph, arrays, wanted[1][1:])
    _compiler.flush_every_op(True)
    try:
        assert_same(entries.dynamic(arrays), wanted, "op by op")
    finally:
        _compiler.flush_every_op(False)
    program = entries.compile([fer.Spec(each.shape, graph.dtype) for each in arrays], targets=("x86-64-v3", "x86-64-v4"))
    for target in program.targets:
        for threads in (1, 3):
            assert_same(run(fer.Session(program, threads=threads, target=target), arrays), wanted, f"{target}, {threads} threads")
    program.save(tmp_path / "graph.fer")
    names = [each["name"] for each in program.signature("forward")["inputs"]]
    save_file(dict(zip(names, arrays)), tmp_path / "inputs.safetensors")
    for entry in ("forward", "gradient"):
        ferrule_run("run", tmp_path / "graph.fer", "--entry", entry, "--inputs", tmp_path / "inputs.safetensors", "--check-memory",
                    "--threads", 1)  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
def test_one_program_for_every_length(seed):
    graph = RandomGraph(seed, dtype_of(seed), sized=True)
    print(graph)
    entries, length = Entries(graph), fer.Dim("n", min=7, max=40)
    program = entries.compile([fer.Spec((length, *shape), graph.dtype) for shape in graph.shapes])
    session = fer.Session(program, threads=2)
    for size in (40, 7, 19):
        arrays = graph.arrays(size)
        wanted = entries.dynamic(arrays)
        assert_near_numpy(graph, arrays, wanted[0])
        assert_same(run(session, arrays), wanted, f"of length {size}")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_budget_changes_no_bit(seed):
    graph = RandomGraph(seed, dtype_of(seed))
    print(graph)
    entries, arrays = Entries(graph), graph.arrays()
    specs = [fer.Spec(each.shape, graph.dtype) for each in arrays]
    wanted = entries.dynamic(arrays)[1]
    for budget in (0.7, 0.5):
        try:
            program = entries.compile(specs, names=("gradient",), memory_budget=budget)
        except BudgetError as error:
            program = entries.compile(specs, names=("gradient",), memory_budget=smallest_of(error))
        for number, (result, value) in enumerate(zip(fer.Session(program, threads=2).run("gradient", *arrays), wanted, strict=True)):
            assert bits(result) == bits(value), f"result {number} with a budget of {budget}"
