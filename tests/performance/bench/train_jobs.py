"""What the networks of `bench train` are fed, and what their weights are at the start: the same for every system."""

import math
import zlib
from typing import NamedTuple

import numpy as np

CLASSES = 10
GPT = {"vocabulary": 256, "length": 128, "width": 256, "heads": 8, "depth": 4}
UNET = {"size": 128, "widths": (32, 64, 128, 256), "classes": 10}
LSTM = {"length": 100, "inputs": 128, "width": 256, "layers": 2, "classes": 40}


class TrainJob(NamedTuple):
    """A network in training."""

    title: str
    batch: int
    optimizer: str = "SGD"  # or AdamW: the name in torch.optim and ferrule.optimizer
    settings: dict = {"lr": 0.01, "momentum": 0.9}


# Rounding alone moves the gradients of a deep network with few samples a batch by 2 %; in smaller steps the losses
# stay close enough to be compared. ResNet-50's fourth loss at lr 1e-4 is 0.6241 in float64, 0.6332 in torch's float32, and
# 0.6247 there if the images are scaled by 1 + 1e-7; at 1e-5 it is 1.43425 and 1.43376.
_SMALL_STEPS = {"lr": 1e-4, "momentum": 0.9}
_SMALLER_STEPS = {"lr": 1e-5, "momentum": 0.9}


JOBS = {
    "lenet": TrainJob("LeNet, 28x28", 64),
    "resnet18": TrainJob("ResNet-18, 32x32", 32),
    "gpt": TrainJob("GPT 4 x 256, 128 tokens", 8, "AdamW", {"lr": 0.001, "weight_decay": 0.01}),
    "resnet50": TrainJob("ResNet-50, 224x224", 8, settings=_SMALLER_STEPS),
    "mobilenet_v2": TrainJob("MobileNetV2, 224x224", 8, settings=_SMALL_STEPS),
    "lstm": TrainJob("LSTM 2 x 256, 100 steps", 16),
    "unet": TrainJob("U-Net 32 to 256, 128x128", 4),
}


def data(name):
    """(inputs, labels): float32 images or sequences, or int32 tokens, and int32 labels."""
    random, batch = np.random.default_rng(0), JOBS[name].batch
    if name == "gpt":
        shape = (batch, GPT["length"])
        return tuple(random.integers(0, GPT["vocabulary"], shape).astype(np.int32) for _ in range(2))
    if name == "lstm":
        inputs = random.standard_normal((batch, LSTM["length"], LSTM["inputs"])).astype(np.float32)
        return inputs, random.integers(0, LSTM["classes"], (batch, LSTM["length"])).astype(np.int32)
    if name == "unet":
        image = (batch, UNET["size"], UNET["size"])
        inputs = random.standard_normal((batch, 3, *image[1:])).astype(np.float32)
        return inputs, random.integers(0, UNET["classes"], image).astype(np.int32)
    shape = {"lenet": (1, 28, 28), "resnet18": (3, 32, 32)}.get(name, (3, 224, 224))
    images = random.standard_normal((batch, *shape)).astype(np.float32)
    return images, random.integers(0, CLASSES, batch).astype(np.int32)


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
