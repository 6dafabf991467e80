"""Values and derivatives of elementwise functions, activations and reductions by PyTorch in float64.

    ~/.cache/ferrule/torch/bin/python tests/oracle/make_elementwise.py        # writes tests/oracle/elementwise.npz

Keys: <group>/x (and /y), <group>/<name>/y and, of sum(y * weights(y.shape)), <group>/<name>/d0 (and /d1). Points of
elementwise functions lie away from kinks; the rows of reductions hold ties, zeros and equal elements.
"""

import pathlib

import numpy as np
import torch
import torch.nn.functional as T



def points(*values):
    """Numbers that float32 holds too, so that it is asked for the same."""
    return np.array(values, np.float32).astype(np.float64)


# Both signs, both tails; no integer, no half.
X = points(-30.3, -7.6, -3.2, -1.7, -0.8, -0.3, -1e-4, 1e-4, 0.2, 0.7, 1.3, 2.6, 4.4, 9.3, 40.7)
INSIDE = points(-0.99, -0.7, -0.2, 1e-5, 0.3, 0.6, 0.95)
POSITIVE = points(1e-6, 0.3, 1.2, 7.5, 1e6)

ACTIVATIONS = {
    "celu": lambda x: T.celu(x, 0.75),
    "elu": lambda x: T.elu(x, 1.3),
    "gelu": T.gelu,
    "gelu_tanh": lambda x: T.gelu(x, approximate="tanh"),
    "hardshrink": lambda x: T.hardshrink(x, 0.6),
    "hardtanh": lambda x: T.hardtanh(x, -1.5, 2.0),
    "hsigmoid": lambda x: T.relu6(x + 3) / 6,  # torch.hardsigmoid multiplies by 1/6 in float32
    "hswish": T.hardswish,
    "leaky_relu": lambda x: T.leaky_relu(x, 0.2),
    "logsigmoid": T.logsigmoid,
    "mish": T.mish,
    "relu6": T.relu6,
    "selu": T.selu,
    "silu": T.silu,
    "softplus": T.softplus,
    "softplus_beta": lambda x: T.softplus(x, 2.5, 15.0),
    "softshrink": lambda x: T.softshrink(x, 0.6),
    "softsign": T.softsign,
    "tanhshrink": T.tanhshrink,
    "threshold": lambda x: T.threshold(x, 0.25, -3.0),
}
ANYWHERE = {
    "asinh": torch.asinh, "atan": torch.atan, "cosh": torch.cosh, "erf": torch.erf, "erfc": torch.erfc, "exp2": torch.exp2,
    "sinh": torch.sinh, "tan": torch.tan, "square": torch.square, "reciprocal": torch.reciprocal, "trunc": torch.trunc,
}  # fmt: skip
IN_DOMAIN = {"acos": torch.acos, "asin": torch.asin, "atanh": torch.atanh}
FROM_ZERO = {"log10": torch.log10, "log2": torch.log2, "rsqrt": torch.rsqrt, "sqrt": torch.sqrt}
PAIRS = {
    "atan2": torch.atan2, "copysign": torch.copysign, "fmod": torch.fmod, "hypot": torch.hypot,
    "logaddexp": torch.logaddexp, "mod": torch.remainder,
}  # fmt: skip
ROWS = {
    "logsumexp": lambda x: torch.logsumexp(x, 1), "norm_0": lambda x: torch.linalg.vector_norm(x, 0, 1),
    "norm_1": lambda x: torch.linalg.vector_norm(x, 1, 1), "norm_2": lambda x: torch.linalg.vector_norm(x, 2, 1),
    "norm_3": lambda x: torch.linalg.vector_norm(x, 3, 1), "norm_half": lambda x: torch.linalg.vector_norm(x, 0.5, 1),
    "norm_inf": lambda x: torch.linalg.vector_norm(x, float("inf"), 1),
    "norm_-inf": lambda x: torch.linalg.vector_norm(x, -float("inf"), 1),
    "max": lambda x: torch.amax(x, 1), "min": lambda x: torch.amin(x, 1), "prod": lambda x: torch.prod(x, 1),
    "std": lambda x: torch.std(x, 1, correction=0), "var": lambda x: torch.var(x, 1, correction=0),
    "nanmean": lambda x: torch.nanmean(x, 1), "softmax": lambda x: torch.softmax(x, 1),
}  # fmt: skip
# Ties, zeros and constant rows: where reductions have kinks.
ROWS_X = np.array([[1.0, 3.0, 3.0, -2.0], [0.0, 0.0, 0.0, 0.0], [0.0, -2.0, 4.0, 0.5], [2.0, 2.0, 2.0, 2.0]])


def weights(shape):
    return np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(shape)


def evaluate(function, *arrays):
    inputs = [torch.tensor(a, requires_grad=True) for a in arrays]
    y = function(*inputs)
    if y.requires_grad:
        (y * torch.tensor(weights(y.shape))).sum().backward()
    return y.detach().numpy(), [np.zeros(a.shape) if x.grad is None else x.grad.numpy() for x, a in zip(inputs, arrays)]


def main():
    values = {"activation/x": X, "anywhere/x": X, "domain/x": INSIDE, "positive/x": POSITIVE, "rows/x": ROWS_X}
    values["pairs/x"], values["pairs/y"] = X, points(*(X[::-1] * 0.37))
    groups = {"activation": (ACTIVATIONS, [X]), "anywhere": (ANYWHERE, [X]), "domain": (IN_DOMAIN, [INSIDE]),
              "positive": (FROM_ZERO, [POSITIVE]), "pairs": (PAIRS, [values["pairs/x"], values["pairs/y"]]),
              "rows": (ROWS, [ROWS_X])}  # fmt: skip
    for group, (functions, inputs) in groups.items():
        for name, function in functions.items():
            y, gradients = evaluate(function, *inputs)
            values[f"{group}/{name}/y"] = y
            for i, gradient in enumerate(gradients):
                values[f"{group}/{name}/d{i}"] = gradient
    path = pathlib.Path(__file__).with_suffix("").with_name("elementwise.npz")
    np.savez_compressed(path, **values)
    print(len(values), "arrays in", path)


if __name__ == "__main__":
    main()
