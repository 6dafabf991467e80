"""Optimizers against torch's steps in float64 (oracle/make_optimizers.py), and against steps written in NumPy."""

import json
import pathlib

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
import numpy as np
import pytest
from ferrule.autodiff import GradManager
from ferrule.errors import ArtifactError, TraceError, UnsupportedError
from ferrule.jit import trace

ORACLE = json.loads((pathlib.Path(__file__).parent / "oracle" / "optimizers.json").read_text())


def run(make, dtype="float64"):
    """The parameter after each of the oracle's steps, one optimizer step in dynamic mode and the rest traced."""
    p = fer.Parameter(np.array(ORACLE["start"], dtype))
    optimizer = make([p])

    @trace
    def traced(g):
        p.grad = g
        optimizer.step().clear_grad()

    values = []
    for i, g in enumerate(np.array(ORACLE["gradients"], dtype)):
        if i == 0:
            p.grad = fer.tensor(g)
            assert optimizer.step() is optimizer
            assert optimizer.clear_grad() is optimizer and p.grad is None
        else:
            traced(g)
        values.append(p.numpy())
    assert traced.capture_count == 1 and all(value.dtype == dtype for value in values)
    return values


@pytest.mark.parametrize("case", ORACLE["optimizers"], ids=lambda case: f"{case['name']}-{case['arguments']}")
@pytest.mark.parametrize(("dtype", "tolerance"), (("float64", 1e-10), ("float32", 5e-6)))
def test_steps_of_torch(case, dtype, tolerance):
    got = run(lambda ps: getattr(optim, case["name"])(ps, **case["arguments"]), dtype)
    np.testing.assert_allclose(got, case["values"], rtol=tolerance, atol=tolerance)


def expected(update):
    """The oracle's parameter after each step of ``update(p, g, t)``, written in NumPy."""
    p, values = np.array(ORACLE["start"]), []
    for t, g in enumerate(np.array(ORACLE["gradients"]), 1):
        p = update(p, g, t)
        values.append(p)
    return values


def test_adagrad_adds_eps_inside_the_root():
    state = {"s": 0.0}

    def update(p, g, t):
        state["s"] = state["s"] + g * g
        return p - 0.125 / (1 + (t - 1) * 0.5) * g / np.sqrt(state["s"] + 0.25)

    got = run(lambda ps: optim.Adagrad(ps, lr=0.125, lr_decay=0.5, eps=0.25))
    np.testing.assert_allclose(got, expected(update), rtol=1e-10)


@pytest.mark.parametrize("correct", (False, True))
@pytest.mark.parametrize(("decay", "always"), ((0.0, False), (0.0, True), (0.25, False)))
def test_lamb(decay, always, correct):
    m, v = 0.0, 0.0

    def update(p, g, t):
        nonlocal m, v
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
        unbiased = (m / (1 - 0.9**t), v / (1 - 0.99**t)) if correct else (m, v)
        r = unbiased[0] / (np.sqrt(unbiased[1]) + 1e-6) + decay * p
        trust = np.linalg.norm(p) / np.linalg.norm(r) if always or decay else 1.0
        return p - 0.125 * trust * r

    arguments = dict(lr=0.125, betas=(0.9, 0.99), eps=1e-6, bias_correction=correct, weight_decay=decay)
    got = run(lambda ps: optim.LAMB(ps, always_adapt=always, **arguments))
    np.testing.assert_allclose(got, expected(update), rtol=1e-9)


@pytest.mark.parametrize("nesterov", (False, True))
@pytest.mark.parametrize("decay", (0.0, 0.25))
def test_lars(decay, nesterov):
    v = 0.0

    def update(p, g, t):
        nonlocal v
        trust = 0.5 * np.linalg.norm(p) / (np.linalg.norm(g) + decay * np.linalg.norm(p) + 1e-3)
        r = trust * (g + decay * p)
        v = 0.9 * v + r
        return p - 0.125 * (r + 0.9 * v if nesterov else v)

    arguments = dict(lr=0.125, nesterov=nesterov, weight_decay=decay, trust_coefficient=0.5, eps=1e-3)
    np.testing.assert_allclose(run(lambda ps: optim.LARS(ps, **arguments)), expected(update), rtol=1e-9)


@pytest.mark.parametrize("kind", (optim.LAMB, optim.LARS))
def test_a_parameter_of_zeros_takes_a_plain_step(kind):
    p = fer.Parameter(np.zeros(2, "float32"))
    optimizer = kind([p], lr=0.5, weight_decay=0.25)
    p.grad = fer.tensor([1.0, -1.0])
    optimizer.step()
    np.testing.assert_allclose(p.numpy(), [-0.5, 0.5], rtol=1e-5)


@pytest.mark.parametrize("decay", (0.0, 0.25))
def test_lion(decay):
    m = 0.0

    def update(p, g, t):
        nonlocal m
        step, m = np.sign(0.75 * m + 0.25 * g), 0.5 * m + 0.5 * g
        return p - 0.125 * (step + decay * p)

    got = run(lambda ps: optim.Lion(ps, lr=0.125, betas=(0.75, 0.5), weight_decay=decay))
    np.testing.assert_allclose(got, expected(update), rtol=1e-10)


def test_adamw_by_hand():
    """Decoupled decay, bias correction, eps outside the root: three steps on one number with the gradient 1."""
    p = fer.Parameter(np.array(1.0))
    optimizer = optim.AdamW([p], lr=0.125, eps=0.0, weight_decay=0.5)
    for wanted in (1 - 0.0625 - 0.125, 0.8125 * 0.9375 - 0.125, (0.8125 * 0.9375 - 0.125) * 0.9375 - 0.125):
        p.grad = fer.tensor(np.array(1.0))
        optimizer.step()
        np.testing.assert_allclose(p.numpy(), wanted, rtol=1e-12)


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


def test_a_momentum_that_comes_later_has_a_velocity():
    p = fer.Parameter(np.zeros(1, "float32"))
    optimizer = optim.SGD([p], lr=1.0)

    @trace
    def step(g):
        p.grad = g
        optimizer.step().clear_grad()

    one = np.ones(1, "float32")
    step(one)
    optimizer.param_groups[0]["momentum"] = 0.5
    step(one)
    step(one)
    assert p.numpy().tolist() == [-(1 + 1 + 1.5)] and step.capture_count == 2


def test_a_scheduled_hyperparameter_is_a_variable():
    p = fer.Parameter(np.zeros(1, "float32"))
    optimizer = optim.Adam([p], lr=1.0, betas=(0.5, 0.5), eps=0.0)
    group = optimizer.param_groups[0]
    group.schedule("betas")

    @trace
    def step(g):
        p.grad = g
        optimizer.step().clear_grad()

    one = np.ones(1, "float32")
    step(one)
    group["betas"] = (0.0, 0.75)
    step(one)
    # m = 1 and its correction 1 - 0 = 1; v = 0.75 * 0.5 + 0.25 and its correction 1 - 0.75^2.
    np.testing.assert_allclose(p.numpy(), -1 - 1 / np.sqrt(0.625 / (1 - 0.75**2)), rtol=1e-6)
    assert step.capture_count == 1
    assert [name for name, _, param in optimizer.named_state() if param is None] == ["lr", "betas.0", "betas.1"]


def test_what_the_step_reads_of_an_optimizer_is_guarded():
    p, q = (fer.Parameter(np.ones(1, "float32")) for _ in range(2))
    optimizer = optim.LAMB([p, q], lr=1.0, betas=(0.0, 0.0), eps=0.0)
    one = np.ones(1, "float32")

    @trace
    def step(g):
        p.grad, q.grad = g, g
        optimizer.step().clear_grad()

    step(one)
    q.requires_grad = False
    step(one)
    assert (p.item(), q.item()) == (-1, 0) and step.capture_count == 2
    step(one)
    assert step.capture_count == 2
    optimizer.always_adapt = True
    step(one)  # |p| / |step| = 2
    assert p.item() == -4 and step.capture_count == 3
    q.requires_grad = True
    optimizer.add_param_group({"params": [fer.Parameter(one)]})
    step(one)
    assert step.capture_count == 4


def make_schedule(optimizer, name, arguments):
    """The schedule; the ``schedulers`` of one that is made of others are (name, arguments)."""
    parts = [make_schedule(optimizer, *part) for part in arguments.get("schedulers", ())]
    arguments = arguments | ({"schedulers": parts} if parts else {})
    kind = getattr(optim, name)
    return kind(**arguments) if name == "ChainedScheduler" else kind(optimizer, **arguments)


@pytest.mark.parametrize("case", ORACLE["schedules"], ids=lambda case: f"{case['name']}-{case['arguments']}")
def test_schedules_of_torch(case):
    """The rates of torch, in one program that is never recorded again."""
    p = fer.Parameter(np.zeros(1, "float32"))
    optimizer = optim.SGD([p], lr=0.5, momentum=0.9)
    schedule = make_schedule(optimizer, case["name"], case["arguments"])

    @trace
    def step(g):
        p.grad = g
        optimizer.step().clear_grad()

    momentum = []
    for i, wanted in enumerate(case["rates"]):
        if i:
            schedule.step()
        assert float(optimizer.param_groups[0]["lr"]) == pytest.approx(wanted, rel=1e-6, abs=1e-9)
        assert schedule.get_last_lr() == [pytest.approx(wanted, rel=1e-9, abs=1e-12)]
        momentum.append(float(optimizer.param_groups[0]["momentum"]))
        step(np.ones(1, "float32"))
    assert step.capture_count == 1
    if case is next(each for each in ORACLE["schedules"] if each["name"] == case["name"]):
        np.testing.assert_allclose(momentum, ORACLE["momenta"].get(case["name"], momentum[:1] * len(momentum)), rtol=1e-6)
    state = schedule.state_dict()
    schedule.step(3)
    schedule.load_state_dict(json.loads(json.dumps(state)))
    assert schedule.current_epoch == len(case["rates"]) - 1
    assert schedule.get_last_lr() == [pytest.approx(case["rates"][-1], rel=1e-9, abs=1e-12)]


def test_the_rate_of_a_schedule_moves_the_parameter():
    """Twice the rate, twice the step, also where the step was compiled at the first rate."""
    p = fer.Parameter(np.zeros(1, "float32"))
    optimizer = optim.SGD([p], lr=1.0)
    schedule = optim.LambdaLR(optimizer, lambda epoch: 2.0**epoch)

    @trace
    def step(g):
        p.grad = g
        optimizer.step().clear_grad()

    for _ in range(4):
        step(np.ones(1, "float32"))
        schedule.step()
    assert p.item() == -(1 + 2 + 4 + 8) and step.capture_count == 1


def test_rates_multiplied_epoch_by_epoch():
    optimizer = optim.SGD([fer.Parameter(np.zeros(1, "float32"))], lr=1.0)
    schedule = optim.MultiplicativeLR(optimizer, lambda epoch: epoch / 2)
    rates = schedule.get_last_lr()
    for _ in range(4):
        schedule.step()
        rates += schedule.get_last_lr()
    assert rates == [1, 0.5, 0.5, 0.75, 1.5]
    schedule.step(2)
    assert schedule.get_last_lr() == [0.5]


def test_a_cycle_scaled_by_a_function_and_one_of_each_group():
    ps = [fer.Parameter(np.zeros(1, "float32")) for _ in range(2)]
    optimizer = optim.Adam([{"params": ps[:1]}, {"params": ps[1:]}], lr=1.0)
    schedule = optim.CyclicLR(
        optimizer, [0.0, 1.0], [1.0, 3.0], 1, scale_fn=lambda step: step, scale_mode="iterations", base_momentum=[0.5, 0.25]
    )
    schedule.step()
    assert schedule.get_last_lr() == [1.0, 3.0]
    assert [float(group["betas"][0]) for group in optimizer.param_groups] == [0.5, 0.25]


def test_warm_up_before_another_schedule():
    optimizer = optim.SGD([fer.Parameter(np.zeros(1, "float32"))], lr=1.0)
    after = optim.MultiStepLR(optimizer, [2], gamma=0.5)
    schedule = optim.LinearWarmup(optimizer, 4, after)
    rates = schedule.get_last_lr()
    for _ in range(7):
        schedule.step()
        rates += schedule.get_last_lr()
    assert rates == [0, 0.25, 0.5, 0.75, 1, 1, 0.5, 0.5]


def test_plateau():
    optimizer = optim.SGD([fer.Parameter(np.zeros(1, "float32"))], lr=0.5)
    schedule = optim.ReduceLROnPlateau(optimizer, **ORACLE["plateau"]["arguments"])
    for metric, wanted in zip(ORACLE["plateau"]["metrics"], ORACLE["plateau"]["rates"]):
        schedule.step(fer.tensor(metric))
        assert float(optimizer.param_groups[0]["lr"]) == pytest.approx(wanted, rel=1e-6)
    state = schedule.state_dict()
    other = optim.ReduceLROnPlateau(optim.SGD([fer.Parameter(np.zeros(1, "float32"))], lr=0.5))
    other.load_state_dict(state)
    assert other.state_dict() == state and float(other.optimizer.param_groups[0]["lr"]) == pytest.approx(0.1)


def test_a_schedule_is_no_part_of_a_traced_step():
    p = fer.Parameter(np.zeros(1, "float32"))
    optimizer = optim.SGD([p], lr=1.0)
    schedule = optim.StepLR(optimizer, 1)

    @trace
    def step(g):
        p.grad = g
        optimizer.step().clear_grad()
        schedule.step()

    with pytest.raises(TraceError, match=r"StepLR.step\(\) inside a traced function at optimizer_test.py"):
        step(np.ones(1, "float32"))


def test_a_rate_may_be_computed_in_the_traced_step():
    p = fer.Parameter(np.zeros(1, "float32"))
    optimizer = optim.SGD([p], lr=1.0)

    @trace
    def step(g):
        optimizer.param_groups[0]["lr"] *= 0.5
        p.grad = g
        optimizer.step().clear_grad()

    for _ in range(3):
        step(np.ones(1, "float32"))
    assert p.item() == -0.875 and step.capture_count == 1 and float(optimizer.param_groups[0]["lr"]) == 0.125


@pytest.mark.parametrize("order", (1.0, 2.0, 3.0, float("inf")))
def test_gradients_clipped_by_norm(order):
    arrays = [np.array([3.0, -4.0], "float32"), np.array([[12.0]], "float32")]
    norm = np.linalg.norm(np.concatenate([a.ravel() for a in arrays]), order)
    ps = [fer.Parameter(np.zeros(a.shape, "float32")) for a in arrays] + [fer.Parameter(np.zeros(1, "float32"))]

    def clipped(a, b, bound):
        ps[0].grad, ps[1].grad = a, b
        return optim.clip_grad_norm(ps, bound, order), ps[0].grad, ps[1].grad

    for call in (clipped, trace(clipped)):
        got, *grads = call(*map(fer.tensor, arrays), fer.tensor(2.0))
        assert got.item() == pytest.approx(norm, rel=1e-6)
        for grad, array in zip(grads, arrays):
            np.testing.assert_allclose(grad.numpy(), array * (2.0 / norm), rtol=1e-5)
        _, *grads = call(*map(fer.tensor, arrays), fer.tensor(100.0))
        np.testing.assert_array_equal(grads[0].numpy(), arrays[0])
    assert optim.clip_grad_norm([ps[2]], 1.0).item() == 0 and ps[2].grad is None


def test_gradients_clipped_by_value():
    p = fer.Parameter(np.zeros(4, "float32"))
    for clip in (lambda: optim.clip_grad_value(p, -1.0, 2.0), lambda: optim.clip_grad_value_([p], 1.0)):
        p.grad = fer.tensor([-3.0, 0.5, 3.0, float("nan")])
        grad = p.grad
        clip()
        assert p.grad is grad
    np.testing.assert_array_equal(p.grad.numpy(), [-1, 0.5, 1, np.nan])


def test_two_optimizers_in_one_traced_step():
    """A generator and a discriminator of one number each: both step from values before the step."""
    w, v = fer.Parameter(np.array([1.0], "float32")), fer.Parameter(np.array([2.0], "float32"))
    first, second = optim.SGD([w], lr=0.5), optim.Adam([v], lr=0.25, eps=0.0)
    of_w, of_v = GradManager().attach(w), GradManager().attach(v)

    @trace
    def step(x):
        with of_w:
            of_w.backward((w * v * x).sum())
        with of_v:
            of_v.backward(-(w * v * x).sum())
        first.step().clear_grad()
        second.step().clear_grad()

    def by_hand(x):
        nonlocal a, b
        a, b = a - 0.5 * b * x, b + 0.25 * np.sign(a * x)

    a, b = 1.0, 2.0
    # Adam's first step is sign(g); one is enough to tell the order.
    step(np.array([1.0], "float32"))
    by_hand(1.0)
    np.testing.assert_allclose([w.item(), v.item()], [a, b], rtol=1e-6)
    assert w.grad is None and v.grad is None


@pytest.mark.parametrize(
    "name",
    [
        *("SGD", "Adam", "Adadelta", "Adagrad", "LAMB", "LARS", "Lion", "RMSprop"),
        *("ASGD", "Adafactor", "Adamax", "NAdam", "RAdam", "Rprop"),
    ],
)
def test_an_artifact_trains_with_each_optimizer(name):
    """The compiled step gives the bits of dynamic mode, and its states are named after their parameters."""
    fer.random.seed(3)
    net = M.Sequential(M.Linear(3, 17), M.ReLU(), M.Linear(17, 2))
    arguments = {"momentum": 0.9} if name in ("SGD", "RMSprop", "LARS") else {}
    arguments |= {} if name == "Rprop" else {"weight_decay": 0.01}
    optimizer = getattr(optim, name)(net.parameters(), lr=0.125, **arguments)
    manager = GradManager().attach(net.parameters())

    def step(x):
        with manager:
            manager.backward(F.mean(F.square(net(x))))
        optim.clip_grad_norm(net.parameters(), 0.5)
        optimizer.step().clear_grad()

    program = fer.compile({"step": (step, [fer.Spec((4, 3))])}, modules={"net": net, "opt": optimizer})
    session = fer.Session(program)
    data = np.random.default_rng(1).normal(size=(3, 4, 3)).astype("float32")
    for x in data:
        session.run("step", x)
        step(fer.tensor(x))
    names = session.variables()
    assert ("opt.lr" in names) == (name != "Rprop")  # whose rate is a size at first alone
    for key, param in net.named_parameters():
        np.testing.assert_array_equal(session[f"net.{key}"], param.numpy())
        for state, tensor in optimizer._state[param].items():
            np.testing.assert_array_equal(session[f"opt.net.{key}.{state}"], tensor.numpy())


def test_wrong_arguments_are_refused():
    p = fer.Parameter(np.ones(1, "float32"))
    for call, pattern in (
        (lambda: optim.SGD([p], lr=-1.0), "lr is -1.0; allowed: 0.0 or more"),
        (lambda: optim.SGD([p], lr=float("nan")), "lr is nan"),
        (lambda: optim.SGD([{"params": [p], "lr": -1.0}], lr=1.0), "lr is -1.0"),
        (lambda: optim.SGD([p], lr=1.0, nesterov=True), "momentum"),
        (lambda: optim.Adam([p], lr=1.0, betas=(0.9, 1.0)), "beta is 1.0"),
        (lambda: optim.Adadelta([p], rho=1.5), "rho is 1.5"),
        (lambda: optim.SGD([], lr=1.0), "at least one"),
        (lambda: optim.SGD([p, p], lr=1.0), "twice"),
        (lambda: optim.OneCycleLR(optim.Adagrad([p]), 1.0, 10), "cycle_momentum"),
        (lambda: optim.StepLR(optim.Adagrad([p]), 0), "step_size is 0"),
        (lambda: optim.CyclicLR(optim.SGD([p], 1.0, 0.9), 0.0, 1.0, mode="square"), "mode 'square'; allowed: tri"),
        (lambda: optim.SequentialLR(optim.Adagrad([p]), [], []), "milestones .* for 0 schedules"),
        (lambda: optim.SequentialLR(optim.Adagrad([p]), [None], []), "LRSchedulers of the same optimizer, not None"),
        (lambda: optim.ChainedScheduler([optim.CosineAnnealingLR(optim.Adagrad([p]), 3)]), "no factor of the initial"),
        (lambda: optim.Rprop([p], etas=(0.5, 0.9)), "etas are"),
        (lambda: optim.Adafactor([p], beta2_decay=0.5), "beta2_decay is 0.5"),
    ):
        with pytest.raises(ValueError, match=pattern):
            call()
    with pytest.raises(TypeError, match="Parameters"):
        optim.SGD([fer.tensor([1.0])], lr=1.0)
    with pytest.raises(UnsupportedError, match="GradManager"):
        optim.SGD([p], lr=1.0).backward(p)


NARROW = ("float16", "bfloat16")


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize(
    "name",
    [
        *("SGD", "Adam", "AdamW", "Adagrad", "Adadelta", "RMSprop", "LAMB", "LARS", "Lion"),
        *("ASGD", "Adafactor", "Adamax", "NAdam", "RAdam", "Rprop"),
    ],
)
def test_a_narrow_parameter_takes_the_step_of_float32_rounded_once(name, dtype):
    """The first step from values and gradients that float16 and bfloat16 hold exactly; states are float32."""
    start, grad = np.arange(6).reshape(2, 3), np.array([[1, -2, 0.5], [4, 1e-3, 0]])
    arguments = {"lr": 0.5} | ({} if name == "Rprop" else {"weight_decay": 0.125}) | ({"momentum": 0.9} if name in ("SGD", "RMSprop", "LARS") else {})
    results = []
    for kind in (dtype, "float32"):
        p = fer.Parameter(start, dtype=kind)
        optimizer = getattr(optim, name)([p], **arguments)
        p.grad = fer.tensor(grad, dtype=dtype).astype(kind)
        optimizer.step()
        assert p.dtype == kind and {state.dtype for state in optimizer._state[p].values()} == {"float32"}
        results.append(p)
    np.testing.assert_array_equal(results[0].numpy(), results[1].astype(dtype).numpy())


@pytest.mark.parametrize("dtype", NARROW)
def test_lamb_with_a_float32_copy_of_narrow_parameters(dtype):
    """Steps too small for the narrow type add up in the copy."""
    p, q = fer.Parameter(np.full(3, 256), dtype=dtype), fer.Parameter(np.full(3, 256), dtype="float32")
    narrow, wide = (optim.LAMBFp16([each], lr=0.03) for each in (p, q))
    for _ in range(20):
        p.grad, q.grad = fer.tensor(np.ones(3), dtype=dtype), fer.tensor(np.ones(3), dtype="float32")
        narrow.step()
        wide.step()
    np.testing.assert_array_equal(narrow._state[p]["param_fp32"].numpy(), q.numpy())
    np.testing.assert_array_equal(p.numpy(), q.astype(dtype).numpy())
    assert "param_fp32" not in wide._state[q] and abs(q.numpy()[0] - 255.4) < 1e-3
