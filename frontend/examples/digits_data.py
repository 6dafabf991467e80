"""scikit-learn's 1,797 handwritten digits (8x8), split 80/20 by a fixed seed, as arrays and as safetensors files."""

import pathlib

import numpy as np
import sklearn.datasets
from safetensors.numpy import save_file

SPLIT_SEED = 0


def load_digits():
    """(train, test), each a dict: image [N, 1, 8, 8] float32 in 0..1, label [N] int32."""
    digits = sklearn.datasets.load_digits()
    image = (digits.images / 16.0).astype(np.float32)[:, None]
    label = digits.target.astype(np.int32)
    order = np.random.default_rng(SPLIT_SEED).permutation(len(label))
    train_count = len(label) * 4 // 5
    parts = order[:train_count], order[train_count:]
    return tuple({"image": np.ascontiguousarray(image[part]), "label": label[part]} for part in parts)


def write_digits(folder):
    """Writes train.safetensors and test.safetensors into a folder; returns their paths."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / "train.safetensors", folder / "test.safetensors"
    for path, part in zip(paths, load_digits()):
        save_file(part, path)
    return paths
