"""ResNet-18 for small images and ResNet-50 for large ones."""

import ferrule.functional as F
import ferrule.module as M

from ..train_jobs import CLASSES


def _conv(in_channels, channels, kernel, stride=1):
    return M.Conv2d(in_channels, channels, kernel, stride, kernel // 2, bias=False)


def _shortcut(in_channels, channels, stride):
    if stride == 1 and in_channels == channels:
        return M.Identity()
    return M.Sequential(_conv(in_channels, channels, 1, stride), M.BatchNorm2d(channels))


class BasicBlock(M.Module):
    """Two 3x3 convolutions and a way around them."""

    expansion = 1

    def __init__(self, in_channels, width, stride):
        super().__init__()
        self.conv1, self.bn1 = _conv(in_channels, width, 3, stride), M.BatchNorm2d(width)
        self.conv2, self.bn2 = _conv(width, width, 3), M.BatchNorm2d(width)
        self.downsample = _shortcut(in_channels, width, stride)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.downsample(x))


class Bottleneck(M.Module):
    """1x1 that narrows, 3x3, 1x1 that widens, and a way around them."""

    expansion = 4

    def __init__(self, in_channels, width, stride):
        super().__init__()
        self.conv1, self.bn1 = _conv(in_channels, width, 1), M.BatchNorm2d(width)
        self.conv2, self.bn2 = _conv(width, width, 3, stride), M.BatchNorm2d(width)
        self.conv3, self.bn3 = _conv(width, 4 * width, 1), M.BatchNorm2d(4 * width)
        self.downsample = _shortcut(in_channels, 4 * width, stride)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = F.relu(self.bn2(self.conv2(y)))
        return F.relu(self.bn3(self.conv3(y)) + self.downsample(x))


class ResNet(M.Module):
    """[N, 3, H, W] images -> [N, 10] logits."""

    def __init__(self, block, depths, small_images):
        super().__init__()
        self.conv1 = _conv(3, 64, 3) if small_images else _conv(3, 64, 7, 2)
        self.bn1 = M.BatchNorm2d(64)
        self.maxpool = M.Identity() if small_images else M.MaxPool2d(3, 2, 1)
        channels, stages = 64, []
        for stage, depth in enumerate(depths):
            blocks = []
            for i in range(depth):
                blocks.append(block(channels, 64 << stage, 2 if stage and i == 0 else 1))
                channels = (64 << stage) * block.expansion
            stages.append(M.Sequential(*blocks))
        self.layer1, self.layer2, self.layer3, self.layer4 = stages
        self.fc = M.Linear(channels, CLASSES)

    def forward(self, image):
        x = self.maxpool(F.relu(self.bn1(self.conv1(image))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(F.mean(x, (2, 3)))


def resnet18():
    """For 32x32 images: a 3x3 stem of stride 1."""
    return ResNet(BasicBlock, (2, 2, 2, 2), small_images=True)


def resnet50():
    """For 224x224 images."""
    return ResNet(Bottleneck, (3, 4, 6, 3), small_images=False)
