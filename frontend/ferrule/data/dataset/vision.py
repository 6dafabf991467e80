"""Datasets of images that lie in local files. Nothing is downloaded.

Images are arrays (H, W, C) with colours as blue, green, red, as in MegEngine. Without a decoder of their own, datasets
of image files read .npy, .ppm and .pgm; other formats need ``loader=``.
"""

import gzip
import os
import pickle
import struct

import numpy as np

from ...errors import ArtifactError, UnsupportedError
from .base import Dataset


class VisionDataset(Dataset):
    """The base class of datasets of images.

    Args:
        root: the folder of the files.
        order: what the items of a sample are, as for `VisionTransform`.
        supported_order: the items that a dataset can give.
    """

    def __init__(self, root, *, order=None, supported_order=None):
        self.root = os.path.abspath(os.path.expanduser(root))
        self.order = ("image",) if order is None else tuple(order)
        unknown = [key for key in self.order if supported_order is not None and key not in supported_order]
        if unknown:
            raise UnsupportedError(
                f"{type(self).__name__}: order has {', '.join(unknown)}; allowed: {', '.join(supported_order)}"
            )


def load_image(path):
    """The image of a .npy, .ppm or .pgm file as an array (H, W, C), blue, green, red.

    Raises UnsupportedError for other formats.
    """
    if path.endswith(".npy"):
        image = np.load(path)
        return image[:, :, None] if image.ndim == 2 else image
    if path.endswith((".ppm", ".pgm")):
        return _read_netpbm(path)
    raise UnsupportedError(
        f"{path}: this version decodes .npy, .ppm and .pgm; give the dataset loader=, a function of the path that "
        f"returns an array (H, W, C)"
    )


def _read_netpbm(path):
    with open(path, "rb") as file:
        content = file.read()
    fields, place = [], 0
    while len(fields) < 4 and place < len(content):
        if content[place : place + 1] == b"#":
            place = content.find(b"\n", place) % (len(content) + 1)
        elif content[place : place + 1].isspace():
            place += 1
        else:
            end = place
            while end < len(content) and not content[end : end + 1].isspace():
                end += 1
            fields.append(content[place:end])
            place = end
    channels = {b"P5": 1, b"P6": 3}.get(fields[0] if fields else b"")
    if channels is None or len(fields) < 4 or not all(field.isdigit() for field in fields[1:]) or int(fields[3]) > 255:
        raise ArtifactError(f"{path}: not a binary .ppm or .pgm file with values up to 255")
    width, height = int(fields[1]), int(fields[2])
    pixels = content[place + 1 : place + 1 + height * width * channels]
    if len(pixels) != height * width * channels:
        raise ArtifactError(f"{path}: {len(pixels)} bytes of pixels; {height * width * channels} are needed")
    return np.frombuffer(pixels, np.uint8).reshape(height, width, channels)[:, :, ::-1].copy()


def _need(kind, path, what):
    if not os.path.exists(path):
        raise ArtifactError(f"{kind}: there is no {path}; nothing is downloaded, put {what} there")
    return path


class MNIST(VisionDataset):
    """Handwritten digits: samples (image (28, 28, 1) uint8, label int32).

    Args:
        root: the folder of the four .gz files (train-images-idx3-ubyte.gz and so on), packed or unpacked.
        train: the 60,000 images for training, else the 10,000 for tests.
        download, timeout: accepted for MegEngine programs; nothing is downloaded.
    """

    def __init__(self, root, train=True, download=True, timeout=500):
        del download, timeout
        super().__init__(root, order=("image", "image_category"))
        name = "train" if train else "t10k"
        self.images = self._read(f"{name}-images-idx3-ubyte", 3)[:, :, :, None]
        self.labels = self._read(f"{name}-labels-idx1-ubyte", 1).astype(np.int32)
        if len(self.images) != len(self.labels):
            raise ArtifactError(f"MNIST: {len(self.images)} images and {len(self.labels)} labels in {self.root}")

    def _read(self, name, rank):
        plain = os.path.join(self.root, name)
        path = plain if os.path.exists(plain) else _need("MNIST", plain + ".gz", "MNIST's four .gz files")
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
            content = file.read()
        head = 4 + 4 * rank
        if len(content) < head or content[:4] != bytes((0, 0, 8, rank)):
            raise ArtifactError(f"{path}: not an IDX file of {rank} axes of bytes")
        shape = struct.unpack(f">{rank}I", content[4:head])
        if len(content) - head != np.prod(shape, dtype=np.int64):
            raise ArtifactError(f"{path}: {len(content) - head} bytes for the shape {shape}")
        return np.frombuffer(content, np.uint8, offset=head).reshape(shape)

    @property
    def meta(self):
        """The number of classes and their names."""
        return {"class_names": [str(digit) for digit in range(10)]}

    def __getitem__(self, index):
        return self.images[index], self.labels[index]

    def __len__(self):
        return len(self.images)


class _ArraysOnly(pickle.Unpickler):
    """Unpickles NumPy arrays and plain values, and no other class: a file of data runs no code."""

    _ALLOWED = {
        ("numpy", "ndarray"),
        ("numpy", "dtype"),
        ("numpy.core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "_reconstruct"),
        ("_codecs", "encode"),
    }

    def find_class(self, module, name):
        if (module, name) not in self._ALLOWED:
            raise ArtifactError(f"a data file asks for {module}.{name}; allowed are arrays and plain values")
        return super().find_class(module, name)


class CIFAR10(VisionDataset):
    """Small colour images of 10 classes: samples (image (32, 32, 3) uint8, label int32).

    Args:
        root: the folder that holds the unpacked folder of the "python version".
        train: the 50,000 images for training, else the 10,000 for tests.
        download, timeout: accepted for MegEngine programs; nothing is downloaded.
    """

    _folder = "cifar-10-batches-py"
    _train = tuple(f"data_batch_{i}" for i in range(1, 6))
    _test = ("test_batch",)
    _labels = b"labels"

    def __init__(self, root, train=True, download=True, timeout=500):
        del download, timeout
        super().__init__(root, order=("image", "image_category"))
        images, labels = [], []
        for name in self._train if train else self._test:
            path = _need(type(self).__name__, os.path.join(self.root, self._folder, name), "the unpacked batches")
            with open(path, "rb") as file:
                batch = _ArraysOnly(file, encoding="bytes").load()
            images.append(np.asarray(batch[b"data"], np.uint8).reshape(-1, 3, 32, 32))
            labels.extend(batch[self._labels])
        self.images = np.ascontiguousarray(np.concatenate(images).transpose(0, 2, 3, 1)[..., ::-1])
        self.labels = np.array(labels, np.int32)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]

    def __len__(self):
        return len(self.images)


class CIFAR100(CIFAR10):
    """Small colour images of 100 classes: samples (image (32, 32, 3) uint8, label int32 of the fine class).

    The arguments are those of `CIFAR10`.
    """

    _folder = "cifar-100-python"
    _train = ("train",)
    _test = ("test",)
    _labels = b"fine_labels"


class ImageFolder(VisionDataset):
    """Images in one folder a class: samples (image, number of the class), classes in alphabetical order.

    Args:
        root: the folder of the classes' folders.
        check_valid_func: takes a path and tells whether it is an image; by default the endings of image files.
        class_name: give the class's name instead of its number.
        loader: reads a path to an array (H, W, C); `load_image` by default.
    """

    _endings = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp", ".npy")

    def __init__(self, root, check_valid_func=None, class_name=False, loader=load_image):
        super().__init__(root, order=("image", "image_category"))
        _need(type(self).__name__, self.root, "a folder for each class")
        valid = check_valid_func or (lambda path: path.lower().endswith(self._endings))
        self.class_name = class_name
        self.loader = loader
        self.classes = sorted(entry.name for entry in os.scandir(self.root) if entry.is_dir())
        self.samples = []
        for number, name in enumerate(self.classes):
            for folder, folders, files in os.walk(os.path.join(self.root, name), followlinks=True):
                folders.sort()
                paths = [os.path.join(folder, file) for file in sorted(files)]
                self.samples.extend((path, number) for path in paths if valid(path))

    def __getitem__(self, index):
        path, number = self.samples[index]
        return self.loader(path), self.classes[number] if self.class_name else number

    def __len__(self):
        return len(self.samples)


class ImageNet(ImageFolder):
    """ImageNet unpacked: ``root/train`` or ``root/val`` with a folder for each class.

    Args:
        root: the folder of both.
        train: which one.
        kwargs: those of `ImageFolder`.
    """

    def __init__(self, root, train=True, **kwargs):
        super().__init__(os.path.join(os.path.expanduser(root), "train" if train else "val"), **kwargs)
