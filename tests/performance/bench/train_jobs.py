"""What the networks of `bench train` are fed, and what their weights are at the start: the same for every system."""

import math
import zlib
from typing import NamedTuple

import numpy as np

CLASSES = 10
# Of images: height and width; of a sequence: its length.
GPT = {"vocabulary": 256, "length": 128, "width": 256, "heads": 8, "depth": 4}
UNET = {"size": 128, "widths": (32, 64, 128, 256), "classes": 10}
LSTM = {"length": 100, "inputs": 128, "width": 256, "layers": 2, "classes": 40}
RESIDUAL = {"size": 16, "width": 16, "depth": 1000}


class TrainJob(NamedTuple):
    """A network in training: ``net`` is how the workers call it, ``sizes`` what it is made with."""

    title: str
    net: str
    sizes: dict
    batch: int
    optimizer: str = "SGD"  # or AdamW: the name in torch.optim and ferrule.optimizer
    settings: dict = {"lr": 0.01, "momentum": 0.9}


# Rounding alone moves the gradients of a deep network with few samples a batch by 2 %; in smaller steps the losses
# stay close enough to be compared. ResNet-50's fourth loss at lr 1e-4 is 0.6241 in float64, 0.6332 in torch's float32, and
# 0.6247 there if the images are scaled by 1 + 1e-7; at 1e-5 it is 1.43425 and 1.43376.
_SMALL_STEPS = {"lr": 1e-4, "momentum": 0.9}
_SMALLER_STEPS = {"lr": 1e-5, "momentum": 0.9}
_ADAM_STEPS = {"lr": 0.001, "weight_decay": 0.01}

# Those of `bench train`.
JOBS = {
    "lenet": TrainJob("LeNet, 28x28", "lenet", {"size": 28, "channels": 1}, 64),
    "resnet18": TrainJob("ResNet-18, 32x32", "resnet18", {"size": 32}, 32),
    "gpt": TrainJob("GPT 4 x 256, 128 tokens", "gpt", GPT, 8, "AdamW", _ADAM_STEPS),
    "resnet50": TrainJob("ResNet-50, 224x224", "resnet50", {"size": 224}, 8, settings=_SMALLER_STEPS),
    "mobilenet_v2": TrainJob("MobileNetV2, 224x224", "mobilenet_v2", {"size": 224}, 8, settings=_SMALL_STEPS),
    "lstm": TrainJob("LSTM 2 x 256, 100 steps", "lstm", LSTM, 16),
    "unet": TrainJob("U-Net 32 to 256, 128x128", "unet", UNET, 4),
}
# Those of `bench memory`, in which what the backward pass reads takes much more memory than the weights, or is deep.
MEMORY_JOBS = {
    "gpt_base": TrainJob(
        "GPT 12 x 768, 128 tokens", "gpt", {**GPT, "width": 768, "heads": 12, "depth": 12}, 4, "AdamW", _ADAM_STEPS
    ),
    "unet": JOBS["unet"],
    "resnet50": JOBS["resnet50"],
    "lstm_long": TrainJob("LSTM 2 x 256, 1,000 steps", "lstm", {**LSTM, "length": 1000}, 8),
    "residual": TrainJob("residual net of 1,000 layers", "residual", RESIDUAL, 8, settings=_SMALLER_STEPS),
}
# Batches for which there is memory only under a budget; a step takes seconds.
LARGE_MEMORY_JOBS = {
    "resnet50_32": TrainJob("ResNet-50, 224x224, 32 images", "resnet50", {"size": 224}, 32, settings=_SMALLER_STEPS),
    "resnet50_128": TrainJob("ResNet-50, 224x224, 128 images", "resnet50", {"size": 224}, 128, settings=_SMALLER_STEPS),
}
# Those of both at sizes at which the benchmark can be tried in a minute.
TINY_JOBS = {
    "gpt_base": TrainJob("GPT 4 x 32, 16 tokens", "gpt", {**GPT, "length": 16, "width": 32, "heads": 4}, 2, "AdamW", _ADAM_STEPS),
    "unet": TrainJob("U-Net 4 to 16, 16x16", "unet", {**UNET, "size": 16, "widths": (4, 8, 16)}, 2),
    "resnet50": TrainJob("ResNet-18, 32x32", "resnet18", {"size": 32}, 4, settings=_SMALLER_STEPS),
    "lstm_long": TrainJob("LSTM 2 x 16, 100 steps", "lstm", {**LSTM, "inputs": 8, "width": 16}, 2),
    "resnet50_32": TrainJob("ResNet-18, 32x32, 8 images", "resnet18", {"size": 32}, 8, settings=_SMALLER_STEPS),
    "resnet50_128": TrainJob("ResNet-18, 32x32, 16 images", "resnet18", {"size": 32}, 16, settings=_SMALLER_STEPS),
    "residual": TrainJob("residual net of 50 layers", "residual", {**RESIDUAL, "depth": 50}, 2, settings=_SMALLER_STEPS),
}  # fmt: skip


def find(job):
    """The TrainJob of the description that a worker gets: {"net": a name above, "tiny"}."""
    return TINY_JOBS[job["net"]] if job.get("tiny") else {**JOBS, **MEMORY_JOBS, **LARGE_MEMORY_JOBS}[job["net"]]


def data(training):
    """(inputs, labels) of a TrainJob: float32 images or sequences, or int32 tokens, and int32 labels."""
    random, batch, sizes = np.random.default_rng(0), training.batch, training.sizes
    if training.net == "gpt":
        shape = (batch, sizes["length"])
        return tuple(random.integers(0, sizes["vocabulary"], shape).astype(np.int32) for _ in range(2))
    if training.net == "lstm":
        inputs = random.standard_normal((batch, sizes["length"], sizes["inputs"])).astype(np.float32)
        return inputs, random.integers(0, sizes["classes"], (batch, sizes["length"])).astype(np.int32)
    image = (sizes.get("channels", 3), sizes["size"], sizes["size"])
    inputs = random.standard_normal((batch, *image)).astype(np.float32)
    labels = (batch, *image[1:]) if training.net == "unet" else batch
    return inputs, random.integers(0, sizes.get("classes", CLASSES), labels).astype(np.int32)


def initial_values(shapes):
    """{name: float32 array} for {name: shape}: drawn by name, so that neither who asks nor the order matters."""
    return {name: _initial_value(name, tuple(shape)) for name, shape in shapes.items()}


def _initial_value(name, shape):
    # A vector has the shape (1, C, 1, 1) in one system and (C,) in another.
    if math.prod(shape) == max(shape):
        # Norms' weights are 1 and so is the variance; every bias and mean is 0.
        one = name.endswith(("running_var", "weight"))
        return np.full(shape, 1.0 if one else 0.0, np.float32)
    random = np.random.default_rng(zlib.crc32(name.encode()))
    return (random.standard_normal(shape) * math.sqrt(1.0 / math.prod(shape[1:]))).astype(np.float32)
