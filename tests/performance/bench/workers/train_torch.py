"""A training step in torch, eager or compiled. The job: {"net", "tiny", "compiled", "checkpointed"}.

``checkpointed``: the intermediate values of each block, of each of sqrt(n) parts of n equal layers or of each of sqrt(n) parts of
n steps are computed again in the backward pass (torch.utils.checkpoint).
"""

import math

import torch
import torchvision
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

from .. import train_jobs
from ..train_jobs import CLASSES
from ..worker import Prepared


def version():
    return torch.__version__


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 32, 5, 1, 2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, 1, 2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(3136, 256), nn.ReLU(), nn.Linear(256, CLASSES),
    )  # fmt: skip


def resnet18():
    net = torchvision.models.resnet18(num_classes=CLASSES)
    net.conv1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False)  # the stem for small images
    net.maxpool = nn.Identity()
    return net


def resnet50():
    return torchvision.models.resnet50(num_classes=CLASSES)


def mobilenet_v2():
    return torchvision.models.mobilenet_v2(num_classes=CLASSES, dropout=0.0)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.project_in, self.project_out = (
            nn.LayerNorm(width),
            nn.Linear(width, 3 * width),
            nn.Linear(width, width),
        )
        self.norm2, self.widen, self.narrow = (
            nn.LayerNorm(width),
            nn.Linear(width, 4 * width),
            nn.Linear(4 * width, width),
        )

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.project_in(self.norm1(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.project_out(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.narrow(F.gelu(self.widen(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self, vocabulary, length, width, heads, depth):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

    def forward(self, tokens):
        return self.head(self.norm(self.blocks(self.tokens(tokens) + self.positions.weight))).flatten(0, 1)


class Lstm(nn.Module):
    def __init__(self, length, inputs, width, layers, classes):
        super().__init__()
        self.recurrent = nn.LSTM(inputs, width, layers, batch_first=True)
        self.head = nn.Linear(width, classes)
        self.segment_steps = None

    def forward(self, x):
        return self.head(self.run(x)).flatten(0, 1)

    def run(self, x):
        """All outputs; with ``segment_steps`` so many steps a checkpoint."""
        if self.segment_steps is None:
            return self.recurrent(x)[0]
        shape = self.recurrent.num_layers, len(x), self.recurrent.hidden_size
        state, outputs = (x.new_zeros(shape), x.new_zeros(shape)), []
        for part in x.split(self.segment_steps, 1):
            output, state = checkpoint(self.recurrent, part, state, use_reentrant=False)
            outputs.append(output)
        return torch.cat(outputs, 1)


class Double(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.first, self.second = nn.Conv2d(inputs, outputs, 3, padding=1), nn.Conv2d(outputs, outputs, 3, padding=1)

    def forward(self, x):
        return F.relu(self.second(F.relu(self.first(x))))


class UNet(nn.Module):
    def __init__(self, size, widths, classes):
        super().__init__()
        self.down = nn.Sequential(*[Double(i, o) for i, o in zip((3, *widths), widths)])
        self.grow = nn.Sequential(*[nn.ConvTranspose2d(o, i, 2, 2) for i, o in zip(widths, widths[1:])])
        self.up = nn.Sequential(*[Double(2 * i, i) for i in widths[:-1]])
        self.head = nn.Conv2d(widths[0], classes, 1)

    def forward(self, x):
        skips = []
        for level, block in enumerate(self.down):
            x = block(x if level == 0 else F.max_pool2d(x, 2))
            skips.append(x)
        for level in reversed(range(len(self.up))):
            x = self.up[level](torch.cat([skips[level], self.grow[level](x)], 1))
        return self.head(x).permute(0, 2, 3, 1).flatten(0, 2)


class ResidualLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width)

    def forward(self, x):
        return x + F.relu(self.norm(self.conv(x)))


class ResidualNet(nn.Module):
    def __init__(self, size, width, depth):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, 1, 1)
        self.layers = nn.Sequential(*[ResidualLayer(width) for _ in range(depth)])
        self.head = nn.Linear(width, CLASSES)

    def forward(self, image):
        return self.head(self.layers(self.stem(image)).mean((2, 3)))


BLOCKS = (Block, Double, torchvision.models.resnet.BasicBlock, torchvision.models.resnet.Bottleneck)


def checkpoint_blocks(net, steps):
    """Computes the inside of each part again; returns how many parts there are. A sequence has so many ``steps``."""
    if isinstance(net, Lstm):
        net.segment_steps = math.isqrt(steps)
        return -(-steps // net.segment_steps)
    if isinstance(net, ResidualNet):
        layers, parts = list(net.layers), math.isqrt(len(net.layers))
        net.layers.forward = lambda x: checkpoint_sequential(layers, parts, x, use_reentrant=False)
        return parts
    blocks = [module for module in net.modules() if isinstance(module, BLOCKS)]
    for block in blocks:
        block.forward = lambda x, forward=block.forward: checkpoint(forward, x, use_reentrant=False)
    return len(blocks)


# By a TrainJob's net, as in train_ferrule.
MAKE = {
    "lenet": lambda **sizes: lenet(),
    "resnet18": lambda **sizes: resnet18(),
    "resnet50": lambda **sizes: resnet50(),
    "mobilenet_v2": lambda **sizes: mobilenet_v2(),
    "gpt": Gpt,
    "lstm": Lstm,
    "unet": UNet,
    "residual": ResidualNet,
}


def prepare(job, threads):
    torch.set_num_threads(threads)
    torch.set_float32_matmul_precision("highest")
    training = train_jobs.find(job)
    net = MAKE[training.net](**training.sizes)
    values = train_jobs.initial_values(
        {name: value.shape for name, value in net.state_dict().items() if not name.endswith("num_batches_tracked")}
    )
    net.load_state_dict({name: torch.from_numpy(value) for name, value in values.items()}, strict=False)
    optimizer = getattr(torch.optim, training.optimizer)(net.parameters(), **training.settings)
    inputs, labels = (torch.from_numpy(array) for array in train_jobs.data(training))
    labels = labels.long().flatten()
    if not inputs.is_floating_point():
        inputs = inputs.long()
    if job.get("checkpointed") and checkpoint_blocks(net, training.sizes.get("length")) == 0:
        raise ValueError(f"{job['net']} has no blocks to be computed again")
    forward = torch.compile(net) if job.get("compiled") else net

    def train_step():
        optimizer.zero_grad()
        loss = F.cross_entropy(forward(inputs), labels)
        loss.backward()
        optimizer.step()
        return [loss.item()]

    return Prepared(train_step)
