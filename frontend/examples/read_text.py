"""Reads the text in a picture: PaddleOCR's three networks (where, which way up, what), from their ONNX files.

./dev python frontend/examples/read_text.py [PICTURE.png ...]
"""

import argparse
import pathlib
import struct
import zlib

import numpy as np
from scipy import ndimage
from wheel_models import unpacked

import ferrule as fer
import ferrule.onnx

LONGEST_SIDE = 960
TEXT_HEIGHT = 48
# Recognition and direction are compiled once; widths of text lines are multiples of 32 up to this one.
LONGEST_LINE = 1280


def read_png(path):
    """[H, W, 3] uint8 of a PNG file with 8 bits a channel that is not interlaced."""
    data = pathlib.Path(path).read_bytes()
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise SystemExit(f"{path} is no PNG file")
    chunks, at = {}, 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        chunks[kind] = chunks.get(kind, b"") + data[at + 8 : at + 8 + size]
        at += size + 12
    width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    channels = {0: 1, 2: 3, 4: 2, 6: 4}.get(color)
    if depth != 8 or channels is None or interlaced:
        raise SystemExit(f"{path}: only PNG files with 8 bits a channel, no palette and no interlacing are read")
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, -1)
    above, rows = np.zeros(width * channels, np.uint8), []
    for line in lines:
        above = unfiltered(line[0], line[1:].copy(), above, channels)
        rows.append(above)
    pixels = np.stack(rows).reshape(height, width, channels)
    return np.repeat(pixels[..., :1], 3, 2) if channels < 3 else pixels[..., :3]


def unfiltered(kind, line, above, step):
    """A line of a PNG as it was: each byte was stored as the difference to a guess from its neighbours."""
    if kind == 2:
        return line + above
    if kind == 1:
        return np.cumsum(line.reshape(-1, step), 0, np.uint8).reshape(-1)
    if kind:
        for i in range(len(line)):
            left, corner = (int(line[i - step]), int(above[i - step])) if i >= step else (0, 0)
            guess = (left + int(above[i])) // 2
            if kind == 4:
                estimate = left + int(above[i]) - corner
                guess = min((left, int(above[i]), corner), key=lambda value: abs(estimate - value))
            line[i] = (int(line[i]) + guess) & 255
    return line


def resized(image, height, width):
    """[H, W, 3] float32 at another size, each point from its four neighbours."""
    axes = []
    for new, old in ((height, image.shape[0]), (width, image.shape[1])):
        place = np.clip((np.arange(new) + 0.5) * old / new - 0.5, 0, old - 1)
        first = np.minimum(place.astype(int), max(old - 2, 0))
        axes.append((first, np.minimum(first + 1, old - 1), (place - first).astype(np.float32)))
    (top, bottom, down), (left, right, along) = axes
    rows = image[top] * (1 - down[:, None, None]) + image[bottom] * down[:, None, None]
    return rows[:, left] * (1 - along[:, None]) + rows[:, right] * along[:, None]


def network_input(image):
    """[1, 3, H, W] in -1 to 1; the networks learnt with the channels in the order blue, green, red."""
    return np.ascontiguousarray((image[..., ::-1] / 127.5 - 1.0).transpose(2, 0, 1)[None], np.float32)


class TextReader:
    """From a picture to its lines of text. Lines must lie level; they may stand on their head."""

    def __init__(self):
        self._models = unpacked("rapidocr") / "rapidocr_onnxruntime/models"
        width = fer.Dim("width", min=TEXT_HEIGHT, max=LONGEST_LINE, multiple_of=16)
        self._direction = self._session("ch_ppocr_mobile_v2.0_cls_infer", (1, 3, TEXT_HEIGHT, 192))
        self._recognition = self._session("ch_PP-OCRv4_rec_infer", (1, 3, TEXT_HEIGHT, width))
        letters = ferrule.onnx.load(self._models / "ch_PP-OCRv4_rec_infer.onnx").metadata["character"]
        self._letters = ["", *letters.split("\n"), " "]
        self._detections = {}

    def _session(self, name, shape):
        return fer.Session(ferrule.onnx.compile(self._models / f"{name}.onnx", shapes={"x": shape}))

    def read(self, image):
        """A list of (box as slices, text, probability), from the top to the bottom."""
        return [(box, *self.recognize(self.upright(image[box]))) for box in self.boxes(image)]

    def boxes(self, image):
        """Where text lies: pairs of slices."""
        shrink = min(1.0, LONGEST_SIDE / max(image.shape[:2]))
        height, width = (max(32, round(size * shrink / 32) * 32) for size in image.shape[:2])
        if (height, width) not in self._detections:
            self._detections[height, width] = self._session("ch_PP-OCRv4_det_infer", (1, 3, height, width))
        found = self._detections[height, width].run("main", network_input(resized(image, height, width)))[0][0, 0]
        scale = image.shape[0] / height, image.shape[1] / width
        boxes = []
        regions, _ = ndimage.label(ndimage.binary_dilation(found > 0.3, np.ones((2, 2))))
        for region in ndimage.find_objects(regions):
            high, wide = (part.stop - part.start for part in region)
            if min(high, wide) < 4 or found[region].mean() < 0.4:
                continue
            # The network marks the core of a line: it is grown back by what its training shrank it.
            margin = high * wide * 1.6 / (2 * (high + wide))
            boxes.append(
                tuple(
                    slice(max(0, int((part.start - margin) * s)), min(size, int((part.stop + margin) * s) + 1))
                    for part, s, size in zip(region, scale, image.shape)
                )
            )
        return sorted(boxes, key=lambda box: (box[0].start, box[1].start))

    def upright(self, line):
        """A line of text turned the right way up."""
        width = min(192, max(1, round(line.shape[1] * TEXT_HEIGHT / line.shape[0])))
        page = np.full((TEXT_HEIGHT, 192, 3), 127.5, np.float32)
        page[:, :width] = resized(line, TEXT_HEIGHT, width)
        turned = self._direction.run("main", network_input(page))[0][0, 1]
        return line[::-1, ::-1] if turned > 0.9 else line

    def recognize(self, line):
        """(text, probability) of a line: of each column the likeliest letter, repeats and gaps left out."""
        width = round(line.shape[1] * TEXT_HEIGHT / line.shape[0] / 16) * 16
        image = resized(line, TEXT_HEIGHT, min(max(width, TEXT_HEIGHT), LONGEST_LINE))
        columns = self._recognition.run("main", network_input(image))[0][0]
        letters, sure = columns.argmax(1), columns.max(1)
        kept = (letters != 0) & (letters != np.roll(letters, 1) * (np.arange(len(letters)) > 0))
        text = "".join(self._letters[letter] for letter in letters[kept])
        return text, float(sure[kept].mean()) if kept.any() else 0.0


def main():
    sign = pathlib.Path(__file__).with_name("sign.png")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pictures", nargs="*", type=pathlib.Path, default=[sign])
    pictures = parser.parse_args().pictures
    print("compiling three networks ...")
    reader = TextReader()
    for path in pictures:
        print(path.name)
        for (rows, columns), text, probability in reader.read(read_png(path)):
            print(f"  {columns.start:4}, {rows.start:4}   {probability:.2f}   {text}")


if __name__ == "__main__":
    main()
