"""Inner loops of the kernels for 64-bit ARM against the FMA peak, by llvm-mca's models of Neoverse N1 and V2."""

from . import inner_loops, kernel_jobs, tables
from . import options as command_line
from .machine import OtherLoad

TITLES = {"neoverse-n1": "Neoverse N1", "neoverse-v2": "Neoverse V2"}


def main(arguments):
    """The command `./dev bench neon`."""
    parser = command_line.parser(__doc__, rounds=None, seconds=None)
    options = command_line.parse(parser, "neon", arguments)
    others, facts = OtherLoad(), [measure(job) for job in kernel_jobs.load() if not kernel_jobs.is_depthwise(job)]
    caption = tables.caption(
        "Products of the inner loop of the tallest tile in a cycle, of what the FMA pipes can begin; and what bounds the loop, "
        "with the share of that which it reaches. Nothing is run.", {}, options.command, (0.0, 0.0),
    )  # fmt: skip
    heads = ["operation", "products", "registers loaded", "other instructions"]
    heads += [head for title in TITLES.values() for head in (title, "bound")]
    lines = [
        [each["name"], each["products"], each["loaded"], each["others"], *(cell for cpu in TITLES for cell in cells(each[cpu]))]
        for each in facts
    ]
    text = [caption, "", *tables.markdown(heads, [[str(cell) for cell in line] for line in lines])]
    command_line.publish_lines(options, "neon", text, facts, {}, others.share())


def measure(job):
    """The figures of one operation, a dict."""
    loop = inner_loops.hottest(inner_loops.loops_of(job))
    runs = {cpu: inner_loops.run_of(loop, cpu) for cpu in TITLES}
    return {
        "name": kernel_jobs.name(job),
        "products": loop.products(),
        "loaded": loop.registers_loaded(),
        "others": len(loop.instructions) - loop.products() - loop.loads(),
        **{cpu: {"peak": run.share_of_peak, "bound": run.bound, "share": run.share_of_bound} for cpu, run in runs.items()},
    }


def cells(facts):
    """The two cells of a processor."""
    return f"{facts['peak']:.0%}", f"{facts['bound']} {facts['share']:.0%}"
