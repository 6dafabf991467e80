"""Arenas: what entries, sessions and dynamic mode share, and that many shapes take no more than the largest."""

import resource
import threading

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
import numpy as np
import pytest
from ferrule import program_cache
from ferrule.autodiff import GradManager


def compile_mlp(width, batch=64):
    net = M.Sequential(M.Linear(16, width), M.ReLU(), M.Linear(width, 4))
    gradients = GradManager().attach(net.parameters())
    optimizer = optim.SGD(net.parameters(), lr=0.1)

    def train_step(x):
        with gradients:
            loss = F.mean(net(x) ** 2)
            gradients.backward(loss)
        optimizer.step().clear_grad()
        return loss

    specs = [fer.Spec((fer.Dim("batch", min=1, max=batch), 16), name="x")]
    entries = {"train_step": (train_step, specs), "predict": (net, specs)}
    return fer.compile(entries, modules={"net": net})


def rows(batch):
    return np.random.default_rng(batch).standard_normal((batch, 16)).astype(np.float32)


def test_entries_share_one_arena():
    program = compile_mlp(32)
    peaks = [program.memory(entry)["peak"] for entry in program.entries]
    assert program.memory("predict")["arena"] == max(peaks) < sum(peaks)
    assert fer.Session(program).info()["arena_bytes"] == max(peaks)


def test_sessions_in_turn_share_one_arena():
    programs = [compile_mlp(32), compile_mlp(256), compile_mlp(64)]
    arena = fer.Arena()
    assert arena.info() == {"arena_bytes": 0, "scratch_bytes": 0}
    shared = [fer.Session(program, threads=1, arena=arena) for program in programs]
    assert arena.info()["arena_bytes"] == programs[1].memory("predict")["arena"]
    apart = [fer.Session(program, threads=1) for program in programs]
    for step in range(3):
        for one, other in zip(shared, apart):
            for entry in ("train_step", "predict"):
                found, wanted = (session.run(entry, rows(7 + step))[0] for session in (one, other))
                assert np.array_equal(found, wanted)
    del arena
    assert shared[0].run("predict", rows(3))[0].shape == (3, 4)


def test_a_gan_of_two_programs_in_one_arena():
    """A generator's images go to a discriminator; each has its own program, optimizer and entry."""
    draw, judge = M.Sequential(M.Linear(8, 64), M.ReLU(), M.Linear(64, 32)), M.Linear(32, 1)
    judging = GradManager().attach(judge.parameters())
    optimizer = optim.SGD(judge.parameters(), lr=0.1)

    def judge_step(real, fake):
        with judging:
            loss = F.mean(F.softplus(-judge(real))) + F.mean(F.softplus(judge(fake)))
            judging.backward(loss)
        optimizer.step().clear_grad()
        return loss

    image, noise = fer.Spec((64, 32)), fer.Spec((64, 8))
    programs = [
        fer.compile({"draw": (draw, [noise])}, modules={"draw": draw}),
        fer.compile({"judge_step": (judge_step, [image, image])}, modules={"judge": judge}),
    ]
    arena = fer.Arena()
    drawing, training = (fer.Session(program, arena=arena) for program in programs)
    needs = [program.memory(program.entries[0])["arena"] for program in programs]
    assert arena.info()["arena_bytes"] == max(needs)
    random = np.random.default_rng(0)
    losses = []
    for _ in range(20):
        fake = drawing.run("draw", random.standard_normal((64, 8)).astype(np.float32))[0]
        real = random.standard_normal((64, 32)).astype(np.float32) + 1
        losses.append(float(training.run("judge_step", real, fake)[0]))
    assert losses[-1] < losses[0]

    # As entries of one program they share its arena without being asked.
    both = fer.compile(
        {"draw": (draw, [noise]), "judge_step": (judge_step, [image, image])}, modules={"draw": draw, "judge": judge}
    )
    assert fer.Session(both).info()["arena_bytes"] == max(both.memory(entry)["peak"] for entry in both.entries)


@pytest.mark.parametrize("arena", [None, "shared"])
def test_a_thousand_runs_over_fifty_shapes_take_what_the_largest_takes(arena):
    program = compile_mlp(512, batch=2000)
    session = fer.Session(program, threads=1, arena=None if arena is None else fer.Arena())
    before = session.info()
    session.run("train_step", rows(2000))
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for i in range(1000):
        session.run("train_step", rows(1 + i * 7 % 50 * 40))
    assert session.info() == before
    assert before["arena_bytes"] == program.memory("train_step")["arena"]
    # KiB; the arrays of the largest shape and what Python leaves are well below the arena, of several MiB.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held < 2048 < before["arena_bytes"] / 1024


@pytest.fixture
def empty_cache():
    """Dynamic mode without a program, and so without an arena."""
    forget_programs()
    yield
    program_cache.configure()


def forget_programs():
    program_cache.configure(memory_bytes=0)
    program_cache.configure()
    assert program_cache.statistics()["arena_bytes"] == 0


def fragment(length):
    """A structure of its own for each length. Two of the products live at once, so its arena takes 2 * 64 * 16 * length
    floats or a little more."""
    x = fer.tensor(np.linspace(-1, 1, 64 * 16 * length, dtype=np.float32).reshape(64, 16 * length))
    square = fer.tensor(np.eye(16 * length, dtype=np.float32)[::-1] / 2)
    for _ in range(length + 1):
        x = F.tanh(F.matmul(x, square))
    return F.sum(x, axis=1)


LENGTHS = [2, 5, 1, 4, 3]


def test_the_fragments_of_dynamic_mode_share_one_arena(empty_cache):
    alone, needs = {}, {}
    for length in LENGTHS:
        forget_programs()
        alone[length] = fragment(length).numpy()
        needs[length] = program_cache.statistics()["arena_bytes"]
    assert len(set(needs.values())) == len(LENGTHS) and needs[5] >= 2 * 64 * 16 * 5 * 4
    forget_programs()
    largest = 0
    for length in LENGTHS:
        fragment(length).numpy()
        largest = max(largest, needs[length])
        assert program_cache.statistics()["arena_bytes"] == largest
    for _ in range(3):
        for length in LENGTHS:
            assert np.array_equal(fragment(length).numpy(), alone[length])
    assert program_cache.statistics()["arena_bytes"] == needs[5]


def test_traced_functions_run_in_the_arena_of_dynamic_mode(empty_cache):
    wanted = fragment(3).numpy()
    forget_programs()
    traced = fer.jit.trace(lambda: fragment(3), symbolic=True)
    assert np.array_equal(traced().numpy(), wanted)
    held = program_cache.statistics()["arena_bytes"]
    fragment(2).numpy()
    assert program_cache.statistics()["arena_bytes"] == held
    forget_programs()  # closes the session of the traced function, too: it opens another when it runs
    assert np.array_equal(traced().numpy(), wanted)
    assert program_cache.statistics()["arena_bytes"] == held


def test_the_arena_leaves_with_the_program_that_needs_most(empty_cache):
    """64 x 1,024 floats and more are over the limit; the others, and what they need, stay."""
    small = fragment(1).numpy()
    need = program_cache.statistics()["arena_bytes"]
    large = fragment(64).numpy()
    assert program_cache.statistics()["arena_bytes"] >= 2 * 64 * 16 * 64 * 4
    counts = program_cache.statistics()
    program_cache.configure(memory_bytes=1 << 20)
    left = program_cache.statistics()
    assert (left["programs"], left["evicted"], left["arena_bytes"]) == (1, counts["evicted"] + 1, 0)
    assert np.array_equal(fragment(1).numpy(), small)
    left = program_cache.statistics()
    assert (left["compiled"], left["arena_bytes"]) == (counts["compiled"], need)
    program_cache.configure()
    assert np.array_equal(fragment(64).numpy(), large)


def test_two_threads_use_dynamic_mode_at_once(empty_cache):
    wanted = {length: fragment(length).numpy() for length in LENGTHS}
    forget_programs()
    wrong = []

    def work(lengths):
        for _ in range(20):
            for length in lengths:
                if not np.array_equal(fragment(length).numpy(), wanted[length]):
                    wrong.append(length)

    threads = [threading.Thread(target=work, args=(order,)) for order in (LENGTHS, LENGTHS[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
