"""`compile(tune=True)`: what it measures, keeps and refuses; no candidate changes a bit."""

import json
import pathlib

import ferrule as fer
import ferrule.functional as F
import numpy as np
import pytest
from ferrule import program_cache, tuning
from ferrule.compilation import compile_candidate
from ferrule.errors import UnsupportedError

WEIGHT = np.random.default_rng(0).standard_normal((96, 130)).astype(np.float32)


@pytest.fixture
def folder(tmp_path):
    before = program_cache.folder()
    program_cache.configure(folder=tmp_path)
    yield tmp_path
    program_cache.configure(folder=before)


def multiply(x):
    return F.relu(F.matmul(x, fer.tensor(WEIGHT)) + 1.0)


def multiply_and_add(x):
    return F.relu(F.matmul(x, fer.tensor(WEIGHT)) + 1.0) + 2.0


def test_tuned_programs_have_the_same_bits_and_are_kept(folder, monkeypatch):
    x = np.random.default_rng(1).standard_normal((100, 96)).astype(np.float32)
    entries = {"main": (multiply, [fer.Spec((100, 96))])}
    plain = fer.Session(fer.compile(entries)).run("main", x)[0]
    tuned = fer.compile(entries, tune=True)
    assert fer.Session(tuned).run("main", x)[0].tobytes() == plain.tobytes()
    assert tuned.report["tune"] > 0

    (kept,) = folder.glob("*.tiles.json")
    choices = json.loads(kept.read_text())
    assert len(choices) == 1 and all(tile >= 0 for tile in choices.values())
    monkeypatch.setattr(tuning, "_measure", None)  # nothing is measured again: not for the program, nor for its kernels
    assert "find" in fer.compile(entries, tune=True).report and "tune" not in fer.compile(entries, tune=True).report
    for path in folder.glob("*.fer"):
        path.unlink()
    assert fer.compile(entries, tune=True).root_sha256 == tuned.root_sha256


def test_the_faster_tile_is_taken(folder, monkeypatch):
    def compare(_, other):
        # The candidate that is compiled as number 4 seems fast, all others slow.
        return {name: 0.5 if chosen == 4 else 1.5 for name, chosen in numbers[id(other)]}

    numbers, opened = {}, tuning._open

    def open_and_note(artifact):
        program = opened(artifact)
        noted[id(program)] = [(name, chosen) for name, _, _, chosen in artifact[2]]
        return program

    class Runs:
        def __init__(self, program, sizes):
            numbers[id(self)] = noted[id(program)]

    noted = {}
    monkeypatch.setattr(tuning, "_open", open_and_note)
    monkeypatch.setattr(tuning, "_Runs", Runs)
    monkeypatch.setattr(tuning, "_compare", compare)
    fer.compile({"main": (multiply, [fer.Spec((100, 96))])}, tune=True)
    (kept,) = folder.glob("*.tiles.json")
    assert list(json.loads(kept.read_text()).values()) == [4]


@pytest.mark.parametrize("rows", [1, 2, 3, 41, 100])
def test_every_candidate_gives_the_same_bits(rows):
    x = np.random.default_rng(2).standard_normal((rows, 96)).astype(np.float32)
    results = set()
    count = 1
    number = 0
    while number < count:
        program, tunable = compile_candidate(number, {"main": (multiply, [fer.Spec((rows, 96))])}, targets=["x86-64-v3", "host"])
        ((_, _, count, chosen),) = tunable
        assert chosen == number
        for target in program.targets:
            for threads in (1, 2):
                results.add(fer.Session(program, threads=threads, target=target).run("main", x)[0].tobytes())
        number += 1
    assert count >= 8 and len(results) == 1


def test_dims_are_measured_at_their_max_or_where_memory_is_planned(folder, monkeypatch):
    asked = []
    monkeypatch.setattr(tuning, "make_inputs", lambda signature, sizes: asked.append(sizes) or [])
    n, m = fer.Dim("n", max=24), fer.Dim("m")
    entries = {"a": (multiply, [fer.Spec((n, 96))]), "b": (multiply_and_add, [fer.Spec((m, 96))])}
    fer.compile(entries, tune=True, plan_at={m: 7})
    assert {"n": 24} in asked and {"m": 7} in asked


def test_a_run_that_never_ends_is_given_up(folder, monkeypatch):
    def forever(x):
        return F.while_loop(lambda y: F.max(y) < 2.0, lambda y: F.clip(multiply(y)[:, :96], 0.0, 1.0), F.clip(x, 0.0, 1.0))

    monkeypatch.setattr(tuning, "_LONGEST_RUN_SECONDS", 0.1)
    program = fer.compile({"main": (forever, [fer.Spec((4, 96))])}, tune=True)
    assert program.entries == ["main"]
    assert not any(json.loads(path.read_text()) for path in folder.glob("*.tiles.json"))


def test_a_damaged_file_of_choices_is_measured_again(folder):
    entries = {"main": (multiply, [fer.Spec((8, 96))])}
    fer.compile(entries, tune=True)
    (kept,) = folder.glob("*.tiles.json")
    kept.write_text("{")
    for path in folder.glob("*.fer"):
        path.unlink()
    fer.compile(entries, tune=True)
    assert len(json.loads(pathlib.Path(kept).read_text())) == 1


def test_targets_that_this_machine_does_not_run_are_refused(folder):
    with pytest.raises(UnsupportedError, match="tune=True measures on this machine"):
        fer.compile({"main": (multiply, [fer.Spec((4, 96))])}, targets=["aarch64"], tune=True)
