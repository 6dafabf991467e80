"""An ONNX model in ONNX Runtime, with all its optimisations. The job: {"path", "inputs"}."""

import numpy as np
import onnxruntime

from ..worker import Prepared


def version():
    return onnxruntime.__version__


def prepare(job, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(job["path"], options, providers=["CPUExecutionProvider"])
    with np.load(job["inputs"]) as file:
        inputs = {name: file[name] for name in file.files}
    return Prepared(lambda: session.run(None, inputs))
