"""Profiles of sessions: what they measure, and how they are shown."""

import inspect
import json

import ferrule as fer
import ferrule.functional as F
import numpy as np
import pytest
from ferrule.cli import bench
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
    # The product of [8, 64] and [64, 32]: a multiplication and an addition for each pair; it reads both, as far as they are
    # not padding, and writes [8, 32]. The softmax counts 20 operations an element.
    assert max(event["flops"] for event in profile.events) >= 2 * 8 * 64 * 32
    assert sum(event["flops"] for event in profile.events) == 3 * (2 * 8 * 64 * 32 + 20 * 8 * 32)
    product = max(profile.events, key=lambda event: event["flops"])
    assert product["read_bytes"] == 4 * (8 * 64 + 64 * 32)
    assert product["written_bytes"] == 4 * 8 * 32
    assert max(event["bytes"] for event in profile.events) >= 4 * (64 * 32 + 8 * 64 + 8 * 32)
    rows = profile.kernels()
    assert sum(row["calls"] for row in rows) == len(profile.events)
    assert sum(row["share"] for row in rows) == pytest.approx(1)
    assert all(row["kernel"] in str(profile) for row in rows)
    assert any("profile_test.py" in row["location"] for row in rows)
    events = json.loads(profile.chrome_trace())["traceEvents"]
    assert len(events) == len(profile.events) and all(event["ph"] == "X" for event in events)


@pytest.mark.parametrize(
    "channels, outputs, groups, kernel, stride, padding, dilation",
    [(3, 8, 1, 3, 1, 1, 1), (8, 16, 1, 3, 2, 1, 1), (4, 4, 1, 3, 1, 2, 2), (8, 8, 8, 3, 1, 1, 1), (4, 8, 2, 5, 3, 0, 1),
     (8, 8, 1, 1, 2, 0, 1), (2, 4, 1, 7, 1, 9, 1)],
)  # fmt: skip
def test_taps_in_the_padding_do_no_work(channels, outputs, groups, kernel, stride, padding, dilation):
    """A convolution of ones counts its own multiplications; both gradients do as many."""
    shape = (outputs, channels, kernel, kernel)
    if groups > 1:
        shape = (groups, outputs // groups, channels // groups, kernel, kernel)

    def convolve(x, w):
        return F.conv2d(x, w, None, stride, padding, dilation, groups)

    def step(x, w):
        return fer.grad(lambda x, w: (convolve(x, w) ** 2).sum(), (0, 1))(x, w)

    specs = [fer.Spec((2, channels, 9, 11)), fer.Spec(shape)]
    session = fer.Session(fer.compile({"convolve": (convolve, specs), "step": (step, specs)}), threads=1)
    ones = [np.ones(spec.shape, np.float32) for spec in specs]
    products = 2 * int(session.run("convolve", *ones)[0].sum(dtype=np.float64))
    with session.profile() as profile:
        session.run("step", *ones)
    counted = [event["flops"] for event in profile.events if event["flops"] and "convolution" in event["kernel"]]
    # What is fused to one adds a few operations an element.
    assert len(counted) == 3
    elements = sum(array.size for array in ones) + 4 * products // (channels // groups)
    assert all(products <= count <= products + elements for count in counted), (products, counted)


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
    text = capsys.readouterr().out
    assert "GFLOP/s" in text and "GB/s" in text and "of peak" in text and "one core: " in text
    assert json.loads(trace_path.read_text())["traceEvents"]
    assert main([*common, "--input", f"x={array}", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert sum(row["share"] for row in facts["kernels"]) == pytest.approx(1)
    assert facts["runs"] == 2 and facts["threads"] == 1 and facts["peak"]["gflops"] > 0
    for row in facts["kernels"]:
        assert row["gflops"] >= 0 and row["gb_per_second"] > 0 and 0 < row["of_peak"]
    for wrong, message in ((["--size", "m=3"], "dims are n"), (["--input", f"y={array}"], "inputs are x"), (["--size", "n"], "NAME=VALUE")):
        assert main(common + wrong) == 1
        assert message in capsys.readouterr().err


def test_a_capacity_beyond_memory_is_an_error(program):
    session = fer.Session(program, threads=1)
    with pytest.raises(MemoryError, match="profile's events"):
        with session.profile(capacity=1 << 60):
            session.run("apply", np.ones((8, 64), np.float32))


def test_bench(program, tmp_path, capsys):
    path = tmp_path / "net.fer"
    program.save(path)
    common = ["bench", str(path), "--entry", "apply", "--threads", "1", "--size", "n=16"]
    assert main([*common, "--runs", "12"]) == 0
    assert "12 runs with 1 threads" in capsys.readouterr().out
    assert main([*common, "--seconds", "0.05", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["runs"] >= 10
    times = [facts[f"{name}_seconds"] for name in ("min", "p50", "p90", "p95", "p99", "max")]
    assert times == sorted(times) and times[0] > 0
    # By hand: of 1 to 10, half do not exceed 5, and 9 of 10 do not exceed 9.
    summary = bench.summarize([float(value) for value in range(10, 0, -1)])
    assert (summary["p50_seconds"], summary["p90_seconds"], summary["p99_seconds"]) == (5, 9, 10)
    assert summary["mean_seconds"] == 5.5


def test_a_run_that_checks_numerics_names_the_line():
    @trace(symbolic=True)
    def apply(x):
        y = F.sqrt(x)  # the line
        return F.sum(y) * 2.0

    line = inspect.getsourcelines(test_a_run_that_checks_numerics_names_the_line)[1] + 3
    program = fer.compile({"apply": (apply, [fer.Spec((4,), name="x")])}, disable_passes=("fuse",))
    x = np.array([1, 4, -1, 9], np.float32)
    assert np.isnan(fer.Session(program).run("apply", x)[0])
    with pytest.raises(fer.errors.ExecutionError, match=rf"'sqrt\.\d+' at .*profile_test\.py:{line} made a value that is not "
                       "finite: element 2 of 4 .* is nan"):
        fer.Session(program, check_numerics=True).run("apply", x)
    with pytest.raises(fer.errors.ExecutionError, match="'x' is inf"):
        fer.Session(program, check_numerics=True).run("apply", np.array([1, np.inf, 1, 1], np.float32))


def test_a_slice_and_a_look_up_count_what_they_read():
    @trace(symbolic=True)
    def rows(table, indices):
        return F.gather(table, 0, F.broadcast_to(F.reshape(indices, (3, 1)), (3, 8)))

    @trace(symbolic=True)
    def part(x):
        return F.exp(x[2:4])

    program = fer.compile(
        {
            "rows": (rows, [fer.Spec((100, 8), name="table"), fer.Spec((3,), "int32", name="indices")]),
            "part": (part, [fer.Spec((100, 8), name="x")]),
        }
    )
    session = fer.Session(program, threads=1)
    with session.profile() as profile:
        session.run("part", np.zeros((100, 8), np.float32))
    assert [event["read_bytes"] for event in profile.events] == [2 * 8 * 4]
    with session.profile() as profile:
        session.run("rows", np.zeros((100, 8), np.float32), np.array([5, 1, 99], np.int32))
    assert max(event["read_bytes"] for event in profile.events) < 100 * 8 * 4


def test_check_runtime(program, tmp_path, capsys):
    path = tmp_path / "net.fer"
    program.save(path)
    assert main(["info", str(path), "--check-runtime", "1"]) == 0
    assert "runs on a runtime of format version 1" in capsys.readouterr().out
    assert main(["info", str(path), "--check-runtime", "0", "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert not facts["runs"] and "lacks: the first frozen format (version 1)" in facts["reason"]
    with pytest.raises(SystemExit):
        main(["info", str(path), "--check-runtime", "-1"])
