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
