"""Names what is in files by their bytes: Magika, Google's network, from its ONNX file.

./dev python frontend/examples/file_type.py [FILE ...]
"""

import argparse
import json
import pathlib
import sys

import numpy as np
from wheel_models import unpacked

import ferrule as fer
import ferrule.onnx

BATCH = 16


def features(path, begin_size, end_size, block_size, padding):
    """The first and the last bytes of a file without white space around them, as int32; short files are padded."""
    with open(path, "rb") as file:
        first = file.read(block_size)
        size = file.seek(0, 2)
        file.seek(max(size - block_size, 0))
        last = file.read()
    # In a small file both ends are seen at once.
    small = size <= block_size
    first = first.strip() if small else first.lstrip()
    last = last.strip() if small else last.rstrip()
    numbers = np.full(begin_size + end_size, padding, np.int32)
    begin, end = first[:begin_size], last[-end_size:]
    numbers[: len(begin)] = np.frombuffer(begin, np.uint8)
    numbers[len(numbers) - len(end) :] = np.frombuffer(end, np.uint8)
    return numbers


class FileTypes:
    """The compiled model: from paths to (type, probability)."""

    def __init__(self):
        model = unpacked("magika") / "magika/models/standard_v3_3"
        settings = json.loads((model / "config.min.json").read_text())
        self.labels = settings["target_labels_space"]
        self._cut = [settings[name] for name in ("beg_size", "end_size", "block_size", "padding_token")]
        width = settings["beg_size"] + settings["end_size"]
        files = fer.Dim("files", min=1, max=BATCH)
        self.program = ferrule.onnx.compile(model / "model.onnx", shapes={"bytes": (files, width)})
        self._session = fer.Session(self.program)

    def of(self, paths):
        """A list of (type, probability), one a path."""
        found = []
        for begin in range(0, len(paths), BATCH):
            batch = np.stack([features(path, *self._cut) for path in paths[begin : begin + BATCH]])
            (probability,) = self._session.run("main", batch)
            found += [(self.labels[row.argmax()], float(row.max())) for row in probability]
        return found


def main():
    here = pathlib.Path(__file__).resolve()
    root = here.parents[2]
    samples = [here, here.parent / "BUILD", here.parent / "mlp.cpp", root / "dev", root / "README.md"]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path, default=[*samples, pathlib.Path(sys.executable)])
    paths = parser.parse_args().files
    types = FileTypes()
    for path, (label, probability) in zip(paths, types.of(paths)):
        print(f"{path.name:24} {label:12} {probability:.3f}")


if __name__ == "__main__":
    main()
