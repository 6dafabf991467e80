"""Profiles of sessions: what they measure, and how they are shown."""

import json

import ferrule as fer
import ferrule.functional as F
import numpy as np
import pytest
from ferrule.cli.main import main
from ferrule.jit import trace

WEIGHT = np.random.default_rng(0).normal(size=(64, 32)).astype(np.float32)


@pytest.fixture
def program():
    n = fer.Dim("n", min=4, max=64)

    @trace(symbolic=True)
    def apply(x):
        return F.softmax(F.matmul(x, fer.tensor(WEIGHT)), axis=1)

    return fer.compile({"apply": (apply, [fer.Spec((n, 64), name="x")])})


def test_events_of_all_runs(program):
    session = fer.Session(program, threads=1)
    x = np.ones((8, 64), np.float32)
    session.run("apply", x)
    with session.profile() as profile:
        for _ in range(3):
            session.run("apply", x)
    session.run("apply", x)  # is not measured
    assert profile.dropped == 0
    assert len(profile.events) % 3 == 0 and profile.events
    for before, after in zip(profile.events, profile.events[1:]):
        assert before["begin_ns"] <= before["end_ns"] <= after["begin_ns"]
    assert {event["entry"] for event in profile.events} == {"apply"}
    assert {event["threads"] for event in profile.events} == {1}
    # The product reads the weights and x, and writes its result.
    assert max(event["bytes"] for event in profile.events) >= 4 * (64 * 32 + 8 * 64 + 8 * 32)
    rows = profile.kernels()
    assert sum(row["calls"] for row in rows) == len(profile.events)
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    assert all(row["kernel"] in str(profile) for row in rows)
    assert any("profile_test.py" in row["location"] for row in rows)
    events = json.loads(profile.chrome_trace())["traceEvents"]
    assert len(events) == len(profile.events) and all(event["ph"] == "X" for event in events)


def test_what_finds_no_room_is_counted(program):
    session = fer.Session(program, threads=1)
    x = np.ones((8, 64), np.float32)
    with session.profile() as all_of_it:
        session.run("apply", x)
    with session.profile(capacity=1) as first:
        session.run("apply", x)
        session.run("apply", x)
    assert len(first.events) == 1
    assert first.dropped == 2 * len(all_of_it.events) - 1


def test_command(program, tmp_path, capsys):
    path, trace_path, array = tmp_path / "net.fer", tmp_path / "trace.json", tmp_path / "x.npy"
    program.save(path)
    np.save(array, np.ones((5, 64), np.float32))
    common = ["profile", str(path), "--entry", "apply", "--runs", "2", "--threads", "1"]
    assert main([*common, "--size", "n=16", "--trace", str(trace_path)]) == 0
    assert "GB/s" in capsys.readouterr().out
    assert json.loads(trace_path.read_text())["traceEvents"]
    assert main([*common, "--input", f"x={array}", "--json"]) == 0
    assert sum(row["share"] for row in json.loads(capsys.readouterr().out)) == pytest.approx(1)
    for wrong, message in ((["--size", "m=3"], "dims are n"), (["--input", f"y={array}"], "inputs are x"), (["--size", "n"], "NAME=VALUE")):
        assert main(common + wrong) == 1
        assert message in capsys.readouterr().err


def test_a_capacity_beyond_memory_is_an_error(program):
    session = fer.Session(program, threads=1)
    with pytest.raises(MemoryError, match="profile's events"):
        with session.profile(capacity=1 << 60):
            session.run("apply", np.ones((8, 64), np.float32))
