"""Random numbers in the C++ runtime alone: those that Python draws."""

import numpy as np
from ferrule.jit import trace
from safetensors.numpy import load_file

import ferrule as fer
import ferrule.functional as F  # noqa: N812


def test_ferrule_run_draws_the_same(ferrule_run, tmp_path):
    @trace(symbolic=True)
    def noise():
        return fer.random.normal(size=(3, 5)), F.dropout(fer.Tensor(np.ones(100, "float32")), 0.5)

    fer.random.seed(8)
    path, outputs, checkpoint = tmp_path / "noise.fer", tmp_path / "out.safetensors", tmp_path / "state"
    fer.compile({"noise": (noise, [])}).save(str(path))
    for threads in (1, 2):
        ferrule_run("run", path, "--entry", "noise", "--outputs", outputs, "--save", checkpoint, "--threads", threads)
        drawn = load_file(str(outputs))
        fer.random.seed(8)
        np.testing.assert_array_equal(drawn["out.0"], fer.random.normal(size=(3, 5)).numpy())
        np.testing.assert_array_equal(drawn["out.1"], F.dropout(fer.Tensor(np.ones(100, "float32")), 0.5).numpy())
        np.testing.assert_array_equal(load_file(str(checkpoint))["random_state"], [8, 2])
