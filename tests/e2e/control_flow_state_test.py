"""Branches and loops that update variables, and with modules and views."""

import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
import numpy as np
from control_flow_support import flat, random
from ferrule.autodiff import GradManager
from ferrule.jit import trace

import ferrule as fer


def test_a_loop_updates_a_counter():
    count = fer.Parameter(np.float32(0), name="count")
    seen = fer.Parameter(np.zeros(3, np.float32), name="seen")

    @trace
    def f(x):
        def body(s):
            count.set_value(count + 1)
            seen[...] = seen * 0.5 + s
            return s * 2

        return F.while_loop(lambda s: s.sum() + 0 * count < 100, body, x)

    first = f(fer.Tensor(np.ones(3, np.float32)))
    assert first.tolist() == [64, 64, 64] and count.item() == 6
    expected = np.zeros(3, np.float32)
    for s in (1, 2, 4, 8, 16, 32):
        expected = expected * 0.5 + np.float32(s)
    np.testing.assert_array_equal(seen.numpy(), expected)
    f(fer.Tensor(np.ones(3, np.float32)))
    assert count.item() == 12

    f.enabled = False
    f(fer.Tensor(np.ones(3, np.float32)))
    assert count.item() == 18


def test_branches_update_variables():
    calls = fer.Parameter(np.zeros(2, np.float32), name="calls")

    @trace
    def f(p):
        def then():
            calls.set_value(calls + np.array([1, 0], np.float32))
            return calls * 1

        return F.cond(p, then, lambda: calls * 10)

    assert f(fer.Tensor(np.bool_(True))).tolist() == [1, 0]
    assert f(fer.Tensor(np.bool_(True))).tolist() == [2, 0]
    assert f(fer.Tensor(np.bool_(False))).tolist() == [20, 0]
    assert calls.tolist() == [2, 0]


def test_a_variable_read_before_the_loop_keeps_its_value_in_it():
    w = fer.Parameter(np.float32(1), name="w")

    def f(x):
        before = w + 0

        def step(c, v):
            w.set_value(w * 2)
            return c + v * w + before, w + 0

        return F.scan(step, np.float32(0), x)

    last, ws = flat(f(fer.Tensor(np.ones(3, np.float32))))
    assert last == 2 + 4 + 8 + 3 and ws.tolist() == [2, 4, 8] and w.item() == 8


def test_a_training_loop_in_the_artifact():
    """Steps of gradient descent inside a scan are the steps outside of it."""
    x, y = random(6, 4, 3).astype("float32"), random(6, 4, 2, seed=1).astype("float32")

    def make():
        net = M.Linear(3, 2)
        net.weight[...] = fer.Tensor(random(2, 3, seed=2).astype("float32"))
        net.bias[...] = fer.Tensor(np.zeros(2, np.float32))
        return net, GradManager().attach(net.parameters()), optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def step(net, gm, opt, x, y):
        with gm:
            loss = ((net(x) - y) ** 2).mean()
            gm.backward(loss)
        opt.step().clear_grad()
        return loss

    net, gm, opt = make()
    losses = [step(net, gm, opt, fer.Tensor(a), fer.Tensor(b)).item() for a, b in zip(x, y)]

    inner, inner_gm, inner_opt = make()

    @trace
    def train(x, y):
        return F.scan(lambda _, xy: ((), step(inner, inner_gm, inner_opt, *xy)), (), (x, y))[1]

    assert train(fer.Tensor(x), fer.Tensor(y)).tolist() == losses
    assert inner.weight.numpy().tobytes() == net.weight.numpy().tobytes()

def test_batch_norm_updates_its_statistics_in_a_loop():
    norm = M.BatchNorm1d(3)
    norm.train()
    x = fer.Tensor(random(4, 5, 3).astype("float32"))
    outcomes = []
    looped = lambda x: F.scan(lambda _, v: ((), norm(v)), (), x)[1]  # noqa: E731
    for f in (lambda x: F.stack([norm(x[t]) for t in range(4)]), looped, trace(looped)):
        norm.running_mean[...] = 0
        norm.running_var[...] = 1
        y = f(x).numpy()
        outcomes.append((y.tobytes(), norm.running_mean.numpy().tobytes(), norm.running_var.numpy().tobytes()))
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_convolutions_in_a_loop():
    net = M.Conv2d(3, 3, 3, padding=1)
    gm = GradManager().attach(net.parameters())
    x = fer.Tensor(random(2, 3, 8, 8).astype("float32"))

    def looped(x):
        return F.scan(lambda c, _: (F.relu(net(c)), None), x, length=4)[0]

    def plain(x):
        for _ in range(4):
            x = F.relu(net(x))
        return x

    outcomes = []
    for f in (plain, looped, trace(looped)):
        with gm:
            y = f(x)
            gm.backward((y**2).sum())
        outcomes.append([y.numpy()] + [parameter.grad.numpy() for parameter in net.parameters()])
        for parameter in net.parameters():
            parameter.grad = None
    assert outcomes[0][0].tobytes() == outcomes[1][0].tobytes()
    for a, b, c in zip(*outcomes):
        np.testing.assert_allclose(b, a, rtol=1e-3, atol=1e-3)
        assert b.tobytes() == c.tobytes()


def test_views_from_outside_in_a_body():
    base = fer.Tensor(random(6))
    view = base[1:4]

    def f(n):
        looped = F.scan(lambda c, _: (c + view * base[:3], None), fer.zeros((3,), dtype="float64"), length=3)[0]
        return looped + view * n

    array = base.numpy()
    dynamic, traced = f(2.0).numpy(), trace(lambda: f(2.0))().numpy()
    np.testing.assert_allclose(dynamic, 3 * array[1:4] * array[:3] + 2 * array[1:4])
    assert dynamic.tobytes() == traced.tobytes()
