"""Optimizers against the same steps written in NumPy."""

import ferrule as fer
import ferrule.functional as F
import ferrule.optimizer as optim
import numpy as np
import pytest
from ferrule.errors import ArtifactError
from ferrule.jit import trace

STEPS = 5


def gradients(shape):
    rng = np.random.default_rng(3)
    return [rng.normal(size=shape) for _ in range(STEPS)]


def run(make, shape=(3, 2)):
    """The parameter after five steps with fixed gradients."""
    start = np.random.default_rng(4).normal(size=shape)
    p = fer.Parameter(start.astype("float32"))
    optimizer = make([p])
    for g in gradients(shape):
        p.grad = fer.tensor(g.astype("float32"))
        assert optimizer.step() is optimizer
        assert optimizer.clear_grad() is optimizer and p.grad is None
    return start, p.numpy()


@pytest.mark.parametrize("nesterov", (False, True))
@pytest.mark.parametrize("momentum", (0.0, 0.9))
@pytest.mark.parametrize("decay", (0.0, 0.1))
def test_sgd(momentum, decay, nesterov):
    if nesterov and momentum == 0.0:
        pytest.skip("nesterov needs a momentum")
    p, got = run(lambda ps: optim.SGD(ps, lr=0.1, momentum=momentum, nesterov=nesterov, weight_decay=decay))
    v = np.zeros_like(p)
    for g in gradients(p.shape):
        g = g + decay * p
        v = momentum * v + g
        p = p - 0.1 * (g + momentum * v if nesterov else v)
    np.testing.assert_allclose(got, p, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize(("kind", "decay"), ((optim.Adam, 0.0), (optim.Adam, 0.1), (optim.AdamW, 0.1)))
def test_adam(kind, decay):
    p, got = run(lambda ps: kind(ps, lr=0.01, weight_decay=decay))
    m, v = np.zeros_like(p), np.zeros_like(p)
    for t, g in enumerate(gradients(p.shape), 1):
        g = g + decay * p if kind is optim.Adam else g
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        delta = (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
        p = (p if kind is optim.Adam else p - 0.01 * decay * p) - 0.01 * delta
    np.testing.assert_allclose(got, p, rtol=2e-6, atol=2e-6)


def test_the_learning_rate_is_a_variable():
    p = fer.Parameter(np.zeros(2, "float32"))
    optimizer = optim.SGD([p], lr=0.5)

    @trace
    def step(g):
        p.grad = g
        optimizer.step().clear_grad()

    g = np.ones(2, "float32")
    step(g)
    optimizer.param_groups[0]["lr"] = 0.25
    step(g)
    assert p.numpy().tolist() == [-0.75, -0.75] and step.capture_count == 1
    assert float(optimizer.param_groups[0]["lr"]) == 0.25


def test_other_hyperparameters_are_recorded_anew():
    p = fer.Parameter(np.ones(1, "float32"))
    optimizer = optim.SGD([p], lr=1.0, weight_decay=0.5)

    @trace
    def step(g):
        p.grad = g
        optimizer.step().clear_grad()

    step(np.zeros(1, "float32"))
    optimizer.param_groups[0]["weight_decay"] = 0.0
    step(np.zeros(1, "float32"))
    assert p.numpy().tolist() == [0.5] and step.capture_count == 2


def test_groups_and_parameters_without_a_gradient():
    a, b, c = (fer.Parameter(np.ones(1, "float32")) for _ in range(3))
    optimizer = optim.SGD([{"params": [a], "lr": 0.5}, {"params": b}], lr=0.25)
    optimizer.add_param_group({"params": [c], "lr": 1.0, "momentum": 0.9})
    a.grad, b.grad = fer.tensor([1.0]), fer.tensor([1.0])
    optimizer.step()
    assert [p.numpy().item() for p in (a, b, c)] == [0.5, 0.75, 1.0]
    optimizer.zero_grad()
    assert a.grad.numpy().tolist() == [0] and c.grad is None


def test_schedule():
    p = fer.Parameter(np.ones(1, "float32"))
    optimizer = optim.SGD([p], lr=1.0)
    schedule = optim.MultiStepLR(optimizer, [2, 4], gamma=0.5)
    rates = []
    for _ in range(5):
        rates.append(float(optimizer.param_groups[0]["lr"]))
        schedule.step()
    assert rates == [1, 1, 0.5, 0.5, 0.25]
    state = schedule.state_dict()
    schedule.step(0)
    schedule.load_state_dict(state)
    assert float(optimizer.param_groups[0]["lr"]) == 0.25


def test_state_round_trip():
    def make():
        return optim.Adam([fer.Parameter(np.ones(2, "float32"))], lr=0.1)

    one, other = make(), make()
    for optimizer, value in ((one, 1.0), (other, 5.0)):
        optimizer.param_groups[0]["params"][0].grad = fer.tensor([value, value])
        optimizer.step()
    other.load_state_dict(one.state_dict())
    for name, value in one.state_dict()["state"][0].items():
        np.testing.assert_array_equal(other.state_dict()["state"][0][name], value)
    with pytest.raises(ArtifactError, match="groups of"):
        optim.Adam([fer.Parameter(np.ones(2, "float32")) for _ in range(2)], lr=0.1).load_state_dict(one.state_dict())


def test_a_users_optimizer_is_traced_as_well():
    class SignSGD(optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        def _create_state(self, group):
            for param in group["params"]:
                self._add_state(param, "steps", initializer=np.zeros((), "float32"))

        def _updates(self, group):
            for param in group["params"]:
                self._state[param]["steps"] += 1
                param -= group["lr"] * F.sign(param.grad)

    p = fer.Parameter(np.zeros(2, "float32"))
    optimizer = SignSGD([p], lr=0.5)

    @trace
    def step(g):
        p.grad = g
        optimizer.step().clear_grad()

    for _ in range(3):
        step(np.array([3.0, -0.1], "float32"))
    assert p.numpy().tolist() == [-1.5, 1.5] and optimizer._state[p]["steps"].item() == 3


def test_wrong_arguments_are_refused():
    p = fer.Parameter(np.ones(1, "float32"))
    for call, pattern in (
        (lambda: optim.SGD([p], lr=-1.0), "lr is -1.0; allowed: 0.0 or more"),
        (lambda: optim.SGD([p], lr=1.0, nesterov=True), "momentum"),
        (lambda: optim.Adam([p], lr=1.0, betas=(0.9, 1.0)), "beta is 1.0"),
        (lambda: optim.SGD([], lr=1.0), "at least one"),
        (lambda: optim.SGD([p, p], lr=1.0), "twice"),
    ):
        with pytest.raises(ValueError, match=pattern):
            call()
    with pytest.raises(TypeError, match="Parameters"):
        optim.SGD([fer.tensor([1.0])], lr=1.0)
