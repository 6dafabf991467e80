"""ResNet-18, in its form for small images, on handwritten digits.

./dev python frontend/examples/resnet18.py

The network is that of K. He and others, "Deep Residual Learning for Image Recognition" (2015), with a 3x3 stem.
"""

from example_data import digit_batches
from example_training import train
from lenet import classifier

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim

BATCH = 32


class Block(M.Module):
    """Two 3x3 convolutions with a way around them."""

    def __init__(self, in_channels, channels, stride):
        super().__init__()
        self.conv1 = M.Conv2d(in_channels, channels, 3, stride, 1, bias=False)
        self.bn1 = M.BatchNorm2d(channels)
        self.conv2 = M.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = M.BatchNorm2d(channels)
        self.around = M.Identity()
        if stride != 1 or in_channels != channels:
            self.around = M.Sequential(M.Conv2d(in_channels, channels, 1, stride, bias=False), M.BatchNorm2d(channels))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.around(x))


class ResNet18(M.Module):
    """[N, 3, 32, 32] images -> [N, 10] logits; `width` channels in the first stage."""

    def __init__(self, width=64):
        super().__init__()
        self.conv1 = M.Conv2d(3, width, 3, 1, 1, bias=False)
        self.bn1 = M.BatchNorm2d(width)
        blocks, channels = [], width
        for stage in range(4):
            for i in range(2):
                blocks.append(Block(channels, width << stage, 2 if stage and i == 0 else 1))
                channels = width << stage
        self.blocks = M.Sequential(*blocks)
        self.classifier = M.Linear(channels, 10)

    def forward(self, image):
        x = self.blocks(F.relu(self.bn1(self.conv1(image))))
        return self.classifier(F.mean(x, (2, 3)))


def make(net=None, max_batch=BATCH, lr=0.02):
    """The Example of a network."""
    net = net or ResNet18()
    return classifier(net, optim.SGD(net.parameters(), lr=lr, momentum=0.9, weight_decay=5e-4), (3, 32, 32), max_batch)


if __name__ == "__main__":
    fer.random.seed(0)
    train(make(ResNet18(width=32)), digit_batches(BATCH, size=32, channels=3, noise=0.1), __doc__.splitlines()[0], steps=50)
