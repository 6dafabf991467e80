"""A training step in torch, eager or compiled. The job: {"net", "compiled", "checkpointed"}.

``checkpointed``: each block's intermediate values are computed again in the backward pass (torch.utils.checkpoint).
"""

import torch
import torchvision
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from .. import train_jobs
from ..train_jobs import CLASSES, GPT, LSTM, UNET
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
    def __init__(self):
        super().__init__()
        width = GPT["width"]
        self.tokens = nn.Embedding(GPT["vocabulary"], width)
        self.positions = nn.Embedding(GPT["length"], width)
        self.blocks = nn.Sequential(*[Block(width, GPT["heads"]) for _ in range(GPT["depth"])])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, GPT["vocabulary"])

    def forward(self, tokens):
        return self.head(self.norm(self.blocks(self.tokens(tokens) + self.positions.weight))).flatten(0, 1)


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.recurrent = nn.LSTM(LSTM["inputs"], LSTM["width"], LSTM["layers"], batch_first=True)
        self.head = nn.Linear(LSTM["width"], LSTM["classes"])

    def forward(self, x):
        return self.head(self.recurrent(x)[0]).flatten(0, 1)


class Double(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.first, self.second = nn.Conv2d(inputs, outputs, 3, padding=1), nn.Conv2d(outputs, outputs, 3, padding=1)

    def forward(self, x):
        return F.relu(self.second(F.relu(self.first(x))))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        widths = UNET["widths"]
        self.down = nn.Sequential(*[Double(i, o) for i, o in zip((3, *widths), widths)])
        self.grow = nn.Sequential(*[nn.ConvTranspose2d(o, i, 2, 2) for i, o in zip(widths, widths[1:])])
        self.up = nn.Sequential(*[Double(2 * i, i) for i in widths[:-1]])
        self.head = nn.Conv2d(widths[0], UNET["classes"], 1)

    def forward(self, x):
        skips = []
        for level, block in enumerate(self.down):
            x = block(x if level == 0 else F.max_pool2d(x, 2))
            skips.append(x)
        for level in reversed(range(len(self.up))):
            x = self.up[level](torch.cat([skips[level], self.grow[level](x)], 1))
        return self.head(x).permute(0, 2, 3, 1).flatten(0, 2)


BLOCKS = (Block, Double, torchvision.models.resnet.BasicBlock, torchvision.models.resnet.Bottleneck)


def checkpoint_blocks(net):
    """Computes the inside of each block again; returns how many blocks there are."""
    blocks = [module for module in net.modules() if isinstance(module, BLOCKS)]
    for block in blocks:
        block.forward = lambda x, forward=block.forward: checkpoint(forward, x, use_reentrant=False)
    return len(blocks)


MAKE = {
    "lenet": lenet,
    "resnet18": resnet18,
    "resnet50": resnet50,
    "mobilenet_v2": mobilenet_v2,
    "gpt": Gpt,
    "lstm": Lstm,
    "unet": UNet,
}


def prepare(job, threads):
    torch.set_num_threads(threads)
    torch.set_float32_matmul_precision("highest")
    net = MAKE[job["net"]]()
    values = train_jobs.initial_values(
        {name: value.shape for name, value in net.state_dict().items() if not name.endswith("num_batches_tracked")}
    )
    net.load_state_dict({name: torch.from_numpy(value) for name, value in values.items()}, strict=False)
    training = train_jobs.JOBS[job["net"]]
    optimizer = getattr(torch.optim, training.optimizer)(net.parameters(), **training.settings)
    inputs, labels = (torch.from_numpy(array) for array in train_jobs.data(job["net"]))
    labels = labels.long().flatten()
    if not inputs.is_floating_point():
        inputs = inputs.long()
    if job.get("checkpointed") and checkpoint_blocks(net) == 0:
        raise ValueError(f"{job['net']} has no blocks to be computed again")
    forward = torch.compile(net) if job.get("compiled") else net

    def train_step():
        optimizer.zero_grad()
        loss = F.cross_entropy(forward(inputs), labels)
        loss.backward()
        optimizer.step()
        return [loss.item()]

    return Prepared(train_step)
