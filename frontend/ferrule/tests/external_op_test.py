"""External ops: kernels that the caller brings, in dynamic mode, traced, in artifacts, with gradients and Dims."""

import ctypes
import threading
import time

import numpy as np
import pytest

import ferrule as fer
import ferrule.functional as F
from ferrule import errors, kernels
from ferrule.jit import trace

X = np.array([[1.0, -2.0, 3.0], [0.5, 0.0, -4.0]], np.float32)


def softsign(x):
    return x / (1 + np.abs(x))


def make_softsign(symbol, **options):
    return fer.external_op(symbol, lambda x: x, **options)


def test_dynamic_mode_runs_the_kernel_on_arrays():
    op = make_softsign("test.softsign", kernel=softsign)
    y = op(fer.tensor(X) * 2)
    np.testing.assert_array_equal(y.numpy(), softsign(2 * X))
    # Other sizes of the same structure are one program, in which the sizes are dims.
    for rows in (3, 5, 7):
        x = np.linspace(-1, 1, rows * 2, dtype=np.float32).reshape(rows, 2)
        np.testing.assert_array_equal((op(fer.tensor(x)) + 1).numpy(), softsign(x) + 1)


def test_several_results_of_other_dtypes_and_an_operand_twice():
    def infer(x, y):
        assert x.dtype == y.dtype == "float32"
        return fer.Spec(x.shape[:1], "int64"), fer.Spec((*y.shape, 2), "float64")

    def kernel(x, y):
        assert not x.flags.writeable
        return x.argmax(axis=1), np.stack([x, y], axis=-1).astype(np.float64)

    op = fer.external_op("test.pair", infer, kernel=kernel)
    t = fer.tensor(X)
    largest, both = op(t, t)
    assert (largest.dtype, both.dtype) == ("int64", "float64")
    np.testing.assert_array_equal(largest.numpy(), [2, 0])
    np.testing.assert_array_equal(both.numpy(), np.stack([X, X], axis=-1))
    # In another order than the program computes the operands.
    swapped = op(t + 1, t)[1]
    np.testing.assert_array_equal(swapped.numpy(), np.stack([X + 1, X], axis=-1))


def test_gradient():
    op = make_softsign(
        "test.softsign_g", kernel=softsign, gradient=lambda inputs, outputs, g: g[0] / (1 + F.abs(inputs[0])) ** 2
    )
    got = fer.grad(lambda x: (op(x) * 3).sum())(fer.tensor(X))
    np.testing.assert_allclose(got.numpy(), 3 / (1 + np.abs(X)) ** 2, rtol=1e-6)


def test_without_a_gradient_the_reason_is_said():
    op = make_softsign("test.softsign_n", kernel=softsign)
    with pytest.raises(errors.GradientError, match="give external_op a gradient"):
        fer.grad(lambda x: op(x).sum())(fer.tensor(X))


def test_artifact(tmp_path):
    op = make_softsign("test.softsign_a", kernel=softsign)

    @trace(symbolic=True)
    def predict(x):
        return op(x * 2) + 1

    rows = fer.Dim("rows", max=8)
    program = fer.compile({"predict": (predict, [fer.Spec((rows, 3))])})
    np.testing.assert_array_equal(fer.Session(program, threads=2).run("predict", X)[0], softsign(2 * X) + 1)
    program.save(tmp_path / "net.fer")
    again = fer.load(tmp_path / "net.fer", kernels={"test.softsign_a": lambda x: -x})
    for rows in (1, 8, 2):
        x = np.full((rows, 3), rows, np.float32)
        np.testing.assert_array_equal(fer.Session(again).run("predict", x)[0], -2 * x + 1)
    assert again.slice(debug=False).entries == ["predict"]


def test_training_step_in_an_artifact():
    op = make_softsign("test.softsign_t", kernel=softsign, gradient=lambda inputs, outputs, g: g[0] * (1 - F.abs(outputs[0])) ** 2)
    weight = fer.Parameter(np.ones(3, np.float32))
    manager = fer.autodiff.GradManager().attach([weight])
    optimizer = fer.optimizer.SGD([weight], lr=0.1)

    @trace(symbolic=True)
    def step(x):
        with manager:
            loss = op(x * weight).sum()
            manager.backward(loss)
        optimizer.step().clear_grad()
        return loss

    session = fer.Session(fer.compile({"step": (step, [fer.Spec((2, 3))])}, modules={"weight": weight, "optimizer": optimizer}))
    loss = session.run("step", X)[0]
    np.testing.assert_allclose(loss, softsign(X).sum(), rtol=1e-6)
    expected = 1 - 0.1 * (X * (1 - np.abs(softsign(X))) ** 2).sum(axis=0)
    np.testing.assert_allclose(session["weight"], expected, rtol=1e-6)


def test_an_op_without_a_kernel_is_compiled_but_not_run(tmp_path):
    op = make_softsign("test.on_the_device")
    program = fer.compile({"f": (lambda x: op(x), [fer.Spec((3,))])})
    assert program.missing_kernels() == ["test.on_the_device"]
    with pytest.raises(errors.ExecutionError, match="test.on_the_device, for which no kernel is registered"):
        fer.Session(program)
    with pytest.raises(errors.FerruleError, match="test.on_the_device"):
        op(fer.tensor(X)).numpy()
    program.save(tmp_path / "net.fer")
    run = fer.Session(fer.load(tmp_path / "net.fer", kernels={"test.on_the_device": softsign}))
    np.testing.assert_array_equal(run.run("f", X[0])[0], softsign(X[0]))


def test_an_artifact_of_another_process_without_its_kernel_is_refused(tmp_path):
    op = make_softsign("test.softsign_o", kernel=softsign)
    fer.compile({"f": (lambda x: op(x), [fer.Spec((3,))])}).save(tmp_path / "net.fer")
    kernels._registered.pop("test.softsign_o")
    with pytest.raises(errors.ArtifactError, match="test.softsign_o"):
        fer.load(tmp_path / "net.fer")


class _Args(ctypes.Structure):  # FerruleKernelArgs
    _fields_ = [
        ("size", ctypes.c_uint64),
        ("thread", ctypes.c_uint64),
        ("buffers", ctypes.POINTER(ctypes.POINTER(ctypes.c_float))),
        ("dims", ctypes.POINTER(ctypes.c_int64)),
        ("tile_begin", ctypes.c_int64),
        ("tile_end", ctypes.c_int64),
        ("scratch", ctypes.c_void_p),
    ]


def test_a_c_function_gets_tiles_scratch_and_the_operands_description():
    calls = []

    @ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(_Args))
    def scale(context, args):
        a = args.contents
        calls.append((a.tile_begin, a.tile_end, bool(a.scratch), a.dims[:12]))
        for i in range(a.tile_begin * 3, a.tile_end * 3):
            a.buffers[0][i] = 10 * a.buffers[1][i]
        return 0

    op = fer.external_op("test.scale", lambda x: x, kernel=scale, tiles=lambda x: x.shape[0], scratch_bytes=256)
    program = fer.compile({"f": (lambda x: op(x), [fer.Spec((fer.Dim("n", max=4), 3))])})
    np.testing.assert_array_equal(fer.Session(program, threads=1).run("f", X)[0], 10 * X)
    # One result and one operand: float (2) of 32 bits, rank 2, sizes 2 and 3.
    assert calls == [(0, 2, True, [1, 1, 2, 32, 2, 2, 3, 2, 32, 2, 2, 3])]


def test_a_kernel_that_raises_fails_the_run(capsys, monkeypatch):
    seen = []
    monkeypatch.setattr("sys.unraisablehook", lambda raised: seen.append(str(raised.exc_value)))
    op = make_softsign("test.raises", kernel=lambda x: x[0])
    program = fer.compile({"f": (lambda x: op(x), [fer.Spec((2, 3))])})
    with pytest.raises(errors.ExecutionError, match="1000"):
        fer.Session(program).run("f", X)
    assert seen == ["test.raises returned float32(3,) as result 0; its op says float32(2, 3)"]


def test_another_thread_waits_while_a_kernel_runs():
    """The kernel lets the other thread go on, which needs dynamic mode in the middle of this one's run."""
    begun, runs, found = threading.Event(), [], []

    def slow(x):
        runs.append(len(x))
        begun.set()
        time.sleep(0.2)
        return softsign(x)

    def work():
        begun.wait()
        found.append((F.exp(fer.tensor(X)) + 1).numpy())

    op = make_softsign("test.slow", kernel=slow)
    other = threading.Thread(target=work)
    other.start()
    y = op(fer.tensor(X)) * 2
    np.testing.assert_array_equal(y.numpy(), 2 * softsign(X))
    other.join()
    np.testing.assert_array_equal(found[0], (F.exp(fer.tensor(X)) + 1).numpy())
    assert runs == [2]


def test_a_kernel_has_no_tensors(monkeypatch):
    seen = []
    monkeypatch.setattr("sys.unraisablehook", lambda raised: seen.append(str(raised.exc_value)))
    op = make_softsign("test.tensors", kernel=lambda x: F.exp(fer.tensor(x)).numpy())
    with pytest.raises(errors.ExecutionError, match="1000"):
        op(fer.tensor(X)).numpy()
    assert seen == [
        "the kernel of an external op computes with tensors; it is called while a program runs, and has arrays of NumPy for that"
    ]
    np.testing.assert_array_equal((fer.tensor(X) * 2).numpy(), 2 * X)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"infer": lambda x: (2, 3)}, "infer returned"),
        ({"infer": lambda x: x, "tiles": 0}, "tiles"),
        ({"infer": lambda x: x, "tiles": "4"}, "an int or a DimExpr"),
        ({"infer": lambda x: x, "kernel": 3.5}, "a function of arrays"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(errors.FerruleError, match=message):
        fer.external_op("test.wrong", **{"kernel": softsign, **arguments})(fer.tensor(X))
