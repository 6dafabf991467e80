"""The harness of the benchmarks: given numbers become known tables, and a trivial system answers as it should."""

import json
import math
import types

import pytest
from bench import comparison, harness, tables
from bench import options as command_line
from bench.__main__ import BENCHMARKS
from bench.harness import System, Timing, Worker, WorkerError

ECHO = System("Echo", "ferrule", "echo")
FAST = types.SimpleNamespace(rounds=2, seconds=0.001, clock="wall")


def timing(median):
    return Timing.of([median])


def rows():
    return [
        tables.Row(("small", 1), {"ferrule": timing(2.0), "one": timing(4.0), "two": timing(3.0)}, {"error": "1e-06"}),
        tables.Row(("large", 1), {"ferrule": timing(100.0), "one": timing(50.0), "two": "Two: no memory"}),
        tables.Row(("small", 2), {"ferrule": "Ferrule: wrong", "one": timing(3.0), "two": timing(3.0)}),
    ]


TITLES = {"ferrule": "Ferrule", "one": "One", "two": "Two"}


# --- numbers ------------------------------------------------------------------------------------------------------


def test_timing_of_a_list():
    # 21 numbers: the 10th percentile is number 2 of 0 to 20, the 90th number 18.
    assert Timing.of(list(range(20, -1, -1))) == Timing(10, 2, 18, 21)


def test_timing_of_one_number():
    assert Timing.of([3.5]) == Timing(3.5, 3.5, 3.5, 1)


def test_ratio_is_against_the_fastest_other():
    assert [row.ratio() for row in rows()] == [1.5, 0.5, None]


def test_geometric_mean():
    assert tables.geometric_mean([1.5, 0.5]) == pytest.approx(math.sqrt(0.75))
    assert tables.geometric_mean([]) is None


@pytest.mark.parametrize(
    "value, text",
    [
        (1234.5, "1234"),
        (123.4, "123"),
        (12.34, "12.3"),
        (1.234, "1.23"),
        (0.01234, "0.0123"),
        (0, "0"),
        (math.inf, "inf"),
        (None, "-"),
    ],
)
def test_numbers_have_three_digits(value, text):
    assert tables.number(value) == text


def test_scale_error_is_relative_to_the_largest():
    assert harness.scale_error([0.0, 10.0], [0.01, 10.0]) == pytest.approx(1e-3)
    assert harness.scale_error([0.0, 0.0], [0.0, 0.0]) == 0.0


@pytest.mark.parametrize("actual", [[1.0], [1.0, math.nan], [[1.0, 2.0]]])
def test_scale_error_of_what_cannot_be_compared_is_infinite(actual):
    assert harness.scale_error([1.0, 2.0], actual) == math.inf


# --- tables -------------------------------------------------------------------------------------------------------


def test_table_of_given_numbers():
    assert tables.timing_table(["model", "threads"], rows(), TITLES) == [
        "| model | threads | Ferrule | One | Two | best other / Ferrule | error |",
        "|---|---|---|---|---|---|---|",
        "| small | 1 | 2.00 | 4.00 | 3.00 | 1.50 | 1e-06 |",
        "| large | 1 | 100 | 50.0 | fails | 0.500 |  |",
        "| small | 2 | fails | 3.00 | 3.00 | - |  |",
    ]


def test_losses_and_failures_stand_under_the_table():
    assert tables.closing_lines(rows()) == [
        "- Geometric mean at 1 thread: 0.87; ahead on 1, behind on 1 of 2.",
        "- Behind, the worst first: large 1 (0.50).",
        "- Fails: large 1: Two: no memory.",
        "- Fails: small 2: Ferrule: wrong.",
    ]


def test_caption_says_that_the_machine_was_busy():
    quiet, busy = (
        tables.caption("Times.", {"One": "3.1"}, "./dev bench x", share) for share in ((0.01, 0.0), (0.4, 0.0))
    )
    assert "One 3.1" in quiet and "`./dev bench x`" in quiet and "busy" not in quiet
    assert busy.endswith("**The machine was busy**: other processes took 40% of it, its host 0%.")


def test_update_replaces_what_is_between_the_marks(tmp_path):
    document = tmp_path / "page.md"
    document.write_text(f"a\n{tables.begin_mark('x')}\nold\n{tables.END}\nb\n{tables.begin_mark('y')}\n{tables.END}\n")
    tables.update(document, "x", ["new", "lines"])
    assert document.read_text() == (
        f"a\n{tables.begin_mark('x')}\nnew\nlines\n{tables.END}\nb\n{tables.begin_mark('y')}\n{tables.END}\n"
    )


def test_update_refuses_a_page_without_the_marks(tmp_path):
    document = tmp_path / "page.md"
    document.write_text("nothing\n")
    with pytest.raises(ValueError, match="wanted one line <!-- ./dev bench x"):
        tables.update(document, "x", ["new"])
    assert document.read_text() == "nothing\n"


def test_the_documents_have_a_place_for_each_table():
    for name in set(BENCHMARKS) - {"demo", "frontend"}:  # the front end's is printed only
        assert tables.DOCUMENT.read_text(encoding="utf-8").count(tables.begin_mark(name)) == 1
    assert (harness.ROOT / "README.md").read_text(encoding="utf-8").count(tables.begin_mark("demo")) == 1


# --- the command line ---------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def two_cpus(monkeypatch):
    monkeypatch.setattr(command_line.os, "sched_getaffinity", lambda _: {0, 1})


def parse(*arguments):
    return command_line.parse(command_line.parser("Text.", 8, 0.5, ("net", "gpt")), "infer", list(arguments))


def test_options_have_defaults():
    options = parse()
    assert (options.threads, options.model, options.rounds, options.seconds) == ([1, 2], ["net", "gpt"], 8, 0.5)
    assert options.command == "./dev bench infer"


def test_threads_are_no_more_than_cpus(monkeypatch):
    monkeypatch.setattr(command_line.os, "sched_getaffinity", lambda _: {5})
    assert parse().threads == [1]


def test_options_are_read(tmp_path):
    options = parse("--threads", "1", "--model", "gpt", "--rounds", "3", "--json", str(tmp_path / "x.json"))
    assert (options.threads, options.model, options.rounds, options.json) == ([1], ["gpt"], 3, tmp_path / "x.json")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--threads", "0"], "'0' threads; allowed: 1 to"),
        (["--threads", "1,x"], "'x' threads; allowed: 1 to"),
        (["--model", "net,bert"], "'bert'; allowed: net, gpt"),
        (["--rounds", "0"], "0; allowed: more than 0"),
        (["--update-docs", "--model", "net"], "--update-docs writes the whole table; leave out --model"),
        (["--update-docs", "--threads", "1", "--clock", "processor"], "leave out --threads and --clock"),
        (["--clock", "processor"], "--clock processor adds up the time of all threads"),
    ],
)
def test_wrong_options_are_refused(arguments, message, capsys):
    with pytest.raises(SystemExit) as stop:
        parse(*arguments)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_json_has_the_numbers(tmp_path, capsys):
    options = parse("--json", str(tmp_path / "x.json"))
    table = command_line.Table("infer", "Times.", ("model", "threads"), rows(), TITLES, {"One": "3.1"})
    command_line.publish(options, table, types.SimpleNamespace(share=lambda: (0.25, 0.0)))
    facts = json.loads((tmp_path / "x.json").read_text())
    assert facts["versions"] == {"One": "3.1"}
    assert facts["other_processes_share"] == 0.25
    assert facts["rows"][0]["milliseconds"]["one"] == {"median": 4.0, "low": 4.0, "high": 4.0, "count": 1}
    assert facts["rows"][1]["milliseconds"]["two"] == "Two: no memory"
    assert [row["ratio"] for row in facts["rows"]] == [1.5, 0.5, None]
    assert "| small | 1 | 2.00 | 4.00 | 3.00 | 1.50 | 1e-06 |" in capsys.readouterr().out


# --- workers ------------------------------------------------------------------------------------------------------


def test_worker_answers():
    with Worker(ECHO, 1) as worker:
        assert worker.version == "1.2"
        seconds, facts = worker.prepare({"values": [1.5, 2.0], "prints": True})
        assert seconds >= 0 and facts == {"threads": 1, "cpus": 1}
        outputs = worker.outputs(2)
        assert [[array.tolist() for array in call] for call in outputs] == [[[3.0, 4.0], 1], [[3.0, 4.0], 2]]
        milliseconds = worker.measure(0.01)
        # Calls 1 and 2 were for the outputs, 3 is not timed.
        assert len(milliseconds) == int(worker.outputs()[0][1]) - 4
        assert all(each >= 0 for each in milliseconds)


def test_worker_tells_what_it_used():
    with Worker(ECHO, 1) as worker:
        before = worker.usage()
        worker.prepare({"values": [0.0] * 100_000})
        worker.measure(0.1)
        after = worker.usage()
        assert after["cpu_seconds"] > before["cpu_seconds"] > 0
        assert after["peak_bytes"] >= before["peak_bytes"] > 1_000_000
        assert worker.profile(3) == []


def test_worker_survives_a_job_that_fails():
    with Worker(ECHO, 1) as worker:
        with pytest.raises(WorkerError, match="Echo: RuntimeError: nothing is prepared"):
            worker.measure(0.01)
        with pytest.raises(WorkerError, match="Echo: ValueError: no such operator"):
            worker.prepare({"values": [], "fails": "no such operator"})
        worker.prepare({"values": [1]})
        assert worker.measure(0.0)


def test_worker_that_dies_fails_from_then_on():
    with Worker(ECHO, 1) as worker:
        for _ in range(2):
            with pytest.raises(WorkerError, match="Echo: the process ended with code 7"):
                worker.prepare({"values": [1], "dies": True})


def test_worker_that_does_not_start_is_an_error():
    with pytest.raises(WorkerError, match="Ghost: the process ended with code 1"):
        Worker(System("Ghost", "ferrule", "no_such_module"), 1)


def test_comparison_times_only_what_agrees():
    systems = {
        "ferrule": ECHO._replace(title="Ferrule"),
        "same": ECHO._replace(title="Same"),
        "other": System("Other", "ferrule", "echo", {"values": [1.0, 2.1]}),
        "broken": System("Broken", "ferrule", "echo", {"fails": "no memory"}),
    }
    comparing = comparison.Comparison(systems, "same", tolerance=1e-3, every=True)
    row = comparing.row(("job", 1), {"values": [1.0, 2.0]}, 1, FAST)
    assert row.timings["ferrule"].count >= 2 and row.timings["same"].count >= 2
    assert row.timings["other"] == "Other: results differ by 5.0e-02 of their scale"
    assert row.timings["broken"] == "Broken: ValueError: no memory"
    assert row.more == {"Ferrule differs by": "0e+00", "Other differs by": "5e-02"}
    assert comparing.versions == {"Same": "1.2", "Other": "1.2", "Broken": "1.2"}


def test_comparison_tells_what_the_peak_would_give():
    systems = {"ferrule": ECHO._replace(title="Ferrule"), "other": ECHO._replace(title="Other")}
    comparing = comparison.Comparison(systems, "other", tolerance=1e-3, at_peak=True)
    rows = [comparing.row(("job", 1), {"values": [1.0], "at_peak": peak}, 1, FAST) for peak in (0.25, 0.5)]
    assert [row.more["at FMA peak"] for row in rows] == ["0.250", "0.500"]
    mean = math.sqrt(rows[0].timings["other"].median / 0.25 * rows[1].timings["other"].median / 0.5)
    (line,) = comparing.ceiling_lines()
    assert line.endswith(f"the geometric mean at 1 thread would be {mean:.2f}.")
