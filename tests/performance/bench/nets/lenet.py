"""A LeNet of two 5x5 convolutions and two linear layers."""

import ferrule.module as M

from ..train_jobs import CLASSES


def make():
    """[N, 1, 28, 28] images -> [N, 10] logits."""
    return M.Sequential(
        M.Conv2d(1, 32, 5, 1, 2), M.ReLU(), M.MaxPool2d(2),
        M.Conv2d(32, 64, 5, 1, 2), M.ReLU(), M.MaxPool2d(2),
        M.Flatten(), M.Linear(3136, 256), M.ReLU(), M.Linear(256, CLASSES),
    )  # fmt: skip
