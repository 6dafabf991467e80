"""What the demo's network is trained on and starts from: the values that the oracle keeps."""

import numpy as np

from .harness import ROOT


def load(batch):
    """(images [20, batch, 1, 8, 8] float32, labels [20, batch] int64, {name: initial weight}); batch is 1 to 64."""
    with np.load(ROOT / "tests" / "oracle" / "digits.npz") as file:
        images = (file["images"].astype(np.float32) / 16.0)[:, :batch, None]
        initial = {key.split("/", 1)[1]: file[key] for key in file.files if key.startswith("initial/")}
        return np.ascontiguousarray(images), np.ascontiguousarray(file["labels"][:, :batch].astype(np.int64)), initial
