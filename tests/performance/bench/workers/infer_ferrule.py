"""An ONNX model compiled by Ferrule. The job: {"path", "inputs", "shapes", "artifact"}; a missing artifact is made."""

import pathlib

import numpy as np

import ferrule as fer

from ..worker import Prepared
from .ferrule_profile import at_peak, slowest


def version():
    return "this tree"


def prepare(job, threads):
    path, facts = pathlib.Path(job["artifact"]), {}
    if not path.exists():
        import ferrule.onnx

        program = ferrule.onnx.compile(job["path"], shapes=job["shapes"])
        program.save(path)
        facts["compile"] = program.report
    session = fer.Session(fer.load(path), threads=threads)
    with np.load(job["inputs"]) as file:
        inputs = {name: file[name] for name in file.files}

    def call():
        return session.run("main", **inputs)

    return Prepared(call, facts, lambda count: slowest(session, call, count), lambda: at_peak(session, call))
