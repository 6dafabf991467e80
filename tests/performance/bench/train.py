"""A training step (forward, loss, backward, optimizer) beside torch's, from the same weights on the same data."""

import pathlib
import tempfile

from . import comparison, train_jobs
from . import options as command_line
from .harness import System
from .machine import OtherLoad

SYSTEMS = {
    "ferrule": System("Ferrule", "ferrule", "train_ferrule"),
    "torch": System("torch", "torch", "train_torch"),
}
COMPILED = {"torch-compile": System("torch.compile", "torch", "train_torch", {"compiled": True})}
# So many losses must agree before a time counts. Rounding differs, and each step carries it on.
COMPARED_STEPS = 4
LOSS_TOLERANCE = 1e-3


def main(arguments):
    """The command `./dev bench train`."""
    parser = command_line.parser(__doc__, rounds=6, seconds=0.5, models=train_jobs.JOBS)
    parser.add_argument("--compile", action="store_true", help="measure torch.compile, too")
    command_line.add_kernels(parser)
    options = command_line.parse(parser, "train", arguments)
    systems = {**SYSTEMS, **(COMPILED if options.compile else {})}
    others, rows = OtherLoad(), []
    comparing = comparison.Comparison(systems, "torch", LOSS_TOLERANCE, COMPARED_STEPS, at_peak=True)
    with tempfile.TemporaryDirectory() as folder:
        for net in options.model:
            artifact = pathlib.Path(folder, f"{net}.fer")
            training, job = train_jobs.JOBS[net], {"net": net, "artifact": str(artifact)}
            for threads in options.threads:
                rows.append(comparing.row((training.title, training.batch, threads), job, threads, options))
            artifact.unlink(missing_ok=True)
    what = f"{command_line.unit(options)}; float32; the first {COMPARED_STEPS} losses agree within {LOSS_TOLERANCE:g}."
    heads, notes = ("network", "batch", "threads"), (*comparing.kernel_lines(), *comparing.ceiling_lines())
    table = command_line.Table("train", what, heads, rows, comparing.titles(), comparing.versions, notes)
    command_line.publish(options, table, others)
