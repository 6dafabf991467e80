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
        "Products of the inner loop of the tallest tile in a cycle, of what the FMA pipes can begin; nothing is run.",
        {}, options.command, (0.0, 0.0),
    )  # fmt: skip
    heads = ["operation", "products", "other instructions", *TITLES.values()]
    lines = [[each["name"], each["products"], each["others"], *(f"{each[cpu]:.0%}" for cpu in TITLES)] for each in facts]
    text = [caption, "", *tables.markdown(heads, [[str(cell) for cell in line] for line in lines])]
    command_line.publish_lines(options, "neon", text, facts, {}, others.share())


def measure(job):
    """The figures of one operation, a dict."""
    loop = inner_loops.hottest(inner_loops.loops_of(job))
    shares = {cpu: inner_loops.share_of_peak(loop, cpu) for cpu in TITLES}
    others = len(loop.instructions) - loop.products()
    return {"name": kernel_jobs.name(job), "products": loop.products(), "others": others, **shares}
