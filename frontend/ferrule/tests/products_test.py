"""Products with Jacobians, second order, and what explain_gradient finds."""

import dataclasses
import gc

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import numpy as np
import pytest
from ferrule import _recording
from ferrule.autodiff import GradManager
from ferrule.errors import DtypeError, GradientError, ShapeError

X = np.array([1.0, 2.0, 3.0])


def tensor(values):
    return fer.tensor(np.asarray(values, "float64"))


def test_vjp_of_trees():
    def f(a, rest):
        return (a * rest["b"], {"s": F.sum(F.sin(a))})

    value, pull = fer.vjp(f, tensor(X), {"b": tensor(2 * X)})
    np.testing.assert_array_equal(value[0].numpy(), 2 * X * X)
    for scale in (1.0, 3.0):  # pulled twice
        da, rest = pull((tensor(np.ones(3)), {"s": tensor(scale)}))
        np.testing.assert_allclose(da.numpy(), 2 * X + scale * np.cos(X), rtol=1e-12)
        np.testing.assert_array_equal(rest["b"].numpy(), X)


def test_vjp_and_jvp_are_transposes():
    """The inner-product test: <u, J v> = <J^T u, v>."""
    random = np.random.default_rng(0)
    weight = tensor(random.standard_normal((3, 4)))

    def f(x):
        return F.softmax(F.tanh(F.matmul(x, weight)), 1) * F.sum(x * x)

    x, v = random.standard_normal((2, 3)), random.standard_normal((2, 3))
    u = random.standard_normal((2, 4))
    value, pushed = fer.jvp(f, (tensor(x),), (tensor(v),))
    again, pull = fer.vjp(f, tensor(x))
    np.testing.assert_array_equal(value.numpy(), again.numpy())
    left, right = (u * pushed.numpy()).sum(), (pull(tensor(u))[0].numpy() * v).sum()
    assert left == pytest.approx(right, rel=1e-12)


def drawn(*shape):
    return tensor(np.random.default_rng(len(shape)).standard_normal(shape))


FUNCTIONS = {
    "conv1d": lambda x: F.conv1d(x, drawn(2, 4, 3), padding=1, stride=2),
    "conv_transpose1d": lambda x: F.conv_transpose1d(x, drawn(4, 2, 3), stride=2),
    "conv by weight": lambda x: F.conv1d(drawn(2, 4, 9), x),
    "matmul": lambda x: F.matmul(x, drawn(6, 5)),
    "matmul with a vector": lambda x: F.matmul(x, drawn(6)),
    "product with itself": lambda x: F.matmul(x, x, transpose_b=True),
    "max_pool": lambda x: F.max_pool1d(x, 3, 2, 1),
    "avg_pool": lambda x: F.avg_pool1d(x, 3, 2, 1),
    "adaptive pool": lambda x: F.adaptive_avg_pool1d(x, 4),
    "batch_norm": lambda x: F.batch_norm(x, training=True) ** 3.0,
    "layer_norm": lambda x: F.layer_norm(x, 6, False),
    "softmax": lambda x: F.softmax(x, 2),
    "logsoftmax": lambda x: F.logsoftmax(x, 1),
    "attention": lambda x: F.attention(x, x, x),
    "take": lambda x: x[:, [0, 0, 3]],
    "gather": lambda x: F.gather(x, 2, F.argsort(x, axis=2)),
    "slice": lambda x: x[:, 1::2, ::-1],
    "write": lambda x: F.scatter_add(x, 0, F.argsort(x, axis=0), x),
    "transpose": lambda x: F.transpose(x, (2, 0, 1)),
    "broadcast": lambda x: F.broadcast_to(x, (3, 2, 4, 6)),
    "concat": lambda x: F.concat([x, x * x], 1),
    "pad": lambda x: F.pad(x, ((0, 0), (1, 2), (2, 1)), "reflect"),
    "interpolate": lambda x: F.interpolate(x, 9, mode="linear"),
    "cumsum": lambda x: F.cumsum(x, 1),
    "cumprod": lambda x: F.cumprod(x, 2),
    "sort": lambda x: F.sort(x, axis=2)[0],
    "prod": lambda x: F.prod(x, 1),
    "var": lambda x: F.var(x, (0, 2)),
    "scan": lambda x: F.scan(lambda carry, row: (carry * 0.5 + row, carry * row), x[0], x)[1],
    "while": lambda x: F.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, F.sin(c[1])), (0, x), max_steps=5)[1],
    "cond": lambda x: F.cond(F.sum(x) > 0, lambda x: x * x, lambda x: F.exp(x), x),
    "where": lambda x: F.where(x > 0, x, 0.5 * x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_cotangent_that_is_one_number_everywhere(name):
    """That of a sum is never stored: every rule takes it as it takes a tensor of as many numbers, bit by bit."""
    f, x = FUNCTIONS[name], drawn(2, 4, 6)
    f = {"conv by weight": lambda x: FUNCTIONS[name](x[:, :, :3])}.get(name, f)
    expanded = fer.grad(lambda x: 2.0 * F.sum(f(x)))(x)
    value, pull = fer.vjp(f, x)
    stored = pull(fer.tensor(np.full(value.shape, 2.0)))
    np.testing.assert_array_equal(expanded.numpy(), (stored[0] if isinstance(stored, tuple) else stored).numpy())
    session = fer.Session(fer.compile({"g": (fer.grad(lambda x: 2.0 * F.sum(f(x))), [fer.Spec((2, 4, 6), "float64")])}))
    np.testing.assert_array_equal(session.run("g", x.numpy())[0], expanded.numpy())


def test_jvp_against_differences():
    def f(x, y):
        return {"p": F.exp(x) * y, "q": F.sum(x * y * y)}

    primals, tangents = (tensor(X), tensor(X + 1)), (tensor([1.0, 0.0, -1.0]), tensor([0.5, 1.0, 2.0]))
    _, pushed = fer.jvp(f, primals, tangents)
    step = 1e-6
    ahead = f(*[p + t * step for p, t in zip(primals, tangents)])
    behind = f(*[p - t * step for p, t in zip(primals, tangents)])
    for key in ("p", "q"):
        slope = (ahead[key].numpy() - behind[key].numpy()) / (2 * step)
        np.testing.assert_allclose(pushed[key].numpy(), slope, rtol=1e-7)


def test_products_in_a_trace_have_the_bits_of_dynamic_mode():
    def both(x, v):
        value, pull = fer.vjp(F.softmax, x)
        return pull(v)[0], fer.jvp(F.softmax, (x,), (v,))[1], value

    arguments = [fer.tensor(np.float32(X)), fer.tensor(np.float32([1, -1, 2]))]
    for plain, traced in zip(both(*arguments), fer.jit.trace(both)(*arguments)):
        np.testing.assert_array_equal(plain.numpy(), traced.numpy())


def test_the_scope_of_a_vjp_ends_with_it():
    value, pull = fer.vjp(lambda x: x * x, tensor(X))
    value.numpy()
    assert _recording.in_gradient_scope()
    np.testing.assert_array_equal(pull(value)[0].numpy(), 2 * X * X * X)
    del pull
    gc.collect()
    assert not _recording.in_gradient_scope()
    with pytest.raises(ZeroDivisionError):
        fer.vjp(lambda x: 1 // 0, tensor(X))
    assert not _recording.in_gradient_scope()


def test_jacobian_hessian_and_hvp():
    np.testing.assert_array_equal(fer.jacobian(lambda a: a[:2] * a[1:])(tensor(X)).numpy(), [[2, 1, 0], [0, 3, 2]])
    hessian = fer.hessian(lambda a: F.sum(a * a * a))(tensor(X))
    np.testing.assert_allclose(hessian.numpy(), np.diag(6 * X), rtol=1e-12)
    gradient, product = fer.hvp(lambda a: F.sum(a * a * a), (tensor(X),), (tensor([1.0, 1.0, 2.0]),))
    np.testing.assert_allclose(gradient[0].numpy(), 3 * X * X, rtol=1e-12)
    np.testing.assert_allclose(product[0].numpy(), 6 * X * [1, 1, 2], rtol=1e-12)
    assert fer.jacobian(lambda a: F.sum(a))(tensor(X)).shape == (3,)


def test_products_refuse_what_does_not_fit():
    _, pull = fer.vjp(lambda x: x * x, tensor(X))
    with pytest.raises(ShapeError, match=r"cotangent of the result has the shape \(2,\).*needed: \(3,\)"):
        pull(tensor([1.0, 2.0]))
    with pytest.raises(DtypeError, match="float32.*needed: float64"):
        pull(fer.tensor(np.float32(X)))
    with pytest.raises(GradientError, match="another structure"):
        pull((tensor(X),))
    with pytest.raises(GradientError, match="argument 0 has dtype int32"):
        fer.vjp(lambda x: x, fer.tensor([1, 2]))
    with pytest.raises(GradientError, match="1 primals and 2 tangents"):
        fer.jvp(lambda x: x, (tensor(X),), (tensor(X), tensor(X)))
    with pytest.raises(GradientError, match="argmax"):
        fer.jvp(lambda x: F.argmax(x).astype("float64"), (tensor(X),), (tensor(X),))


def test_choices_of_wrt():
    net = M.Linear(3, 1)
    x = fer.tensor(np.float32(X)[None])

    def cost(x, scale=1.0):
        return F.sum(net(x)) * scale

    weight, by_name = fer.grad(cost, wrt=(net.weight, "x"))(x)
    np.testing.assert_array_equal(weight.numpy(), x.numpy())
    np.testing.assert_array_equal(by_name.numpy(), net.weight.numpy())
    np.testing.assert_array_equal(fer.grad(cost, wrt="x")(x=x).numpy(), net.weight.numpy())
    assert fer.grad(cost, wrt="scale")(x, scale=fer.tensor(2.0)).numpy() == cost(x).numpy()
    with pytest.raises(GradientError, match="'y'.*1 by position and none by name"):
        fer.grad(cost, wrt="y")(x)
    with pytest.raises(GradientError, match="argument 0 has dtype int32"):
        fer.grad(cost)(fer.tensor([1, 2]))


@dataclasses.dataclass
class Point:
    x: fer.Tensor
    y: list


def test_gradients_of_trees_and_auxiliary_results():
    def f(point):
        return F.sum(point.x * point.y[0]), {"count": 3}

    (value, aux), gradient = fer.value_and_grad(f, has_aux=True)(Point(tensor(X), [tensor(2 * X)]))
    assert value.item() == 28 and aux == {"count": 3} and isinstance(gradient, Point)
    np.testing.assert_array_equal(gradient.x.numpy(), 2 * X)
    np.testing.assert_array_equal(gradient.y[0].numpy(), X)
    gradient, aux = fer.grad(f, has_aux=True)(Point(tensor(X), [tensor(X)]))
    np.testing.assert_array_equal(gradient.x.numpy(), X)
    with pytest.raises(GradientError, match="pair"):
        fer.grad(lambda x: F.sum(x), has_aux=True)(tensor(X))


def test_gradients_of_traced_functions():
    square = fer.jit.trace(lambda x: F.sum(x * x))
    np.testing.assert_array_equal(fer.grad(square)(tensor(X)).numpy(), 2 * X)
    np.testing.assert_array_equal(fer.jit.trace(fer.grad(square))(tensor(X)).numpy(), 2 * X)


def test_explain_gradient_lists_everything_at_once():
    net = M.Sequential(M.Linear(3, 4), M.ReLU(), M.Linear(4, 2))

    def cost(x, y):
        return F.sum(F.argmax(net(x), 1).astype("float32")) + F.sum(F.argmin(y, 1).astype("float32"))

    before = fer._compiler.compile_count()
    report = fer.explain_gradient(cost, fer.Spec((fer.Dim("rows"), 3)), fer.Spec((2, 2)))
    assert fer._compiler.compile_count() == before
    assert {(each.op, each.parameter) for each in report if "argument" in each.parameter} == {
        ("argmax", "argument 0"),
        ("argmin", "argument 1"),
    }
    assert len(report) == 6 and all("products_test.py" in each.line for each in report)
    assert "argmax has no gradient: its result is an index" in str(report)
    assert len(fer.explain_gradient(cost, fer.Spec((2, 3)), fer.Spec((2, 2)), wrt=net[0].weight)) == 1
    fine = fer.explain_gradient(lambda x: net(x), fer.Spec((2, 3)))
    assert not fine and str(fine) == "every gradient exists"
    with pytest.raises(GradientError, match="without a float result"):
        fer.explain_gradient(lambda x: F.argmax(x), fer.Spec((2, 3)))


def test_explain_gradient_examines_a_training_step():
    net = M.Linear(3, 2)
    gm, opt = GradManager().attach(net.parameters()), fer.optimizer.SGD(net.parameters(), lr=0.1)

    @fer.jit.trace(symbolic=True)
    def step(x):
        with gm:
            gm.backward(F.sum(F.argmax(net(x), 1).astype("float32")))
        opt.step().clear_grad()

    weight = net.weight.numpy()
    report = fer.explain_gradient(step, fer.Spec((2, 3)))
    assert [each.op for each in report] == ["argmax", "argmax"]
    assert net.weight.grad is None and step.capture_count == 0
    np.testing.assert_array_equal(net.weight.numpy(), weight)
