"""Matrix products and convolutions one by one, beside oneDNN and MKL through torch, and the peak of this core."""

import json
import subprocess

from . import comparison, kernel_jobs, tables
from . import options as command_line
from .harness import ROOT, System
from .machine import OtherLoad

TARGETS = {"x86-64-v3": "AVX2", "x86-64-v4": "AVX512_CORE"}
TOLERANCE = 1e-5
# A ratio that counts as equal: medians differ that much from run to run.
PARITY = 0.97
GROUPS = ("matmul", "convolution", "depthwise")


def main(arguments):
    """The command `./dev bench kernels`."""
    parser = command_line.parser(__doc__, rounds=4, seconds=0.05, models=GROUPS)
    parser.add_argument(
        "--target", choices=("host", *TARGETS), default="host", help="a CPU level that all are limited to"
    )
    parser.add_argument("--shape", default="", metavar="TEXT", help="only shapes whose name contains TEXT")
    options = command_line.parse(parser, "kernels", arguments)
    jobs = [job for job in kernel_jobs.load() if group(job) in options.model and options.shape in kernel_jobs.name(job)]
    others, peaks, rows = OtherLoad(), machine_peaks(jobs), []
    comparing = comparison.Comparison(systems(options.target), "mkl", TOLERANCE)
    for threads in options.threads:
        with comparing.workers(threads) as workers:
            for job in jobs:
                able = {name: worker for name, worker in workers.items() if can(name, job)}
                labels = (kernel_jobs.name(job), job["from"], threads)
                row = comparing.row_of(able, labels, {**job, "target": options.target}, options)
                rows.append(row._replace(more={**row.more, **shares(job, row, threads, peaks, options.target)}))
    notes = [f"- The peaks of one core in this run, GFLOP/s: {peak_text(peaks)}."]
    for name in options.model:
        measured = zip(jobs * len(options.threads), rows)
        notes += summary(name, [row for job, row in measured if group(job) == name])
    versions = {"torch": version for version in comparing.versions.values()}  # both libraries are torch's
    what = f"{command_line.unit(options)}; float32; with 2 threads small operations up to {kernel_jobs.MOST_COPIES} in a run."
    heads = ("operation", "of", "threads")
    table = command_line.Table("kernels", what, heads, rows, comparing.titles(), versions, tuple(notes))
    command_line.publish(options, table, others)


def group(job):
    """Which of GROUPS a job belongs to."""
    return "depthwise" if kernel_jobs.is_depthwise(job) else job["kind"]


def can(system, job):
    """Whether there is something to measure: MKL has no convolutions, and torch calls oneDNN for float32 products only
    where both operands have the contracted axis last."""
    if system == "mkl":
        return job["kind"] == "matmul"
    if system == "onednn" and job.get("values"):
        return not job.get("transpose_a") and bool(job.get("transpose_b"))
    return True


def systems(target):
    """{name: System}; libraries are limited to the target."""
    level = TARGETS.get(target)
    onednn = {"ONEDNN_MAX_CPU_ISA": level} if level else {}
    mkl = {"MKL_ENABLE_INSTRUCTIONS": level.split("_")[0]} if level else {}
    return {
        "ferrule": System("Ferrule", "ferrule", "kernels_ferrule"),
        "onednn": System("oneDNN", "torch", "kernels_torch", {"library": "onednn"}, onednn),
        "mkl": System("MKL", "torch", "kernels_torch", {"library": "mkl"}, mkl),
    }


def machine_peaks(jobs):
    """What the program machine_peak measures, with the load bandwidth for the weights of all products with one row."""
    sizes = sorted({kernel_jobs.weight_bytes(job) for job in jobs if job.get("m") == 1})
    command = [str(ROOT / "build" / "bin" / "machine_peak"), *map(str, sizes)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def summary(name, rows):
    """How one group of operations stands, a line; none where nothing was compared."""
    ratios = [row.ratio() for row in rows if row.ratio() is not None]
    if not ratios:
        return []
    behind = sum(ratio < PARITY for ratio in ratios)
    mean, worst = tables.number(tables.geometric_mean(ratios)), tables.number(min(ratios))
    return [f"- {name}: geometric mean {mean}, worst {worst}, {behind} of {len(ratios)} below {PARITY}."]


def peak_text(peaks):
    """The FMA peaks as a text."""
    return ", ".join(f"{level} {tables.number(value)}" for level, value in peaks["fma_gflops"].items())


def shares(job, row, threads, peaks, target):
    """{column: text} of Ferrule's speed: GFLOP/s and their share of the FMA peak; for one row, where every weight is
    used once, the share of the bandwidth of loads, too."""
    mine = row.timings.get(tables.OURS)
    if not isinstance(mine, tables.Timing):
        return {}
    seconds = mine.median / 1e3
    gflops = kernel_jobs.operations(job) / seconds * 1e-9
    peak = peaks["fma_gflops"].get(target) or max(peaks["fma_gflops"].values())
    cells = {"GFLOP/s": tables.number(gflops), "of FMA peak": f"{gflops / (peak * threads):.0%}"}
    if job.get("m") == 1:
        size = kernel_jobs.weight_bytes(job)
        cells["of load bandwidth"] = f"{size / seconds * 1e-9 / (peaks['load_gb_per_second'][str(size)] * threads):.0%}"
    return cells
