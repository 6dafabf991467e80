"""Branches and loops: against the same loops unrolled in NumPy, in every mode with the same bits, with gradients."""

import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
import numpy as np
import pytest
from ferrule.autodiff import GradManager
from ferrule.errors import DtypeError, GradientError, ShapeError, TraceError, UnsupportedError
from ferrule.jit import trace
from safetensors.numpy import load_file, save_file

import ferrule as fer


def flat(tree):
    """The tensors of a result as arrays."""
    if isinstance(tree, (tuple, list)):
        return [array for each in tree for array in flat(each)]
    return [] if tree is None else [tree.numpy()]


def everywhere(function, *arrays):
    """The results in dynamic mode, which must have the bits of the traced function and of a session of its artifact."""
    dynamic = flat(function(*map(fer.Tensor, arrays)))
    traced = flat(trace(function)(*map(fer.Tensor, arrays)))
    specs = [fer.Spec(array.shape, str(array.dtype)) for array in arrays]
    session = fer.Session(fer.compile({"main": (trace(function), specs)}))
    compiled = session.run("main", *arrays)
    for other in (traced, compiled):
        assert len(other) == len(dynamic)
        for a, b in zip(dynamic, other):
            assert a.dtype == b.dtype and a.shape == b.shape
            assert a.tobytes() == b.tobytes()
    return dynamic


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def central_difference(f, x, step=1e-6):
    """The gradient of a function to a float, from its values, in float64."""
    gradient = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        up, down = np.array(x), np.array(x)
        up[i] += step
        down[i] -= step
        gradient[i] = (f(up) - f(down)) / (2 * step)
    return gradient


def check_gradient(f, *arrays, wrt=0, tolerance=1e-6):
    """fer.grad of f against central differences, in dynamic mode and traced, with the same bits."""
    value = lambda x: float(f(*[fer.Tensor(x if i == wrt else a) for i, a in enumerate(arrays)]).item())  # noqa: E731
    expected = central_difference(value, arrays[wrt])
    gradient = everywhere(fer.grad(f, wrt), *arrays)[0]
    np.testing.assert_allclose(gradient, expected, rtol=tolerance, atol=tolerance)
    return gradient


# scan


def test_scan_is_a_loop():
    def f(init, xs):
        return F.scan(lambda c, x: (c * 0.5 + x, c - x), init, xs)

    init, xs = random(3), random(7, 3, seed=1)
    last, ys = everywhere(f, init, xs)
    carry, expected = init, []
    for x in xs:
        expected.append(carry - x)
        carry = carry * 0.5 + x
    assert last.tobytes() == carry.tobytes()
    assert ys.tobytes() == np.stack(expected).tobytes()


def test_scan_in_reverse_keeps_the_places_of_the_slices():
    def f(xs):
        return F.scan(lambda c, x: (c + x, c + x), np.float64(0), xs, reverse=True)

    xs = random(5)
    last, ys = everywhere(f, xs)
    np.testing.assert_array_equal(ys, np.cumsum(xs[::-1])[::-1])
    assert last == ys[0]


def test_scan_over_trees_with_numbers_and_without_xs():
    def f(x):
        def step(state, _):
            a, b = state["pair"]
            return {"pair": (b, a + b), "count": state["count"] + 1}, (a, {"twice": b * 2})

        return_value, (firsts, more) = F.scan(step, {"pair": (x, x), "count": 0}, length=6)
        return [*return_value["pair"], return_value["count"], firsts, more["twice"]]

    a, b, count, firsts, twice = everywhere(f, np.float32(1))
    assert (a, b, count) == (13, 21, 6) and count.dtype == np.int32
    np.testing.assert_array_equal(firsts, [1, 1, 2, 3, 5, 8])
    np.testing.assert_array_equal(twice, [2, 4, 6, 10, 16, 26])


def test_scan_of_no_step_and_without_results():
    def f(init, xs):
        return F.scan(lambda c, x: (c + x.sum(), c), init, xs)

    last, ys = everywhere(f, np.float32(3), np.zeros((0, 4), np.float32))
    assert last == 3 and ys.shape == (0,)
    assert everywhere(lambda x: F.scan(lambda c, _: (c * 2, None), x, length=3), np.float32(5)) == [40]


@pytest.mark.parametrize("reverse", (False, True))
def test_scan_with_taps(reverse):
    """Each step reads slices at distances from it; there are only steps at which all of them exist."""
    x, u = random(7, 2), random(7)
    steps = range(2, 6)  # The taps reach from -2 to 1.

    def whole(x):
        return F.scan(lambda c, near: (c * 0.5 + near[0] * near[2] - near[1], c), fer.zeros((2,), dtype="float64"), x,
                      reverse=reverse, taps=(-2, 0, 1))

    def apart(x, u):
        step = lambda c, s: (c + s["x"][0] * s["u"] * s["x"][1], c * s["u"])  # noqa: E731
        return F.scan(step, fer.zeros((2,), dtype="float64"), {"x": x, "u": u}, reverse=reverse, taps={"x": [1, -2]})

    carry, ys = np.zeros(2), {}
    other, more = np.zeros(2), {}
    for t in reversed(steps) if reverse else steps:
        ys[t], more[t] = carry, other * u[t]
        carry = carry * 0.5 + x[t - 2] * x[t + 1] - x[t]
        other = other + x[t + 1] * u[t] * x[t - 2]
    for got, wanted in ((everywhere(whole, x), (carry, ys)), (everywhere(apart, x, u), (other, more))):
        np.testing.assert_allclose(got[0], wanted[0], rtol=1e-12)
        np.testing.assert_allclose(got[1], [wanted[1][t] for t in steps], rtol=1e-12)
    check_gradient(lambda x, u: (apart(x, u)[0] * apart(x, u)[0]).sum(), x, u)
    # One tap leaves out the slices at one end only.
    before = everywhere(lambda x: F.scan(lambda c, v: (c + v[0], v[0]), np.float64(0), x, taps=(-1,)), u)
    np.testing.assert_allclose(before[1], u[:-1])


def test_scan_with_taps_over_a_symbolic_length_and_what_it_refuses():
    @trace(symbolic=True)
    def differences(x):
        return F.scan(lambda c, near: (c, near[1] - near[0]), np.float32(0), x, taps=(-1, 0))[1]

    session = fer.Session(fer.compile({"main": (differences, [fer.Spec((fer.Dim("n", min=1, max=9),), "float32")])}))
    for n in (1, 2, 9, 4):
        x = random(n).astype("float32")
        np.testing.assert_array_equal(session.run("main", x)[0], np.diff(x))
    x = fer.Tensor(random(2))
    for taps, kind, words in (
        ((-2, 1), ShapeError, "from -2 to 1"), ((), UnsupportedError, "one or more ints"),
        ({"x": (1,)}, UnsupportedError, "one or more ints"), ((0.5,), UnsupportedError, "0.5"),
    ):  # fmt: skip
        with pytest.raises(kind, match=words):
            F.scan(lambda c, v: (c, None), np.float64(0), x, taps=taps)


def test_scan_over_a_symbolic_length():
    @trace
    def f(xs, w):
        return F.scan(lambda c, x: (F.tanh(c + F.matmul(x.reshape(1, 4), w).reshape(3)), c), fer.zeros((3,)), xs)

    steps = fer.Dim("steps", min=1, max=16)
    program = fer.compile({"main": (f, [fer.Spec((steps, 4)), fer.Spec((4, 3))])})
    session = fer.Session(program)
    w = random(4, 3).astype("float32")
    for count in (1, 5, 16):
        xs = random(count, 4, seed=count).astype("float32")
        last, ys = session.run("main", xs, w)
        expected_last, expected_ys = f(fer.Tensor(xs), fer.Tensor(w))
        assert last.tobytes() == expected_last.numpy().tobytes()
        assert ys.tobytes() == expected_ys.numpy().tobytes()


def test_carries_may_change_places():
    """Each step needs the old values of what it overwrites."""

    def f(a, b, c):
        return F.scan(lambda s, _: ((s[1], s[2], s[0] + s[1]), s[0]), (a, b, c), length=5)

    arrays = random(3), random(3, seed=1), random(3, seed=2)
    *last, ys = everywhere(f, *arrays)
    a, b, c = arrays
    for y in ys:
        assert y.tobytes() == a.tobytes()
        a, b, c = b, c, a + b
    assert [x.tobytes() for x in last] == [a.tobytes(), b.tobytes(), c.tobytes()]


def test_nested_loops_and_branches():
    def f(x, limit):
        def row(total, r):
            def element(c, v):
                c = F.cond(v > 0, lambda: c + v, lambda: F.cond(v > limit, lambda: c - v, lambda: c * 0.5))
                return c, c

            total, _ = F.scan(element, total, r)
            doubled = F.while_loop(lambda s: s < limit + 8, lambda s: s * 2 + 1, total)
            return doubled - total, total

        return F.scan(row, fer.zeros((), dtype="float64"), x)

    x = random(4, 6)
    last, totals = everywhere(f, x, np.float64(-0.5))
    carry, expected = 0.0, []
    for r in x:
        for v in r:
            carry = carry + v if v > 0 else carry - v if v > -0.5 else carry * 0.5
        expected.append(carry)
        doubled = carry
        while doubled < 7.5:
            doubled = doubled * 2 + 1
        carry = doubled - carry
    np.testing.assert_array_equal(totals, expected)
    assert last == carry


# cond


@pytest.mark.parametrize("p", (True, False))
def test_branches_in_a_row_do_not_share_live_memory(p):
    def f(p, x):
        r1 = F.cond(p, lambda: x + 1, lambda: x - 1)
        r2 = F.cond(p, lambda: r1 * 2, lambda: r1 * 3)
        return r1 + r2

    assert everywhere(f, np.bool_(p), np.float32(5)) == [18 if p else 16]


def test_a_branch_takes_operands_and_returns_trees():
    def f(p, x, y):
        return F.cond(p, lambda a, b: (a, [b, a + b]), lambda a, b: (b, [a, a - b]), x, y)

    x, y = random(3), random(3, seed=1)
    assert [r.tolist() for r in everywhere(f, np.float32(2), x, y)] == [x.tolist(), y.tolist(), (x + y).tolist()]
    assert [r.tolist() for r in everywhere(f, np.float32(0), x, y)] == [y.tolist(), x.tolist(), (x - y).tolist()]
    assert F.cond(True, lambda: 1, lambda: 2) == 1


def test_a_branch_that_is_not_taken_is_not_run():
    def f(p, x):
        forever = lambda: F.while_loop(lambda s: s == s, lambda s: s, x)  # noqa: E731
        return F.cond(p, forever, lambda: x)

    assert everywhere(f, np.bool_(False), np.float32(3)) == [3]


# while_loop


def test_while_loop_and_its_limit():
    def collatz(n, limit):
        return F.while_loop(
            lambda s: s[0] != 1,
            lambda s: (F.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1),
            (n, 0),
            max_steps=limit,
        )

    assert everywhere(lambda n: collatz(n, None), np.int32(27)) == [1, 111]
    assert everywhere(lambda n: collatz(n, 10), np.int32(27)) == [214, 10]
    assert everywhere(lambda n: collatz(n, 500), np.int32(27)) == [1, 111]
    assert everywhere(lambda n: collatz(n, 10), np.int32(1)) == [1, 0]


# variables


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


# gradients


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


# the same bits everywhere


def everything(w, x):
    """Nested loops and branches, and their gradient."""

    def cost(w, x):
        def row(c, r):
            def element(s, v):
                return F.cond(v > 0, lambda: F.tanh(s @ w) + v, lambda: s - F.sin(w).sum(0)), s

            c, ys = F.scan(element, c, r)
            t = F.while_loop(lambda s: (s * s).sum() < 50, lambda s: s * 1.7 + 0.1, c, max_steps=9)
            return t * 0.1, ys.sum()

        last, sums = F.scan(row, fer.ones((4,), dtype="float64"), x)
        return (last * last).sum() + (sums * 0.3).sum()

    return [cost(w, x), fer.grad(cost)(w, x)]


@pytest.fixture(scope="module")
def nested():
    """(w, x, the results of `everything` in dynamic mode)"""
    w, x = random(4, 4), random(3, 5, seed=1)
    return w, x, flat(everything(fer.Tensor(w), fer.Tensor(x)))


def compile_everything(**options):
    specs = [fer.Spec((4, 4), "float64"), fer.Spec((3, 5), "float64")]
    return fer.compile({"main": (trace(everything), specs)}, **options)


@pytest.mark.parametrize("off", ("", "simplify", "fold", "prune", "fuse", "schedule", "memory"))
def test_loops_without_a_pass(nested, off):
    w, x, expected = nested
    program = compile_everything(disable_passes=[off] if off else [])
    results = fer.Session(program).run("main", w, x)
    assert [a.tobytes() for a in results] == [a.tobytes() for a in expected]


def test_loops_in_ferrule_run(nested, ferrule_run, tmp_path):
    w, x, expected = nested
    artifact, inputs, outputs = tmp_path / "loops.fer", tmp_path / "in.safetensors", tmp_path / "out.safetensors"
    targets = ("x86-64-v3", "x86-64-v4")
    compile_everything(targets=targets).save(artifact)
    save_file({"w": w, "x": x}, inputs)
    for target in targets:
        for threads in (1, 3):
            ferrule_run("run", artifact, "--entry", "main", "--inputs", inputs, "--outputs", outputs,
                        "--target", target, "--threads", threads)  # fmt: skip
            results = load_file(outputs)
            assert [results[f"out.{i}"].tobytes() for i in range(2)] == [a.tobytes() for a in expected]


def test_training_a_recurrent_net_of_symbolic_length():
    """Backpropagation through time in the artifact: dynamic mode, traced and a session take the same steps."""
    steps, batch = fer.Dim("steps", min=1, max=8), fer.Dim("batch", min=1, max=4)

    def make():
        read, write = M.Linear(6, 20), M.Linear(20, 3)
        again = fer.Parameter(random(20, 20, seed=9).astype("float32") * 0.2, name="again")
        parameters = [*read.parameters(), *write.parameters(), again]
        for i, parameter in enumerate(parameters[:-1]):
            parameter[...] = fer.Tensor(random(*parameter.shape, seed=i).astype("float32") * 0.3)
        gm, opt = GradManager().attach(parameters), optim.SGD(parameters, lr=0.05, momentum=0.9)

        def train(x, y):
            with gm:
                zero = fer.zeros((x.shape[1], 20))
                h, means = F.scan(lambda h, v: (F.tanh(read(v) + F.matmul(h, again)), h.mean()), zero, x)
                loss = ((write(h) - y) ** 2).mean() + means.sum() * 0.01
                gm.backward(loss)
            opt.step().clear_grad()
            return loss

        return train

    dynamic, traced = make(), trace(make())
    program = fer.compile({"train": (trace(make()), [fer.Spec((steps, batch, 6)), fer.Spec((batch, 3))])})
    session = fer.Session(program)
    for i, length in enumerate((5, 5, 1, 8)):
        x, y = random(length, 2, 6, seed=i).astype("float32"), random(2, 3, seed=i + 50).astype("float32")
        losses = [f(fer.Tensor(x), fer.Tensor(y)).numpy() for f in (dynamic, traced)]
        losses.append(session.run("train", x, y)[0])
        assert len({loss.tobytes() for loss in losses}) == 1


# with modules and views


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


# refusals


def test_errors_name_the_carry_and_both_types():
    x = fer.zeros((3,))
    with pytest.raises(ShapeError, match=r"the next carry, a\.1, is float32\(2,\) where the carry before is float32\(3,\)"):
        F.scan(lambda c, _: ({"a": [c["a"][0], c["a"][1][:2]]}, None), {"a": [x, x]}, length=2)
    with pytest.raises(DtypeError, match=r"the state before is int32\(\)"):
        F.while_loop(lambda s: s < 3, lambda s: s + 1.5, 0)
    with pytest.raises(TraceError, match="both must have one structure"):
        F.scan(lambda c, _: ((c, c), None), x, length=2)
    with pytest.raises(ShapeError, match=r"the result of else_fn is float32\(1,\) where that of then_fn is float32\(3,\)"):
        F.cond(x.sum() > 0, lambda: x, lambda: x[:1])
    with pytest.raises(ShapeError, match=r"xs\.1 has 4 slices where 3 are needed"):
        F.scan(lambda c, v: (c, None), (), (x, fer.zeros((4,))))
    with pytest.raises(ShapeError, match="the predicate has the shape"):
        F.cond(x > 0, lambda: x, lambda: x)


def test_a_value_of_a_body_does_not_leave_it():
    kept = []

    def body(c, _):
        kept.append(c + 1)
        return c, None

    F.scan(body, fer.zeros(()), length=2)
    with pytest.raises(TraceError, match="in a branch or loop body is used outside of it"):
        (kept[0] + 1).numpy()
    with pytest.raises(TraceError, match="needs the value of a tensor"):
        F.scan(lambda c, _: (c if c.item() > 0 else -c, None), fer.zeros(()), length=2)
    assert (fer.zeros(()) + 1).item() == 1  # the recorder goes on


def test_a_body_writes_into_no_tensor_from_outside():
    total = fer.zeros((3,))

    def body(c, _):
        total[...] = total + c
        return c, None

    with pytest.raises(TraceError, match="a branch or loop body writes into a tensor from outside"):
        F.scan(body, fer.ones((3,)), length=2)


def test_an_error_in_a_body_leaves_the_recorder_as_it_was():
    def body(c, _):
        raise KeyError("mine")

    for f in (lambda x: F.scan(body, x, length=2), trace(lambda x: F.scan(body, x, length=2))):
        with pytest.raises(KeyError, match="mine"):
            f(fer.zeros((2,)))
    assert trace(lambda x: x + 1)(fer.zeros((2,))).tolist() == [1, 1]


def test_a_gradient_in_a_body_of_what_was_computed_outside_is_refused():
    w = fer.Parameter(np.float32(2), name="w")
    gm = GradManager().attach([w])
    with gm:
        outside = w * w

        def body(c, _):
            gm.backward(outside * c)
            return c, None

        with pytest.raises(GradientError, match="by values that were computed outside of the body of F.scan"):
            F.scan(body, fer.ones(()), length=2)


def test_gradient_of_a_loop_without_a_limit_is_refused():
    def f(x):
        return F.while_loop(lambda s: s < 10, lambda s: s * 2, x)

    with pytest.raises(GradientError, match=r"while has no gradient: .*give it max_steps.*control_flow_test\.py:\d+"):
        fer.grad(f)(fer.Tensor(np.float64(1)))


def test_a_condition_assigns_nothing():
    count = fer.Parameter(np.float32(0), name="count")

    def condition(s):
        count.set_value(count + 1)
        return s < 3

    with pytest.raises(TraceError, match="in the condition of F.while_loop, which only the body may do"):
        F.while_loop(condition, lambda s: s + 1, 0.0)
