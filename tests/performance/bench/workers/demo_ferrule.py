"""The demo's network in Ferrule. The job: {"entry", "batch", "artifact"}; the artifact is made if it is missing."""

import itertools
import pathlib
import sys

import numpy as np

import ferrule as fer

from ..digits_data import load
from ..harness import ROOT
from ..worker import Prepared


def version():
    return "this tree"


def compile_digits(path, initial):
    """Writes the demo's artifact with these weights."""
    sys.path.insert(0, str(ROOT / "frontend" / "examples"))
    import digits

    net, optimizer = digits.make_net()
    net.load_state_dict(initial)
    digits.compile_digits(net, optimizer, targets=("host",)).save(path)


def prepare(job, threads):
    images, labels, initial = load(job["batch"])
    path = pathlib.Path(job["artifact"])
    if not path.exists():
        compile_digits(path, initial)
    session = fer.Session(fer.load(path), threads=threads)
    batches = itertools.cycle(zip(images, labels.astype(np.int32)))
    if job["entry"] == "train_step":
        return Prepared(lambda: session.run("train_step", *next(batches))[:1])
    return Prepared(lambda: session.run("predict", next(batches)[0])[:1])
