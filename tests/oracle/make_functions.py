"""Writes functions.npz: values and gradients of function_cases.py by torch, in float64.

    ~/.cache/ferrule/torch/bin/python tests/oracle/make_functions.py   (that environment: `./dev bench` makes it)

Contents: `versions` (torch and numpy), and for each case NAME the arrays NAME/value, NAME/cotangent (drawn), and
NAME/gradient/INPUT: the gradient of sum(value * cotangent) with respect to each float input.
"""

import pathlib

import numpy as np
import torch
from function_cases import CASES


def compute(name, arrays, function, random):
    tensors = {
        key: torch.tensor(array, requires_grad=bool(array.dtype == np.float64)) for key, array in arrays.items()
    }
    value = function(torch, torch.nn.functional, *tensors.values())
    cotangent = random.standard_normal(tuple(value.shape))
    smooth = {key: tensor for key, tensor in tensors.items() if tensor.requires_grad}
    cost = (value * torch.tensor(cotangent)).sum()
    gradients = torch.autograd.grad(cost, list(smooth.values()), allow_unused=True, materialize_grads=True)
    yield f"{name}/value", value.detach().numpy()
    yield f"{name}/cotangent", cotangent
    for key, gradient in zip(smooth, gradients):
        yield f"{name}/gradient/{key}", gradient.numpy()


if __name__ == "__main__":
    random = np.random.default_rng(5)
    contents = {"versions": np.array([f"torch {torch.__version__}", f"numpy {np.__version__}"])}
    for name, (arrays, _, function) in CASES.items():
        contents.update(compute(name, arrays, function, random))
    path = pathlib.Path(__file__).parent / "functions.npz"
    np.savez_compressed(path, **contents)
    print(f"{len(CASES)} cases in {path}, {path.stat().st_size} bytes")
