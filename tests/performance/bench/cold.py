"""From the start of a process to the first result: open, verify, run; peers load and run the ONNX file."""

import json
import pathlib
import statistics
import subprocess
import tempfile
import time

from . import artifacts, models, tables
from . import options as command_line
from .harness import PYTHONS, ROOT, WorkerError, environment, show
from .machine import OtherLoad
from .models import SYSTEMS

# Of `ferrule-run bench`: what no Python is in.
PARTS = {"open": "open_seconds", "first": "first_seconds", "later": "p50_seconds"}


def main(arguments):
    """The command `./dev bench cold`."""
    parser = command_line.parser(__doc__, rounds=5, seconds=None, models=models.NAMES)
    options = command_line.parse(parser, "cold", arguments)
    others, rows, versions = OtherLoad(), [], {}
    with tempfile.TemporaryDirectory() as folder:
        for name in options.model:
            job = models.make_job(models.load(name), pathlib.Path(folder))
            try:
                artifacts.compile_model(job)
            except WorkerError as error:
                rows.append(tables.Row((name, options.threads[0]), {tables.OURS: str(error)}))
                continue
            rows += [measure(name, job, threads, options.rounds, versions) for threads in options.threads]
            pathlib.Path(job["artifact"]).unlink()
    titles = {name: f"{system.title}: load and first result" for name, system in SYSTEMS.items()}
    what = (
        f"Milliseconds, medians of {options.rounds} new processes with files in memory; without Python's start and "
        "imports. Of `ferrule-run bench`: opening and verifying the artifact with a session for it, the first run, and the "
        "median of later ones; the whole process is `ferrule-run run`, from its start to its end."
    )
    command_line.publish(
        options, command_line.Table("cold", what, ("model", "threads"), rows, titles, versions), others
    )


def measure(name, job, threads, rounds, versions):
    """The Row of a model: load and first call of each system, and of `ferrule-run` the whole process; ``versions`` gets
    those of the systems other than Ferrule."""
    runs, whole, parts = {system: [] for system in SYSTEMS}, [], []
    for i in range(rounds):
        show(f"{name}, {threads} threads: round {i + 1}/{rounds}")
        for system in SYSTEMS if i % 2 == 0 else list(SYSTEMS)[::-1]:
            runs[system].append(first_result(SYSTEMS[system], job, threads))
            if system != tables.OURS:
                versions[SYSTEMS[system].title] = runs[system][-1]["version"]
        whole.append(ferrule_run(job, threads))
        parts.append(ferrule_run_parts(job, threads))
    timings = {
        system: tables.Timing.of([(run["load"] + run["first"]) * 1e3 for run in measured])
        for system, measured in runs.items()
    }
    more = {
        f"`ferrule-run`: {title}": tables.number(statistics.median(part[key] for part in parts) * 1e3)
        for title, key in PARTS.items()
    }
    more["whole process"] = tables.number(statistics.median(whole))
    return tables.Row((name, threads), timings, more)


def first_result(system, job, threads):
    """Seconds of the parts of one new process; see `first_result`."""
    command = [
        str(PYTHONS[system.environment]),
        "-m",
        "bench.first_result",
        f"bench.workers.{system.module}",
        str(threads),
    ]
    done = subprocess.run(
        [*command, json.dumps(job)], check=True, stdout=subprocess.PIPE, text=True, env=environment(system, threads)
    )
    return json.loads(done.stdout.splitlines()[-1])


def ferrule_run(job, threads):
    """Milliseconds of a process that reads the inputs, runs the entry once and writes the outputs."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        run_tool("run", job, threads, "--outputs", f"{folder}/outputs.safetensors")
        return (time.perf_counter() - start) * 1e3


def ferrule_run_parts(job, threads):
    """What `ferrule-run bench --json` says of 50 runs in a new process."""
    return json.loads(run_tool("bench", job, threads, "--runs", "50", "--json"))


def run_tool(command, job, threads, *options):
    """What a command of `ferrule-run` prints about the entry with the job's inputs."""
    inputs = [text for name, path in job["input_files"].items() for text in ("--input", f"{name}={path}")]
    tool = [str(ROOT / "build" / "bin" / "ferrule-run"), command, job["artifact"], "--entry", "main"]
    tool += ["--threads", str(threads), *inputs, *options]
    return subprocess.run(tool, check=True, stdout=subprocess.PIPE, text=True).stdout
