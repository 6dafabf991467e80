"""An ONNX model to an artifact. The job: {"path", "shapes", "artifact"}; what is measured later is not the compiler."""

import ferrule.onnx

from ..worker import Prepared


def version():
    return "this tree"


def prepare(job, threads):
    del threads  # the compiler takes the CPUs that the process may use
    program = ferrule.onnx.compile(job["path"], shapes=job["shapes"])
    program.save(job["artifact"])
    return Prepared(list, {"phases": program.report, "sizes": program.sizes()})
