"""Branches and loops against the same loops unrolled in NumPy, in every mode with the same bits; what is refused."""

import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
import numpy as np
import pytest
from control_flow_support import check_gradient, everywhere, flat, random
from ferrule.autodiff import GradManager
from ferrule.errors import DtypeError, GradientError, ShapeError, TraceError, UnsupportedError
from ferrule.jit import trace
from safetensors.numpy import load_file, save_file

import ferrule as fer


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
