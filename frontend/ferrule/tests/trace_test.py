"""Tracing: one recording a signature, guards, effects in Python, and the same bits as dynamic mode."""

import dataclasses
import operator

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
import numpy as np
import pytest
from ferrule.autodiff import GradManager
from ferrule.errors import ShapeError, TraceError, UnsupportedError
from ferrule.jit import trace


def data(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.conv = M.Conv2d(1, 4, 3, padding=1, bias=False)
        self.bn = M.BatchNorm2d(4)
        self.fc = M.Linear(4 * 4 * 4, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn(self.conv(x))), 2)
        return self.fc(F.flatten(x, 1))


def make_training(seed=0):
    fer.random.seed(seed)
    net = Net()
    gm, opt = GradManager().attach(net.parameters()), optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

    def step(image, label):
        net.train()
        with gm:
            loss = F.nn.cross_entropy(net(image), label)
            gm.backward(loss)
        opt.step().clear_grad()
        return loss

    return net, step


def test_training_has_the_same_bits_traced_and_dynamic():
    image, label = data(16, 1, 8, 8), np.arange(16, dtype="int32") % 10
    (dynamic, step), (traced, function) = make_training(), make_training()
    traced_step = trace(symbolic=True)(function)
    losses = [(step(fer.tensor(image), fer.tensor(label)).item(), traced_step(image, label).item()) for _ in range(10)]
    assert all(a == b for a, b in losses)
    assert losses[-1][0] < losses[0][0]
    assert traced_step.capture_count == 1
    state = traced.state_dict()
    for name, value in dynamic.state_dict().items():
        np.testing.assert_array_equal(value, state[name], err_msg=name)
    x = fer.tensor(image[:1])
    predict = trace(lambda x: F.softmax(traced.eval()(x)))
    np.testing.assert_array_equal(F.softmax(dynamic.eval()(x)).numpy(), predict(x).numpy())


def test_one_recording_a_signature():
    @trace
    def f(x, scale=1.0, *, flip=False):
        return -x * scale if flip else x * scale

    x = data(3)
    np.testing.assert_array_equal(f(x, 2.0).numpy(), x * 2)
    np.testing.assert_array_equal(f(data(3, seed=1), scale=2.0).numpy(), data(3, seed=1) * 2)
    assert f.capture_count == 1
    np.testing.assert_array_equal(f(x, 2.0, flip=True).numpy(), -x * 2)
    f(data(4), 2.0)
    f(x, 3.0)
    f(x.astype("float64"), 2.0)
    assert f.capture_count == 5


@dataclasses.dataclass
class Result:
    total: object
    parts: list
    note: str


def test_trees_of_arguments_and_results():
    @trace
    def f(batch, *more, **named):
        a, (b, k) = batch["a"], batch["rest"]
        return Result(a + b * k, [t * 2.0 for t in more], "done"), {"c": named["c"], "none": None}

    x = [data(2, seed=i) for i in range(5)]
    for _ in range(2):
        result, rest = f({"a": x[0], "rest": (x[1], 3)}, x[2], fer.tensor(x[3]), c=x[4])
        np.testing.assert_array_equal(result.total.numpy(), x[0] + x[1] * np.float32(3))
        assert result.note == "done" and rest["none"] is None
        np.testing.assert_array_equal(result.parts[1].numpy(), x[3] * 2)
        np.testing.assert_array_equal(rest["c"].numpy(), x[4])
    assert f.capture_count == 1


FACTOR = 2.0
SETTINGS = {"shift": [1.0]}


def read_factor(x):
    return x * FACTOR + SETTINGS["shift"][0]


def test_globals_of_the_functions_it_calls_are_guarded(monkeypatch):
    f = trace(lambda x: read_factor(x))
    x = np.ones(2, "float32")
    assert f(x).numpy().tolist() == [3, 3]
    monkeypatch.setitem(globals(), "FACTOR", 5.0)
    assert f(x).numpy().tolist() == [6, 6]
    monkeypatch.setitem(SETTINGS, "shift", [2.0])
    assert f(x).numpy().tolist() == [7, 7] and f.capture_count == 3
    monkeypatch.setitem(SETTINGS, "shift", [1.0])
    assert f(x).numpy().tolist() == [6, 6] and f.capture_count == 3


def test_closure_variables_are_guarded():
    scale = 2.0

    def helper(x):
        return x * scale

    @trace
    def f(x):
        return helper(x)

    x = np.ones(2, "float32")
    assert f(x).numpy().tolist() == [2, 2]
    scale = 3.0
    assert f(x).numpy().tolist() == [3, 3]
    assert f(x).numpy().tolist() == [3, 3] and f.capture_count == 2


def test_module_attributes_are_guarded_and_writes_replayed():
    net = M.BatchNorm1d(2)
    x = data(4, 2)

    @trace
    def current(x):
        return net(x)

    @trace
    def evaluated(x):
        return net.eval()(x)

    train_value = current(x).numpy()
    evaluated(x)
    assert not net.training and evaluated.capture_count == 1
    assert not np.array_equal(current(x).numpy(), train_value) and current.capture_count == 2
    net.train()
    evaluated(x)
    assert not net.training and evaluated.capture_count == 1
    net.eps = 0.5
    evaluated(x)
    assert evaluated.capture_count == 2


def test_a_replaced_parameter_is_seen():
    net = M.Linear(2, 1, bias=False)
    f = trace(lambda x: net(x))
    x = np.ones((1, 2), "float32")
    f(x)
    net.weight = fer.Parameter(np.full((1, 2), 4, "float32"))
    assert f(x).item() == 8
    net.weight.set_value(np.full((1, 2), 5, "float32"))
    assert f(x).item() == 10 and f.capture_count == 2


def test_tensors_from_outside_are_constants_until_they_change():
    offset = fer.tensor([1.0])
    f = trace(lambda x: x + offset)
    assert f(np.zeros(1, "float32")).item() == 1
    offset += 2.0
    assert f(np.zeros(1, "float32")).item() == 3 and f.capture_count == 2


def test_tensors_from_outside_that_are_written_become_state():
    total = fer.tensor([0.0])

    @trace
    def add(x):
        before = total * 1.0
        total.set_value(total + x)
        return before

    assert [add(np.full(1, v, "float32")).item() for v in (1, 2, 3)] == [0, 1, 3]
    assert total.item() == 6 and add.capture_count == 1


def test_a_tensor_set_as_a_module_attribute_becomes_the_buffers_value():
    class Memory(M.Module):
        def __init__(self):
            super().__init__()
            self.last = fer.Tensor(np.zeros(2, "float32"))

        def forward(self, x):
            result = x + self.last
            self.last = x
            return result

    memory = Memory()
    f = trace(lambda x: memory(x))
    assert f(np.array([1, 2], "float32")).numpy().tolist() == [1, 2]
    assert f(np.array([3, 4], "float32")).numpy().tolist() == [4, 6]
    assert memory.last.numpy().tolist() == [3, 4] and f.capture_count == 1

    class Forgetful(M.Module):
        def forward(self, x):
            self.last = x * 2.0
            return x

    with pytest.raises(TraceError, match=r"Forgetful\.last.*trace_test.py"):
        trace(lambda x: Forgetful()(x))(np.zeros(2, "float32"))


def test_gradients_that_are_left_are_kept_and_added_to():
    p = fer.Parameter(np.array([1.0, 2.0], "float32"))
    gm = GradManager().attach([p])

    @trace
    def backward(x):
        with gm:
            gm.backward(F.sum(p * x))

    x = np.array([1.0, 3.0], "float32")
    for times in (1, 2, 3, 4):
        backward(x)
        np.testing.assert_array_equal(p.grad.numpy(), x * times)
    assert backward.capture_count == 2
    p.grad = None
    backward(x)
    np.testing.assert_array_equal(p.grad.numpy(), x)
    with gm:
        gm.backward(F.sum(p * 5.0))
    backward(x)
    np.testing.assert_array_equal(p.grad.numpy(), 2 * x + 5)
    assert backward.capture_count == 2


def test_gradients_of_inputs_inside_a_trace():
    @trace
    def slope(x):
        gm = GradManager().attach([x])
        with gm:
            gm.backward(F.sum(x * x))
        return x.grad

    assert slope(np.array([1.0, 3.0], "float32")).numpy().tolist() == [2, 6]
    assert slope(np.array([2.0, 3.0], "float32")).numpy().tolist() == [4, 6] and slope.capture_count == 1


def test_calls_inside_a_trace_and_under_a_grad_manager_are_part_of_them():
    @trace
    def square(x):
        return x * x

    outer = trace(lambda x: square(x) + 1.0)
    assert outer(np.full(1, 3, "float32")).item() == 10 and square.capture_count == 0
    p = fer.Parameter(np.array([3.0], "float32"))
    gm = GradManager().attach([p])
    with gm:
        gm.backward(F.sum(square(p)))
    assert p.grad.item() == 6


def test_switches():
    off = trace(lambda x: x * 2.0, enabled=False)
    off(data(2))
    assert off.capture_count == 0
    off.enabled = True
    off(data(2))
    off(data(2))
    assert off.capture_count == 1
    later = trace(symbolic=False)(lambda x: x if float(x.sum()) > 0 else -x)
    assert later(np.ones(2, "float32")).numpy().tolist() == [1, 1]
    with pytest.raises(TraceError, match="float"):
        later(np.ones(2, "float32"))


def test_methods_can_be_traced():
    class Scaler(M.Module):
        def __init__(self, factor):
            super().__init__()
            self.factor = factor

        @trace
        def scale(self, x):
            return x * self.factor

    two, three = Scaler(2.0), Scaler(3.0)
    x = np.ones(1, "float32")
    assert (two.scale(x).item(), three.scale(x).item(), two.scale(x).item()) == (2, 3, 2)
    two.factor = 4.0
    assert two.scale(x).item() == 4


USES = {name: operator.methodcaller(name) for name in ("item", "numpy", "tolist")}


@pytest.mark.parametrize("use", (bool, int, float, np.asarray, *USES.values()), ids=str)
def test_values_in_a_trace_are_refused_with_line_and_repair(use):
    def f(x):
        return x if use(x.sum()) else -x

    line = f.__code__.co_firstlineno + 1
    with pytest.raises(TraceError, match=rf"trace_test.py:{line}.*F\.where"):
        trace(f)(np.ones(2, "float32"))
    assert trace(lambda x: -x)(np.ones(1, "float32")).item() == -1


def _while(x):
    while x.sum() < 10:
        x = x + 1
    return x


def _assert(x):
    assert x.sum() > 0, "positive"
    return x


# Everything that a function can do with a value that does not exist yet, each with the line that does it.
DECISIONS = {
    "if": (lambda x: x if x.sum() > 0 else -x, 0),
    "while": (_while, 1),
    "for": (lambda x: [x for _ in range(x[0].astype("int32"))], 0),
    "and": (lambda x: x if x.sum() > 0 and x.sum() < 9 else -x, 0),
    "or": (lambda x: x if x.sum() > 0 or x.sum() < 9 else -x, 0),
    "not": (lambda x: x if not x.sum() > 0 else -x, 0),
    "in": (lambda x: x if 3.0 in x else -x, 0),
    "max": (lambda x: x + max(x[0], x[1]), 0),
    "assert": (_assert, 1),
    "list index": (lambda x: [x, -x][x[0].astype("int32")], 0),
    "format": (lambda x: f"{x[0]:.3f}", 0),
    "shape of zeros": (lambda x: F.zeros((x[0].astype("int32"), 2)), 0),
    "shape of reshape": (lambda x: F.reshape(x, (x[0].astype("int32"), -1)), 0),
    "array": (lambda x: x + np.asarray(x), 0),
}


@pytest.mark.parametrize("how", ("trace", "symbolic", "compile"))
@pytest.mark.parametrize("decision", DECISIONS)
def test_decisions_by_values_are_refused_with_line_and_repair(decision, how):
    f, offset = DECISIONS[decision]
    line = f.__code__.co_firstlineno + offset
    traced = trace(symbolic=how == "symbolic")(f)
    if how == "trace":
        traced(np.ones(2, "float32"))  # the first call is in dynamic mode, where there are values
    with pytest.raises(TraceError, match=rf"trace_test.py:{line}: .*F\.where or F\.cond.*F\.while_loop"):
        if how == "compile":
            fer.compile({"f": (trace(symbolic=True)(f), [fer.Spec((2,), "float32")])})
        else:
            traced(np.ones(2, "float32"))


def test_an_error_while_recording_leaves_everything_usable():
    p = fer.Parameter(np.ones(2, "float32"))
    gm = GradManager().attach([p])
    p.grad = fer.tensor([7.0, 7.0])

    @trace
    def wrong(x):
        with gm:
            gm.backward(F.sum(p * x))
        p.set_value(p * 2.0)
        return F.matmul(x, fer.zeros((3, 3)))

    with pytest.raises(ShapeError):
        wrong(np.ones(2, "float32"))
    assert p.numpy().tolist() == [1, 1] and p.grad.numpy().tolist() == [7, 7]
    with gm:
        gm.backward(F.sum(p * 2.0))
    assert p.grad.numpy().tolist() == [9, 9]


def test_a_value_that_always_changes_is_named_in_a_warning():
    class Counter(M.Module):
        def __init__(self):
            super().__init__()
            self.count = 0

        def forward(self, x):
            self.count += 1
            return x * float(self.count)

    counter = Counter()
    f = trace(lambda x: counter(x))
    x = np.ones(1, "float32")
    with pytest.warns(UserWarning, match=r"Counter\.count"):
        assert [f(x).item() for _ in range(18)] == list(range(1, 19))


def test_what_cannot_be_traced_is_refused():
    with pytest.raises(UnsupportedError, match="Linear"):
        trace(M.Linear(2, 2))
    with pytest.raises(UnsupportedError, match="speed"):
        trace(lambda x: x, speed=9)


def test_a_list_that_the_function_changes_is_right_at_every_call():
    seen = []

    @trace
    def f(x):
        seen.append(None)
        return x * float(len(seen))

    assert [f(np.ones(1, "float32")).item() for _ in range(3)] == [1, 2, 3]
