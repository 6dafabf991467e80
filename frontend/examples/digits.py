"""A small convolutional network for handwritten digits, compiled to one file that trains and predicts.

    ./dev python frontend/examples/digits.py --output digits.fer

The file has three entries that share their variables: `train_step`, `evaluate` and `predict`. `ferrule-run` trains it without
Python; digits_demo.py shows the whole way.
"""

import argparse
import time

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
from ferrule.autodiff import GradManager
from ferrule.jit import trace

MAX_BATCH = 64


class Net(M.Module):
    """[N, 1, 8, 8] images in 0..1 -> [N, 10] logits."""

    def __init__(self):
        super().__init__()
        self.conv1 = M.Conv2d(1, 16, 3, padding=1, bias=False)
        self.bn1 = M.BatchNorm2d(16)
        self.conv2 = M.Conv2d(16, 32, 3, padding=1, bias=False)
        self.bn2 = M.BatchNorm2d(32)
        self.conv3 = M.Conv2d(32, 64, 3, padding=1, bias=False)
        self.bn3 = M.BatchNorm2d(64)
        self.classifier = M.Linear(64 * 4 * 4, 10)

    def forward(self, image):
        x = F.relu(self.bn1(self.conv1(image)))
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        x = F.relu(self.bn3(self.conv3(x)))
        return self.classifier(F.flatten(x, 1))


def make_entries(net, optimizer):
    """The traced functions (train_step, evaluate, predict) of a network."""
    gradients = GradManager().attach(net.parameters())

    @trace(symbolic=True)
    def train_step(image, label):
        net.train()
        with gradients:
            loss = F.nn.cross_entropy(net(image), label)
            gradients.backward(loss)
        optimizer.step().clear_grad()
        return loss

    @trace(symbolic=True)
    def evaluate(image, label):
        net.eval()
        logits = net(image)
        correct = F.equal(F.argmax(logits, axis=1), label).astype("int32").sum()
        return F.nn.cross_entropy(logits, label), correct

    @trace(symbolic=True)
    def predict(image):
        net.eval()
        return F.softmax(net(image), axis=1)

    return train_step, evaluate, predict


def compile_digits(net, optimizer, targets=("x86-64-v3", "x86-64-v4"), **options):
    """The network's program for any batch of 1 to 64 images."""
    train_step, evaluate, predict = make_entries(net, optimizer)
    batch = fer.Dim("batch", min=1, max=MAX_BATCH)
    image, label = fer.Spec((batch, 1, 8, 8)), fer.Spec((batch,), "int32")
    entries = {"train_step": (train_step, [image, label]), "evaluate": (evaluate, [image, label]), "predict": (predict, [image])}
    return fer.compile(entries, modules={"net": net}, targets=targets, **options)


def make_net(seed=0):
    """A network with fresh weights, and the optimizer of the demo."""
    fer.random.seed(seed)
    net = Net()
    return net, optim.SGD(net.parameters(), lr=0.05, momentum=0.9)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="digits.fer", help="the file to write (default: %(default)s)")
    parser.add_argument("--targets", default="x86-64-v3,x86-64-v4", help="CPU levels, comma-separated (default: %(default)s)")
    arguments = parser.parse_args()
    start = time.perf_counter()
    program = compile_digits(*make_net(), targets=tuple(arguments.targets.split(",")))
    program.save(arguments.output)
    print(f"compiled to {arguments.output} in {time.perf_counter() - start:.2f} s; entries: {', '.join(program.entries)}")


if __name__ == "__main__":
    main()
