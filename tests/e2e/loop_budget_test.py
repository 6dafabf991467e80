"""Training through loops within a memory budget: a scan and its gradient are cut into segments, and no bit changes."""

import re

import numpy as np
import pytest
from ferrule.errors import BudgetError
from memory_budget_test import assert_same, make_step, run, smallest_of

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M

SAMPLES, WIDTH = 4, 8


class Cells(M.Module):
    """[T, N, 8] -> [N, 10] through a scan whose steps hold all of an LSTM, so that only its carries outlive a step."""

    def __init__(self, wrap=lambda step: step):
        super().__init__()
        self.cell, self.head, self.wrap = M.LSTMCell(WIDTH, 16), M.Linear(16, 10), wrap

    def forward(self, x):
        first = F.zeros((x.shape[1], 16))
        step = self.wrap(lambda carry, now: self.cell(now, carry))
        (hidden, _), _ = F.scan(lambda carry, now: (step(carry, now), None), (first, first), x)
        return self.head(hidden)


class Loop(M.Module):
    """[T, N, 8] -> [N, 10]: what ``loop(step, x, first)`` returns, [N, 8], through a linear layer."""

    def __init__(self, loop):
        super().__init__()
        self.inner, self.head, self.loop = M.Linear(WIDTH, WIDTH), M.Linear(WIDTH, 10), loop

    def forward(self, x):
        def step(carry, now):
            after = F.tanh(self.inner(carry) + now)
            return after, after

        return self.head(self.loop(step, x, F.zeros((x.shape[1], WIDTH))))


class Recurrent(M.Module):
    """[T, N, 8] -> [N, 10] through a recurrent module, whose outputs have the width ``width``."""

    def __init__(self, kind, *args, width=16, **kwargs):
        super().__init__()
        self.inner, self.head = kind(WIDTH, 16, *args, **kwargs), M.Linear(width, 10)

    def forward(self, x):
        return self.head(F.mean(self.inner(x)[0], 0))


def last_carry(step, x, first):
    return F.scan(step, first, x)[0]


def in_reverse(step, x, first):
    return F.scan(step, first, x, reverse=True)[0]


def stacked(step, x, first):
    return F.mean(F.scan(step, first, x)[1], 0)


def with_taps(step, x, first):
    return F.scan(lambda carry, now: step(carry, now[0] * now[1]), first, x, taps=(-2, 0))[0]


def one_after_the_other(step, x, first):
    carry, ys = F.scan(step, first, x)
    return F.scan(step, carry, ys, reverse=True)[0]


def limited(step, x, first):
    """Ends ten steps early."""
    count = F.zeros((), dtype="int32")
    steps = x.shape[0]
    return F.while_loop(
        lambda state: state[0] < steps - 10,
        lambda state: (state[0] + 1, step(state[1], x[0])[0]),
        (count, first),
        max_steps=steps,
    )[1]


def nested(step, x, first):
    """Each step of the outer loop runs over all of a short sequence."""
    short = x[:12]
    return F.scan(lambda carry, now: (F.scan(step, carry + now, short)[0], None), first, x)[0]


def batches_of(steps, count=2):
    random = np.random.default_rng(1)
    label = np.arange(SAMPLES, dtype="int32")
    return [(random.standard_normal((steps, SAMPLES, WIDTH), "float32"), label) for _ in range(count)]


def compile_step(net, steps, budget=None):
    specs = [fer.Spec((steps, SAMPLES, WIDTH)), fer.Spec((SAMPLES,), "int32")]
    return fer.compile({"train_step": (make_step(net), specs)}, modules={"net": net}, memory_budget=budget)


def arena_of(program):
    return program.memory("train_step")["arena"]


def smallest_arena(net, steps):
    with pytest.raises(BudgetError) as refused:
        compile_step(net, steps, 1)
    return smallest_of(refused.value)


@pytest.mark.parametrize("part", (0.5, 0.35, 0.25))
def test_a_thousand_steps_within_a_part_of_the_arena(part):
    net = Cells()
    free, tight = compile_step(net, 1000), compile_step(net, 1000, part)
    assert arena_of(tight) <= part * arena_of(free)
    assert_same(run(tight, batches_of(1000)), run(free, batches_of(1000)))
    # The forward steps run once more, which is about a third of forward, backward and their sums.
    assert 0.2 < tight.report["recomputed.train_step"] < 0.5
    assert tight.report["passes.recompute"] < 2


def test_a_thousand_steps_keep_what_about_sqrt_n_need():
    """Whole: 1000 steps of h and c [4, 16] and of the gates [4, 64], 1,536,000 bytes. In segments of 40 steps: the carries of
    25 segments, 12,800 bytes, and 61,440 bytes of one; besides, weights' gradients and what one step needs."""
    net = Cells()
    assert arena_of(compile_step(net, 1000)) > 1_536_000
    assert 12_800 + 40 * 1536 // 2 < smallest_arena(net, 1000) < 90_000


# Each with the part of the arena within which 100 steps fit, and 101, whose step behind the segments costs a copy of what
# the loop and its gradient stack.
LOOPS = {
    last_carry: (0.25, 0.25),
    in_reverse: (0.25, 0.25),
    stacked: (0.5, 0.75),
    with_taps: (0.65, 0.65),
    one_after_the_other: (0.5, 0.55),
    limited: (0.35, 0.35),
    nested: (0.45, 0.45),
}


@pytest.mark.parametrize("steps", (100, 101))
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_loops_are_cut_and_keep_their_bits(loop, steps):
    net = Loop(loop)
    free = compile_step(net, steps)
    smallest = smallest_arena(net, steps)
    assert smallest <= LOOPS[loop][steps - 100] * arena_of(free)
    tight = compile_step(net, steps, smallest)
    assert arena_of(tight) <= smallest
    assert_same(run(tight, batches_of(steps)), run(free, batches_of(steps)))


MODULES = {
    "lstm": lambda: Recurrent(M.LSTM),
    "two layers": lambda: Recurrent(M.LSTM, 2, dropout=0.3),
    "both directions": lambda: Recurrent(M.LSTM, bidirectional=True, width=32),
    "projected": lambda: Recurrent(M.LSTM, proj_size=8, width=8),
    "gru": lambda: Recurrent(M.GRU),
    "rnn": lambda: Recurrent(M.RNN),
}


# As of LOOPS, at most.
PARTS_OF_MODULES = {
    "lstm": (0.6, 0.75),
    "two layers": (0.5, 0.6),
    "both directions": (0.6, 0.7),
    "projected": (0.6, 0.8),
    "gru": (0.5, 0.6),
    "rnn": (0.65, 0.65),
}


@pytest.mark.parametrize("steps", (100, 101))
@pytest.mark.parametrize("kind", MODULES)
def test_recurrent_modules_keep_their_bits(kind, steps):
    """The gradient that one product sums over all steps stays whole; the input's products are made a segment at a time."""
    fer.random.seed(3)
    net = MODULES[kind]()
    free = compile_step(net, steps)
    smallest = smallest_arena(net, steps)
    assert smallest < PARTS_OF_MODULES[kind][steps - 100] * arena_of(free)
    assert_same(run(compile_step(net, steps, smallest), batches_of(steps)), run(free, batches_of(steps)))


def test_a_length_that_is_a_dim_stays_whole():
    """The segments' number would be no constant. The refusal names the loop's stacked residuals."""
    net = Loop(last_carry)
    steps = fer.Dim("steps", min=1, max=64)
    free = compile_step(net, steps)
    with pytest.raises(BudgetError) as refused:
        compile_step(net, steps, 0.5)
    assert 0.5 * arena_of(free) < smallest_of(refused.value) <= arena_of(free)
    # [64, 4, 8] float32.
    assert "8192 bytes: scan at" in str(refused.value)


@pytest.mark.parametrize("steps", (100, 101))
def test_a_checkpoint_around_a_loop_cuts_it(steps):
    net, wrapped = Loop(last_carry), Loop(lambda step, x, first: fer.checkpoint(last_carry, step, x, first))
    wrapped.load_state_dict(net.state_dict())
    free, checkpointed = compile_step(net, steps), compile_step(wrapped, steps)
    assert arena_of(checkpointed) < 0.75 * arena_of(free)
    assert_same(run(checkpointed, batches_of(steps)), run(free, batches_of(steps)))


def test_a_checkpoint_around_a_loop_of_any_length_changes_no_bit():
    """It is not cut: all of it runs again, and what it keeps for its gradient is live as long as before."""
    net, wrapped = Loop(last_carry), Loop(lambda step, x, first: fer.checkpoint(last_carry, step, x, first))
    wrapped.load_state_dict(net.state_dict())
    steps = fer.Dim("steps", min=1, max=64)
    free, checkpointed = compile_step(net, steps), compile_step(wrapped, steps)
    assert arena_of(checkpointed) <= 1.05 * arena_of(free)
    assert_same(run(checkpointed, batches_of(40)), run(free, batches_of(40)))


def test_a_checkpoint_around_a_step_keeps_the_carries_alone():
    """Of 100 steps h and c, [4, 16] each, and not the gates, [4, 64]."""
    net, wrapped = Cells(), Cells(fer.checkpoint)
    wrapped.load_state_dict(net.state_dict())
    free, checkpointed = compile_step(net, 100), compile_step(wrapped, 100)
    assert arena_of(checkpointed) <= arena_of(free) - 100 * 4 * 64 * 4 + 4096
    assert_same(run(checkpointed, batches_of(100)), run(free, batches_of(100)))


def test_a_refusal_tells_what_the_steps_of_a_loop_hold():
    """What is live around the loop over segments and what its step holds are the arena, but for gaps."""
    net = Loop(last_carry)
    with pytest.raises(BudgetError) as refused:
        compile_step(net, 100, 1)
    inside = re.search(r"(\d+) bytes besides: inside of scan at .*loop_budget_test\.py:\d+", str(refused.value))
    around = re.search(r"values are, of (\d+) bytes", str(refused.value))
    assert 0.9 * smallest_of(refused.value) < int(inside[1]) + int(around[1]) <= smallest_of(refused.value)
