"""How far the cost model's tile of a product is from the fastest candidate, on the products of `bench kernels`."""

import statistics

import ferrule as fer
from ferrule.compilation import compile_candidate

from . import kernel_jobs, tables
from . import options as command_line
from .machine import OtherLoad
from .worker import CLOCKS
from .workers import kernels_ferrule

# Goal: the cost model's pick is within this of the fastest, on that share of the products.
NEAR, SHARE = 1.05, 0.9


def main(arguments):
    """The command `./dev bench choice`."""
    parser = command_line.parser(__doc__, rounds=8, seconds=0.02)
    parser.add_argument("--shape", default="", metavar="TEXT", help="only shapes whose name contains TEXT")
    options = command_line.parse(parser, "choice", arguments)
    jobs = [job for job in kernel_jobs.load() if job["kind"] == "matmul" and options.shape in kernel_jobs.name(job)]
    others, rows = OtherLoad(), []
    for threads in options.threads:
        for job in jobs:
            runs, chosen, count = candidates(job, threads)
            medians = [statistics.median(times) / count for times in measure(runs, options, options.rounds)]
            fastest = min(range(len(runs)), key=medians.__getitem__)
            part, pair = beside(runs[chosen], runs[fastest], options)
            rows.append({"job": kernel_jobs.name(job), "from": job["from"], "threads": threads, "chosen": chosen,
                         "fastest": fastest, "milliseconds": medians, "again": [time / count for time in pair],
                         "part": part})  # fmt: skip
            print(rows[-1]["job"], threads, f"{rows[-1]['part']:.3f}", flush=True)
    share = others.share()
    command_line.publish_lines(options, "choice", text(rows, options, share), rows, {}, share)


def candidates(job, threads):
    """([a function that runs a program of candidate i], the number that the cost model takes, products in a run)."""
    function, inputs, parameters = kernels_ferrule.matmul(job, kernel_jobs.operands(job))
    count = kernel_jobs.copies(job)

    function, inputs = kernels_ferrule.repeated(function, inputs, count)
    entries = {"main": (function, [fer.Spec(array.shape) for array in inputs])}

    def runner(number):
        program, tunable = compile_candidate(number, entries, parameters)
        session = fer.Session(program, threads=threads)
        return (lambda: session.run("main", *inputs)), tunable

    ((_, _, tiles, chosen),) = runner(None)[1]
    return [runner(number)[0] for number in range(tiles)], chosen, count


def beside(chosen, fastest, options):
    """(how many times as long `chosen` takes, [the milliseconds of both]): measured anew, since the smallest of so many
    times that were measured once is also the luckiest."""
    if chosen is fastest:
        return 1.0, []
    ours, others = measure([chosen, fastest], options, 2 * options.rounds)
    ratio = statistics.median(mine / other for mine, other in zip(ours, others, strict=True))
    return ratio, [statistics.median(ours), statistics.median(others)]


def measure(runs, options, rounds):
    """For each its milliseconds of a run in each round; in a round all are measured by turns."""
    slices, clock = [[] for _ in runs], CLOCKS[options.clock]
    for turn in range(rounds):
        order = range(len(runs)) if turn % 2 == 0 else reversed(range(len(runs)))
        for number in order:
            run = runs[number]
            run()
            begin, count = clock(), 0
            while count < 3 or clock() - begin < options.seconds:
                run()
                count += 1
            slices[number].append((clock() - begin) / count * 1e3)
    return slices


def text(rows, options, share):
    """The table and what it comes to."""
    worst = sorted(rows, key=lambda row: -row["part"])
    near = sum(row["part"] <= NEAR for row in rows)
    lines = [
        [row["job"], row["from"], str(row["threads"]), *map(tables.number, row["again"]), f"{row['part'] - 1:.1%}"]
        for row in worst if row["part"] > NEAR
    ]  # fmt: skip
    return [
        tables.caption(f"{command_line.unit(options)}, the fastest then beside the cost model's in twice as many; float32; "
                       f"products where the cost model's tile is more than {NEAR - 1:.0%} slower.", {}, options.command,
                       share),
        "",
        *tables.markdown(["product", "of", "threads", "cost model's tile", "fastest tile", "slower by"], lines),
        "",
        f"- Within {NEAR - 1:.0%} of the fastest of the candidates: {near} of {len(rows)} ({near / len(rows):.0%}; wanted: "
        f"{SHARE:.0%}).",
    ]  # fmt: skip
