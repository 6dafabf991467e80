"""What the examples are trained on: scikit-learn's handwritten digits, and the licence texts that Debian ships.

Every function is a generator of batches without end, the same ones each time; NumPy only.
"""

import pathlib

import numpy as np
import sklearn.datasets

LICENSES = pathlib.Path("/usr/share/common-licenses")


def digit_batches(batch, size=8, channels=1, noise=0.0):
    """(image [batch, channels, size, size] float32, label [batch] int32); size is a multiple of 8.

    Pixels lie in 0..1 before normal noise of that standard deviation is added.
    """
    digits = sklearn.datasets.load_digits()
    scale = size // 8
    image = np.kron((digits.images / 16.0).astype(np.float32), np.ones((1, scale, scale), np.float32))
    image = np.repeat(image[:, None], channels, axis=1)
    label = digits.target.astype(np.int32)
    generator = np.random.default_rng(0)
    while True:
        chosen = generator.integers(0, len(label), batch)
        images = image[chosen]
        if noise:
            images += noise * generator.standard_normal(images.shape, np.float32)
        yield images, label[chosen]


def license_texts():
    """{name: bytes} of the licences in alphabetical order; links to others are left out."""
    texts = {}
    for path in sorted(LICENSES.iterdir()):
        if path.is_file() and not path.is_symlink():
            texts[path.name] = path.read_bytes()
    if not texts:
        raise FileNotFoundError(f"no licence texts in {LICENSES}; Debian's package base-files has them")
    return texts


def text_batches(batch, length):
    """(text [batch, length], next [batch, length]), both int32 bytes: each byte with the one that follows it."""
    text = np.frombuffer(b"".join(license_texts().values()), np.uint8).astype(np.int32)
    generator = np.random.default_rng(0)
    while True:
        starts = generator.integers(0, len(text) - length - 1, batch)
        windows = text[starts[:, None] + np.arange(length + 1)]
        yield np.ascontiguousarray(windows[:, :-1]), np.ascontiguousarray(windows[:, 1:])


def which_license_batches(batch, length):
    """(text [batch, length] int32 bytes, label [batch] int32): a window of a licence, and which licence it is from."""
    texts = [np.frombuffer(text, np.uint8).astype(np.int32) for text in license_texts().values()]
    generator = np.random.default_rng(0)
    while True:
        label = generator.integers(0, len(texts), batch).astype(np.int32)
        starts = [generator.integers(0, len(texts[each]) - length) for each in label]
        yield np.stack([texts[each][start : start + length] for each, start in zip(label, starts)]), label


def capital_batches(batch, longest):
    """(text [batch, n] int32, capital [batch, n] int32): lower-cased lines, and 1 where a letter was a capital.

    n is the longest line of the batch, a different one each time; behind a shorter line the text is 0 and the tag -1.
    """
    lines = b"\n".join(license_texts().values()).split(b"\n")
    lines = [line.strip()[:longest] for line in lines if len(line.strip()) >= 8]
    generator = np.random.default_rng(0)
    while True:
        chosen = [lines[i] for i in generator.integers(0, len(lines), batch)]
        text = np.zeros((batch, max(map(len, chosen))), np.int32)
        capital = np.full(text.shape, -1, np.int32)
        for row, line in enumerate(chosen):
            text[row, : len(line)] = np.frombuffer(line.lower(), np.uint8)
            capital[row, : len(line)] = [int(byte in range(65, 91)) for byte in line]
        yield text, capital


def noise_batches(batches, features):
    """Batches of `batches` with noise [batch, features] float32 in front, fed as data."""
    generator = np.random.default_rng(1)
    for first, *rest in batches:
        yield (generator.standard_normal((len(first), features)).astype(np.float32), first, *rest)
