"""Memory against time: training steps under budgets, beside torch with and without checkpointing, in one run."""

import contextlib
import pathlib
import tempfile

import numpy as np

from . import curves, tables, train_jobs
from . import options as command_line
from .harness import ROOT, System, Worker, WorkerError, interleave, scale_error, show
from .machine import OtherLoad

NETS = ("gpt", "unet", "resnet50", "lstm")
PARTS = (1.0, 0.75, 0.5, 0.35, 0.25)
PLOT = ROOT / "docs" / "memory_curves.svg"
TORCH = {
    "torch": System("torch", "torch", "train_torch"),
    "torch, checkpointed": System("torch, checkpointed", "torch", "train_torch", {"checkpointed": True}),
}
COMPARED_STEPS, LOSS_TOLERANCE = 3, 1e-3


def main(arguments):
    """The command `./dev bench memory`."""
    parser = command_line.parser(__doc__, rounds=5, seconds=0.5, models=NETS)
    options = command_line.parse(parser, "memory", arguments)
    others, rows, versions = OtherLoad(), [], {}
    for net in options.model:
        for threads in options.threads:
            rows += measure(net, threads, options, versions)
    show("")
    share = others.share()
    what = (
        f"{command_line.unit(options)}; MiB of memory: the process's peak over what it held before the network was made. "
        f"The first {COMPARED_STEPS} losses agree within {LOSS_TOLERANCE:g}."
    )
    lines = [tables.caption(what, versions, options.command, share), "", *table(rows)]
    if options.update_docs:
        PLOT.write_text(curves.svg([row for row in rows if row["threads"] == options.threads[0]]), encoding="utf-8")
    command_line.publish_lines(options, "memory", lines, rows, versions, share)


def measure(net, threads, options, versions):
    """The rows of one network: a list of dicts, one a system and budget."""
    job, rows, workers, losses = {"net": net}, [], {}, {}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        systems = {f"{part:.0%}": _budgeted(net, part, pathlib.Path(folder)) for part in PARTS}
        for name, system in {**systems, **TORCH}.items():
            row = {"network": train_jobs.JOBS[net].title, "threads": threads, "system": name}
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
                losses[name] = [call[0] for call in worker.outputs(COMPARED_STEPS)]
            except WorkerError as error:
                row["failure"] = str(error)
                continue
            row["bytes"] = worker.usage()["peak_bytes"] - before
            workers[name] = worker
        for name, found in losses.items():
            apart = scale_error(np.array(losses["torch"]), np.array(found))
            if apart > LOSS_TOLERANCE:
                raise WorkerError(f"{net}, {name}: the losses are {apart:.2e} apart from torch's")
        timings = interleave(workers, options, net)
    for row in rows:
        if row["system"] in timings:
            row["milliseconds"] = timings[row["system"]].median
    return rows


def _budgeted(net, part, folder):
    """The System of a step under a budget, whose artifact is made in a process of its own; a text if there is none."""
    artifact = folder / f"{net}_{part}.fer"
    budget = {} if part == 1 else {"budget": part}
    system = System("Ferrule", "ferrule", "train_ferrule", {"artifact": str(artifact), **budget})
    show(f"{net}: {part:.0%} is compiled")
    try:
        with Worker(system, 2) as compiler:
            compiler.prepare({"net": net})
    except WorkerError as error:
        return next(iter(str(error).splitlines()))
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
