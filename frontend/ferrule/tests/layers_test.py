"""Layers against torch's values and gradients in float64 (oracle/make_modules.py), in dynamic mode and traced.

Weights have torch's names and values, so that each case is also a test of `load_state_dict`.
"""

import importlib.util
import json
import pathlib

import ferrule as fer
import ferrule.module as M
import numpy as np
import pytest
from ferrule.autodiff import GradManager
from ferrule.jit import trace

ORACLE = pathlib.Path(__file__).parent / "oracle"


def _cases():
    spec = importlib.util.spec_from_file_location("module_cases", ORACLE / "module_cases.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


cases = _cases()


class Values:
    """What modules.npz holds: ``values["name/input/0"]``, and the names below a prefix."""

    def __init__(self):
        with np.load(ORACLE / "modules.npz") as file:
            self._numbers = file["numbers"]
            self._index = json.loads(file["content"].item())["index"]

    def __getitem__(self, name):
        place, shape, kind = self._index[name]
        values = self._numbers[place : place + int(np.prod(shape))].reshape(shape)
        return values.astype(np.int32) if kind == "i" else values

    def below(self, prefix):
        """{rest of the name: values} of the names that begin with ``prefix``."""
        return {name[len(prefix) :]: self[name] for name in self._index if name.startswith(prefix)}


values = Values()


def leaves(result):
    """The tensors of a result in order."""
    if isinstance(result, fer.Tensor):
        return [result]
    return [leaf for item in result for leaf in leaves(item)] if isinstance(result, tuple) else []


def close(got, wanted, what, share=2e-5):
    """Within a share of the largest magnitude."""
    got = got.numpy() if isinstance(got, fer.Tensor) else got
    wanted = wanted.reshape(got.shape)
    scale = max(np.abs(wanted).max(initial=0.0), 1e-3)
    np.testing.assert_allclose(got, wanted, rtol=0, atol=share * scale, err_msg=what)


def check(name, net, call, share=2e-5):
    """Values, gradients and buffers after a forward and backward, traced like dynamic bit for bit."""
    state = values.below(f"{name}/state/")
    net.load_state_dict(state)
    inputs = [
        fer.tensor(v if v.dtype == np.int32 else v.astype("float32")) for v in values.below(f"{name}/input/").values()
    ]
    cotangents = [fer.tensor(v.astype("float32")) for v in values.below(f"{name}/cotangent/").values()]
    floats = [x for x in inputs if x.dtype == "float32"]
    manager = GradManager().attach([*net.parameters(), *floats])

    def step(inputs, cotangents):
        with manager:
            results = leaves(call(net, *inputs))
            manager.backward(results, cotangents)
        grads = [p.grad for p in net.parameters()]
        for p in net.parameters():
            p.grad = None
        return results, grads

    results, grads = step(inputs, cotangents)
    for (key, wanted), got in zip(values.below(f"{name}/output/").items(), results, strict=True):
        close(got, wanted, f"output {key}", share)
    wanted_grads = values.below(f"{name}/gradient/")
    for (key, _), got in zip(net.named_parameters(), grads, strict=True):
        close(got, wanted_grads[key], f"gradient of {key}", share)
    for key, wanted in values.below(f"{name}/input_gradient/").items():
        if inputs[int(key)].dtype == "float32":
            close(inputs[int(key)].grad, wanted, f"gradient of input {key}", share)
    after = values.below(f"{name}/after/")
    for key, buffer in net.named_buffers():
        if key in after:
            close(buffer, after[key], f"buffer {key} after", share)
    net.load_state_dict(state)
    traced = trace(lambda xs: leaves(call(net, *xs)))
    for got, wanted in zip(traced(inputs), results, strict=True):
        np.testing.assert_array_equal(got.numpy(), wanted.numpy(), err_msg="traced against dynamic")
    return inputs


@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: case[0])
def test_layer_of_torch(case):
    name, kind, args, kwargs, _ = case
    if name == "local_response_norm":
        args, kwargs = (3, 1.5, 0.1 / 3, 0.6), {}  # torch divides alpha by the size
    net = getattr(M, kind)(*args, **kwargs)
    inputs = check(name, net, lambda module, *xs: module(*xs))
    if name in cases.EVALUATED:
        net.load_state_dict(values.below(f"{name}/after/"), strict=False)
        close(net.eval()(*inputs), values[f"{name}/evaluated"], "in evaluation")
    text = repr(net)
    assert text.startswith(kind + "(")


@pytest.mark.parametrize("kind", ("LSTM", "GRU", "RNN"))
@pytest.mark.parametrize("packed", (False, True))
def test_sequences_of_different_lengths(kind, packed):
    lengths = fer.tensor(values["lengths/lengths"])
    net = getattr(M, kind)(3, 5, 2, bidirectional=True, batch_first=True)

    def call(net, x):
        if not packed:
            return net(x, lengths=lengths)
        result, state = net(M.pack_padded_sequence(x, lengths, batch_first=True))
        return M.pad_packed_sequence(result, batch_first=True)[0], state

    check(f"lengths/{kind}", net, call)


def test_attention_with_masks():
    padding = np.array([[False] * 4, [False, False, True, True]])
    mask = np.triu(np.ones((4, 4), bool), 1)
    net = M.MultiheadAttention(6, 3, batch_first=True)
    for given in ((padding, mask), (padding, np.where(mask, -np.inf, 0).astype("float32"))):

        def call(net, x, given=given):
            return net(x, x, x, given[0], attn_mask=given[1], average_attn_weights=False)

        check("mask", net, call)
