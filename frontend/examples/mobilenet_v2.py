"""MobileNetV2, in its form for small images, on handwritten digits.

./dev python frontend/examples/mobilenet_v2.py

The network is that of M. Sandler and others, "MobileNetV2: Inverted Residuals and Linear Bottlenecks" (2018); as usual
for images of 32 x 32 the first two reductions are left out.
"""

from example_data import digit_batches
from example_training import train
from lenet import classifier

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim

BATCH = 32
# expansion, channels, repeats, stride of the first
STAGES = ((1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


def conv_bn(in_channels, channels, kernel, stride=1, groups=1, activation=True):
    """A convolution without bias, batch norm, and ReLU6 unless told otherwise."""
    layers = [
        M.Conv2d(in_channels, channels, kernel, stride, kernel // 2, groups=groups, bias=False),
        M.BatchNorm2d(channels),
    ]
    return M.Sequential(*layers, M.ReLU6()) if activation else M.Sequential(*layers)


class InvertedResidual(M.Module):
    """1x1 that widens, 3x3 on each channel by itself, 1x1 that narrows; added to the input where the shapes are equal."""

    def __init__(self, in_channels, channels, stride, expansion):
        super().__init__()
        wide = in_channels * expansion
        layers = [conv_bn(in_channels, wide, 1)] if expansion != 1 else []
        layers += [conv_bn(wide, wide, 3, stride, groups=wide), conv_bn(wide, channels, 1, activation=False)]
        self.layers = M.Sequential(*layers)
        self.adds = stride == 1 and in_channels == channels

    def forward(self, x):
        return x + self.layers(x) if self.adds else self.layers(x)


class MobileNetV2(M.Module):
    """[N, 3, 32, 32] images -> [N, 10] logits; all channel counts times `width`."""

    def __init__(self, width=1.0):
        super().__init__()

        def scaled(channels):
            return max(8, int(channels * width + 4) // 8 * 8)

        channels = scaled(32)
        layers = [conv_bn(3, channels, 3)]
        for expansion, wanted, repeats, stride in STAGES:
            for i in range(repeats):
                layers.append(InvertedResidual(channels, scaled(wanted), stride if i == 0 else 1, expansion))
                channels = scaled(wanted)
        layers.append(conv_bn(channels, scaled(1280), 1))
        self.layers = M.Sequential(*layers)
        self.classifier = M.Linear(scaled(1280), 10)

    def forward(self, image):
        return self.classifier(F.mean(self.layers(image), (2, 3)))


def make(net=None, max_batch=BATCH, lr=0.02):
    """The Example of a network."""
    net = net or MobileNetV2()
    return classifier(net, optim.SGD(net.parameters(), lr=lr, momentum=0.9), (3, 32, 32), max_batch)


if __name__ == "__main__":
    fer.random.seed(0)
    train(make(MobileNetV2(width=0.5)), digit_batches(BATCH, size=32, channels=3, noise=0.1), __doc__.splitlines()[0], steps=50)
