"""The golden programs of each format version, and calls of their entries. Kept as they were when the version was frozen: what
a later version can say more gets programs of its own."""

import numpy as np

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
from ferrule.autodiff import GradManager
from ferrule.jit import trace

TARGETS = ("x86-64-v3", "x86-64-v4", "aarch64")
WEIGHTS_KEY = bytes(range(32))


def _random(*shape, seed):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def _fill(module):
    """Every parameter by its name: nothing depends on how modules initialise themselves."""
    for seed, (_, parameter) in enumerate(sorted(module.named_parameters())):
        parameter[...] = _random(*parameter.shape, seed=seed) * 0.3
    return module


def inference():
    """Packed weights of a convolution and a product, a pool, a softmax; every size static."""
    net = _fill(M.Sequential(M.Conv2d(1, 4, 3, padding=1), M.ReLU(), M.MaxPool2d(2), M.Flatten(), M.Linear(64, 3)))
    net.eval()

    @trace(symbolic=True)
    def predict(image):
        return F.softmax(net(image), axis=1)

    program = fer.compile(
        {"predict": (predict, [fer.Spec((2, 1, 8, 8), name="image")])}, modules={"net": net}, targets=TARGETS
    )
    return program, [("predict", {"image": _random(2, 1, 8, 8, seed=9)})]


def training():
    """Gradients, an optimizer with state, a gather with a checked index, and an entry that sees what training changed."""
    net = _fill(M.Sequential(M.Linear(6, 8), M.ReLU(), M.Linear(8, 3)))
    gradients = GradManager().attach(net.parameters())
    optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    @trace(symbolic=True)
    def train_step(x, label):
        with gradients:
            loss = F.nn.cross_entropy(net(x), label)
            gradients.backward(loss)
        optimizer.step().clear_grad()
        return loss

    @trace(symbolic=True)
    def predict(x):
        return net(x)

    x, label = fer.Spec((4, 6), name="x"), fer.Spec((4,), "int32", name="label")
    program = fer.compile(
        {"train_step": (train_step, [x, label]), "predict": (predict, [x])}, modules={"net": net}, targets=TARGETS
    )
    data = {"x": _random(4, 6, seed=1), "label": np.array([0, 2, 1, 2], np.int32)}
    return program, [*[("train_step", data)] * 3, ("predict", {"x": data["x"]})]


def control_flow():
    """A branch, a loop over slices, a loop that ends by a value, and a size that is found at run time."""

    @trace(symbolic=True)
    def choose(x, flag):
        return F.cond(flag, lambda v: v * 2.0, lambda v: F.exp(v) - 1.0, x)

    @trace(symbolic=True)
    def running(xs):
        def step(total, x):
            total = F.tanh(total + x)
            return total, total * 3.0

        return F.scan(step, F.zeros((4,)), xs)

    @trace(symbolic=True)
    def halve(x):
        return F.while_loop(lambda v: F.max(v) > 1.0, lambda v: v * 0.5, x)

    @trace(symbolic=True)
    def positive(x):
        return F.nonzero(x > 0)

    program = fer.compile(
        {
            "choose": (choose, [fer.Spec((4,), name="x"), fer.Spec((), "bool", name="flag")]),
            "running": (running, [fer.Spec((5, 4), name="xs")]),
            "halve": (halve, [fer.Spec((3,), name="x")]),
            "positive": (positive, [fer.Spec((7,), name="x")]),
        },
        targets=TARGETS,
    )
    x = _random(4, seed=2)
    return program, [
        ("choose", {"x": x, "flag": np.array(True)}),
        ("choose", {"x": x, "flag": np.array(False)}),
        ("running", {"xs": _random(5, 4, seed=3)}),
        ("halve", {"x": np.array([9.0, 0.5, 3.0], np.float32)}),
        ("positive", {"x": np.array([1, -1, 0, 2, -3, 4, 5], np.float32)}),
    ]


def dynamic():
    """Sizes over dims with a least and a most, one in multiples; a sum, a product, a concatenation."""
    rows, columns = fer.Dim("rows", min=1, max=8), fer.Dim("columns", min=4, max=16, multiple_of=4)
    weight = _random(5, 3, seed=4)

    @trace(symbolic=True)
    def reduce(x):
        return F.sum(x, axis=1), F.concat([x, x * 2.0], axis=1)

    @trace(symbolic=True)
    def product(x):
        return F.matmul(x, fer.tensor(weight))

    program = fer.compile(
        {
            "reduce": (reduce, [fer.Spec((rows, columns), name="x")]),
            "product": (product, [fer.Spec((rows, 5), name="x")]),
        },
        targets=TARGETS,
    )
    calls = [("reduce", {"x": _random(r, c, seed=r + c)}) for r, c in ((1, 4), (5, 12), (8, 16))]
    return program, [*calls, *(("product", {"x": _random(r, 5, seed=r)}) for r in (1, 7, 8))]


def encrypted():
    """The weights of `inference`, encrypted with WEIGHTS_KEY."""
    program, calls = inference()
    return program.encrypt(WEIGHTS_KEY, key_name="golden"), calls


# By format version: the programs that only it and later ones can say.
PROGRAMS = {
    1: {"inference": inference, "training": training, "control_flow": control_flow, "dynamic": dynamic},
    2: {"encrypted": encrypted},
}
