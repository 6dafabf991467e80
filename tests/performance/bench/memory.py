"""Memory against time: training steps under budgets, beside torch with and without checkpointing, in one run."""

import contextlib
import pathlib
import re
import tempfile

import numpy as np

from . import curves, tables, train_jobs
from . import options as command_line
from .harness import ROOT, System, Worker, WorkerError, interleave, scale_error, show
from .machine import OtherLoad

NETS = tuple(train_jobs.MEMORY_JOBS)
# Budgets by the name of their row, as memory_budget takes them.
GIB = 2**30
PARTS = {"100%": None, "75%": 0.75, "50%": 0.5, "35%": 0.35, "25%": 0.25}
LARGE = {
    "resnet50_32": {"100%": None, "1.45 GiB": int(1.45 * GIB), "0.75 GiB": int(0.75 * GIB)},
    "resnet50_128": {"100%": None, "3.4 GiB": int(3.4 * GIB)},
}
PLOT = ROOT / "docs" / "memory_curves.svg"
TORCH = {
    "torch": System("torch", "torch", "train_torch"),
    "torch, checkpointed": System("torch, checkpointed", "torch", "train_torch", {"checkpointed": True}),
}
# torch takes more for 128 images than most machines have beside the others.
WITHOUT_TORCH = {"resnet50_128"}
# Of the large networks only one step.
COMPARED_STEPS, LOSS_TOLERANCE = 3, 1e-3
# In a BudgetError.
SMALLEST = re.compile(r"the smallest arena that was found takes (\d+)")


def main(arguments):
    """The command `./dev bench memory`."""
    # Memory and the shape of a curve do not depend on threads; few steps a point keep all of it within minutes.
    parser = command_line.parser(__doc__, rounds=3, seconds=0.1, models=NETS, all_threads=True, large=tuple(LARGE))
    parser.add_argument("--tiny", action="store_true", help="small networks: tries the benchmark, measures nothing")
    options = command_line.parse(parser, "memory", arguments)
    if options.tiny and options.update_docs:
        parser.error("--update-docs writes the whole table; leave out --tiny")
    others, rows, versions = OtherLoad(), [], {}
    for net in options.model:
        for threads in options.threads:
            rows += measure(net, threads, options, versions)
    show("")
    share = others.share()
    large = [net for net in options.model if net in LARGE]
    compared = f"{COMPARED_STEPS} losses" + (f" (1 of {', '.join(large)})" if large else "")
    what = (
        f"{command_line.unit(options)}; MiB of memory: the process's peak over what it held before the network was made. "
        f"The first {compared} agree within {LOSS_TOLERANCE:g}."
    )
    lines = [tables.caption(what, versions, options.command, share), "", *table(rows)]
    if options.update_docs:
        PLOT.write_text(curves.svg([row for row in rows if row["threads"] == options.threads[0]]), encoding="utf-8")
    command_line.publish_lines(options, "memory", lines, rows, versions, share)


def measure(net, threads, options, versions):
    """The rows of one network: a list of dicts, one a system and budget."""
    job, rows, workers, losses = {"net": net, "tiny": options.tiny}, [], {}, {}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        systems = _budgeted_systems(job, pathlib.Path(folder))
        for name, system in {**systems, **({} if net in WITHOUT_TORCH else TORCH)}.items():
            row = {"network": train_jobs.find(job).title, "threads": threads, "system": name}
            rows.append(row)
            if isinstance(system, str):
                row["failure"] = system
                continue
            show(f"{net}: {name}")
            worker = stack.enter_context(Worker(system, threads))
            versions[system.title.split(",")[0]] = worker.version
            before = worker.usage()["peak_bytes"]
            try:
                row["arena"] = worker.prepare(job)[1].get("arena")
                losses[name] = [call[0] for call in worker.outputs(1 if net in LARGE else COMPARED_STEPS)]
            except WorkerError as error:
                row["failure"] = str(error)
                continue
            row["bytes"] = worker.usage()["peak_bytes"] - before
            workers[name] = worker
        reference = "torch" if "torch" in losses else next(iter(losses))
        for name, found in losses.items():
            apart = scale_error(np.array(losses[reference]), np.array(found))
            if apart > LOSS_TOLERANCE:
                raise WorkerError(f"{net}, {name}: the losses are {apart:.2e} apart from those of {reference}")
        timings = interleave(workers, options, net)
    for row in rows:
        if row["system"] in timings:
            row["milliseconds"] = timings[row["system"]].median
    return rows


def _budgeted_systems(job, folder):
    """{name: System, or the text of a refusal} of a step under each budget, and under the smallest if one is refused."""
    budgets = PARTS if job.get("tiny") else LARGE.get(job["net"], PARTS)
    systems = {name: _budgeted(job, budget, folder) for name, budget in budgets.items()}
    found = {int(each[1]) for text in systems.values() if isinstance(text, str) for each in SMALLEST.finditer(text)}
    if found:
        systems["smallest"] = _budgeted(job, min(found), folder)
    return systems


def _budgeted(job, budget, folder):
    """The System of a step under a budget, whose artifact is made in a process of its own; a text if there is none."""
    artifact = folder / f"{job['net']}_{budget}.fer"
    system = System("Ferrule", "ferrule", "train_ferrule", {"artifact": str(artifact), "budget": budget})
    show(f"{job['net']}: {budget or 'no'} budget is compiled for")
    try:
        with Worker(system, 2) as compiler:
            compiler.prepare(job)
    except WorkerError as error:
        return next((line for line in str(error).splitlines() if SMALLEST.search(line)), str(error).splitlines()[0])
    return system


def table(rows):
    """Markdown: arena, memory and time of each row, and the time as a part of the network's first row."""
    lines, first = [], {}
    for row in rows:
        key = (row["network"], row["threads"])
        if "failure" in row:
            lines.append([row["network"], str(row["threads"]), row["system"], "-", "-", "-", row["failure"]])
            continue
        first.setdefault(key, row["milliseconds"])
        arena = "-" if row["arena"] is None else tables.number(row["arena"] / 2**20)
        lines.append([row["network"], str(row["threads"]), row["system"], arena, tables.number(row["bytes"] / 2**20),
                      tables.number(row["milliseconds"]), f"{row['milliseconds'] / first[key]:.2f}"])  # fmt: skip
    heads = ["network", "threads", "budget or system", "arena, MiB", "memory, MiB", "step, ms", "of the step without a budget"]
    return tables.markdown(heads, lines)
