"""Programs of dynamic mode in memory and on disk: what is compiled again, and what is not."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import ferrule as fer
import ferrule.functional as F
from ferrule import program_cache
from ferrule.errors import FerruleError

SCRIPT = """
import json
import numpy as np
import ferrule as fer
from ferrule import program_cache
program_cache.configure(**json.loads({options!r}))
x = fer.tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
results = [(x * 2 + 1).numpy(), fer.functional.exp(x).sum(axis=1).numpy()]
print(json.dumps([[float(v).hex() for v in r.ravel()] for r in results]))
print(json.dumps(program_cache.statistics()))
"""


def run_elsewhere(**options):
    """The script's results and its statistics, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(options=json.dumps(options))],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    results, statistics = done.stdout.splitlines()
    return results, json.loads(statistics)


def test_the_next_process_compiles_nothing(tmp_path):
    folder = tmp_path / "deep" / "programs"
    first, made = run_elsewhere(folder=str(folder))
    assert (made["compiled"], made["found"]) == (2, 0)
    assert len(list(folder.glob("*.fer"))) == 2 and len(list(folder.iterdir())) == 2
    assert folder.stat().st_mode & 0o077 == 0
    second, found = run_elsewhere(folder=str(folder))
    assert (found["compiled"], found["found"]) == (0, 2)
    assert second == first


def test_without_a_folder_nothing_is_written(tmp_path):
    _, statistics = run_elsewhere(folder=None)
    assert (statistics["compiled"], statistics["found"]) == (2, 0)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("damage", ("truncated", "empty", "flipped", "not an artifact"))
def test_a_damaged_file_is_written_anew(tmp_path, damage):
    first, _ = run_elsewhere(folder=str(tmp_path))
    path, other = sorted(tmp_path.glob("*.fer"))
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(
        {
            "truncated": whole[:middle],
            "empty": b"",
            "flipped": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
            "not an artifact": b"no artifact at all",
        }[damage]
    )
    second, statistics = run_elsewhere(folder=str(tmp_path))
    assert second == first
    assert (statistics["compiled"], statistics["found"]) == (1, 1)
    assert path.read_bytes() == whole
    assert other.exists()


def test_the_files_stay_below_the_limit(tmp_path):
    old = tmp_path / "old.fer"
    old.write_bytes(bytes(100_000))
    os.utime(old, (0, 0))
    stranger = tmp_path / "notes.txt"
    stranger.write_bytes(bytes(100_000))
    run_elsewhere(folder=str(tmp_path), disk_bytes=90_000)
    assert not old.exists()
    assert stranger.exists()
    assert sum(path.stat().st_size for path in tmp_path.glob("*.fer")) <= 90_000


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    _, statistics = run_elsewhere(folder=str(blocked / "programs"))
    assert statistics["compiled"] == 2


def test_memory_is_bounded():
    """Many structures, small limit: the oldest programs leave, and come back when they are needed."""
    x = fer.tensor(np.ones((2, 3), np.float32))

    def chain(length):
        y = x
        for _ in range(length):
            y = F.tanh(y)
        return y.numpy()

    limit = 200_000
    program_cache.configure(memory_bytes=limit)
    try:
        first = chain(21)
        for length in range(22, 40):
            chain(length)
            assert program_cache.statistics()["bytes"] <= limit
        assert program_cache.statistics()["evicted"] > 0
        before = program_cache.statistics()["compiled"]
        np.testing.assert_array_equal(chain(21), first)
        assert program_cache.statistics()["compiled"] == before + 1
        chain(21)
        assert program_cache.statistics()["compiled"] == before + 1
    finally:
        program_cache.configure()


COMPILE = """
import json
import sys
import numpy as np
import ferrule as fer
from ferrule import program_cache
program_cache.configure(folder=sys.argv[1])
net = fer.module.Linear(40, 30)
net.weight.set_value(np.arange(1200, dtype=np.float32).reshape(30, 40) + float(sys.argv[2]))
program = fer.compile({"main": (net, [fer.Spec((int(sys.argv[3]), 40), name="x")])})
(y,) = fer.Session(program).run("main", np.ones((int(sys.argv[3]), 40), np.float32))
program.save(sys.argv[1] + ".saved")
print(json.dumps(["find" in program.report, "write" in program.report, program.root_sha256, y[0].tolist()]))
"""


def compile_elsewhere(folder, first=0, rows=2):
    """(whether it looked, whether it made the program, root hash, a result) of a process of its own."""
    command = [sys.executable, "-c", COMPILE, str(folder), str(first), str(rows)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return json.loads(done.stdout)


def test_compiling_again_opens_the_file(tmp_path):
    folder = tmp_path / "programs"
    looked, made, root, y = compile_elsewhere(folder)
    assert looked and made
    (path,) = folder.glob("*.fer")
    assert path.read_bytes() == (tmp_path / "programs.saved").read_bytes()
    assert compile_elsewhere(folder) == [True, False, root, y]
    assert path.read_bytes() == (tmp_path / "programs.saved").read_bytes()


def test_other_values_and_other_sizes_are_other_programs(tmp_path):
    _, made, root, y = compile_elsewhere(tmp_path / "p")
    assert made
    _, made, other_root, other_y = compile_elsewhere(tmp_path / "p", first=1)
    assert made and other_root != root and other_y != y
    _, made, longer_root, same_y = compile_elsewhere(tmp_path / "p", rows=3)
    assert made and longer_root != root and same_y == y


def test_a_damaged_program_is_made_anew(tmp_path):
    """Weights are hashed where the file is older than the machine's start: a power failure may have taken them."""
    folder = tmp_path / "programs"
    _, _, root, y = compile_elsewhere(folder)
    (path,) = folder.glob("*.fer")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert compile_elsewhere(folder) == [True, True, root, y]
    path.write_bytes(whole[:-100] + bytes(byte ^ 1 for byte in whole[-100:]))
    os.utime(path, (0, 0))
    assert compile_elsewhere(folder) == [True, True, root, y]
    assert path.read_bytes() == whole


def test_a_model_file_is_found_by_its_contents(tmp_path):
    import small_models

    import ferrule.onnx

    def write(path, weight):
        node = small_models.node("MatMul", "x w", "y")
        values = [small_models.value("x", [2, 3])], [small_models.value("y", [2, 2])]
        path.write_bytes(small_models.model([node], *values, stored={"w": weight}).SerializeToString())

    path, weight = tmp_path / "model.onnx", np.ones((3, 2), np.float32)
    program_cache.configure(folder=tmp_path / "programs")
    try:
        write(path, weight)
        first = ferrule.onnx.compile(path)
        assert first.report
        again = ferrule.onnx.compile(path)
        assert not again.report and again.root_sha256 == first.root_sha256
        assert ferrule.onnx.compile(path, disable_passes=["fuse"]).report
        write(path, weight * 2)
        changed = ferrule.onnx.compile(path)
        assert changed.report and changed.root_sha256 != first.root_sha256
    finally:
        program_cache.configure(folder=None)


def test_settings_are_checked():
    with pytest.raises(ValueError, match="memory_bytes is -1; allowed is an int that is not negative"):
        program_cache.configure(memory_bytes=-1)


def test_a_failure_spoils_only_what_needs_it():
    """A label out of range fails when it runs. Whoever looks at that loss, or at what is computed from it, gets the
    error, again and again; everything else that was recorded with it gets its value."""
    logits = fer.tensor(np.zeros((2, 3), np.float32))
    bad = F.nn.cross_entropy(logits, fer.tensor(np.array([1, 7], np.int32)))
    worse = bad * 2
    good = F.exp(logits)
    sum_of_good = good.sum()
    np.testing.assert_array_equal(good.numpy(), np.ones((2, 3), np.float32))
    assert sum_of_good.item() == 6
    for _ in range(2):
        for tensor in (bad, worse):
            with pytest.raises(FerruleError, match="7"):
                tensor.numpy()
    with pytest.raises(FerruleError, match="its result is used, at program_cache_test.py"):
        bad + 1
    # Later work is not touched by the tensors that failed and still live.
    before = program_cache.statistics()["compiled"]
    np.testing.assert_array_equal((good * 3).numpy(), np.full((2, 3), 3, np.float32))
    assert program_cache.statistics()["compiled"] <= before + 1
