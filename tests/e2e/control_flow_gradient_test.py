"""Gradients through branches and loops, against central differences and the unrolled loops' bits."""

import ferrule.functional as F
import numpy as np
import pytest
from control_flow_support import random, check_gradient
from ferrule.autodiff import GradManager
from ferrule.jit import trace

import ferrule as fer


def recurrent(h, xs, w, u):
    return F.scan(lambda c, x: (F.tanh(F.matmul(c, w) + F.matmul(x, u)), c), h, xs)


def unrolled(h, xs, w, u):
    states = []
    for t in range(xs.shape[0]):
        states.append(h)
        h = F.tanh(F.matmul(h, w) + F.matmul(xs[t], u))
    return h, F.stack(states)


@pytest.mark.parametrize("wrt", range(4))
def test_gradient_of_a_recurrent_net(wrt):
    arrays = random(2, 3), random(5, 2, 4, seed=1), random(3, 3, seed=2), random(4, 3, seed=3)

    def cost(run):
        def f(*args):
            last, states = run(*args)
            return (last * last).sum() + (F.sin(states) * 0.3).sum()

        return f

    gradient = check_gradient(cost(recurrent), *arrays, wrt=wrt)
    expected = fer.grad(cost(unrolled), wrt)(*map(fer.Tensor, arrays)).numpy()
    np.testing.assert_allclose(gradient, expected, rtol=1e-12, atol=1e-13)


def test_gradient_of_scans_in_a_row():
    """h' = a * h + x, twice: the second scan runs over what the first stacked."""

    def f(a, x):
        _, first = F.scan(lambda h, v: (a * h + v, a * h + v), np.float64(0), x)
        last, _ = F.scan(lambda h, v: (a * h + v, None), np.float64(0), first)
        return last

    a, x = np.float64(0.7), random(4)
    check_gradient(f, a, x, wrt=0)
    check_gradient(f, a, x, wrt=1)


@pytest.mark.parametrize("reverse", (False, True))
def test_gradient_against_the_unrolled_loop_has_its_bits(reverse):
    """The cotangents of a captured value add up last step first, one use at a time."""

    def step(c, x, w):
        return F.tanh(c * w + x) + w

    def looped(w, xs):
        return F.scan(lambda c, x: (step(c, x, w), None), fer.ones((3,), dtype="float64"), xs, reverse=reverse)[0].sum()

    def plain(w, xs):
        c = fer.ones((3,), dtype="float64")
        for t in reversed(range(6)) if reverse else range(6):
            c = step(c, xs[t], w)
        return c.sum()

    w, xs = random(3), random(6, 3, seed=1)
    a = fer.grad(looped)(fer.Tensor(w), fer.Tensor(xs)).numpy()
    b = fer.grad(plain)(fer.Tensor(w), fer.Tensor(xs)).numpy()
    assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("p", (1.0, 0.0))
def test_gradient_of_a_branch(p):
    def f(x, p):
        y = F.cond(p, lambda: F.sin(x) * x, lambda: F.exp(x))
        return (y * y).sum()

    check_gradient(f, random(4), np.float64(p))


def test_gradient_of_a_while_loop():
    def f(x, limit):
        y = F.while_loop(lambda s: (s * s).sum() < limit, lambda s: s * 1.5 + F.sin(x), x, max_steps=12)
        return y.sum()

    check_gradient(f, random(3), np.float64(30))
    check_gradient(f, random(3), np.float64(0))


def test_gradient_of_nested_loops_and_branches():
    def f(x, w):
        def row(c, r):
            inner, ys = F.scan(lambda s, v: (F.cond(v > 0, lambda: s * w + v, lambda: s - F.sin(w)), s), c, r)
            return inner, ys.sum()

        last, sums = F.scan(row, w, x)
        return last * last + (sums * w).sum()

    x, w = random(3, 4), np.float64(0.6)
    check_gradient(f, x, w, wrt=0, tolerance=1e-5)
    check_gradient(f, x, w, wrt=1, tolerance=1e-5)


def test_second_derivatives():
    def looped(w):
        xs = fer.Tensor(random(4))
        last, ys = F.scan(lambda c, x: (F.sin(c * w) + x, c * w), w, xs)
        return F.cond(w > 0, lambda: last * last + ys.sum(), lambda: last)

    check_gradient(lambda w: fer.grad(looped)(w), np.float64(0.8), tolerance=1e-5)


def test_gradient_to_a_parameter_with_a_gradient_manager():
    w = fer.Parameter(random(3, 3).astype("float32"), name="w")
    gm = GradManager().attach([w])
    xs = random(5, 2, 3, seed=1).astype("float32")

    def cost(x):
        return F.scan(lambda c, v: (F.tanh(F.matmul(c + v, w)), None), fer.zeros((2, 3)), x)[0].sum()

    def plain(x):
        c = fer.zeros((2, 3))
        for t in range(5):
            c = F.tanh(F.matmul(c + x[t], w))
        return c.sum()

    gradients = []
    for f in (cost, plain, trace(cost)):
        with gm:
            gm.backward(f(fer.Tensor(xs)))
        gradients.append(w.grad.numpy())
        w.grad = None
    np.testing.assert_allclose(gradients[0], gradients[1], rtol=1e-5, atol=1e-6)
    assert gradients[0].tobytes() == gradients[2].tobytes()


def test_a_looked_at_value_keeps_its_gradient():
    """In dynamic mode a flush between loop and backward must not lose how the loop was computed."""

    def f(x, looks):
        last, ys = F.scan(lambda c, v: (F.sin(c) * v, c), np.float64(0.5), x)
        if looks:
            last.numpy()
        return (last * last + ys.sum()).sum()

    x = random(5)
    plain = fer.grad(lambda v: f(v, False))(fer.Tensor(x)).numpy()
    looked = fer.grad(lambda v: f(v, True))(fer.Tensor(x)).numpy()
    assert plain.tobytes() == looked.tobytes()
