"""Gradients: values against central differences, and what a GradManager does with them."""

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
import numpy as np
import pytest
from ferrule.autodiff import GradManager
from ferrule.errors import GradientError, ShapeError


def data(*shape, seed=0, low=-1.0, high=1.0):
    return np.random.default_rng(seed).uniform(low, high, shape)


def check(f, *arrays, step=1e-5, tolerance=1e-6):
    """Compares the gradients of sum(f(*arrays) * fixed numbers), in float64, with central differences in one random
    direction."""
    weights = data(*f(*[fer.tensor(a) for a in arrays]).shape, seed=9)

    def cost(*tensors):
        return F.sum(f(*tensors) * fer.tensor(weights))

    gradients = fer.grad(cost, wrt=tuple(range(len(arrays))))(*[fer.tensor(a) for a in arrays])
    for position, array in enumerate(arrays):
        direction = data(*array.shape, seed=10 + position)

        def moved(distance, direction=direction, position=position):
            changed = [a + distance * direction if i == position else a for i, a in enumerate(arrays)]
            return cost(*[fer.tensor(a) for a in changed]).item()

        wanted = (moved(step) - moved(-step)) / (2 * step)
        got = float((gradients[position].numpy() * direction).sum())
        assert gradients[position].shape == array.shape
        assert abs(got - wanted) <= tolerance * max(1.0, abs(wanted)), (position, got, wanted)


CASES = {
    "add": (lambda a, b: a + b, data(3, 4), data(4, seed=1)),
    "sub": (lambda a, b: a - b, data(3, 4), data(3, 1, seed=1)),
    "mul": (lambda a, b: a * b, data(3, 4), data(4, seed=1)),
    "div": (lambda a, b: a / b, data(3, 4), data(4, seed=1, low=1.0, high=2.0)),
    "pow": (lambda a, b: a**b, data(5, low=0.5, high=2.0), data(5, seed=1)),
    "maximum": (F.maximum, data(4, 5), data(4, 5, seed=1)),
    "minimum": (F.minimum, data(4, 5), data(4, 5, seed=1)),
    "fma": (F.fma, data(5), data(5, seed=1), data(5, seed=2)),
    "where": (lambda a, b: F.where(a > b, a * 2.0, b), data(6), data(6, seed=1)),
    "exp": (F.exp, data(6)),
    "log": (F.log, data(6, low=0.5, high=2.0)),
    "log1p": (F.log1p, data(6, low=0.5, high=2.0)),
    "expm1": (F.expm1, data(6)),
    "sqrt": (F.sqrt, data(6, low=0.5, high=2.0)),
    "tanh": (F.tanh, data(6)),
    "sigmoid": (F.sigmoid, data(6)),
    "erf": (F.erf, data(6)),
    "sin": (F.sin, data(6)),
    "cos": (F.cos, data(6)),
    "abs": (F.abs, data(6)),
    "relu": (F.relu, data(6)),
    "gelu": (F.gelu, data(6)),
    "softplus": (F.softplus, data(6)),
    "reshape": (lambda x: x.reshape(4, 3), data(3, 4)),
    "transpose": (lambda x: F.transpose(x, (2, 0, 1)), data(2, 3, 4)),
    "broadcast": (lambda x: F.broadcast_to(x, (5, 3, 4)), data(3, 1)),
    "slice": (lambda x: x[1:, ::2], data(4, 5)),
    "concat": (lambda a, b: F.concat([a, b], 1), data(3, 2), data(3, 4, seed=1)),
    "sum": (lambda x: F.sum(x, (0, 2)), data(3, 4, 5)),
    "mean": (lambda x: F.mean(x, 1, keepdims=True), data(3, 4)),
    "max": (lambda x: F.max(x, 1), data(3, 4)),
    "prod": (lambda x: F.prod(x, 1), data(3, 4, low=0.5, high=1.5)),
    "var": (lambda x: F.var(x, 0), data(5, 3)),
    "logsumexp": (lambda x: F.logsumexp(x, 1), data(3, 4)),
    "softmax": (lambda x: F.softmax(x, 1), data(3, 4)),
    "log_softmax": (lambda x: F.logsoftmax(x, 1), data(3, 4)),
    "matmul": (F.matmul, data(3, 4), data(4, 5, seed=1)),
    "matmul_transposed": (
        lambda a, b: F.matmul(a, b, transpose_a=True, transpose_b=True),
        data(4, 3),
        data(5, 4, seed=1),
    ),
    "matmul_batched": (F.matmul, data(2, 3, 4), data(2, 4, 5, seed=1)),
    "convolution": (lambda x, w: F.conv2d(x, w, stride=2, padding=1), data(2, 3, 7, 6), data(4, 3, 3, 3, seed=1)),
    "convolution_grouped": (
        lambda x, w: F.conv2d(x, w, padding=1, groups=2),
        data(1, 4, 5, 5),
        data(6, 2, 3, 3, seed=1),
    ),
    "max_pool": (lambda x: F.max_pool2d(x, 2), data(1, 2, 4, 6)),
    "avg_pool": (lambda x: F.avg_pool2d(x, 3, 2, 1), data(1, 2, 5, 5)),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (4,), True, w, b), data(3, 4), data(4, seed=1), data(4, seed=2)),
    "batch_norm": (
        lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
        data(4, 3, 2),
        data(3, seed=1),
        data(3, seed=2),
    ),
}


@pytest.mark.parametrize("name", list(CASES))
def test_gradients_against_central_differences(name):
    f, *arrays = CASES[name]
    check(f, *arrays, tolerance=1e-6)


def test_gradient_of_cross_entropy():
    labels = np.array([1, 0, 3], "int32")
    check(lambda x: F.nn.cross_entropy(x, fer.tensor(labels), label_smooth=0.1), data(3, 4))
    check(lambda x: F.nn.cross_entropy(x, fer.tensor(labels), ignore_index=0), data(3, 4))


def test_rules_at_ties_and_at_zero():
    np.testing.assert_array_equal(fer.grad(lambda x: F.max(x))(fer.tensor([0.6, 0.6, 0.3])).numpy(), [0.5, 0.5, 0])
    np.testing.assert_array_equal(
        fer.grad(lambda x: F.sum(F.maximum(x, 1.0)))(fer.tensor([1.0, 2.0, 0.0])).numpy(), [0.5, 1, 0]
    )
    np.testing.assert_array_equal(
        fer.grad(lambda x: F.sum(F.relu(x)))(fer.tensor([-1.0, 0.0, 2.0])).numpy()[[0, 2]], [0, 1]
    )
    pooled = fer.grad(lambda x: F.sum(F.max_pool2d(x, 2)))(fer.ones((1, 1, 2, 2))).numpy()
    np.testing.assert_array_equal(pooled, [[[[1, 0], [0, 0]]]])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_activations_that_saturate_are_flat_at_their_bounds(dtype):
    for function, inside, slope in (
        (F.relu6, (0.0, 6.0), 1.0),
        (F.hardtanh, (-1.0, 1.0), 1.0),
        (lambda x: F.hardtanh(x, -2.0, 0.5), (-2.0, 0.5), 1.0),
        (F.hardsigmoid, (-3.0, 3.0), 1 / 6),
        (lambda x: F.hardswish(x) - x * F.stop_gradient(F.hardsigmoid(x)), (-3.0, 3.0), None),
    ):
        low, high = inside
        x = np.array([low - 1, low, low + 0.25, high - 0.25, high, high + 1], dtype)
        # The last one is x times the derivative of hardsigmoid.
        wanted = [0, 0, *(x[2:4] / 6 if slope is None else (slope, slope)), 0, 0]
        got = fer.grad(lambda x, f=function: F.sum(f(x)))(fer.tensor(x)).numpy()
        np.testing.assert_allclose(got, wanted, rtol=1e-2 if dtype == "float16" else 1e-6, atol=0)


def test_value_and_grad_of_chosen_arguments():
    def f(a, b):
        return F.sum(a * a * b)

    a, b = fer.tensor([1.0, 2.0]), fer.tensor([3.0, 4.0])
    value, (da, db) = fer.value_and_grad(f, wrt=(0, 1))(a, b)
    assert value.item() == 19
    np.testing.assert_array_equal(da.numpy(), [6, 16])
    np.testing.assert_array_equal(db.numpy(), [1, 4])
    np.testing.assert_array_equal(fer.grad(f, wrt=1)(a, a).numpy(), [1, 4])
    with pytest.raises(GradientError, match=r"shape \(2,\)"):
        fer.grad(lambda x: x * 2.0)(a)
    with pytest.raises(GradientError, match="wrt=2"):
        fer.grad(f, wrt=2)(a, b)


def parameter(*values):
    return fer.Parameter(np.array(values, "float32"))


def test_backward_adds_to_grad():
    p = parameter(1.0, 2.0)
    gm = GradManager().attach([p])
    for _ in range(2):
        with gm:
            gm.backward(F.sum(p * p))
    np.testing.assert_array_equal(p.grad.numpy(), [4, 8])
    p.grad = None
    with gm:
        loss = F.sum(p * 3.0)
        gm.backward(loss)
        gm.backward(loss)
    np.testing.assert_array_equal(p.grad.numpy(), [6, 6])


def test_backward_with_given_cotangents_and_several_costs():
    p = parameter(1.0, 2.0)
    gm = GradManager().attach(p)
    with gm:
        gm.backward([p * 2.0, p * p], [fer.tensor([1.0, 10.0]), fer.tensor([1.0, 1.0])])
    np.testing.assert_array_equal(p.grad.numpy(), [4, 24])


def test_attached_inputs_and_intermediate_values():
    x = fer.tensor([1.0, 2.0])
    gm = GradManager().attach([x])
    with gm:
        middle = x * 3.0
        gm.attach([middle])
        gm.backward(F.sum(middle * middle))
    np.testing.assert_array_equal(middle.grad.numpy(), [6, 12])
    np.testing.assert_array_equal(x.grad.numpy(), [18, 36])
    assert any(t is x for t in gm.attached_tensors())


def test_callbacks_change_the_gradient():
    p, seen = parameter(1.0), []

    def halve(tensor, grad):
        seen.append(tensor)
        return grad * 0.5

    gm = GradManager().attach([p], callbacks=[halve, lambda tensor, grad: grad + 1.0])
    with gm:
        gm.backward(F.sum(p * 4.0))
    assert p.grad.numpy().tolist() == [3] and seen[0] is p


def test_record_and_release_without_with():
    p = parameter(2.0)
    gm = GradManager().attach([p])
    gm.record()
    loss = F.sum(p * p)
    gm.backward(loss)
    assert p.grad.numpy().tolist() == [4]
    with pytest.raises(GradientError, match="with gm"):
        gm.backward(loss)
    gm.record()
    with pytest.raises(GradientError, match="already"):
        gm.record()
    gm.release()
    gm.release()


def test_two_managers_and_two_optimizers_in_one_step():
    a, b = parameter(1.0), parameter(2.0)
    first, second = GradManager().attach([a]), GradManager().attach([b])
    one, other = optim.SGD([a], lr=0.5), optim.SGD([b], lr=0.25)
    with first, second:
        loss = F.sum(a * b)
        first.backward(loss)
        second.backward(loss)
    one.step().clear_grad()
    other.step().clear_grad()
    assert a.numpy().tolist() == [0] and b.numpy().tolist() == [1.75] and a.grad is None


def test_looking_at_values_in_between_changes_nothing():
    fer.random.seed(0)
    net = M.Sequential(M.Linear(3, 4), M.ReLU(), M.Linear(4, 2))
    x = fer.tensor(data(5, 3).astype("float32"))
    gm, results = GradManager().attach(net.parameters()), []
    for look in (False, True):
        with gm:
            hidden = net[0](x)
            if look:
                hidden.numpy()
            loss = F.sum(F.square(net[2](net[1](hidden))))
            if look:
                loss.item()
            gm.backward(loss)
        results.append([p.grad.numpy() for p in net.parameters()])
        net.zero_grad()
    for plain, looked in zip(*results):
        np.testing.assert_array_equal(plain, looked)


def test_stop_gradient_and_detach_cut():
    x = fer.tensor([2.0])
    assert fer.grad(lambda t: F.sum(F.stop_gradient(t) * t))(x).numpy().tolist() == [2]
    assert fer.grad(lambda t: F.sum(t.detach() * t))(x).numpy().tolist() == [2]


def test_missing_gradients_are_refused_at_once():
    weight = parameter(1.0, 2.0, 3.0)
    weight.name = "weight"
    gm = GradManager().attach([weight])
    with gm:
        with pytest.raises(GradientError, match="argmax"):
            gm.backward(F.argmax(weight).astype("float32"))
    with gm:
        with pytest.raises(ShapeError, match=r"\(3,\).*backward\(y, dy\)"):
            gm.backward(weight * 2.0)
    assert weight.grad is None


def test_an_unused_side_branch_does_not_matter():
    p = parameter(1.0, 2.0, 3.0, 4.0)
    gm = GradManager().attach([p])
    with gm:
        left, right = F.split(p, 2)
        F.sum(right)
        gm.backward(F.sum(left * left))
    np.testing.assert_array_equal(p.grad.numpy(), [2, 4, 0, 0])


def test_second_order():
    def cubes(x):
        return F.sum(x * x * x)

    second = fer.grad(lambda x: F.sum(fer.grad(cubes)(x)))(fer.tensor([1.0, 2.0]))
    np.testing.assert_allclose(second.numpy(), [6, 12], rtol=1e-6)


@pytest.mark.parametrize(("y", "x"), [(1e-30, 1e-30), (1e30, 1e30), (3e-38, -2e20), (0.0, 0.0), (0.0, -2.0)])
def test_gradient_of_atan2_of_tiny_and_huge_points(y, x):
    dy, dx = fer.grad(lambda y, x: F.atan2(y, x).sum(), (0, 1))(fer.tensor([y], "float32"), fer.tensor([x], "float32"))
    x, y = float(np.float32(x)), float(np.float32(y))
    square = x * x + y * y or 1.0
    np.testing.assert_allclose(dy.numpy(), x / square, rtol=1e-6, atol=1e-44)
    np.testing.assert_allclose(dx.numpy(), -y / square, rtol=1e-6, atol=1e-44)
