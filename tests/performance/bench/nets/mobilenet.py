"""MobileNetV2 for 224x224 images."""

import ferrule.functional as F
import ferrule.module as M

from ..train_jobs import CLASSES

# expansion, channels, repeats, stride of the first
STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


def _conv_bn(in_channels, channels, kernel, stride=1, groups=1):
    conv = M.Conv2d(in_channels, channels, kernel, stride, kernel // 2, groups=groups, bias=False)
    return M.Sequential(conv, M.BatchNorm2d(channels), M.ReLU6())


class InvertedResidual(M.Module):
    """1x1 that widens, 3x3 on each channel by itself, 1x1 that narrows; added to an input of the same shape."""

    def __init__(self, in_channels, channels, stride, expansion):
        super().__init__()
        wide = in_channels * expansion
        layers = [_conv_bn(in_channels, wide, 1)] if expansion != 1 else []
        layers += [
            _conv_bn(wide, wide, 3, stride, groups=wide),
            M.Conv2d(wide, channels, 1, bias=False),
            M.BatchNorm2d(channels),
        ]
        self.conv = M.Sequential(*layers)
        self.adds = stride == 1 and in_channels == channels

    def forward(self, x):
        return x + self.conv(x) if self.adds else self.conv(x)


class MobileNetV2(M.Module):
    """[N, 3, 224, 224] images -> [N, 10] logits; without dropout."""

    def __init__(self):
        super().__init__()
        layers, channels = [_conv_bn(3, 32, 3, 2)], 32
        for expansion, width, repeats, stride in STAGES:
            for i in range(repeats):
                layers.append(InvertedResidual(channels, width, stride if i == 0 else 1, expansion))
                channels = width
        layers.append(_conv_bn(channels, 1280, 1))
        self.features = M.Sequential(*layers)
        self.classifier = M.Sequential(M.Identity(), M.Linear(1280, CLASSES))

    def forward(self, image):
        return self.classifier(F.mean(self.features(image), (2, 3)))
