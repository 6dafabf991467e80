"""Golden files: an artifact, and calls of its entries in order with the outputs that they must have, bit for bit.

``NAME.fer.gz`` is the artifact. ``NAME.npz`` holds the calls: ``NUMBER.ENTRY.in.INPUT`` and ``NUMBER.ENTRY.out.OUTPUT``.
"""

import gzip
import pathlib
from collections import defaultdict

import numpy as np

FOLDER = pathlib.Path(__file__).parent


def versions():
    """{format version: folder}, as far as they are frozen."""
    return {int(folder.name[1:]): folder for folder in sorted(FOLDER.glob("v*"))}


def write(folder, name, artifact, calls):
    """Writes both files. ``calls``: (entry, {input: array}, {output: array}) in order."""
    with open(folder / f"{name}.fer.gz", "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as out:
        out.write(artifact)
    arrays = {}
    for number, (entry, inputs, outputs) in enumerate(calls):
        for kind, group in (("in", inputs), ("out", outputs)):
            arrays.update({f"{number}.{entry}.{kind}.{key}": value for key, value in group.items()})
    np.savez_compressed(folder / f"{name}.npz", **arrays)


def read(folder, name):
    """(artifact's bytes, [(entry, {input: array}, {output: array})])."""
    artifact = gzip.decompress((folder / f"{name}.fer.gz").read_bytes())
    calls = defaultdict(lambda: ("", {}, {}))
    with np.load(folder / f"{name}.npz") as arrays:
        for key in arrays:
            number, entry, kind, tensor = key.split(".", 3)
            _, inputs, outputs = calls[int(number)]
            (inputs if kind == "in" else outputs)[tensor] = arrays[key]
            calls[int(number)] = (entry, inputs, outputs)
    return artifact, [calls[number] for number in sorted(calls)]
