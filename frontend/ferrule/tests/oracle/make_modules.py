"""Writes modules.npz: what torch's layers compute, to compare Ferrule's with.

    ~/.cache/ferrule/torch/bin/python frontend/ferrule/tests/oracle/make_modules.py

Everything is computed in float64. The file holds ``numbers``, all values one after another, and ``content``, JSON with
"index", the place, shape and kind (f or i) of each name in them, and "versions". For each case of module_cases.py, with
NAME for its name:

    NAME/input/I           input I
    NAME/state/P           parameter or buffer P before the forward
    NAME/output/I          leaf I of the result
    NAME/cotangent/I       the gradient that is given for it
    NAME/input_gradient/I  the gradients that follow for inputs of floats
    NAME/gradient/P        and for parameters
    NAME/after/P           buffers after the forward
    NAME/evaluated         the first leaf of the result in evaluation

lengths/KIND/... hold an LSTM, a GRU and an RNN over sequences of the lengths lengths/lengths, packed; mask/... an
attention with masks.
"""

import json
import pathlib
import zlib

import numpy as np
import torch
from module_cases import CASES, EVALUATED, TORCH

LENGTHS = [3, 6, 1, 4]


def leaves(result):
    if isinstance(result, torch.Tensor):
        return [result]
    return [leaf for item in result for leaf in leaves(item)] if isinstance(result, tuple) else []


def make_input(rng, spec):
    if spec[0] == "index":
        return torch.tensor(rng.integers(0, spec[2], spec[1]))
    return torch.tensor(rng.normal(size=spec), requires_grad=True)


def fill(module, rng):
    """Parameters and statistics drawn here, so that they do not depend on torch's way to draw."""
    for name, tensor in module.state_dict().items():
        if tensor.dtype == torch.float64:
            values = rng.normal(size=tensor.shape) * 0.5
            tensor.copy_(torch.tensor(values**2 + 0.5 if name.endswith("running_var") else values))


def run(out, name, module, call, inputs, rng):
    """Forward and backward, with everything stored under ``name``."""
    for i, value in enumerate(inputs):
        out[f"{name}/input/{i}"] = value.detach().numpy()
    for key, tensor in module.state_dict().items():
        if tensor.dtype == torch.float64:
            out[f"{name}/state/{key}"] = tensor.numpy().copy()
    results = leaves(call(module, *inputs))
    cotangents = [torch.tensor(rng.normal(size=result.shape)) for result in results]
    torch.autograd.backward(results, cotangents)
    for i, (result, cotangent) in enumerate(zip(results, cotangents)):
        out[f"{name}/output/{i}"] = result.detach().numpy()
        out[f"{name}/cotangent/{i}"] = cotangent.numpy()
    for i, value in enumerate(inputs):
        if value.grad is not None:
            out[f"{name}/input_gradient/{i}"] = value.grad.numpy()
    for key, parameter in module.named_parameters():
        out[f"{name}/gradient/{key}"] = parameter.grad.numpy()
    for key, buffer in module.named_buffers():
        if buffer.dtype == torch.float64:
            out[f"{name}/after/{key}"] = buffer.numpy().copy()


def add_cases(out):
    for name, kind, args, kwargs, specs in CASES:
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        args, kwargs = TORCH.get(name, (args, kwargs))
        module = getattr(torch.nn, kind)(*args, **kwargs).double()
        with torch.no_grad():
            fill(module, rng)
        inputs = [make_input(rng, spec) for spec in specs]
        run(out, name, module, lambda m, *xs: m(*xs), inputs, rng)
        if name in EVALUATED:
            out[f"{name}/evaluated"] = module.eval()(*inputs).detach().numpy()


def add_lengths(out):
    out["lengths/lengths"] = np.array(LENGTHS)
    for kind in ("LSTM", "GRU", "RNN"):
        rng = np.random.default_rng(zlib.crc32(kind.encode()))
        module = getattr(torch.nn, kind)(3, 5, 2, bidirectional=True, batch_first=True).double()
        with torch.no_grad():
            fill(module, rng)

        def call(module, x):
            packed = torch.nn.utils.rnn.pack_padded_sequence(x, LENGTHS, batch_first=True, enforce_sorted=False)
            result, state = module(packed)
            return torch.nn.utils.rnn.pad_packed_sequence(result, batch_first=True)[0], state

        run(out, f"lengths/{kind}", module, call, [make_input(rng, (4, 6, 3))], rng)


def add_masks(out):
    rng = np.random.default_rng(11)
    padding = torch.tensor([[False] * 4, [False, False, True, True]])
    mask = torch.tensor(np.triu(np.ones((4, 4), bool), 1))
    module = torch.nn.MultiheadAttention(6, 3, batch_first=True).double()
    with torch.no_grad():
        fill(module, rng)
    call = lambda m, x: m(x, x, x, key_padding_mask=padding, attn_mask=mask, average_attn_weights=False)  # noqa: E731
    run(out, "mask", module, call, [make_input(rng, (2, 4, 6))], rng)


def main():
    out = {}
    add_cases(out)
    add_lengths(out)
    add_masks(out)
    # One array of all numbers: a thousand small ones would be mostly headers.
    index, place = {}, 0
    for name, values in out.items():
        index[name] = [place, list(values.shape), values.dtype.kind]
        place += values.size
    numbers = np.concatenate([values.ravel().astype(np.float64) for values in out.values()])
    versions = {"torch": torch.__version__, "numpy": np.__version__}
    content = json.dumps({"versions": versions, "index": index})
    np.savez_compressed(pathlib.Path(__file__).parent / "modules.npz", content=np.array(content), numbers=numbers)


if __name__ == "__main__":
    main()
