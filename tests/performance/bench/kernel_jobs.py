"""The operations of `bench kernels`: what `kernel_shapes.json` lists, with operands, names and numbers of operations.

A matmul multiplies [m, k] by [k, n]. Its right operand is a weight, known ahead and packed by all that can; with
"values" both are inputs, as in a backward pass. "transpose_a" and "transpose_b" say that an operand lies the other way
round in memory; weights lie as [n, k], as in a linear layer. "epilogue" is what follows a bias: relu.

A convolution of [1, size, size, in] (channels last) has a square kernel, half of which is the padding.
"""

import json
import pathlib

import numpy as np

# Of a run that computes an operation several times: so much arithmetic, and no more than so often.
OPERATIONS, MOST_COPIES = 100_000_000, 16


def load():
    """All jobs, dicts as in the file with "kind": matmul or convolution."""
    listed = json.loads(pathlib.Path(__file__).with_name("kernel_shapes.json").read_text(encoding="utf-8"))
    return [{"kind": kind, **job} for kind, jobs in listed.items() for job in jobs]


def name(job):
    """A short name, unlike that of any other job."""
    if job["kind"] == "matmul":
        turned = [side for side, key in (("left", "transpose_a"), ("right", "transpose_b")) if job.get(key)]
        words = [f"{job['m']}x{job['n']}x{job['k']}", *(f"{side} transposed" for side in turned)]
        words += ["two values"] if job.get("values") and not turned else []
        words += [f"bias {job['epilogue']}"] if job.get("epilogue") else []
        return " ".join(words)
    depthwise = "depthwise " if is_depthwise(job) else ""
    stride = f" /{job['stride']}" if job["stride"] > 1 else ""
    return f"{depthwise}{job['kernel']}x{job['kernel']}{stride} {job['in']}->{job['out']} at {job['size']}"


def is_depthwise(job):
    """Whether each channel is convolved by itself."""
    return job["kind"] == "convolution" and job["groups"] == job["in"]


def out_size(job):
    """Height and width of a convolution's result."""
    return (job["size"] + 2 * (job["kernel"] // 2) - job["kernel"]) // job["stride"] + 1


def operations(job):
    """Floating-point operations; those on padding do not count."""
    if job["kind"] == "matmul":
        return 2 * job["m"] * job["n"] * job["k"]
    pad, inside = job["kernel"] // 2, 0
    for out in range(out_size(job)):
        first = out * job["stride"] - pad
        inside += sum(0 <= first + tap < job["size"] for tap in range(job["kernel"]))
    return 2 * inside * inside * (job["in"] // job["groups"]) * job["out"]


def copies(job):
    """How often a run of several threads computes the operation, each time of another input: until it takes about a
    millisecond. Once a run the other threads have to be woken, which is not what a kernel is judged by."""
    return max(1, min(MOST_COPIES, OPERATIONS // operations(job)))


def weight_bytes(job):
    """Bytes of the right operand of a matmul."""
    return 4 * job["n"] * job["k"]


def operands(job):
    """Arrays by name: of a matmul "a" and "b" as they lie in memory, and "bias"; of a convolution "a" [1, H, W, C] and
    "b" [out, in / groups, kernel, kernel]."""
    random = np.random.default_rng(0)

    def array(*shape):
        return random.standard_normal(shape).astype(np.float32)

    if job["kind"] == "convolution":
        a = array(1, job["size"], job["size"], job["in"])
        return {"a": a, "b": array(job["out"], job["in"] // job["groups"], job["kernel"], job["kernel"])}
    m, n, k = job["m"], job["n"], job["k"]
    turned = job.get("transpose_b", not job.get("values"))
    arrays = {"a": array(k, m) if job.get("transpose_a") else array(m, k), "b": array(n, k) if turned else array(k, n)}
    return {**arrays, "bias": array(n)} if job.get("epilogue") else arrays
