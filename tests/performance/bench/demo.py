"""The demo's training step and prediction beside torch's: same network, weights and data; the table of README.md."""

import pathlib
import tempfile

from . import comparison
from . import options as command_line
from .harness import ROOT, System
from .machine import OtherLoad

SYSTEMS = {
    "ferrule": System("Ferrule", "ferrule", "demo_ferrule"),
    "torch": System("torch", "torch", "demo_torch"),
    "torch-compile": System("torch.compile", "torch", "demo_torch", {"compiled": True}),
}
JOBS = (
    ("train_step", 64, "training step, batch 64"),
    ("predict", 64, "predict, batch 64"),
    ("predict", 1, "predict, batch 1"),
)
COMPARED_CALLS = 20
TOLERANCE = 1e-3


def main(arguments):
    """The command `./dev bench demo`."""
    parser = command_line.parser(__doc__, rounds=8, seconds=0.5)
    options = command_line.parse(parser, "demo", arguments)
    others, comparing = OtherLoad(), comparison.Comparison(SYSTEMS, "torch", TOLERANCE, COMPARED_CALLS)
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            comparing.row(
                (title, threads),
                {"entry": entry, "batch": batch, "artifact": str(pathlib.Path(folder, "digits.fer"))},
                threads,
                options,
            )
            for entry, batch, title in JOBS
            for threads in options.threads
        ]
    table = command_line.Table(
        "demo", f"{command_line.unit(options)}; float32.", ("", "threads"), rows, comparing.titles(), comparing.versions
    )
    command_line.publish(options, table, others, ROOT / "README.md")
