"""What a program says about its memory: one set of numbers everywhere, and what each buffer is."""

import json
import re

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
import numpy as np
import pytest
from ferrule.autodiff import GradManager
from ferrule.cli.main import main
from ferrule.errors import BudgetError, ExecutionError

LAYERS = 6


def compile_net(**options):
    """Convolutions of one size: training, and inference."""
    net = M.Sequential(*[M.Sequential(M.Conv2d(8, 8, 3, padding=1), M.ReLU()) for _ in range(LAYERS)])
    gradients = GradManager().attach(net.parameters())
    optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def train_step(x):
        with gradients:
            loss = F.mean(net(x) ** 2)
            gradients.backward(loss)
        optimizer.step().clear_grad()
        return loss

    specs = [fer.Spec((4, 8, 16, 16), name="x")]
    return fer.compile({"train_step": (train_step, specs), "predict": (net, specs)}, modules={"net": net}, **options)


@pytest.fixture(scope="module")
def program():
    return compile_net()


def arena_buffers(plan):
    return [buffer for buffer in plan["buffers"] if buffer["storage"] == "arena"]


def kinds(plan):
    return {buffer["kind"] for buffer in arena_buffers(plan)}


def test_one_set_of_numbers(program, tmp_path, capsys):
    program.save(tmp_path / "net.fer")
    assert main(["info", str(tmp_path / "net.fer"), "--memory", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["entries"]
    for name in program.entries:
        memory, plan = program.memory(name), program.memory_plan(name)
        for ours, theirs in (("peak", "peak_bytes"), ("lower_bound", "lower_bound_bytes"), ("naive", "naive_bytes")):
            assert memory[ours] == plan[theirs] == shown[name]["memory"][ours]
        # What the numbers say is what the buffers say.
        buffers = arena_buffers(plan)
        end = max(buffer["offset"] + buffer["planned_bytes"] for buffer in buffers)
        assert (end + 63) // 64 * 64 == memory["peak"]
        assert max(step["live_bytes"] for step in plan["timeline"]) == memory["lower_bound"]
        assert plan["timeline"][plan["fullest_time"]]["live_bytes"] == memory["lower_bound"]
        assert shown[name]["memory"]["buffers"] == plan["buffers"]
    assert memory["arena"] == max(program.memory(name)["peak"] for name in program.entries)


def test_the_error_of_a_budget_has_the_same_numbers(program):
    with pytest.raises(BudgetError) as refused:
        compile_net(memory_budget=1)
    smallest = int(re.search(r"smallest arena that was found takes (\d+)", str(refused.value)).group(1))
    assert smallest < program.memory("train_step")["peak"]
    # The search for the error and that for this budget need not end at the same plan.
    assert compile_net(memory_budget=smallest).memory("train_step")["peak"] <= smallest
    # A plan that recomputation cannot change: what the error says is what the plan without a budget takes.
    with pytest.raises(BudgetError) as refused:
        fer.compile({"square": (lambda x: F.matmul(x @ x, x), [fer.Spec((64, 64))])}, memory_budget=1)
    square = fer.compile({"square": (lambda x: F.matmul(x @ x, x), [fer.Spec((64, 64))])})
    assert f"takes {square.memory('square')['peak']}\n" in str(refused.value)


def test_kinds(program):
    assert kinds(program.memory_plan("predict")) <= {"activation", "workspace"}
    plan = program.memory_plan("train_step")
    timeline = plan["timeline"]
    by_kind = {}
    for buffer in arena_buffers(plan):
        by_kind.setdefault(buffer["kind"], []).append(timeline[buffer["maker_time"]]["op"])
    assert "recomputed" not in by_kind
    # The backward pass needs what each ReLU made, and the image is an input.
    assert sum(op.startswith("image_convolution.") for op in by_kind["residual"]) >= LAYERS - 1
    gradients = [op for op in by_kind["gradient"] if op.startswith("image_convolution_weight_gradient")]
    assert len(gradients) == LAYERS
    # The gradient for an input reads the weight in another order.
    assert all("gradient" not in op for op in by_kind.get("workspace", []))
    for buffer in arena_buffers(plan):
        assert buffer["first_time"] <= buffer["maker_time"] <= buffer["last_time"]
        assert re.search(r"memory_plan_test\.py:\d+$", timeline[buffer["maker_time"]]["location"])


def test_a_budget_makes_residuals_recomputed(program):
    full = program.memory("train_step")["peak"]
    small = compile_net(memory_budget=0.65)
    assert small.memory("train_step")["peak"] <= 0.65 * full
    plan = small.memory_plan("train_step")
    assert "recomputed" in kinds(plan)

    def residual_bytes(plan):
        return sum(buffer["planned_bytes"] for buffer in arena_buffers(plan) if buffer["kind"] == "residual")

    assert residual_bytes(plan) < residual_bytes(program.memory_plan("train_step"))


def test_loops_have_times_of_their_own():
    def running(x):
        def step(carry, row):
            carry = F.tanh(carry + row)
            return carry, carry

        return F.scan(step, F.zeros((64,)), x)[1]

    program = fer.compile({"running": (running, [fer.Spec((10, 64), name="x")])})
    plan = program.memory_plan("running")
    ops = [step["op"] for step in plan["timeline"]]
    loop = ops.index("loop")
    assert loop + 1 < len(ops)  # the body's instructions stand behind it
    inner = [buffer for buffer in arena_buffers(plan) if buffer["block"] != 0]
    assert all(loop < buffer["first_time"] for buffer in inner)
    assert program.memory("running")["lower_bound"] == max(step["live_bytes"] for step in plan["timeline"])


def test_text_lists_the_buffers(program, tmp_path, capsys):
    program.save(tmp_path / "net.fer")
    assert main(["info", str(tmp_path / "net.fer"), "--memory"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"\n +[\d,]+ +[\d,]+ +\d+-\d+ +residual +image_convolution\.\d+ at memory_plan_test\.py:\d+\n", text)
    assert main(["info", str(tmp_path / "net.fer")]) == 0
    assert "residual" not in capsys.readouterr().out


def test_an_entry_that_there_is_not(program):
    with pytest.raises(ExecutionError, match="no entry 'fit'; the entries are train_step, predict"):
        program.memory_plan("fit")


def test_a_variable_on_its_way_is_state():
    values = fer.Parameter(np.arange(4, dtype=np.float32))

    def swap(x):
        old = values + 0.0
        values[...] = F.matmul(x, F.reshape(old, (4, 1))).reshape(4)
        return old

    program = fer.compile({"swap": (swap, [fer.Spec((4, 4), name="x")])}, modules={"values": values})
    assert kinds(program.memory_plan("swap")) <= {"activation", "state", "residual", "workspace"}
