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
# Of a run: so much arithmetic, in no more products than that.
OPERATIONS, MOST_COPIES = 100_000_000, 16


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
            medians = [time / count for time in measure(runs, options)]
            rows.append({"job": kernel_jobs.name(job), "from": job["from"], "threads": threads, "chosen": chosen,
                         "milliseconds": medians, "part": medians[chosen] / min(medians)})  # fmt: skip
            print(rows[-1]["job"], threads, f"{rows[-1]['part']:.3f}", flush=True)
    share = others.share()
    command_line.publish_lines(options, "choice", text(rows, options, share), rows, {}, share)


def copies(job):
    """How often a run computes the product, each time of another input: until it takes about a millisecond. Once a run
    the other threads have to be woken, which is not what tiles are judged by."""
    return max(1, min(MOST_COPIES, OPERATIONS // kernel_jobs.operations(job)))


def candidates(job, threads):
    """([a function that runs a program of candidate i], the number that the cost model takes, products in a run)."""
    function, inputs, parameters = kernels_ferrule.matmul(job, kernel_jobs.operands(job))
    count, each = copies(job), len(inputs)

    def products(*arrays):
        return [function(*arrays[each * i : each * (i + 1)]) for i in range(count)]

    inputs = inputs * count
    entries = {"main": (products, [fer.Spec(array.shape) for array in inputs])}

    def runner(number):
        program, tunable = compile_candidate(number, entries, parameters)
        session = fer.Session(program, threads=threads)
        return (lambda: session.run("main", *inputs)), tunable

    ((_, _, tiles, chosen),) = runner(None)[1]
    return [runner(number)[0] for number in range(tiles)], chosen, count


def measure(runs, options):
    """The median milliseconds of a run of each, measured by turns."""
    slices, clock = [[] for _ in runs], CLOCKS[options.clock]
    for turn in range(options.rounds):
        order = range(len(runs)) if turn % 2 == 0 else reversed(range(len(runs)))
        for number in order:
            run = runs[number]
            run()
            begin, count = clock(), 0
            while count < 3 or clock() - begin < options.seconds:
                run()
                count += 1
            slices[number].append((clock() - begin) / count * 1e3)
    return [statistics.median(times) for times in slices]


def text(rows, options, share):
    """The table and what it comes to."""
    worst = sorted(rows, key=lambda row: -row["part"])
    near = sum(row["part"] <= NEAR for row in rows)
    lines = [
        [row["job"], row["from"], str(row["threads"]), tables.number(row["milliseconds"][row["chosen"]]),
         tables.number(min(row["milliseconds"])), f"{row['part'] - 1:.1%}"]
        for row in worst if row["part"] > NEAR
    ]  # fmt: skip
    return [
        tables.caption(f"{command_line.unit(options)}; float32; products where another tile is more than "
                       f"{NEAR - 1:.0%} faster than the cost model's.", {}, options.command, share),
        "",
        *tables.markdown(["product", "of", "threads", "cost model's tile", "fastest tile", "slower by"], lines),
        "",
        f"- Within {NEAR - 1:.0%} of the fastest of the candidates: {near} of {len(rows)} ({near / len(rows):.0%}; wanted: "
        f"{SHARE:.0%}).",
    ]  # fmt: skip
