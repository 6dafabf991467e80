"""From an ONNX file to an artifact in a new process: time, memory, phases; peers load the same files."""

import pathlib
import statistics
import tempfile

from . import artifacts, models, tables
from . import options as command_line
from .harness import Worker, WorkerError, show
from .machine import OtherLoad

PEERS = {name: system for name, system in models.SYSTEMS.items() if name != tables.OURS}
LARGE_BATCH = 4096
# Files that leave the batch open; the compiler must not take longer for a larger one.
ANY_BATCH = ("ocr_cls", "ocr_rec", "magika")


def main(arguments):
    """The command `./dev bench compile`."""
    parser = command_line.parser(__doc__, rounds=3, seconds=None, models=models.NAMES)
    options = command_line.parse(parser, "compile", arguments)
    others, facts, versions = OtherLoad(), [], {}
    with tempfile.TemporaryDirectory() as folder:
        for name in options.model:
            for threads in options.threads:
                facts.append(measure(models.load(name), threads, options.rounds, pathlib.Path(folder), versions))
    show("")
    share = others.share()
    what = (
        f"Seconds, medians of {options.rounds} new processes; MB are 10^6 bytes. Saved: the warm program written to a "
        "file and to the disk; processor time and peak are of compiling cold and saving."
    )
    lines = [tables.caption(what, versions, options.command, share), "", *table(facts), "", *phase_lines(facts)]
    command_line.publish_lines(options, "compile", lines, facts, versions, share)


def measure(model, threads, rounds, folder, versions):
    """What compiling a model takes, a dict of numbers; where something fails, "failure" says why."""
    job = models.make_job(model, folder)
    found = {"model": model.name, "threads": threads, "file_bytes": pathlib.Path(model.path).stat().st_size}
    runs = {name: [] for name in ("cold", "warm", "large", *PEERS)}
    try:
        for i in range(rounds):
            show(f"{model.name}, {threads} threads: round {i + 1}/{rounds}")
            with tempfile.TemporaryDirectory(dir=folder) as cache:
                runs["cold"].append(artifacts.compile_model(job, threads, cache))
                runs["warm"].append(artifacts.compile_model(job, threads, cache))
            if model.name in ANY_BATCH:
                large = {**job, "shapes": model.batch(LARGE_BATCH).shapes()}
                runs["large"].append(artifacts.compile_model(large, threads))
            for name, system in PEERS.items():
                with Worker(system, threads) as worker:
                    runs[name].append(artifacts.measured_preparation(worker, job))
                    versions[system.title] = worker.version
    except WorkerError as error:
        found["failure"] = str(error)
    for name, measured in runs.items():
        if measured:
            found[name] = {
                key: statistics.median(run[key] for run in measured)
                for key in ("seconds", "save_seconds", "cpu_seconds", "peak_bytes")
                if key in measured[0]
            }
    if runs["cold"]:
        phases = [run["phases"] for run in runs["cold"]]
        found["phases"] = {name: statistics.median(each[name] for each in phases) for name in phases[0]}
        found["weight_bytes"] = runs["cold"][0]["sizes"]["weights"]
        found["import_bytes"] = runs["cold"][0]["import_bytes"]
    return found


def table(facts):
    """The Markdown table."""
    heads = ["model", "threads", "cold", "processor time", "warm", "saved", f"batch {LARGE_BATCH} / 1"]
    heads += ["peak MB", "weights MB"]
    heads += [f"{system.title} loads" for system in PEERS.values()]
    lines = []
    for each in facts:
        seconds = {name: each[name]["seconds"] for name in ("cold", "warm", "large", *PEERS) if name in each}
        grows = seconds["large"] / seconds["cold"] if "large" in seconds else None
        cells = [seconds.get("cold"), each.get("cold", {}).get("cpu_seconds")]
        cells += [seconds.get("warm"), each.get("warm", {}).get("save_seconds"), grows]
        cells += [_megabytes(each.get("cold", {}).get("peak_bytes")), _megabytes(each.get("weight_bytes"))]
        cells += [seconds.get(name) for name in PEERS]
        lines.append([each["model"], str(each["threads"]), *map(tables.number, cells)])
    return tables.markdown(heads, lines)


def phase_lines(facts):
    """Where the time goes, and what failed."""
    lines = []
    for each in facts:
        if "phases" in each:
            parts = sorted(each["phases"].items(), key=lambda part: -part[1])
            texts = ", ".join(f"{name} {tables.number(seconds)}" for name, seconds in parts)
            lines.append(f"- {each['model']}, {each['threads']} threads: {texts}.")
        if "failure" in each:
            lines.append(f"- Fails: {each['model']}, {each['threads']} threads: {each['failure']}.")
    return lines


def _megabytes(count):
    return None if count is None else count / 1e6
