"""Composite functions: a call like an earlier one records the same ops without running the function."""

import numpy as np
import pytest

import ferrule as fer
import ferrule.functional as F
from ferrule import _compiler
from ferrule.autodiff import GradManager
from ferrule.errors import ShapeError
from ferrule.functional.recording import remembered
from ferrule.jit import trace


def tensor(*shape, seed=0):
    return fer.tensor(np.random.default_rng((seed, *shape)).uniform(-1, 1, shape).astype(np.float32))


class Counted:
    """A composite function that counts how often it runs."""

    def __init__(self):
        self.runs = 0

        @remembered
        def function(x, y, scale=1.0, names=None):
            self.runs += 1
            return x * y * scale if names is None else [x + y, x - y]

        self.function = function


@pytest.fixture
def counted():
    return Counted()


def test_a_second_call_does_not_run_the_function(counted):
    f = counted.function
    for seed in range(3):
        x, y = tensor(3, seed=seed), tensor(3, seed=seed + 10)
        np.testing.assert_array_equal(f(x, y, 2.0).numpy(), x.numpy() * y.numpy() * 2)
    assert counted.runs == 1


def test_other_shapes_dtypes_and_arguments_are_other_calls(counted):
    f, x = counted.function, tensor(3)
    calls = [
        (x, tensor(3, seed=1)),
        (tensor(4), tensor(4, seed=1)),
        (x.astype("float64"), tensor(3, seed=1)),
        (x, tensor(3, seed=1), 2.0),
        (x, tensor(3, seed=1), 2),
    ]
    for number, call in enumerate(calls, 1):
        results = [f(*call) for _ in range(2)]
        assert results[0].dtype == results[1].dtype
        np.testing.assert_array_equal(results[0].numpy(), results[1].numpy())
        assert counted.runs == number


def test_one_tensor_twice_is_another_call_than_two(counted):
    f, x, y = counted.function, tensor(3), tensor(3, seed=1)
    np.testing.assert_array_equal(f(x, x).numpy(), x.numpy() ** 2)
    np.testing.assert_array_equal(f(x, y).numpy(), x.numpy() * y.numpy())
    np.testing.assert_array_equal(f(y, y).numpy(), y.numpy() ** 2)
    assert counted.runs == 2


def test_numbers_are_told_apart_by_their_type():
    for value, dtype in ((1, "int32"), (1.0, "float32"), (True, "bool"), (1, "int32")):
        assert F.full((2, 2), value).dtype == dtype


def test_several_results_come_as_they_did(counted):
    x, y = tensor(3), tensor(3, seed=1)
    for _ in range(2):
        total, difference = counted.function(x, y, names=("a", None))
        np.testing.assert_array_equal(total.numpy(), x.numpy() + y.numpy())
        np.testing.assert_array_equal(difference.numpy(), x.numpy() - y.numpy())
    assert counted.runs == 1


def test_what_cannot_be_repeated_runs_each_time():
    runs = []

    @remembered
    def returns_its_argument(x):
        runs.append("argument")
        return x

    @remembered
    def returns_a_view(x):
        runs.append("view")
        return x[1:]

    @remembered
    def makes_a_table(x):
        runs.append("table")
        return fer.tensor(np.arange(3, dtype=np.float32))

    for _ in range(2):
        x = tensor(3)
        assert returns_its_argument(x) is x
        part = returns_a_view(x)
        part[...] = 7.0
        assert x.numpy()[1] == 7
        assert makes_a_table(x)._handle is not makes_a_table(x)._handle
    assert [runs.count(name) for name in ("argument", "view", "table")] == [2, 2, 4]


def test_the_values_of_an_argument_are_those_at_the_call():
    x = tensor(3, 4)
    part = x[1:]
    for value in (1.0, 2.0):
        x[2] = value
        np.testing.assert_array_equal(F.mean(part, axis=1).numpy()[1], np.float32(value))


def test_the_line_is_that_of_each_call():
    x = tensor(3, 4)
    lines = [F.softplus(x)._handle.location, F.softplus(x)._handle.location]
    lines.append(
        F.softplus(x)._handle.location
    )
    first = int(lines[0].split(":")[1])
    assert [int(line.split(":")[1]) - first for line in lines] == [0, 0, 2]
    assert all(line.startswith("remembered_test.py:") for line in lines)


def test_errors_come_each_time_at_the_users_line():
    for _ in range(2):
        with pytest.raises(ShapeError, match=r"layer_norm: .* at remembered_test.py:\d+"):
            F.layer_norm(tensor(3, 4), (5,))


def test_gradients_go_through_a_call_that_was_copied():
    gradients = []
    for _ in range(3):
        x, weight = fer.Parameter(tensor(2, 3, 8)), fer.Parameter(tensor(8))
        manager = GradManager().attach([x, weight])
        with manager:
            y = F.layer_norm(x, (8,), True, weight, weight)
            manager.backward(F.mean(F.gelu(y) * y))
        gradients.append((x.grad.numpy(), weight.grad.numpy()))
    for later in gradients[1:]:
        for first, again in zip(gradients[0], later):
            np.testing.assert_array_equal(first, again)


def test_gradients_tell_results_of_equal_calls_apart():
    for _ in range(2):
        x, y = F.full((3,), 2.0), F.full((3,), 2.0)
        dx, dy = fer.grad(lambda a, b: F.sum(a * a * b), wrt=(0, 1))(x, y)
        np.testing.assert_array_equal(dx.numpy(), np.full(3, 8, np.float32))
        np.testing.assert_array_equal(dy.numpy(), np.full(3, 4, np.float32))


def test_running_statistics_are_written_by_each_call():
    x, mean, variance = tensor(4, 3, 5), fer.tensor(np.zeros(3, np.float32)), fer.tensor(np.ones(3, np.float32))
    expected = np.zeros(3)
    for _ in range(3):
        F.batch_norm(x, mean, variance, training=True, momentum=0.5)
        expected = 0.5 * expected + 0.5 * x.numpy().mean((0, 2))
        np.testing.assert_allclose(mean.numpy(), expected, rtol=1e-5)


def test_dropout_draws_anew():
    x = tensor(1000)
    first, second = F.dropout(x, 0.5).numpy(), F.dropout(x, 0.5).numpy()
    assert (first == 0).any() and (first != second).any()


def test_traces_and_loop_bodies_run_the_function():
    x = tensor(3, 4)
    expected = F.logsumexp(x, 1).numpy()
    np.testing.assert_array_equal(F.logsumexp(x, 1).numpy(), expected)
    np.testing.assert_array_equal(trace(lambda x: F.logsumexp(x, 1))(x).numpy(), expected)
    _, rows = F.scan(lambda carry, row: (carry, F.logsumexp(row, 1)), fer.tensor(0.0), fer.tensor(x.numpy()[None]))
    np.testing.assert_array_equal(rows.numpy()[0], expected)


def test_loops_are_copied_with_their_bodies():
    runs = []

    @remembered
    def running_products(x, factor):
        runs.append(1)
        _, rows = F.scan(lambda carry, row: (carry * row * factor, carry), F.ones((4,)), x)
        return rows

    for seed in range(3):
        x = tensor(3, 4, seed=seed)
        expected = np.cumprod(np.concatenate([np.ones((1, 4)), x.numpy()[:-1] * 2]), 0)
        np.testing.assert_allclose(running_products(x, 2.0).numpy(), expected, rtol=1e-6)
    assert len(runs) == 1


def test_a_flush_in_between_does_no_harm(counted):
    x, y = tensor(3), tensor(3, seed=1)
    for _ in range(3):
        result = counted.function(x, y, 3.0)
        _compiler.flush()
        np.testing.assert_array_equal(counted.function(result, y, 3.0).numpy(), x.numpy() * y.numpy() * 3 * y.numpy() * 3)
