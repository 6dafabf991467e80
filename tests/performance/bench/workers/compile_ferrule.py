"""An ONNX model to an artifact. The job: {"path", "shapes", "artifact"}; what is measured later is not the compiler."""

import time

import ferrule.onnx

from ..worker import Prepared


def version():
    return "this tree"


def prepare(job, threads):
    del threads  # the compiler takes the CPUs that the process may use
    program = ferrule.onnx.compile(job["path"], shapes=job["shapes"])
    begin = time.perf_counter()
    program.save(job["artifact"])
    saving = time.perf_counter() - begin
    return Prepared(list, {"phases": program.report, "sizes": program.sizes(), "save_seconds": saving})
