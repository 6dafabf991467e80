"""Operands of the calls in `function_calls` and `array_function_calls`."""

import numpy as np

import ferrule.functional as F


def array(*shape):
    """Numbers from -1 to 1, the same for the same shape."""
    return np.random.default_rng(shape).uniform(-1, 1, shape).astype(np.float32)


def named(names, call):
    """{name: `call` of the function}"""
    return {name: lambda name=name: call(getattr(F, name)) for name in names.split()}
