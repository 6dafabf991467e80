"""An ONNX model in OpenVINO, tuned for latency, in float32. The job: {"path", "inputs", "shapes"}."""

import numpy as np
import openvino

from ..worker import Prepared


def version():
    return openvino.__version__.split("-")[0]


def prepare(job, threads):
    core = openvino.Core()
    model = core.read_model(job["path"])
    model.reshape(job["shapes"])
    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",  # otherwise bfloat16 where the CPU has it
    }
    request = core.compile_model(model, "CPU", settings).create_infer_request()
    with np.load(job["inputs"]) as file:
        inputs = {name: file[name] for name in file.files}
    return Prepared(lambda: list(request.infer(inputs, share_inputs=True, share_outputs=True).values()))
