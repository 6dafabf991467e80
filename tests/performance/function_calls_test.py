"""Every function of `ferrule.functional` has a call in the bench, and calls like earlier ones record the same."""

import inspect
import pathlib
import sys

import numpy as np
import pytest

import ferrule.functional as F
from ferrule import _compiler

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from bench.function_calls import NOT_RECORDED, function_calls  # noqa: E402

CALLS = function_calls()
RANDOM = {"gumbel_softmax", "rrelu"} | {name for name in CALLS if "dropout" in name}


def test_every_function_is_called():
    functions = {name for name in F.__all__ if inspect.isfunction(getattr(F, name))}
    assert functions == set(CALLS) | NOT_RECORDED


def arrays(result):
    results = result if isinstance(result, (tuple, list)) else (result,)
    return [tensor.numpy() for tensor in results if tensor is not None]


@pytest.mark.parametrize("name", sorted(CALLS))
def test_calls_record_the_same_again(name):
    found = []
    for _ in range(3):
        _compiler.flush()
        result = CALLS[name]()
        count = _compiler.pending_count()
        found.append((count, arrays(result)))
    for count, values in found[1:]:
        assert count == found[0][0]
        if name not in RANDOM and "batch_norm" not in name:  # that has a state
            for first, again in zip(found[0][1], values):
                np.testing.assert_array_equal(first, again)
