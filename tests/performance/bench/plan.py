"""How good the memory plans are and what planning takes: MiniMalloc's problems, and the plans of whole networks."""

import json
import os
import subprocess
import sys

from . import models, tables, train_jobs
from . import options as command_line
from .harness import ROOT, show
from .machine import OtherLoad

BENCHMARK = ROOT / "build" / "bin" / "planner_bench"
# The networks of `bench train` in training, those of `bench infer` in inference.
NAMES = (*(f"train.{name}" for name in train_jobs.JOBS), *(f"infer.{name}" for name in models.NAMES))


def main(arguments):
    """The command `./dev bench plan`."""
    parser = command_line.parser(__doc__, rounds=None, seconds=None, models=NAMES)
    options = command_line.parse(parser, "plan", arguments)
    # A program that an earlier process has made says nothing about its making.
    os.environ["FERRULE_PROGRAM_CACHE"] = "off"
    others = OtherLoad()
    show("MiniMalloc's problems, and random ones")
    planner = run_planner()
    problems, random = planner["minimalloc"], planner["random"]
    plans = []
    for name in options.model:
        show(f"{name} is compiled")
        plans += measure(name)
    show("")
    share = others.share()
    what = "Peaks are parts of the lower bound; seconds are the processor's, but for networks those of the clock."
    lines = [tables.caption(what, {}, options.command, share), "", *problem_table(problems), "", *random_table(random), "",
             *plan_table(plans)]  # fmt: skip
    command_line.publish_lines(options, "plan", lines, {**planner, "networks": plans}, {}, share)


def run_planner():
    """{"minimalloc": rows, "random": rows} of planner_bench.cpp, lists of dicts."""
    if not BENCHMARK.exists():
        sys.exit(f"{BENCHMARK} is missing: ./dev bench makes it")
    done = subprocess.run([BENCHMARK, "--json"], cwd=ROOT, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def measure(name):
    """The plans of the entries of one network, a list of dicts."""
    program = compile_program(name)
    report, rows = program.report, []
    for entry in program.entries:
        memory, plan = program.memory(entry), program.memory_plan(entry)
        buffers = sum(buffer["storage"] == "arena" for buffer in plan["buffers"])
        rows.append({"network": name, "entry": entry, "buffers": buffers, "peak": memory["peak"],
                     "lower_bound": memory["lower_bound"], "naive": memory["naive"],
                     "plan_seconds": report["plan.plan-memory"], "schedule_seconds": report["passes.schedule"]})  # fmt: skip
    return rows


def compile_program(name):
    """The Program of one of NAMES."""
    kind, network = name.split(".", 1)
    if kind == "infer":
        import ferrule.onnx

        model = models.load(network)
        return ferrule.onnx.compile(model.path, shapes=model.shapes())
    from .workers import train_ferrule

    training = train_jobs.JOBS[network]
    return train_ferrule.compile_step(training, *train_jobs.data(training))


def problem_table(problems):
    """Markdown of MiniMalloc's problems and their means."""
    columns = ("by_size", "greedy", "quick", "full")
    lines = []
    for each in problems:
        ratios = [f"{each[column]:.3f}" for column in columns]
        lines.append([each["problem"], str(each["intervals"]), *ratios[:3], f"{each['quick_seconds']:.3f}", ratios[3],
                      f"{each['full_seconds']:.2f}", "yes" if each["fits"] else "no"])  # fmt: skip
    means = [f"{tables.geometric_mean(each[column] for each in problems):.3f}" for column in columns]
    total, solved = sum(each["full_seconds"] for each in problems), sum(each["fits"] for each in problems)
    lines.append(["geometric mean, sum", "", *means[:3], "", means[3], f"{total:.1f}", f"{solved} of {len(problems)}"])
    return tables.markdown(["problem", "intervals", "greedy by size", "greedy portfolio", "short search", "seconds",
                            "full search", "seconds", "fits 1,048,576"], lines)  # fmt: skip


def random_table(rows):
    """Markdown of the random problems: `longest` is the most instructions that an interval lives."""
    lines = [
        [f"{each['intervals']:,}", str(each["longest"]), f"{each['greedy']:.4f}", tables.number(each["greedy_milliseconds"]),
         f"{each['compiler']:.4f}", tables.number(each["compiler_milliseconds"])]
        for each in rows
    ]  # fmt: skip
    heads = ["random intervals", "longest life", "greedy portfolio", "ms", "as the compiler plans", "ms"]
    return tables.markdown(heads, lines)


def plan_table(plans):
    """Markdown of the networks' plans."""
    lines = [
        [each["network"], each["entry"], str(each["buffers"]), f"{each['naive']:,}", f"{each['lower_bound']:,}",
         f"{each['peak']:,}", f"{each['peak'] / max(1, each['lower_bound']):.4f}", tables.number(each["plan_seconds"] * 1e3)]
        for each in plans
    ]  # fmt: skip
    heads = ["network", "entry", "buffers", "every buffer apart", "lower bound", "peak", "peak / lower bound", "planned in ms"]
    return tables.markdown(heads, lines)
