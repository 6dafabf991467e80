"""Functions against torch in float64, values and gradients (tests/oracle/make_functions.py); second derivatives.

float32 is held to the same values within its own precision.
"""

import importlib
import pathlib
import sys

import numpy as np
import pytest
from ferrule.autodiff import grad

import ferrule as fer
import ferrule.functional as F

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "oracle"
sys.path.insert(0, str(FOLDER))
from case_table import TABLES  # noqa: E402

CASES, ORACLE = {}, {}
for table, file in TABLES.items():
    CASES |= importlib.import_module(table).CASES
    with np.load(FOLDER / f"{file}.npz") as stored:
        ORACLE |= stored
TOLERANCE = {"float64": 1e-11, "float32": 2e-5}  # of the tensor's largest magnitude, at least 1

# One of each family: a second derivative costs three compilations.
TWICE = [
    "matmul (5, 2, 3, 4) (5, 1, 4, 3)", "dot", "einsum ab,bc,ca->", "conv1d stride", "conv2d groups", "conv3d padding",
    "conv_transpose2d stride", "max_pool1d plain", "max_pool2d overlap", "max_pool3d dilation", "avg_pool2d ceil",
    "adaptive_max_pool2d 3", "adaptive_avg_pool2d 3", "batch_norm (2, 3, 4, 5)", "layer_norm", "group_norm (2, 6, 5)",
    "rms_norm", "attention", "attention bool mask", "cross_entropy mean", "cross_entropy smooth",
    "cross_entropy soft", "binary_cross_entropy logits", "cosine_similarity",
]  # fmt: skip


def cost_of(name, arrays, cotangent, smooth):
    """sum(value * cotangent) as a function of the float inputs, in their order."""
    function = CASES[name][1]

    def cost(*tensors):
        given = dict(zip(smooth, tensors))
        value = function(F, *(given.get(key, fer.Tensor(array)) for key, array in arrays.items()))
        return (value * fer.Tensor(cotangent)).sum()

    return cost


def assert_close(got, wanted, tolerance, what):
    assert got.shape == wanted.shape, f"{what}: shape {got.shape}, wanted {wanted.shape}"
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted), what)
    scale = max(1.0, np.nanmax(np.abs(wanted), initial=0.0))
    error = np.nanmax(np.abs(got.astype(np.float64) - wanted), initial=0.0) / scale
    assert error <= tolerance, f"{what}: off by {error:.2e} of {scale:.3g}, allowed {tolerance}"


@pytest.mark.parametrize("dtype", ("float64", "float32"))
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients(name, dtype):
    arrays, function, _ = CASES[name]
    arrays = {key: array.astype(dtype) if array.dtype == np.float64 else array for key, array in arrays.items()}
    smooth = [key for key, array in arrays.items() if array.dtype == dtype]
    value = function(F, *map(fer.Tensor, arrays.values()))
    wanted = ORACLE[f"{name}/value"]
    if wanted.dtype.kind != "f":
        assert value.dtype == ("bool" if wanted.dtype == bool else "int32")
        np.testing.assert_array_equal(value.numpy(), wanted)
        return
    assert value.dtype == dtype
    assert_close(value.numpy(), wanted, TOLERANCE[dtype], "value")
    cost = cost_of(name, arrays, ORACLE[f"{name}/cotangent"].astype(dtype), smooth)
    gradients = grad(cost, tuple(range(len(smooth))))(*(fer.Tensor(arrays[key]) for key in smooth))
    for key, gradient in zip(smooth, gradients):
        assert_close(gradient.numpy(), ORACLE[f"{name}/gradient/{key}"], TOLERANCE[dtype], f"gradient of {key}")


@pytest.mark.parametrize("name", TWICE)
def test_second_derivatives(name):
    """The gradient's own gradient in a random direction against its central difference along that direction."""
    arrays = CASES[name][0]
    smooth = [key for key, array in arrays.items() if array.dtype == np.float64]
    random = np.random.default_rng(9)
    first = grad(cost_of(name, arrays, ORACLE[f"{name}/cotangent"], smooth), tuple(range(len(smooth))))
    points = [arrays[key] for key in smooth]
    onto = [random.standard_normal(point.shape) for point in points]
    along = [random.standard_normal(point.shape) for point in points]

    def projected(*tensors):
        return sum((gradient * fer.Tensor(u)).sum() for gradient, u in zip(first(*tensors), onto))

    second = grad(projected, tuple(range(len(smooth))))(*map(fer.Tensor, points))
    step = 1e-5
    ends = [
        float(projected(*(fer.Tensor(point + sign * step * d) for point, d in zip(points, along))).numpy())
        for sign in (1, -1)
    ]
    slope = (ends[0] - ends[1]) / (2 * step)
    predicted = sum(float((gradient.numpy() * d).sum()) for gradient, d in zip(second, along))
    assert predicted == pytest.approx(slope, rel=2e-5, abs=1e-6)


def test_the_oracle_has_every_case_and_names_what_made_it():
    stored = {key.rpartition("/value")[0] for key in ORACLE if key.endswith("/value")}
    assert stored == set(CASES)
    assert {line.split(" ")[0] for line in ORACLE["versions"]} == {"torch", "numpy"}
