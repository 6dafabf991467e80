"""Latency of eleven ONNX models, batch 1, beside ONNX Runtime and OpenVINO; what they compute is compared first."""

import pathlib
import tempfile

from . import comparison, models
from . import options as command_line
from .machine import OtherLoad

# Of the largest output. Far above what rounding does to these networks, far below what a wrong operator does.
TOLERANCE = 1e-3


def main(arguments):
    """The command `./dev bench infer`."""
    parser = command_line.parser(__doc__, rounds=8, seconds=0.4, models=models.NAMES)
    command_line.add_kernels(parser)
    options = command_line.parse(parser, "infer", arguments)
    others, rows = OtherLoad(), []
    comparing = comparison.Comparison(models.SYSTEMS, "ort", TOLERANCE, every=True, at_peak=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in options.model:
            job = models.make_job(models.load(name), pathlib.Path(folder))
            rows += [comparing.row((name, threads), job, threads, options) for threads in options.threads]
            pathlib.Path(job["artifact"]).unlink(missing_ok=True)
    what = f"{command_line.unit(options)}; float32, batch 1."
    note = f"- Differences are from the results of {models.SYSTEMS['ort'].title}, divided by the largest of them."
    notes = (note, *comparing.kernel_lines(), *comparing.ceiling_lines())
    table = command_line.Table("infer", what, ("model", "threads"), rows, comparing.titles(), comparing.versions, notes)
    command_line.publish(options, table, others)
