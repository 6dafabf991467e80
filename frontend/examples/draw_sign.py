"""Draws sign.png, the picture that read_text.py reads by default: `python draw_sign.py` where Pillow is installed.

Lines of different sizes on a background that is not even, and one line that stands on its head.
"""

import pathlib

import numpy as np
from PIL import Image, ImageDraw, ImageFont

WIDTH, HEIGHT = 640, 400
LINES = (  # text, size, left, top, colour, turned
    ("FERRULE HARBOUR", 52, 40, 30, (20, 40, 90), False),
    ("Boats for hire, 12.50 an hour", 30, 42, 120, (60, 20, 20), False),
    ("Open 9:00 - 18:30 except Mondays", 26, 42, 180, (0, 70, 40), False),
    ("this side up", 34, 380, 250, (90, 30, 90), True),
    ("No fishing from the pier!", 36, 42, 320, (10, 10, 10), False),
)


def text_image(text, size, color):
    """One line of text on nothing."""
    font = ImageFont.load_default(size=size)
    left, top, right, bottom = font.getbbox(text)
    image = Image.new("RGBA", (right - left + 4, bottom - top + 4))
    ImageDraw.Draw(image).text((2 - left, 2 - top), text, font=font, fill=(*color, 255))
    return image


def main():
    slope = np.linspace(0, 1, WIDTH)[None, :, None] * np.array([18, 10, -14])
    row = np.clip(np.array([222, 214, 196]) + slope, 0, 255).astype(np.uint8)
    image = Image.fromarray(np.repeat(row, HEIGHT, 0))
    for text, size, left, top, color, turned in LINES:
        line = text_image(text, size, color)
        line = line.rotate(180) if turned else line
        image.paste(line, (left, top), line)
    image.save(pathlib.Path(__file__).with_name("sign.png"), optimize=True)


if __name__ == "__main__":
    main()
