"""Writes the golden files of the current format version: ./dev python tests/golden/make_golden.py

Once, when a version is frozen. Files that are there are never written again: they are what users have.
"""

import pathlib
import sys
import tempfile

import golden_files
import golden_programs
from ferrule import _runtime

import ferrule as fer


def make(folder):
    """Writes the files of all programs to a new folder."""
    if folder.exists():
        raise SystemExit(f"{folder} exists: golden files of a frozen version are never written again")
    made = {}
    for name, build in golden_programs.PROGRAMS[_runtime.FORMAT_VERSION].items():
        program, calls = build()
        session = fer.Session(program, threads=1)
        done = []
        for entry, inputs in calls:
            outputs = session.run(entry, **inputs)
            names = [output["name"] for output in program.signature(entry)["outputs"]]
            done.append((entry, inputs, dict(zip(names, outputs))))
        with tempfile.TemporaryDirectory() as temporary:
            path = pathlib.Path(temporary) / "program.fer"
            program.save(path)
            made[name] = (path.read_bytes(), done)
    folder.mkdir(parents=True)
    for name, (artifact, calls) in made.items():
        golden_files.write(folder, name, artifact, calls)


if __name__ == "__main__":
    make(golden_files.FOLDER / f"v{_runtime.FORMAT_VERSION}" if len(sys.argv) == 1 else pathlib.Path(sys.argv[1]))
