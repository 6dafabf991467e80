"""What a user of the Python package reads for a mistake: the thing, its value, what is allowed, and the user's own line."""

import inspect
import re

import numpy as np
import pytest
from ferrule import _compiler
from ferrule.autodiff import GradManager
from ferrule.errors import DtypeError, FerruleError, GradientError, ShapeError, TraceError
from ferrule.jit import trace

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M


def line_of(function, marker):
    """``file.py:N`` of the line of a function that holds the comment ``# marker``."""
    lines, first = inspect.getsourcelines(function)
    (offset,) = [i for i, line in enumerate(lines) if line.rstrip().endswith("# " + marker)]
    return f"{inspect.getsourcefile(function).rsplit('/', 1)[1]}:{first + offset}"


def assert_message(caught, *parts):
    message = str(caught.value)
    missing = [part for part in parts if part not in message]
    assert not missing, f"the message lacks {missing}:\n{message}"


def ones(*shape, dtype="float32"):
    return fer.Tensor(np.ones(shape, dtype))


def test_shapes_that_do_not_fit():
    def wrong():
        return F.matmul(ones(2, 3), ones(4, 5))  # here

    with pytest.raises(ShapeError) as caught:
        wrong()
    assert_message(caught, "matmul", "2", "3", "4", "5", line_of(wrong, "here"))


def test_shapes_that_do_not_broadcast():
    def wrong():
        return ones(2, 3) + ones(2, 4)  # here

    with pytest.raises(ShapeError) as caught:
        wrong()
    assert_message(caught, "add", "2, 3", "2, 4", line_of(wrong, "here"))


def test_dtype_that_an_op_does_not_take():
    def wrong():
        return F.nn.cross_entropy(ones(4, 10), ones(4))  # here

    with pytest.raises(DtypeError) as caught:
        wrong()
    assert_message(caught, "cross_entropy", "float32", "integer", line_of(wrong, "here"))


class Inner(M.Module):
    def __init__(self):
        super().__init__()
        self.linear = M.Linear(8, 4)

    def forward(self, x):
        return self.linear(x)


class Outer(M.Module):
    def __init__(self):
        super().__init__()
        self.block = Inner()

    def forward(self, x):
        return self.block(x)


def test_the_path_of_a_nested_module_is_named():
    def wrong():
        return Outer()(ones(2, 9))  # here

    with pytest.raises(ShapeError) as caught:
        wrong()
    assert_message(caught, "block.linear", "9", "8")


def test_a_shape_error_in_a_trace_is_found_while_recording():
    @trace(symbolic=True)
    def wrong(x):
        return F.matmul(x, ones(4, 5))  # here

    with pytest.raises(ShapeError) as caught:
        wrong(ones(2, 3))
    assert_message(caught, "matmul", line_of(wrong.function, "here"))


def test_an_op_without_gradient_is_named_before_compiling():
    weight = fer.Parameter(np.ones((3, 3), "float32"))
    weight.name = "weight"

    def wrong():
        gradients = GradManager().attach([weight])
        with gradients:
            picked = F.argmax(F.matmul(ones(2, 3), weight), axis=1)  # here
            gradients.backward(picked.astype("float32").sum())

    before = _compiler.compile_count()
    with pytest.raises(GradientError) as caught:
        wrong()
    assert_message(caught, "argmax", "weight", line_of(wrong, "here"))
    assert _compiler.compile_count() == before


def branch_on_bool(x):
    return x if x.sum() > 0 else -x  # here


def branch_on_item(x):
    return x if x.sum().item() > 0 else -x  # here


def branch_on_int(x):
    return x if int(x.sum()) > 0 else -x  # here


def branch_on_array(x):
    return x if x.sum().numpy() > 0 else -x  # here


@pytest.mark.parametrize("wrong", (branch_on_bool, branch_on_item, branch_on_int, branch_on_array))
def test_a_branch_on_a_value_in_a_trace(wrong):
    with pytest.raises(TraceError) as caught:
        trace(symbolic=True)(wrong)(ones(3))
    assert_message(caught, line_of(wrong, "here"), "F.where")


def test_a_comparison_of_dims_that_the_constraints_do_not_decide():
    def wrong(x):
        if x.shape[0] > 32:  # here
            return x
        return -x

    batch = fer.Dim("batch", min=1, max=64)
    with pytest.raises(TraceError) as caught:
        fer.compile({"main": (wrong, [fer.Spec((batch, 4))])})
    assert_message(caught, "batch", "32", "1", "64", line_of(wrong, "here"))


def test_a_comparison_of_dims_that_the_constraints_decide():
    batch = fer.Dim("batch", min=1, max=64)
    assert (batch < 65) is True
    assert (batch > 64) is False
    assert (batch + 1 > 1) is True


def test_int_of_a_dim():
    with pytest.raises(TraceError) as caught:
        int(fer.Dim("batch", min=1, max=64))
    assert_message(caught, "batch")


def test_a_variable_without_a_name():
    def entry(x):
        return x * hidden[0]

    hidden = [fer.Parameter(np.ones(3, "float32"))]
    try:
        fer.compile({"main": (entry, [fer.Spec((3,))])})
    except FerruleError as error:
        assert "no name" in str(error) and "modules=" in str(error)


def test_an_unknown_target_lists_the_allowed_ones():
    with pytest.raises(FerruleError) as caught:
        fer.compile({"main": (lambda x: x + 1.0, [fer.Spec((3,))])}, targets=("x86-64-v9",))
    assert_message(caught, "x86-64-v9", "x86-64-v3", "x86-64-v4", "host")


def test_an_unknown_pass_lists_the_allowed_ones():
    with pytest.raises(FerruleError) as caught:
        fer.compile({"main": (lambda x: x + 1.0, [fer.Spec((3,))])}, disable_passes=("fusee",))
    assert_message(caught, "fusee", "simplify", "fold", "prune", "attention", "fuse", "schedule", "memory")


def test_every_message_is_one_sentence_of_its_own():
    """No message ends in a bare traceback or a C++ type name."""
    with pytest.raises(FerruleError) as caught:
        F.reshape(ones(2, 3), (4, 2))
    assert not re.search(r"mlir::|std::|0x[0-9a-f]{6}", str(caught.value))
