"""Functions with a gradient of their own: custom_op and Function."""

import ferrule as fer
import ferrule.functional as F
import numpy as np
import pytest
from ferrule.autodiff import Function, GradManager
from ferrule.errors import DtypeError, FerruleError, GradientError, ShapeError

X = np.array([-2.0, -0.25, 0.5, 3.0])


def tensor(values):
    return fer.tensor(np.asarray(values, "float64"))


round_through = fer.custom_op(F.round, lambda inputs, outputs, cotangents: cotangents[0])
cube = fer.custom_op(lambda x: x * x * x, lambda inputs, outputs, g: 3.0 * inputs[0] * inputs[0] * g[0])


class Sigmoid(Function):
    def forward(self, x):
        self.y = 1.0 / (1.0 + F.exp(-x))
        return self.y

    def backward(self, dy):
        return dy * self.y * (1.0 - self.y)


class SplitScaled(Function):
    """Two results and two arguments, one of them no tensor."""

    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x * scale, x + scale

    @staticmethod
    def backward(ctx, first, second):
        (x,) = ctx.saved_tensors
        return first * ctx.scale + second + 0.0 * x, None


def test_the_own_gradient_is_taken_and_no_other():
    x = tensor(X)
    np.testing.assert_array_equal(round_through(x).numpy(), np.round(X))
    np.testing.assert_array_equal(fer.grad(lambda t: F.sum(round_through(t) * t))(x).numpy(), np.round(X) + X)
    doubled = fer.custom_op(lambda t: t * 5.0, lambda inputs, outputs, g: g[0] * 2.0)
    np.testing.assert_array_equal(fer.grad(lambda t: F.sum(doubled(t)))(x).numpy(), np.full(4, 2.0))


def test_functions_in_the_form_of_megengine_and_of_pytorch():
    x, y = tensor(X), 1 / (1 + np.exp(-X))
    np.testing.assert_allclose(fer.grad(lambda t: F.sum(Sigmoid()(t)))(x).numpy(), y * (1 - y), rtol=1e-12)

    def f(t):
        first, second = SplitScaled.apply(t, 3.0)
        return F.sum(first * t) + F.sum(second)

    np.testing.assert_allclose(fer.grad(f)(x).numpy(), 6 * X + 1, rtol=1e-12)


def test_one_result_alone_gets_a_cotangent():
    x = tensor(X)
    np.testing.assert_array_equal(fer.grad(lambda t: F.sum(SplitScaled.apply(t, 3.0)[1]))(x).numpy(), np.ones(4))


def test_second_order_and_forward_mode():
    x = tensor(X)
    np.testing.assert_allclose(fer.grad(lambda t: F.sum(fer.grad(lambda u: F.sum(cube(u)))(t)))(x).numpy(), 6 * X)
    np.testing.assert_allclose(fer.jvp(cube, (x,), (tensor(np.ones(4)),))[1].numpy(), 3 * X * X)


def test_tensors_from_around_can_be_used():
    weight = fer.Parameter(np.array([2.0], "float64"))
    scaled = fer.custom_op(lambda x: x * weight, lambda inputs, outputs, g: g[0] * weight)
    gm = GradManager().attach([weight])
    x = tensor(X)
    with gm:
        gm.attach([x])
        gm.backward(F.sum(scaled(x)))
    np.testing.assert_array_equal(x.grad.numpy(), np.full(4, 2.0))
    assert weight.grad is None or weight.grad.numpy().tolist() == [0.0]  # no gradient passes through forward


def test_same_bits_in_dynamic_mode_traced_and_in_an_artifact():
    def step(t):
        return fer.grad(lambda u: F.sum(cube(round_through(u * 1.3)) * u))(t)

    x = fer.tensor(X.astype("float32"))
    wanted = step(x).numpy()
    np.testing.assert_array_equal(fer.jit.trace(step)(x).numpy(), wanted)
    program = fer.compile({"step": (fer.jit.trace(step), [fer.Spec((4,))])})
    np.testing.assert_array_equal(fer.Session(program).run("step", x.numpy())[0], wanted)


def test_values_looked_at_before_the_backward():
    x = tensor(X)
    gm = GradManager().attach([x])
    with gm:
        y = cube(x)
        y.numpy()
        gm.backward(F.sum(y))
    np.testing.assert_allclose(x.grad.numpy(), 3 * X * X)


def test_inside_a_loop_and_a_branch():
    def repeated(t):
        return F.sum(F.scan(lambda carry, _: (round_through(carry) * 0.5, None), t, None, length=3)[0])

    np.testing.assert_allclose(fer.grad(repeated)(tensor(X)).numpy(), np.full(4, 0.125))
    chosen = fer.grad(lambda t: F.sum(F.cond(t[0] > 0, cube, round_through, t)))
    np.testing.assert_allclose(chosen(tensor(X)).numpy(), np.ones(4))
    np.testing.assert_allclose(chosen(tensor(-X)).numpy(), 3 * X * X)


def test_what_does_not_fit_is_refused():
    x = tensor(X)
    with pytest.raises(ShapeError, match=r"gradient of <lambda> for argument 0 has the shape \(\).*needed: \(4,\)"):
        fer.custom_op(lambda t: t * 2.0, lambda inputs, outputs, g: F.sum(g[0]))(x)
    with pytest.raises(DtypeError, match="float32.*needed: float64"):
        fer.custom_op(lambda t: t * 2.0, lambda inputs, outputs, g: g[0].astype("float32"))(x)
    with pytest.raises(GradientError, match="2 values for 1 arguments"):
        fer.custom_op(lambda t: t * 2.0, lambda inputs, outputs, g: (g[0], g[0]))(x)
    with pytest.raises(GradientError, match="returned int"):
        fer.custom_op(lambda t: 3, lambda inputs, outputs, g: g[0])(x)
    counter = fer.Parameter(np.zeros(1, "float32"))

    def counting(inputs, outputs, g):
        counter.set_value(counter + 1.0)
        return g[0]

    with pytest.raises(FerruleError, match="runs only where a gradient is taken"):
        fer.jit.trace(lambda t: fer.custom_op(lambda u: u * 2.0, counting)(t))(x)


def test_integers_pass_and_have_no_gradient():
    picked = fer.custom_op(lambda x, i: (x * 2.0, i + 1), lambda inputs, outputs, g: (g[0], None))
    value, index = picked(tensor(X), fer.tensor(np.array([1, 2])))
    assert index.numpy().tolist() == [2, 3]
    np.testing.assert_array_equal(fer.grad(lambda t: F.sum(picked(t, fer.tensor(np.array([1])))[0]))(tensor(X)).numpy(), np.ones(4))
