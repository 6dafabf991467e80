"""The extension module ferrule._compiler by itself: recording, errors, running, gradients, programs."""

import functools
import itertools
import sys
from concurrent.futures import ThreadPoolExecutor

import ferrule.functional  # noqa: F401  registers the error classes and how the user's line is found
import numpy as np
import pytest
from ferrule import _compiler as c
from ferrule import errors


def tensor(*values, dtype=np.float32):
    return c.tensor(np.array(values, dtype))


def op(name, *inputs, **attributes):
    return c.apply(name, list(inputs), attributes, "model.py:7", "net.block")


def one(name, *inputs, **attributes):
    (result,) = op(name, *inputs, **attributes)
    return result


@pytest.fixture
def batch():
    return c.dim("batch", min=1, max=64)


# ---- dims ------------------------------------------------------------------------------------------------------------


def test_dim_arithmetic_gives_ints_where_it_can(batch):
    assert str(batch * 2 + 1) == "batch * 2 + 1"
    assert batch - batch == 0 and type(batch - batch) is int
    assert (1 + batch) * 2 == 2 * batch + 2
    assert hash(batch + 1) == hash(1 + batch)
    assert c.min_(batch, 100).__class__ in (int, c.DimExpr)
    assert batch.name == "batch" and (batch + 1).name is None
    with pytest.raises(TypeError):
        batch + 1.5


def test_undecided_comparison_names_line_and_repair(batch):
    assert batch <= 64 and not batch > 64 and batch != 65
    with pytest.raises(errors.TraceError, match=r"`batch < 10` at compiler_test.py:\d+ .*1 <= batch <= 64.*Repair"):
        batch < 10
    with pytest.raises(errors.TraceError, match=r"int\(\) of `batch` at compiler_test.py:\d+"):
        int(batch)


def test_a_bad_dim_is_refused():
    with pytest.raises(errors.FerruleError, match="min 5, max 2"):
        c.dim("rows", min=5, max=2)
    with pytest.raises(errors.FerruleError, match="cannot name a dim"):
        c.dim("two words")


# ---- where the user is ------------------------------------------------------------------------------------------------


def test_an_op_has_the_line_that_records_it():
    line = sys._getframe().f_lineno
    (result,) = c.apply("exp", [tensor(1.0)])
    assert result.location == f"compiler_test.py:{line + 1}" and c.user_location() == f"compiler_test.py:{line + 2}"
    # Frames of the standard library are passed over.
    assert functools.reduce(lambda _, name: c.apply(name, [tensor(1.0)])[0], ["log"], None).location.startswith(
        "compiler_test.py:"
    )


def test_each_thread_has_its_own_modules():
    c.push_module("net")
    c.push_module("block")
    try:
        with ThreadPoolExecutor(1) as other:
            assert other.submit(c.module_path).result() == ""
        assert c.module_path() == "net.block"
        with pytest.raises(errors.ShapeError, match="in module net.block"):
            c.apply("add", [tensor(1.0, 2.0), tensor(1.0, 2.0, 3.0)])
    finally:
        c.pop_module()
        c.pop_module()
    assert c.module_path() == ""


def test_the_arguments_of_apply_are_checked():
    with pytest.raises(TypeError, match="2 to 5 arguments, not 1"):
        c.apply("exp")
    with pytest.raises(TypeError, match="no sequence"):
        c.apply("exp", 3)
    with pytest.raises(errors.FerruleError, match="there is no attribute 'speed'"):
        c.apply("exp", [tensor(1.0)], {"speed": 1})


# ---- subscripts --------------------------------------------------------------------------------------------------------

_PARTS = [0, -1, 2, slice(None), slice(1, None), slice(None, -1), slice(3, 0, -1), slice(None, None, -2), slice(2, 2), None]


def taken(array, cut, rows):
    """What `read_plain_subscript` says that it took, by NumPy."""
    if cut is not None:
        for axis, (start, stop, step) in enumerate(zip(*cut)):
            array = array.take(range(start, stop, step), axis)
    return array if rows is None else array.reshape(rows)


def test_a_plain_subscript_takes_what_numpy_takes():
    array = np.arange(4 * 3 * 5, dtype=np.float32).reshape(4, 3, 5)
    handle = c.tensor(array)
    indices = [*_PARTS, Ellipsis, (), *itertools.product(_PARTS, repeat=2)]
    indices += [(Ellipsis, part) for part in _PARTS] + [(part, Ellipsis, -1) for part in _PARTS]
    indices += [(part, 1, None, slice(4, None, -3)) for part in _PARTS] + [(1, 2, 3), (1, 2, 3, Ellipsis)]
    for index in indices:
        value, cut, rows, is_view = c.read_plain_subscript(handle, index)
        expected = array[index]
        np.testing.assert_array_equal(value.numpy(), expected, err_msg=str(index))
        np.testing.assert_array_equal(taken(array, cut, rows), expected, err_msg=str(index))
        assert is_view == isinstance(expected, np.ndarray), index  # a scalar is a copy


def test_other_subscripts_are_not_plain(batch):
    handle = tensor(1.0, 2.0, 3.0)
    others = [3, -4, (0, 0), slice(None, None, 0), slice(0, batch), [0], True, 1.0, "a", np.int64(1), (..., ...), 1 << 70]
    assert [index for index in others if c.read_plain_subscript(handle, index) is not None] == []
    with c.Trace("entry") as trace:
        assert c.read_plain_subscript(trace.input("x", [batch, 3]), 0) is None


# ---- ops and errors --------------------------------------------------------------------------------------------------


def test_scalars_do_not_widen():
    half = c.tensor(np.zeros(3, np.float16))
    assert one("mul", half, 2.0).dtype == "float16"
    assert one("add", c.tensor(np.zeros(3, np.int8)), 1).dtype == "int8"
    assert one("add", c.tensor(np.zeros(3, np.int8)), np.float64(0.5)).dtype == "float32"
    assert one("add", half, np.float32(1)).dtype == "float32"  # a NumPy scalar other than float64 has a dtype
    assert c.promote("int32", "float16") == "float16"


def test_shape_error_names_everything():
    with pytest.raises(errors.ShapeError) as error:
        op("add", c.tensor(np.zeros((2, 3), np.float32)), c.tensor(np.zeros(4, np.float32)))
    text = str(error.value)
    for part in ("add", "float32[2, 3]", "float32[4]", "model.py:7", "net.block"):
        assert part in text


def test_dtype_error():
    with pytest.raises(errors.DtypeError, match="int32"):
        op("floor", tensor(1, 2, dtype=np.int32))
    with pytest.raises(errors.DtypeError, match="complex64"):
        c.tensor(np.zeros(2, np.complex64))


# ---- traces ----------------------------------------------------------------------------------------------------------


def test_trace_text(batch):
    weight = c.Variable(np.ones((4, 3), np.float32), "weight")
    with c.Trace("predict") as trace:
        x = trace.input("x", (batch, 3), "float32", "a.py:1")
        assert x.shape == (batch, 3) and x.is_traced
        y = one("matmul", x, weight.value(), transpose_b=True)
        entry = trace.finish([("out.0", y)], '{"tree": 0}')
    text = entry.text()
    assert "ferrule.read @weight" in text and 'ferrule.signature = "{\\22tree\\22: 0}"' in text
    assert entry.name == "predict" and entry.variables() == [weight]
    assert not c.in_trace()


def test_traced_value_has_no_elements():
    with c.Trace("predict") as trace:
        x = trace.input("x", (3,), "float32", "a.py:1")
        with pytest.raises(errors.TraceError, match=r"bool\(\) at compiler_test.py:\d+ .*a.py:1.*`predict`.*F.cond"):
            x.item("bool()")
    with pytest.raises(errors.TraceError, match="after its trace ended"):
        op("relu", x)


def test_an_exception_drops_the_trace():
    with pytest.raises(ZeroDivisionError):
        with c.Trace("broken"):
            1 / 0
    assert not c.in_trace()


def test_gradient_error_names_op_and_parameter():
    weight = c.Variable(np.ones(3, np.float32), "net.weight")
    with c.Trace("step"):
        w = weight.value()
        cost = one("cast", one("argmax", w, axis=0), dtype="float32")
        with pytest.raises(errors.GradientError, match="argmax .*net.weight.*model.py:7"):
            c.gradient(cost, [], [w], "train.py:3", "", ["net.weight"])


# ---- dynamic mode ----------------------------------------------------------------------------------------------------


def test_ops_run_when_a_value_is_looked_at():
    x = tensor(1, 2, 3)
    y = one("mul", one("add", x, 1), x)
    assert y.is_pending
    np.testing.assert_array_equal(y.numpy(), np.array([2, 6, 12], np.float32))
    assert not y.is_pending and c.pending_count() == 0


def test_the_same_structure_compiles_once():
    def run(value):
        return one("exp", one("sub", tensor(value, 0, 1), 5.25)).numpy()

    run(1)
    count = c.compile_count()
    for value in range(3):
        run(value)
    assert c.compile_count() == count


def test_the_second_shape_compiles_for_all():
    def run(rows, scale):
        x = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3)
        total = one("reduce_sum", one("mul", one("tanh", c.tensor(x)), scale), axes=[0, 1])
        return one("div", total, rows * 3).numpy()

    alone = {rows: run(rows, 1.5) for rows in (16,)}
    run(9, 1.5)
    count = c.compile_count()
    several = [run(rows, 1.5) for rows in (2, 5, 16)]
    assert c.compile_count() == count
    assert several[-1].tobytes() == alone[16].tobytes()
    np.testing.assert_allclose(several[0], 1.5 * np.tanh(np.arange(6)).sum() / 6, rtol=1e-6)


def test_flush_every_op_gives_the_same_bits():
    def run():
        x = c.tensor(np.linspace(-3, 3, 40, dtype=np.float32).reshape(5, 8))
        y = one("softmax", one("mul", one("tanh", x), 3.3), axis=1)
        return one("reduce_sum", y, axes=[0], keepdims=False).numpy()

    lazy = run()
    c.flush_every_op(True)
    try:
        eager = run()
    finally:
        c.flush_every_op(False)
    assert lazy.tobytes() == eager.tobytes()


def gradient_of_cubes(flush):
    x = tensor(1, 2, 3)
    c.gradient_scope_enter()
    try:
        cost = one("reduce_sum", one("mul", one("mul", x, x), x), axes=[0])
        if flush:
            cost.numpy()
        (gradient,) = c.gradient(cost, [], [x])
    finally:
        c.gradient_scope_exit()
    return gradient.numpy()


def test_gradient():
    np.testing.assert_array_equal(gradient_of_cubes(flush=False), np.array([3, 12, 27], np.float32))


def test_gradient_after_the_forward_has_run():
    assert gradient_of_cubes(flush=True).tobytes() == gradient_of_cubes(flush=False).tobytes()


def test_gradient_outside_a_scope_is_refused():
    x = tensor(1, 2)
    cost = one("reduce_sum", x, axes=[0])
    cost.numpy()
    with pytest.raises(errors.GradientError, match="outside a gradient scope"):
        c.gradient(cost, [], [x])


def test_variables_rebind_in_dynamic_mode():
    weight = c.Variable(np.ones(2, np.float32), "w")
    assert weight.value() is weight.value()
    weight.assign(one("mul", weight.value(), 3))
    np.testing.assert_array_equal(weight.numpy(), np.array([3, 3], np.float32))
    with pytest.raises(errors.ShapeError, match="variable `w` has the shape"):
        weight.assign(tensor(1, 2, 3))


def make_step(batch):
    """y = x * w summed over the batch; w grows by one a step."""
    weight = c.Variable(np.array([1, 2], np.float32), "w")
    with c.Trace("step") as trace:
        x = trace.input("x", (batch, 2), "float32")
        y = one("reduce_sum", one("mul", x, weight.value()), axes=[0])
        weight.assign(one("add", weight.value(), 1))
        return weight, trace.finish([("out.0", y)], "{}")


def test_an_entry_runs_on_the_live_variables(batch):
    weight, entry = make_step(batch)
    for step, rows in enumerate((2, 5)):
        (y,) = entry.run([c.tensor(np.ones((rows, 2), np.float32))])
        np.testing.assert_array_equal(y.numpy(), rows * np.array([1 + step, 2 + step], np.float32))
    np.testing.assert_array_equal(weight.numpy(), np.array([3, 4], np.float32))


# ---- programs --------------------------------------------------------------------------------------------------------


def compile_to_bytes(entries, variables):
    descriptor, report, _ = c.compile(entries, variables)
    with open(descriptor, "rb") as file:
        return file.read(), report


def test_compile_gives_an_artifact(batch):
    weight, entry = make_step(batch)
    artifact, report = compile_to_bytes({"train": entry}, {"net.w": weight})
    assert len(artifact) > 1000 and {"merge", "write"} <= report.keys()
    again, _ = compile_to_bytes({"train": entry}, {"net.w": weight})
    assert artifact == again


def test_unnamed_variable_is_refused():
    weight = c.Variable(np.ones(2, np.float32))
    with c.Trace("predict") as trace:
        entry = trace.finish([("out.0", one("neg", weight.value()))], "{}")
    with pytest.raises(errors.FerruleError, match=r"`main` uses an unnamed variable of shape \[2\]"):
        c.compile({"main": entry}, {})
