"""Writes values and gradients of the tables of case_table.py by torch, in float64: function_cases.py to functions.npz
and so on, all or the tables that are named.

    ~/.cache/ferrule/torch/bin/python tests/oracle/make_functions.py [TABLE ...]   (`./dev bench` makes that environment)

Contents of each file: `versions` (torch and numpy), and for each case NAME the arrays NAME/value, NAME/cotangent (drawn), and
NAME/gradient/INPUT: the gradient of sum(value * cotangent) with respect to each float input.
"""

import importlib
import pathlib
import sys

import numpy as np
import torch
from case_table import TABLES


def compute(name, arrays, function, random):
    tensors = {
        key: torch.tensor(array, requires_grad=bool(array.dtype == np.float64)) for key, array in arrays.items()
    }
    value = function(torch, torch.nn.functional, *tensors.values())
    if not value.dtype.is_floating_point:  # positions and counts have no gradient
        yield f"{name}/value", value.numpy()
        return
    cotangent = random.standard_normal(tuple(value.shape))
    smooth = {key: tensor for key, tensor in tensors.items() if tensor.requires_grad}
    cost = (value * torch.tensor(cotangent)).sum()
    gradients = torch.autograd.grad(cost, list(smooth.values()), allow_unused=True, materialize_grads=True)
    yield f"{name}/value", value.detach().numpy()
    yield f"{name}/cotangent", cotangent
    for key, gradient in zip(smooth, gradients):
        yield f"{name}/gradient/{key}", gradient.numpy(force=True)


def main(tables):
    for table in tables:
        cases = importlib.import_module(table).CASES
        random = np.random.default_rng(5)
        contents = {"versions": np.array([f"torch {torch.__version__}", f"numpy {np.__version__}"])}
        for name, (arrays, _, function) in cases.items():
            contents.update(compute(name, arrays, function, random))
        path = pathlib.Path(__file__).parent / f"{TABLES[table]}.npz"
        np.savez_compressed(path, **contents)
        print(f"{len(cases)} cases in {path}, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1:] or TABLES)
