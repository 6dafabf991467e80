"""Programs run under `ferrule-run run --check-memory`: each kernel writes its outputs only, nothing reads bytes that hold no
value, and the arena is used up to the planned peak.

The examples' networks in training and inference, with and without a budget; loops, branches, sizes that a run finds out,
dropout, and shapes below the largest.
"""

import json

import numpy as np
import pytest
from example_models import load_first_weights, make
from example_training import compile_example
from model_cases import SIZES, batches_of
from safetensors.numpy import save_file

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
from ferrule.autodiff import GradManager


@pytest.fixture
def check(ferrule_run, tmp_path):
    """check(program, entry, *arrays) -> the report of the check."""

    def run(program, entry, *arrays, repeat=1, threads=1):
        program.save(tmp_path / "net.fer")
        names = [each["name"] for each in program.signature(entry)["inputs"]]
        save_file({name: np.array(array, order="C") for name, array in zip(names, arrays)}, tmp_path / "in.safetensors")
        output = ferrule_run("run", tmp_path / "net.fer", "--entry", entry, "--inputs", tmp_path / "in.safetensors",
                             "--check-memory", "--repeat", str(repeat), "--threads", str(threads), "--json")  # fmt: skip
        report = json.loads(output.stdout.splitlines()[-1])["memory_check"]
        assert report["planned_bytes"] == program.memory(entry)["peak"]
        assert report["used_bytes"] <= report["planned_bytes"]
        return report

    return run


def made_up(program, entry, value_of):
    """Inputs of an entry with the dims that ``value_of`` gives: seeded numbers, zeros for integers."""
    random, arrays = np.random.default_rng(0), []
    dims = {dim["name"]: value_of(dim) for dim in program.signature(entry)["dims"]}
    for spec in program.signature(entry)["inputs"]:
        shape = [int(dims.get(size, size)) for size in spec["shape_text"].strip("[]").split(", ") if size]
        numbers = random.standard_normal(shape) if "float" in spec["dtype"] else np.zeros(shape)
        arrays.append(numbers.astype(spec["dtype"]))
    return arrays


@pytest.mark.parametrize("budget", [None, pytest.param(0.6, marks=pytest.mark.long)], ids=["whole", "budget"])
@pytest.mark.parametrize("model", SIZES)
def test_models_train(model, budget, check):
    size = SIZES[model]["small"]
    example = make(model, size)
    load_first_weights(example, model, "small")
    try:
        program = compile_example(example, memory_budget=budget)
    except fer.errors.BudgetError:
        pytest.skip(f"{model} cannot be made that small, as memory_budget_test.py checks")
    check(program, "train_step", *batches_of(model, size)[0], repeat=2)


@pytest.mark.parametrize("model", SIZES)
def test_models_at_their_largest_use_the_plan(model, check):
    program = compile_example(make(model, SIZES[model]["small"]))
    for entry in program.entries:
        largest = check(program, entry, *made_up(program, entry, lambda dim: dim["max"]))
        assert largest["used_bytes"] == largest["planned_bytes"], entry
        check(program, entry, *made_up(program, entry, lambda dim: dim["min"]), threads=2)


def training(net, loss_of, *specs):
    gradients = GradManager().attach(net.parameters())
    optimizer = optim.AdamW(net.parameters(), lr=0.01)

    def train_step(*inputs):
        net.train()
        with gradients:
            loss = loss_of(*inputs)
            gradients.backward(loss)
        optimizer.step().clear_grad()
        return loss

    return fer.compile({"train_step": (train_step, list(specs))}, modules={"net": net, "optimizer": optimizer})


def test_skips_and_concatenations(check):
    """A small U-Net: what is kept for the way up lives long."""

    class Net(M.Module):
        def __init__(self):
            super().__init__()
            self.first, self.down = M.Conv2d(3, 16, 3, padding=1), M.Conv2d(16, 32, 3, 2, 1)
            self.middle, self.up = M.Conv2d(32, 32, 3, padding=1), M.ConvTranspose2d(32, 16, 2, 2)
            self.last = M.Conv2d(32, 4, 3, padding=1)

        def forward(self, x):
            skip = F.relu(self.first(x))
            x = self.up(F.relu(self.middle(F.relu(self.down(skip)))))
            return self.last(F.concat([skip, x], axis=1))

    net = Net()
    n = fer.Dim("n", min=1, max=4)
    program = training(net, lambda x: F.mean(net(x) ** 2), fer.Spec((n, 3, 32, 32), name="x"))
    report = check(program, "train_step", *made_up(program, "train_step", lambda dim: 4), repeat=2)
    assert report["used_bytes"] == report["planned_bytes"]
    check(program, "train_step", *made_up(program, "train_step", lambda dim: 1))


def test_dropout_in_a_loop_and_its_gradient(check):
    net = M.Sequential(M.Linear(16, 16), M.Dropout(0.3))

    def loss_of(x):
        def step(carry, row):
            carry = F.tanh(net(carry) + row)
            return carry, carry

        carry, rows = F.scan(step, F.zeros((4, 16)), x)
        return F.mean(rows**2) + F.mean(carry)

    program = training(net, loss_of, fer.Spec((12, 4, 16), name="x"))
    check(program, "train_step", *made_up(program, "train_step", lambda dim: 0), repeat=3)


def test_branches_and_sizes_that_a_run_finds_out(check):
    def choose(x, flag):
        y = F.cond(flag, lambda v: F.exp(v) @ v, lambda v: v - 1.0, x)
        return y, F.nonzero(y)

    program = fer.compile({"choose": (choose, [fer.Spec((16, 16), name="x"), fer.Spec((), "bool", name="flag")])})
    x = np.random.default_rng(0).standard_normal((16, 16)).astype(np.float32)
    for flag in (True, False):
        check(program, "choose", x, np.array(flag))


JOINS = {
    "columns": (lambda x, y: F.concat([x * 2.0 + 1.0, y * 3.0 + 1.0], -1), [(5, 20), (5, 30)]),
    "rows": (lambda x, y: F.concat([F.exp(x), y - 1.0], 0), [(3, 20), (2, 20)]),
    "channels, stored last": (lambda x, y: F.transpose(F.concat([x, y + 1.0], 1), (0, 2, 3, 1)) * 2.0, [(1, 64, 8, 8), (1, 32, 8, 8)]),
    "a part of one row for all": (lambda x, y: F.concat([x, F.broadcast_to(y * 2.0, (7, 20))], -1), [(7, 5), (20,)]),
    "joined twice": (lambda x, y: F.concat([F.concat([x + 1.0, y], 1) * 2.0, F.sqrt(y * y)], 1), [(4, 9), (4, 21)]),
    "padded": (lambda x, y: F.concat([F.pad(x * 2.0, ((0, 0), (3, 0))), y], 1), [(4, 9), (4, 21)]),
}


@pytest.mark.parametrize("name", JOINS)
def test_parts_of_a_concatenation_that_are_computed(check, name):
    """Vectors reach over the border of two parts; what is computed for one reads nothing outside of its operands."""
    function, shapes = JOINS[name]
    program = fer.compile({"join": (function, [fer.Spec(shape, name=f"x{i}") for i, shape in enumerate(shapes)])})
    arrays = made_up(program, "join", lambda dim: 0)
    check(program, "join", *arrays)
    wanted = function(*map(fer.tensor, arrays)).numpy()
    np.testing.assert_array_equal(fer.Session(program).run("join", *arrays)[0], wanted)
