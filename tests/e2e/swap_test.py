"""Training whose memory lies in a file: the same bits, and less of it in memory (docs/memory.md)."""

import os
import re
import threading

import numpy as np
import pytest
from ferrule import errors
from ferrule.autodiff import GradManager
from ferrule.jit import trace

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim

DEPTH, WIDTH, IMAGE, BATCH = 12, 32, 32, 8
LAYER = 4 * BATCH * IMAGE * IMAGE * WIDTH  # bytes of what one convolution makes


class Deep(M.Module):
    """Of each layer the backward pass reads what it made."""

    def __init__(self):
        super().__init__()
        self.layers = M.Sequential(*[M.Conv2d(WIDTH if number else 3, WIDTH, 3, padding=1) for number in range(DEPTH)])
        self.head = M.Linear(WIDTH, 10)

    def forward(self, x):
        for layer in self.layers:
            x = F.sigmoid(layer(x))
        return self.head(F.mean(x, (2, 3)))


@pytest.fixture(scope="module")
def program():
    net = Deep()
    gradients, optimizer = GradManager().attach(net.parameters()), optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    @trace(symbolic=True)
    def train_step(x, label):
        with gradients:
            loss = F.nn.cross_entropy(net(x), label)
            gradients.backward(loss)
        optimizer.step().clear_grad()
        return loss

    specs = [fer.Spec((BATCH, 3, IMAGE, IMAGE)), fer.Spec((BATCH,), "int32")]
    return fer.compile({"train_step": (train_step, specs)}, modules={"net": net})


@pytest.fixture(scope="module")
def batch():
    random = np.random.default_rng(4)
    return random.standard_normal((BATCH, 3, IMAGE, IMAGE), dtype=np.float32), np.arange(BATCH, dtype=np.int32) % 10


def train(session, batch, steps=3):
    losses = [session.run("train_step", *batch)[0] for _ in range(steps)]
    return [loss.tobytes() for loss in losses], {name: session[name].tobytes() for name in session.variables()}


def resident(name):
    """Bytes in memory of the mappings of a file that had this name; other processes may have it in the page cache."""
    inside, total = False, 0
    with open("/proc/self/smaps") as smaps:
        for line in smaps:
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                inside = name in line
            elif inside and line.startswith("Rss:"):
                total += int(line.split()[1]) * 1024
    return total


def anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon:"))


def test_bits_are_those_of_a_session_in_memory(program, batch, tmp_path):
    expected = train(fer.Session(program, threads=2), batch)
    path = tmp_path / "net.swap"
    session = fer.Session(program, threads=2, swap_file=path)
    assert not path.exists()
    assert train(session, batch) == expected
    arena = program.memory("train_step")["arena"]
    assert session.info()["swap_bytes"] >= arena + session.info()["variable_bytes"]
    assert session.info()["written_bytes"] == 0
    limited = fer.Session(program, threads=2, swap_file=path, resident_bytes=arena // 2)
    assert train(limited, batch) == expected


def test_the_arena_takes_no_memory_of_its_own(program, batch, tmp_path):
    """Anonymous memory, which a device without swap space must keep, grows by less than a layer, not by the arena."""
    arena = program.memory("train_step")["arena"]
    assert arena > 8 * LAYER
    fer.Session(program, threads=1).run("train_step", *batch)  # What the first run of all makes.
    before = anonymous()
    session = fer.Session(program, threads=1, swap_file=tmp_path / "own.swap")
    session.run("train_step", *batch)
    assert anonymous() - before < LAYER
    assert resident("own.swap") > arena // 2


def test_a_limit_holds_while_the_entry_runs(program, batch, tmp_path):
    arena = program.memory("train_step")["arena"]
    limit = arena // 2
    session = fer.Session(program, threads=1, swap_file=tmp_path / "limit.swap", resident_bytes=limit)
    apart = session.info()["swap_bytes"] - arena  # Variables and scratch, which the limit does not count.
    most, done = 0, threading.Event()

    def watch():
        nonlocal most
        while not done.is_set():
            most = max(most, resident("limit.swap"))

    watcher = threading.Thread(target=watch)
    watcher.start()
    train(session, batch)
    done.set()
    watcher.join()
    info = session.info()
    assert LAYER < most <= limit + apart
    assert info["resident_bytes"] <= limit
    # At least what the plan's layers have beyond the limit is written and read again in each step.
    assert info["written_bytes"] >= 3 * (arena - limit) // 2
    assert info["paging_seconds"] > 0


def test_what_one_instruction_needs_is_the_least(program, tmp_path):
    refused = r"entry 'train_step' cannot run with 65536 bytes .* that is the least"
    with pytest.raises(errors.ExecutionError, match=refused) as error:
        fer.Session(program, swap_file=tmp_path / "least.swap", resident_bytes=65536)
    least = int(re.search(r"uses (\d+) bytes at once", str(error.value)).group(1))
    assert least < program.memory("train_step")["arena"] // 2
    fer.Session(program, swap_file=tmp_path / "least.swap", resident_bytes=least)


def test_files_and_numbers_that_cannot_be(program, tmp_path):
    taken = tmp_path / "taken"
    taken.write_bytes(b"mine")
    exists = f"the swap file '{taken}' cannot be made: File exists; name one that does not exist"
    with pytest.raises(errors.ExecutionError, match=exists):
        fer.Session(program, swap_file=taken)
    assert taken.read_bytes() == b"mine"
    with pytest.raises(errors.ExecutionError, match="cannot be made: No such file or directory"):
        fer.Session(program, swap_file=tmp_path / "missing" / "net.swap")
    with pytest.raises(MemoryError, match=r"the swap file may take 100000 bytes and holds \d+; \d+ more do not fit"):
        fer.Session(program, swap_file=tmp_path / "full.swap", swap_limit=100_000)
    with pytest.raises(errors.ExecutionError, match="resident_bytes is 5, but there is no swap_file"):
        fer.Session(program, resident_bytes=5)
    with pytest.raises(errors.ExecutionError, match="swap_limit is 0; allowed: 1 byte or more, or None"):
        fer.Session(program, swap_file=tmp_path / "x", swap_limit=0)
    with pytest.raises(errors.ExecutionError, match="the session's arena does not lie in the swap file"):
        fer.Session(program, arena=fer.Arena(), swap_file=tmp_path / "net.swap", resident_bytes=1 << 30)
    assert os.listdir(tmp_path) == ["taken"]


def test_variables_outlive_the_session_whose_file_they_lie_in(program, batch, tmp_path):
    first = fer.Session(program, threads=1, swap_file=tmp_path / "shared.swap")
    second = fer.Session(program, threads=1, share=first)
    expected = train(fer.Session(program, threads=1), batch)
    del first
    assert train(second, batch) == expected


def test_loops_keep_what_their_steps_use(tmp_path):
    """A loop counts as one instruction: what a step reads is there in the next one, and what it keeps for the gradient, too.
    What its first carry is made of is idle meanwhile: the gradient reads that behind the loop's."""
    steps, rows, width, samples = 24, 64, 96, 4096
    weight = fer.Parameter(np.random.default_rng(5).standard_normal((width, width), dtype=np.float32) / 10)
    gradients, optimizer = GradManager().attach([weight]), optim.SGD([weight], lr=0.1)

    @trace(symbolic=True)
    def train_step(x, y):
        with gradients:
            carry = F.broadcast_to(F.mean(F.sigmoid(F.matmul(y, weight)), 0, keepdims=True), (rows, width))
            last, hidden = F.scan(lambda h, v: (F.tanh(F.matmul(h, weight) + v),) * 2, carry, x)
            loss = F.mean(F.sigmoid(hidden)) + F.mean(last)
            gradients.backward(loss)
        optimizer.step().clear_grad()
        return loss

    shapes = (steps, rows, width), (samples, width)
    program = fer.compile({"train_step": (train_step, [fer.Spec(shape) for shape in shapes])})
    random = np.random.default_rng(6)
    inputs = [random.standard_normal(shape, dtype=np.float32) for shape in shapes]
    expected = train(fer.Session(program, threads=1), inputs)
    path = tmp_path / "loop.swap"
    with pytest.raises(errors.ExecutionError, match="that is the least") as error:
        fer.Session(program, threads=1, swap_file=path, resident_bytes=65536)
    least = int(re.search(r"uses (\d+) bytes at once", str(error.value)).group(1))
    session = fer.Session(program, threads=1, swap_file=path, resident_bytes=least)
    assert train(session, inputs) == expected
    assert session.info()["written_bytes"] >= 3 * 4 * samples * width // 2
