"""The networks of frontend/examples in torch, with the same parameter names, and how each is trained.

A Trainer's `step` takes one batch of arrays and returns the losses; states move by name.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.classifier = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, image):
        x = F.avg_pool2d(torch.tanh(self.conv1(image)), 2)
        x = F.avg_pool2d(torch.tanh(self.conv2(x)), 2)
        return self.classifier(torch.tanh(self.fc2(torch.tanh(self.fc1(torch.flatten(x, 1))))))


class Block(nn.Module):
    def __init__(self, in_channels, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.around = nn.Identity()
        if stride != 1 or in_channels != channels:
            self.around = nn.Sequential(nn.Conv2d(in_channels, channels, 1, stride, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(y)) + self.around(x))


class ResNet18(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width)
        blocks, channels = [], width
        for stage in range(4):
            for i in range(2):
                blocks.append(Block(channels, width << stage, 2 if stage and i == 0 else 1))
                channels = width << stage
        self.blocks = nn.Sequential(*blocks)
        self.classifier = nn.Linear(channels, 10)

    def forward(self, image):
        return self.classifier(self.blocks(F.relu(self.bn1(self.conv1(image)))).mean((2, 3)))


STAGES = ((1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


def conv_bn(in_channels, channels, kernel, stride=1, groups=1, activation=True):
    layers = [
        nn.Conv2d(in_channels, channels, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(channels),
    ]
    return nn.Sequential(*layers, nn.ReLU6()) if activation else nn.Sequential(*layers)


class InvertedResidual(nn.Module):
    def __init__(self, in_channels, channels, stride, expansion):
        super().__init__()
        wide = in_channels * expansion
        layers = [conv_bn(in_channels, wide, 1)] if expansion != 1 else []
        layers += [conv_bn(wide, wide, 3, stride, groups=wide), conv_bn(wide, channels, 1, activation=False)]
        self.layers = nn.Sequential(*layers)
        self.adds = stride == 1 and in_channels == channels

    def forward(self, x):
        return x + self.layers(x) if self.adds else self.layers(x)


class MobileNetV2(nn.Module):
    def __init__(self, width):
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
        self.layers = nn.Sequential(*layers)
        self.classifier = nn.Linear(scaled(1280), 10)

    def forward(self, image):
        return self.classifier(self.layers(image).mean((2, 3)))


class Generator(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.project = nn.Linear(32, 8 * width)
        self.grow1, self.bn1 = nn.ConvTranspose2d(2 * width, width, 4, 2, 1), nn.BatchNorm2d(width)
        self.grow2 = nn.ConvTranspose2d(width, 1, 4, 2, 1)

    def forward(self, noise):
        x = F.relu(self.project(noise).reshape(-1, 2 * self.width, 2, 2))
        return torch.sigmoid(self.grow2(F.relu(self.bn1(self.grow1(x)))))


class Discriminator(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, width, 4, 2, 1), nn.Conv2d(width, 2 * width, 4, 2, 1)
        self.judge = nn.Linear(8 * width, 1)

    def forward(self, image):
        x = F.leaky_relu(self.conv2(F.leaky_relu(self.conv1(image), 0.2)), 0.2)
        return self.judge(torch.flatten(x, 1)).reshape(-1)


class Tagger(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.bytes = nn.Embedding(256, width)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.classifier = nn.Linear(width, 2)

    def forward(self, text):
        return self.classifier(self.lstm(self.bytes(text))[0])


class Transformer(nn.Module):
    def __init__(self, classes, width, heads, depth, length):
        super().__init__()
        self.bytes, self.positions = nn.Embedding(256, width), nn.Embedding(length, width)
        layer = nn.TransformerEncoderLayer(width, heads, 2 * width, 0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.classifier = nn.Linear(width, classes)

    def forward(self, text):
        return self.classifier(self.encoder(self.bytes(text) + self.positions(torch.arange(text.shape[1]))).mean(1))


class GPTBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.project_in, self.project_out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, x):
        batch, length, width = x.shape
        x = self.project_in(x).reshape(batch, length, 3, self.heads, width // self.heads)
        query, key, value = x.permute(2, 0, 3, 1, 4)
        x = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.project_out(x.permute(0, 2, 1, 3).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attend(self.norm1(x))
        return x + self.narrow(F.gelu(self.widen(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self, width, heads, depth, longest):
        super().__init__()
        self.bytes, self.positions = nn.Embedding(256, width), nn.Embedding(longest, width)
        self.blocks = nn.Sequential(*[GPTBlock(width, heads) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 256)

    def forward(self, text):
        x = self.bytes(text) + self.positions(torch.arange(text.shape[1]))
        return self.head(self.norm(self.blocks(x)))


class Trainer:
    """One network and one optimizer."""

    def __init__(self, net, make_optimizer, loss):
        self.nets, self.optimizer, self.loss = {"net": net}, make_optimizer(net.parameters()), loss

    def step(self, batch):
        self.optimizer.zero_grad()
        loss = self.loss(self.nets["net"](batch[0]), batch[1])
        loss.backward()
        self.optimizer.step()
        return [loss.item()]


class Adversaries:
    """The two networks of a GAN."""

    def __init__(self, generator, discriminator):
        self.nets = {"generator": generator, "discriminator": discriminator}
        self.draw, self.judge = [torch.optim.Adam(n.parameters(), 2e-4, (0.5, 0.999)) for n in self.nets.values()]

    def step(self, batch):
        generator, discriminator = self.nets.values()
        noise, image = batch

        def loss_of(logits, real):
            return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, float(real)))

        self.judge.zero_grad()
        judged = loss_of(discriminator(image), True) + loss_of(discriminator(generator(noise).detach()), False)
        judged.backward()
        self.judge.step()
        self.draw.zero_grad()
        drawn = loss_of(discriminator(generator(noise)), True)
        drawn.backward()
        self.draw.step()
        return [judged.item(), drawn.item()]


def classify(logits, label):
    return F.cross_entropy(logits, label.long())


def classify_each(logits, label):
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), label.reshape(-1).long(), ignore_index=-1)


def as_tensors(batch, dtype):
    return [torch.from_numpy(np.array(each)).to(dtype if each.dtype == np.float32 else torch.int64) for each in batch]
