"""One operation in a library that torch calls. The job: one of `kernel_jobs`, with "library": onednn or mkl.

The operators are those that torch's own compiler calls once weights are known: they take packed weights.
"""

import re

import torch

from .. import kernel_jobs
from ..worker import Prepared


def version():
    """Of torch and of both libraries."""
    found = torch.__config__.show()
    onednn = re.search(r"MKL-DNN v([\d.]+)", found)[1]
    mkl = re.search(r"Math Kernel Library Version ([\d.]+)", found)[1]
    return f"{torch.__version__} with oneDNN {onednn} and MKL {mkl}"


def matmul_mkl(job, a, b, bias):
    if job.get("values"):
        left, right = a.t() if job.get("transpose_a") else a, b.t() if job.get("transpose_b") else b
        return lambda: torch.mm(left, right)
    packed = torch.ops.mkl._mkl_reorder_linear_weight(b, job["m"])
    if bias is None:
        return lambda: torch.ops.mkl._mkl_linear(a, packed, b, None, job["m"])
    return lambda: torch.ops.mkl._mkl_linear(a, packed, b, bias, job["m"]).relu_()


def matmul_onednn(job, a, b, bias):
    if job.get("values"):
        if job.get("transpose_a") or not job.get("transpose_b"):
            raise ValueError("torch calls oneDNN's float32 product with [m, k] and [n, k] only")
        return lambda: torch.ops.mkldnn._linear_pointwise(a, b, None, "none", [], "")
    packed, after = torch.ops.mkldnn._reorder_linear_weight(b, job["m"]), job.get("epilogue", "none")
    return lambda: torch.ops.mkldnn._linear_pointwise(a, packed, bias, after, [], "")


def convolution_onednn(job, image, weight):
    image = image.permute(0, 3, 1, 2)  # channels last in memory
    stride, pad, dilation = [job["stride"]] * 2, [job["kernel"] // 2] * 2, [1, 1]
    shape = list(image.shape)
    packed = torch._C._nn.mkldnn_reorder_conv2d_weight(weight.to_mkldnn(), pad, stride, dilation, job["groups"], shape)
    return lambda: torch.ops.mkldnn._convolution_pointwise(
        image, packed, None, pad, stride, dilation, job["groups"], "none", [], ""
    ).permute(0, 2, 3, 1)


def prepare(job, threads):
    torch.set_num_threads(threads)
    arrays = {name: torch.from_numpy(array) for name, array in kernel_jobs.operands(job).items()}
    if job["kind"] == "convolution":
        run = convolution_onednn(job, arrays["a"], arrays["b"])
    else:
        run = (matmul_onednn if job["library"] == "onednn" else matmul_mkl)(
            job, arrays["a"], arrays["b"], arrays.get("bias")
        )

    count = kernel_jobs.copies(job) if threads > 1 else 1

    def call():
        with torch.inference_mode():
            return [run().numpy() for _ in range(count)]

    return Prepared(call, repeats=count)
