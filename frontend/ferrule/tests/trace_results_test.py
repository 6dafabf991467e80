"""What a traced function returns and leaves behind: aliases, writes into arguments, effects in Python, failures."""

import collections
import dataclasses
import threading
import types

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import numpy as np
import pytest
from ferrule.errors import ShapeError, TraceError, UnsupportedError
from ferrule.jit import trace


def data(*shape):
    return np.arange(1, 1 + int(np.prod(shape)), dtype="float32").reshape(shape)


def both(f, **options):
    """The function as it is and traced; a traced one is called several times."""
    return [f, trace(f, **options)]


Pair = collections.namedtuple("Pair", "left right")


@dataclasses.dataclass
class State:
    value: object
    note: str = ""


def test_results_that_are_arguments_are_those_objects():
    def f(x, named):
        return x, {"again": x, "one": named["y"]}, 3, None, "text", 2.5, True, x.shape

    for run in both(f):
        x, y = fer.tensor(data(2)), fer.tensor(data(3))
        for _ in range(2):
            first, rest, *plain = run(x, {"y": y})
            assert first is x and rest["again"] is x and rest["one"] is y
            assert plain == [3, None, "text", 2.5, True, (2,)]


def test_results_from_outside_are_those_objects():
    p, constant = fer.Parameter(data(2)), fer.tensor(data(2))
    net = M.Linear(2, 2)

    def f(x):
        p.set_value(p + x)
        return p, constant, net.weight, net

    for run in both(f):
        got = run(fer.tensor(data(2)))
        assert got[0] is p and got[1] is constant and got[2] is net.weight and got[3] is net
    np.testing.assert_array_equal(p.numpy(), data(2) * 3)


def test_the_same_result_twice_is_one_object():
    def f(x):
        y = x * 2
        return [y, y, Pair(y, y * 1)]

    for run in both(f):
        a, b, pair = run(fer.tensor(data(2)))
        assert a is b and pair.left is a and pair.right is not a and isinstance(pair, Pair)


def test_results_that_are_views_share_memory_with_what_they_are_views_of():
    outside = fer.tensor(data(3))

    def f(x):
        y = x * 2
        return x[1:], y, y[0], y.T, outside[:2]

    for run in both(f):
        x = fer.tensor(data(2, 2))
        for _ in range(2):
            rest, y, row, turned, part = run(x)
            rest += 10
            row *= 0
            turned[1, 1] = -1
            part[0] += 1
            np.testing.assert_array_equal(x.numpy()[1], rest.numpy()[0])
            np.testing.assert_array_equal(y.numpy()[0], [0, 0])
            assert y.numpy()[1, 1] == -1 and outside.numpy()[0] == part.numpy()[0]
        assert x.tolist() == [[1, 2], [23, 24]]
    assert outside.tolist() == [5, 2, 3]


def test_writes_into_arguments_reach_the_caller():
    def f(x, rows, p):
        x += 1
        rows[0][...] = x * 2
        p *= 2
        return None

    for run in both(f):
        x, p = fer.tensor(data(2)), fer.Parameter(data(2))
        whole = fer.tensor(data(3, 2))
        for _ in range(2):
            run(x, [whole[1]], p)
        np.testing.assert_array_equal(x.numpy(), [3, 4])
        np.testing.assert_array_equal(whole.numpy(), [[1, 2], [6, 8], [5, 6]])
        np.testing.assert_array_equal(p.numpy(), [4, 8])


def test_arguments_that_share_memory_do_so_while_recording():
    def f(a, b):
        a += 1
        return a + b

    for run in both(f):
        x = fer.tensor(data(4))
        assert run(x, x).tolist() == [4, 6, 8, 10]
        assert run(fer.tensor(data(4)), fer.tensor(data(4))).tolist() == [3, 5, 7, 9]
        assert run(x[1:3], x[::-1][1:3]).tolist() == [9, 9] and x.tolist() == [2, 4, 5, 5]
        assert run(x, x[...]).tolist() == [6, 10, 12, 12] and x.tolist() == [3, 5, 6, 6]
        assert run(x[:2], x[2:]).tolist() == [10, 12]


def test_containers_that_are_given_are_changed_in_place():
    def f(x, out, table, nested):
        out.append(x * 2)
        table["count"] = len(out)
        table.setdefault("names", []).append("a")
        nested[0].append(x)

    for run in both(f):
        out, table, inner = [], {}, []
        for count in (1, 2, 3):
            run(fer.tensor(data(2) * count), out, table, (inner,))
        assert [value.tolist() for value in out] == [[2, 4], [4, 8], [6, 12]]
        assert table == {"count": 3, "names": ["a", "a", "a"]}
        assert [value.tolist() for value in inner] == [[1, 2], [2, 4], [3, 6]]


def test_a_changed_dataclass_argument_is_refused():
    def f(state):
        state.value = state.value * 2

    with pytest.raises(UnsupportedError, match=r"f changes a field of a dataclass.*results_test.py"):
        trace(f)(State(data(2)))


calls = 0
history = []
settings = types.SimpleNamespace(scale=2.0, log=None)


class Config:
    shift = 1.0


class Trainer:
    """A plain class, no Module."""

    rate = 0.5

    def __init__(self):
        self.steps = 0
        self.losses = []
        self.last = None

    def step(self, x):
        self.steps += 1
        loss = (x * self.rate).sum()
        self.losses.append(loss)
        self.last = loss
        return loss


def test_counters_and_lists_from_outside_go_on_at_every_call():
    global calls
    inner = 0

    def f(x):
        global calls
        nonlocal inner
        calls += 1
        inner += 2
        history.append(calls)
        return x * float(inner)

    for run in both(f):
        calls, inner = 0, 0
        history.clear()
        for _ in range(2):
            assert [run(np.ones(1, "float32")).item() for _ in range(3)] == [2, 4, 6]
            assert calls == 3 and inner == 6 and history == [1, 2, 3]
            calls, inner = 0, 0
            history.clear()


def test_attributes_of_plain_objects_are_guarded_and_go_on():
    for make in (lambda f: f, trace):
        trainer = Trainer()
        step = make(trainer.step)
        got = [step(fer.tensor(data(2) * k)).item() for k in (1, 2, 3)]
        assert got == [1.5, 3, 4.5] and trainer.steps == 3
        assert [loss.item() for loss in trainer.losses] == got and trainer.last is trainer.losses[-1]


def test_attributes_of_objects_classes_and_modules_that_the_function_names(monkeypatch):
    import math

    @trace
    def f(x):
        return x * settings.scale + Config.shift + math.pi * 0

    x = np.ones(1, "float32")
    assert f(x).item() == 3 and f(x).item() == 3 and f.capture_count == 1
    monkeypatch.setattr(settings, "scale", 4.0)
    assert f(x).item() == 5
    monkeypatch.setattr(Config, "shift", 2.0)
    assert f(x).item() == 6 and f.capture_count == 3
    settings.unrelated = 1
    f(x)
    assert f.capture_count == 3


def test_what_other_threads_read_meanwhile_is_no_guard():
    net, other = M.Linear(2, 2), M.Linear(2, 2)
    other.mark = 1

    @trace
    def f(x):
        thread = threading.Thread(target=lambda: other.mark)
        thread.start()
        thread.join()
        return net(x)

    f(data(1, 2))
    other.mark = 2
    f(data(1, 2))
    assert f.capture_count == 1


def test_what_is_only_written_is_no_guard():
    class Meter:
        pass

    meter = Meter()

    @trace
    def f(x):
        meter.loss = (x * 2).sum()
        return x

    for k in (1, 2, 3):
        f(data(2) * k)
        assert meter.loss.item() == 6 * k
    assert f.capture_count == 1


def test_prints_asserts_and_helpers_leave_nothing_in_the_program(capsys):
    def helper(x, *rest, scale=2.0, **named):
        assert x.shape == (3,), "three"
        for value in (scale * factor for factor in rest):
            x = x * value
        return x + named.get("shift", 0.0)

    @trace
    def f(x):
        print("recording", x.shape)
        return helper(x, 1.0, 3.0, shift=5.0)

    for _ in range(2):
        np.testing.assert_array_equal(f(data(3)).numpy(), data(3) * 2 * 6 + 5)
    assert capsys.readouterr().out == "recording (3,)\n"
    with pytest.raises(AssertionError, match="three"):
        f(data(4))


def test_recursion_decorators_and_generators():
    def twice(function):
        def wrapped(self, x):
            return function(self, function(self, x))

        return wrapped

    class Tower:
        def __init__(self, factor):
            self.factor = factor

        @trace
        @twice
        def grow(self, x):
            return x * self.factor

    def power(x, n):
        return x if n == 0 else power(x, n - 1) * x

    def terms(x):
        for n in range(3):
            yield power(x, n)

    tower = Tower(3.0)
    assert tower.grow(np.ones(1, "float32")).item() == 9
    tower.factor = 2.0
    assert tower.grow(np.ones(1, "float32")).item() == 4
    series = trace(lambda x: sum(terms(x)))
    assert series(np.full(1, 2, "float32")).item() == 2 + 4 + 8


def test_results_in_which_tensors_cannot_be_found_are_refused():
    class Box:
        def __init__(self, value):
            self.value = value

    x = data(2)
    with pytest.raises(UnsupportedError, match="Box with a tensor in .value"):
        trace(lambda x: Box(x * 2))(x)
    with pytest.raises(UnsupportedError, match="set of tensors"):
        trace(lambda x: {x * 2})(x)
    with pytest.raises(UnsupportedError, match="generator.*return a list"):
        trace(lambda x: (x * k for k in (1, 2)))(x)
    with pytest.raises(UnsupportedError, match="generator"):

        @trace
        def f(x):
            yield x


def test_a_failed_recording_leaves_nothing_behind():
    net, trainer = M.BatchNorm1d(2), Trainer()
    numbers, table = [1, [2]], {"a": 1}
    net.train()

    @trace
    def f(x):
        net.eval()
        trainer.steps += 1
        trainer.last = x * 2
        numbers[1].append(3)
        numbers.append(4)
        table["b"] = 5
        settings.log = "written"
        net(x)
        return F.matmul(x, fer.zeros((3, 3)))

    before = net.state_dict()
    for _ in range(2):
        with pytest.raises(ShapeError):
            f(data(4, 2))
        assert net.training and trainer.steps == 0 and trainer.last is None and settings.log is None
        assert numbers == [1, [2]] and table == {"a": 1} and f.capture_count == 0
    for name, value in net.state_dict().items():
        np.testing.assert_array_equal(value, before[name])


def test_the_error_of_the_function_is_the_error_of_the_call():
    class Special(Exception):
        pass

    problem = Special("mine")

    @trace
    def f(x):
        raise problem

    with pytest.raises(Special) as caught:
        f(data(1))
    assert caught.value is problem
    assert trace(lambda x: x * 2)(data(1)).item() == 2


def test_check_always_finds_what_no_guard_sees():
    hidden = [iter([1.0, 1.0, 2.0])]

    def draw():
        return next(hidden[0])

    f = trace(lambda x: x * draw(), check="always")
    assert f(data(1)).item() == 1
    with pytest.raises(TraceError, match=r"another program.*constant.*Pass what changes as an argument"):
        for _ in range(2):
            f(data(1))
    seen = []

    @trace(check="always")
    def g(x):
        seen.append(1)
        return x * float(len(seen))

    assert [g(data(1)).item() for _ in range(3)] == [1, 2, 3] and len(seen) == 3
    with pytest.raises(UnsupportedError, match="check='often'"):
        trace(lambda x: x, check="often")


def test_a_signature_that_always_changes_is_named_in_a_warning():
    f = trace(lambda batch, scale: batch["x"] * scale)
    with pytest.warns(UserWarning, match=r"batch\.x was float32\[64\] and is float32\[65\]"):
        for size in range(1, 66):
            f({"x": np.ones(size, "float32")}, 1.0)
    assert len(f._programs) == 64
    g = trace(lambda x, scale: x * scale)
    with pytest.warns(UserWarning, match="pass numbers that change as tensors"):
        for scale in range(66):
            g(np.ones(1, "float32"), float(scale))


def test_all_traces_can_be_switched_off(monkeypatch):
    plain, always = trace(lambda x: x * 2), trace(enabled=True)(lambda x: x * 2)
    monkeypatch.setattr(trace, "enabled", False)
    assert plain(data(1)).item() == 2 and always(data(1)).item() == 2
    assert plain.capture_count == 0 and always.capture_count == 1


def test_options_are_meant_or_refused():
    from ferrule import jit
    from ferrule.jit import GraphOptimizationConfig, exclude_from_trace, partial_trace

    config = GraphOptimizationConfig()
    f = trace(symbolic_shape=True, capture_as_const=True, opt_level=2, graph_opt_config=config)(lambda x: x * 2)
    assert f(data(1)).item() == 2 and partial_trace(lambda x: x + 1)(data(1)).item() == 2
    for option in ({"profiling": True}, {"backend": "xla"}, {"opt_level": 9}, {"sublinear_memory_config": object()}):
        with pytest.raises(UnsupportedError, match=f"{next(iter(option))}=.*allowed"):
            trace(lambda x: x, **option)
    for name in ("xla_trace", "SublinearMemoryConfig", "DTRConfig"):
        with pytest.raises(UnsupportedError, match=name):
            getattr(jit, name)()
    with exclude_from_trace():
        assert fer.tensor(1.0).item() == 1

    def g(x):
        with exclude_from_trace():
            return x

    with pytest.raises(TraceError, match=r"exclude_from_trace at trace_results_test.py"):
        trace(g)(data(1))


def test_dump(tmp_path):
    net = M.Linear(3, 2)

    @trace(capture_as_const=True)
    def predict(x, scale, *, flag=True):
        return {"scores": net(x) * scale, "flag": flag}

    with pytest.raises(TraceError, match="call the function once"):
        predict.dump(tmp_path / "early.fer")
    x, scale = data(4, 3), np.float32(2)
    want = predict(x, scale)["scores"].numpy()
    predict.dump(tmp_path / "net.fer", arg_names=["image", "scale"], output_names=["scores"])
    program = fer.load(tmp_path / "net.fer")
    assert program.entries == ["predict"]
    assert [spec["name"] for spec in program.signature("predict")["inputs"]] == ["image", "scale"]
    assert [spec["name"] for spec in program.signature("predict")["outputs"]] == ["scores"]
    session = fer.Session(program)
    assert sorted(session.variables()) == ["net.bias", "net.weight"]
    np.testing.assert_array_equal(session.run("predict", image=x, scale=scale)[0], want)
    with open(tmp_path / "again.fer", "wb") as file:
        predict.dump(file, arg_names=["image", "scale"], output_names="scores")
    assert (tmp_path / "again.fer").read_bytes() == (tmp_path / "net.fer").read_bytes()
    with pytest.raises(UnsupportedError, match="arg_names .* for 2 tensor inputs"):
        predict.dump(tmp_path / "x.fer", arg_names=["image"])
    with pytest.raises(UnsupportedError, match="2 output names .* for 1 outputs"):
        predict.dump(tmp_path / "x.fer", output_names=["a", "b"])
    with pytest.raises(UnsupportedError, match="dump: the option 'optimise'"):
        predict.dump(tmp_path / "x.fer", optimise=True)


def test_dump_of_a_method_has_the_names_of_its_object(tmp_path):
    class Scaler(M.Module):
        def __init__(self):
            super().__init__()
            self.factor = fer.Parameter(data(2))

        @trace
        def scale(self, x):
            return x * self.factor

    scaler = Scaler()
    scaler.scale(data(2))
    program = scaler.scale.__func__.dump(tmp_path / "scale.fer")
    session = fer.Session(program)
    assert session.variables() == ["self.factor"]
    np.testing.assert_array_equal(session.run("scale", data(2))[0], data(2) ** 2)


def test_gradients_flow_through_calls_of_traced_functions():
    w = fer.Parameter(data(3))
    layer = trace(lambda x: F.sum(w * x * x))
    x = data(3)
    layer(x)
    value, gradient = fer.value_and_grad(layer)(fer.tensor(x))
    np.testing.assert_array_equal(gradient.numpy(), 2 * data(3) * x)
    outer = trace(fer.grad(layer))
    np.testing.assert_array_equal(outer(x).numpy(), 2 * data(3) * x)
    assert value.item() == float((x * x * x).sum())
