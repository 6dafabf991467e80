"""Convolutions that read the parts of a concatenation: the same bits as of the concatenation itself, in less memory."""

import numpy as np
import pytest
from ferrule.autodiff import GradManager

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim

LEVELS = ("x86-64-v3", "x86-64-v4")


class Joined(M.Module):
    """A convolution over the channels of several images, each made by a convolution."""

    def __init__(self, channels, convolution):
        super().__init__()
        kind = type(convolution)
        self.parts = M.Sequential(*[kind(2, count, 1) for count in channels])
        self.convolution = convolution

    def forward(self, x):
        return F.relu(self.convolution(F.concat([part(x) for part in self.parts], axis=1)))


# The channels of the images, the sizes of one, the convolution. Nine are more than a kernel reads apart.
CASES = {
    "two": ((16, 32), (8, 30), lambda: M.Conv2d(48, 40, 3, padding=1)),
    "ragged": ((3, 17, 5), (5, 9), lambda: M.Conv2d(25, 19, 3, padding=1)),
    "eight": ((1, 2, 3, 4, 5, 6, 7, 8), (4, 15), lambda: M.Conv2d(36, 33, 3, padding=1)),
    "nine": ((4,) * 9, (4, 15), lambda: M.Conv2d(36, 33, 3, padding=1)),
    "points": ((64, 24, 40), (7, 7), lambda: M.Conv2d(128, 96, 1)),
    "strided": ((16, 20), (11, 13), lambda: M.Conv2d(36, 24, (3, 5), stride=2, padding=(1, 2), dilation=(2, 1))),
    "wide": ((512, 512), (3, 14), lambda: M.Conv2d(1024, 72, 3, padding=1)),  # Sums move on every 4,096 products.
    "line": ((16, 24), (40,), lambda: M.Conv1d(40, 16, 5, padding=2)),
    "volume": ((6, 10), (4, 5, 6), lambda: M.Conv3d(16, 20, 3, padding=1)),
    "groups": ((8, 24), (6, 7), lambda: M.Conv2d(32, 16, 3, padding=1, groups=2)),
}


@pytest.mark.parametrize("name", CASES)
def test_bits_of_the_parts_are_those_of_the_whole(name):
    channels, sizes, convolution = CASES[name]
    net = Joined(channels, convolution())
    image = np.random.default_rng(1).standard_normal((2, 2, *sizes), dtype=np.float32)
    for batch in (2, fer.Dim("batch", min=1, max=3)):
        whole, parts = (
            fer.compile({"predict": (net, [fer.Spec((batch, 2, *sizes))])}, targets=LEVELS, disable_passes=disabled)
            for disabled in (("fuse",), ())
        )
        expected = fer.Session(whole, threads=1).run("predict", image)[0]
        assert np.abs(expected).max() > 0
        for target in LEVELS:
            for threads in (1, 2):
                session = fer.Session(parts, threads=threads, target=target)
                assert session.run("predict", image)[0].tobytes() == expected.tobytes(), (batch, target, threads)


def compile_training(net, shapes, batch, dtype, **options):
    """The entry "train_step" (images, factors of the result): a step of gradient descent. Shapes are of a sample."""
    gradients, optimizer = GradManager().attach(net.parameters()), optim.SGD(net.parameters(), lr=0.01)

    def train_step(image, g):
        with gradients:
            cost = (net(image) * g).sum()
            gradients.backward(cost)
        optimizer.step().clear_grad()
        return cost

    specs = [fer.Spec((batch, *shape), dtype) for shape in shapes]
    return fer.compile({"train_step": (train_step, specs)}, modules={"net": net}, **options)


@pytest.mark.parametrize("dtype", ("float32", "float64"))
@pytest.mark.parametrize("name", CASES)
def test_bits_after_training_are_those_of_the_whole(name, dtype):
    """The gradient of the weight reads the parts, and that for the parts is made apart where they are whole panels."""
    channels, sizes, convolution = CASES[name]
    net = Joined(channels, convolution()).to(dtype=dtype)
    first = {key: np.array(value) for key, value in net.state_dict().items()}
    shapes = (2, *sizes), net(fer.tensor(np.zeros((1, 2, *sizes), dtype))).shape[1:]
    random = np.random.default_rng(2)
    inputs = [random.standard_normal((3, *shape)).astype(dtype) for shape in shapes]
    for batch in (3, fer.Dim("batch", min=1, max=3)):
        whole, parts = (
            compile_training(net, shapes, batch, dtype, targets=LEVELS, disable_passes=disabled)
            for disabled in (("fuse",), ())
        )
        expected = fer.Session(whole, threads=1)
        wanted = expected.run("train_step", *inputs)[0]
        assert all(np.any(expected[f"net.{key}"] != value) for key, value in first.items())
        for target in LEVELS:
            for threads in (1, 2):
                session = fer.Session(parts, threads=threads, target=target)
                assert session.run("train_step", *inputs)[0].tobytes() == wanted.tobytes()
                for key in expected.variables():
                    assert session[key].tobytes() == expected[key].tobytes(), (key, batch, target, threads)


class Skip(M.Module):
    """The last level of a U-Net: what is made at full size is joined with what comes back from half of it."""

    def __init__(self, width):
        super().__init__()
        self.first, self.deep = M.Conv2d(3, width, 3, padding=1), M.Conv2d(width, 2 * width, 3, padding=1)
        self.grow = M.ConvTranspose2d(2 * width, width, 2, 2)
        self.up, self.head = M.Conv2d(2 * width, width, 3, padding=1), M.Conv2d(width, 2, 1)

    def forward(self, x):
        skip = F.relu(self.first(x))
        deep = F.relu(self.deep(F.max_pool2d(skip, 2, 2)))
        return self.head(F.relu(self.up(F.concat([skip, self.grow(deep)], axis=1))))


def test_a_skip_connection_holds_its_parts_and_the_result():
    """Three tensors of full size. The concatenation would be two more in place of the result."""
    size, width = 64, 32
    net = Skip(width)
    memory = fer.compile({"predict": (net, [fer.Spec((1, 3, size, size))])}).memory("predict")
    full = 4 * size * size * width
    assert memory["arena"] == memory["lower_bound"]
    assert memory["arena"] <= 3 * full + 64 * 1024
