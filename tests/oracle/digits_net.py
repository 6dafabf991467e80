"""The demo's network in torch, and the data it is trained on: what the oracle and the benchmark compare Ferrule with.

The same network as frontend/examples/digits.py; parameter names are equal, so that weights move by name.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    """[N, 1, 8, 8] images in 0..1 -> [N, 10] logits."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(32)
        self.conv3 = nn.Conv2d(32, 64, 3, padding=1, bias=False)
        self.bn3 = nn.BatchNorm2d(64)
        self.classifier = nn.Linear(64 * 4 * 4, 10)

    def forward(self, image):
        x = F.relu(self.bn1(self.conv1(image)))
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        x = F.relu(self.bn3(self.conv3(x)))
        return self.classifier(torch.flatten(x, 1))


def initial_state(seed):
    """{name: float32 array}: He-normal kernels from NumPy's generator, so that no torch version changes them."""
    generator = np.random.default_rng(seed)
    state = {}
    for name, tensor in Net().state_dict().items():
        if name.endswith("num_batches_tracked"):
            continue
        shape = tuple(tensor.shape)
        if len(shape) >= 2:
            scale = np.sqrt(2.0 / np.prod(shape[1:]))
            state[name] = (generator.standard_normal(shape) * scale).astype(np.float32)
        else:
            ones = name.endswith("running_var") or (name.startswith("bn") and name.endswith("weight"))
            state[name] = np.full(shape, 1.0 if ones else 0.0, np.float32)
    return state


def load(net, state):
    net.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in state.items()}, strict=False)
    return net


def state_of(net):
    return {
        name: tensor.detach().numpy().astype(np.float32)
        for name, tensor in net.state_dict().items()
        if not name.endswith("num_batches_tracked")
    }
