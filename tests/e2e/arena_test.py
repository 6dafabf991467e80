"""How much memory networks take: the arena of a plan beside what their largest tensors come to.

The figures follow from the shapes; a pass that stores a tensor more than it has to misses them.
"""

from ferrule.autodiff import GradManager
from ferrule.jit import trace

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim

IMAGE, WIDTH = 32, 64
# float32, channels last: a full image, and one of a quarter of the channels.
WIDE, NARROW = 4 * IMAGE * IMAGE * WIDTH, IMAGE * IMAGE * WIDTH
# Scales and shifts of the norms, sums, weights in other layouts.
SMALL = 64 << 10


def convolution(inputs, outputs, kernel):
    return M.Sequential(M.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False), M.BatchNorm2d(outputs))


class Bottleneck(M.Module):
    """Three convolutions around which the input, or a projection of it, is added."""

    def __init__(self, inputs):
        super().__init__()
        self.first, self.second = convolution(inputs, WIDTH // 4, 1), convolution(WIDTH // 4, WIDTH // 4, 3)
        self.third = convolution(WIDTH // 4, WIDTH, 1)
        self.project = M.Identity() if inputs == WIDTH else convolution(inputs, WIDTH, 1)

    def forward(self, x):
        y = self.third(F.relu(self.second(F.relu(self.first(x)))))
        return F.relu(y + self.project(x))


class Residual(M.Module):
    """[N, 16, 32, 32] images -> [N, 10] logits."""

    def __init__(self, depth):
        super().__init__()
        self.blocks = M.Sequential(*[Bottleneck(WIDTH if number else WIDTH // 4) for number in range(depth)])
        self.head = M.Linear(WIDTH, 10)

    def forward(self, x):
        return self.head(F.mean(self.blocks(x), (2, 3)))


def arena_of_training(net, *specs):
    gradients, optimizer = GradManager().attach(net.parameters()), optim.SGD(net.parameters(), lr=0.1)

    @trace(symbolic=True)
    def train_step(x, label):
        with gradients:
            loss = F.nn.cross_entropy(net(x), label)
            gradients.backward(loss)
        optimizer.step().clear_grad()
        return loss

    return fer.compile({"train_step": (train_step, specs)}, modules={"net": net}).memory("train_step")["arena"]


def test_inference_of_a_residual_network_holds_two_tensors():
    """The block's input, which the third convolution's sum is written over, and what the second reads and writes."""
    net = Residual(4)
    net.eval()
    program = fer.compile({"predict": (net, [fer.Spec((1, 16, IMAGE, IMAGE))])})
    memory = program.memory("predict")
    assert memory["arena"] == memory["lower_bound"]
    # The first block's projection is added to its third convolution, while its input is there.
    assert memory["arena"] <= WIDE + 2 * NARROW + 4 * 1024


def test_training_keeps_of_each_convolution_its_result_alone():
    """Of a block: the results of its convolutions (one wide, two narrow) for the norms, and its own result, which both the
    next block and the gradient read. What the norms and relus inside of it made is stored again where the backward pass
    has it at hand."""
    batch, depth = 4, 12
    specs = [fer.Spec((batch, 16, IMAGE, IMAGE)), fer.Spec((batch,), "int32")]
    kept = batch * (2 * WIDE + 2 * NARROW)
    # The first block's projection, and where most is live two gradients and what is stored again, are four wide tensors.
    assert arena_of_training(Residual(depth), *specs) <= depth * kept + 4 * batch * WIDE + SMALL


class Plain(M.Module):
    """Convolutions with bias and relu, without a norm."""

    def __init__(self, depth):
        super().__init__()
        self.layers = M.Sequential(*[M.Conv2d(16, 16, 3, padding=1) for _ in range(depth)])
        self.head = M.Linear(16, 10)

    def forward(self, x):
        for layer in self.layers:
            x = F.relu(layer(x))
        return self.head(F.mean(x, (2, 3)))


def test_training_without_norms_keeps_activations_alone():
    """The mask of relu comes from its result, which the next convolution's gradient reads: nothing else is kept."""
    batch, depth = 4, 12
    specs = [fer.Spec((batch, 16, IMAGE, IMAGE)), fer.Spec((batch,), "int32")]
    assert arena_of_training(Plain(depth), *specs) <= (depth + 2) * batch * NARROW + SMALL
