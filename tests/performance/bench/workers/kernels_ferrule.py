"""One operation, compiled alone by Ferrule. The job: one of `kernel_jobs`, with "target"."""

import ferrule as fer
import ferrule.functional as F

from .. import kernel_jobs
from ..worker import Prepared


def version():
    return "this tree"


def matmul(job, arrays):
    """(function, inputs, parameters by name) of a matmul."""
    if job.get("values"):
        turned = {key: bool(job.get(key)) for key in ("transpose_a", "transpose_b")}
        return lambda a, b: F.matmul(a, b, **turned), [arrays["a"], arrays["b"]], {}
    parameters = {name: fer.Parameter(arrays[name]) for name in arrays if name != "a"}

    def multiply(a):
        product = F.matmul(a, parameters["b"], transpose_b=True)
        return F.relu(product + parameters["bias"]) if job.get("epilogue") else product

    return multiply, [arrays["a"]], parameters


def convolution(job, arrays):
    """(function, inputs, parameters by name) of a convolution; images have their channels last on both sides."""
    weight, groups = arrays["b"], job["groups"]
    if groups > 1:  # MegEngine's shape of a grouped kernel
        weight = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
    parameters = {"b": fer.Parameter(weight)}

    def convolve(image):
        image = F.transpose(image, (0, 3, 1, 2))
        result = F.conv2d(image, parameters["b"], None, job["stride"], job["kernel"] // 2, groups=groups)
        return F.transpose(result, (0, 2, 3, 1))

    return convolve, [arrays["a"]], parameters


def repeated(function, inputs, count):
    """(a function that computes `function` so often, its inputs): each time of other arrays."""
    each = len(inputs)

    def several(*arrays):
        return [function(*arrays[each * i : each * (i + 1)]) for i in range(count)]

    return several, inputs * count


def prepare(job, threads):
    arrays = kernel_jobs.operands(job)
    count = kernel_jobs.copies(job) if threads > 1 else 1
    function, inputs, parameters = (matmul if job["kind"] == "matmul" else convolution)(job, arrays)
    function, inputs = repeated(function, inputs, count)
    specs = [fer.Spec(array.shape) for array in inputs]
    program = fer.compile({"main": (function, specs)}, modules=parameters, targets=(job["target"],))
    session = fer.Session(program, threads=threads)
    return Prepared(lambda: session.run("main", *inputs), repeats=count)
