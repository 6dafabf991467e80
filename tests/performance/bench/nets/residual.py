"""A residual network as deep as wanted: one convolution, norm and ReLU a layer, each added to its input."""

import ferrule.functional as F
import ferrule.module as M

from ..train_jobs import CLASSES


class ResidualLayer(M.Module):
    """x + relu(norm(conv(x)))."""

    def __init__(self, width):
        super().__init__()
        self.conv, self.norm = M.Conv2d(width, width, 3, 1, 1, bias=False), M.BatchNorm2d(width)

    def forward(self, x):
        return x + F.relu(self.norm(self.conv(x)))


class ResidualNet(M.Module):
    """[N, 3, size, size] images -> [N, 10] logits."""

    def __init__(self, size, width, depth):
        super().__init__()
        self.stem = M.Conv2d(3, width, 3, 1, 1)
        self.layers = M.Sequential(*[ResidualLayer(width) for _ in range(depth)])
        self.head = M.Linear(width, CLASSES)

    def forward(self, image):
        return self.head(F.mean(self.layers(self.stem(image)), (2, 3)))
