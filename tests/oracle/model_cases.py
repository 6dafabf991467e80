"""The sizes at which the examples' networks are trained beside torch, their data and their first weights.

NumPy only: the maker of the stored losses and the tests that compare with them both read it.
"""

import itertools

import numpy as np
from example_data import (
    capital_batches,
    digit_batches,
    license_texts,
    noise_batches,
    text_batches,
    which_license_batches,
)

STEPS = 50
# Rates at which rounding does not grow to chaos in 50 steps: else a comparison says nothing. The convolutional networks at
# their full width and the GPT at the size of the example itself are long tests. At 1e-3 the full ResNet-18 is such a chaos
# (float32 ends 0.18 from float64 in torch), as is the full MobileNetV2 at 1e-5 (0.09).
SIZES = {
    "lenet": {"small": {"batch": 16}},
    "resnet18": {"small": {"width": 16, "batch": 8, "lr": 1e-3}, "full": {"width": 64, "batch": 8, "lr": 5e-6}},
    "mobilenet_v2": {"small": {"width": 0.25, "batch": 8, "lr": 1e-3}, "full": {"width": 1.0, "batch": 8, "lr": 5e-7}},
    "gan": {"small": {"width": 16, "batch": 16}},
    "tagger": {"small": {"width": 32, "batch": 8, "longest": 60}},
    "transformer": {"small": {"width": 32, "heads": 4, "depth": 2, "length": 48, "batch": 8}},
    "gpt": {
        "small": {"width": 32, "heads": 4, "depth": 2, "length": 32, "batch": 4},
        "full": {"width": 64, "heads": 4, "depth": 2, "length": 64, "batch": 8},
    },
}


def steps_of(model):
    """How many steps are compared: a GAN amplifies every rounding, so there it is the first ten."""
    return 10 if model == "gan" else STEPS


def batches_of(model, size):
    """The batches of a case, as a list of tuples of arrays."""
    batch = size["batch"]
    if model == "lenet":
        batches = digit_batches(batch, size=32)
    elif model in ("resnet18", "mobilenet_v2"):
        batches = digit_batches(batch, size=32, channels=3, noise=0.1)
    elif model == "gan":
        batches = ((noise, image) for noise, image, _ in noise_batches(digit_batches(batch), 32))
    elif model == "tagger":
        batches = capital_batches(batch, size["longest"])
    elif model == "transformer":
        batches = which_license_batches(batch, size["length"])
    else:
        batches = text_batches(batch, size["length"])
    return list(itertools.islice(batches, steps_of(model)))


def class_count():
    """How many licences there are."""
    return len(license_texts())


def initial_state(shapes):
    """{name: float32 array} for {name: shape}: normal weights scaled by their fan-in, from NumPy's generator."""
    generator = np.random.default_rng(0)
    state = {}
    for name, shape in sorted(shapes.items()):
        if len(shape) >= 2:
            state[name] = (generator.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
        else:
            ones = name.endswith("running_var") or name.endswith("weight")
            state[name] = np.full(shape, 1.0 if ones else 0.0, np.float32)
    return state
