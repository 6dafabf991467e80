"""Files that are missing, cut, edited, foreign or of another version, and checkpoints of another model.

Edits are resealed where the text says so: then every hash is right, and it is the verifier that has to refuse.
"""

import os
import random
import re
import resource
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from artifact_file import CODE, METADATA, WEIGHTS, ArtifactFile
from ferrule.errors import ArtifactError, FerruleError
from safetensors.numpy import load_file, save_file

import ferrule as fer


@pytest.fixture(scope="module")
def good(digits_artifact):
    return digits_artifact.read_bytes()


def refused(tmp_path, data, *parts, **options):
    """Loading these bytes must fail with a message that holds the parts and the path."""
    path = tmp_path / "edited.fer"
    path.write_bytes(data)
    with pytest.raises(ArtifactError) as caught:
        fer.load(path, **options)
    message = str(caught.value)
    missing = [part for part in (*parts, "edited.fer") if part not in message]
    assert not missing, f"the message lacks {missing}:\n{message}"
    return message


def test_missing(tmp_path):
    with pytest.raises(FerruleError) as caught:
        fer.load(tmp_path / "nowhere.fer")
    assert "nowhere.fer" in str(caught.value) and "No such file" in str(caught.value)


@pytest.mark.parametrize("data", (b"", b"PK\x03\x04", b"\x89FER", b"not an artifact " * 100))
def test_foreign(tmp_path, data):
    refused(tmp_path, data)


@pytest.mark.parametrize("share", (0.001, 0.01, 0.3, 0.9, 0.9999))
def test_truncated(tmp_path, good, share):
    kept = int(len(good) * share)
    refused(tmp_path, good[:kept], str(kept))


def test_longer_than_it_says(tmp_path, good):
    refused(tmp_path, good + b"\0", str(len(good) + 1), str(len(good)))


def test_another_version_names_both(tmp_path, good):
    file = ArtifactFile(good)
    file.format_version = file.minimum_reader_version = 7
    refused(tmp_path, file.reseal().bytes(), "format version 7", "reads versions 1 to 2", "newer runtime")


def test_a_version_that_was_never_frozen(tmp_path, good):
    file = ArtifactFile(good)
    file.format_version = file.minimum_reader_version = 0
    refused(tmp_path, file.reseal().bytes(), "format version 0", "compile it again")


def test_a_newer_version_for_old_readers_is_read(tmp_path, good):
    file = ArtifactFile(good)
    file.format_version = 7
    path = tmp_path / "newer.fer"
    path.write_bytes(file.reseal().bytes())
    assert fer.load(path).entries


@pytest.mark.parametrize(("kind", "name"), ((METADATA, "metadata"), (CODE, "code")))
def test_edited_without_the_hash(tmp_path, good, kind, name):
    refused(tmp_path, ArtifactFile(good).flip(kind, 100).bytes(), name)


def test_edited_weights_need_a_full_verification(tmp_path, good):
    data = ArtifactFile(good).flip(WEIGHTS, 100).bytes()
    refused(tmp_path, data, "weights", verify="all")
    path = tmp_path / "structure.fer"
    path.write_bytes(data)
    fer.load(path)


def test_expected_hash(tmp_path, good, digits_artifact):
    root = ArtifactFile(good).root_hash
    fer.load(digits_artifact, expected_sha256=root.hex())
    with pytest.raises(ArtifactError) as caught:
        fer.load(digits_artifact, expected_sha256="00" * 32)
    assert root.hex()[:8] in str(caught.value)


@pytest.mark.parametrize("edit", ("offset past the end", "offset not aligned", "size past the end", "huge offset", "overlap"))
def test_resealed_directory(tmp_path, good, edit):
    file = ArtifactFile(good)
    if edit == "offset past the end":
        file.offsets[0] = (len(good) + 64) // 64 * 64
    elif edit == "offset not aligned":
        file.offsets[0] += 1
    elif edit == "size past the end":
        file.directory[-1][3] = len(good)
    elif edit == "huge offset":
        file.offsets[0] = 2**64 - 64
    else:
        file.offsets[1] = file.offsets[0]
    refused(tmp_path, file.reseal().bytes())


# Each edited file is opened and, when it opens, run, in a process of its own: a crash must fail this test, not end it.
FUZZ = """
    import random, sys
    import numpy as np
    sys.path.insert(0, {folder!r})
    from artifact_file import METADATA, ArtifactFile
    import ferrule as fer
    from ferrule.errors import FerruleError
    good = open({artifact!r}, "rb").read()
    size = ArtifactFile(good).segment(METADATA)[1]
    generator = random.Random({seed})
    refused = 0
    for _ in range({count}):
        position, mask = generator.randrange(size), 1 << generator.randrange(8)
        print(position, mask, flush=True)
        data = ArtifactFile(good).flip(METADATA, position, mask).reseal().bytes()
        open({edited!r}, "wb").write(data)
        try:
            fer.load({edited!r})
        except FerruleError:
            refused += 1
    print("refused", refused)
"""


@pytest.mark.parametrize("seed", range(2))
def test_resealed_metadata_never_crashes(tmp_path, digits_artifact, seed):
    code = textwrap.dedent(FUZZ).format(
        folder=os.path.dirname(__file__), artifact=str(digits_artifact), edited=str(tmp_path / "edited.fer"), seed=seed, count=150
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"crashed on byte and mask {lines[-1:]} (seed {seed}):\n{done.stderr}"
    assert int(lines[-1].split()[1]) > 0


# Checkpoints.


@pytest.mark.parametrize("kind", ("artifact", "checkpoint", "array", "archive", "text", "empty", "folder"))
def test_every_loader_refuses_the_files_of_the_others(tmp_path, digits_artifact, kind):
    session = fer.Session(fer.load(digits_artifact))
    path = tmp_path / kind
    if kind == "artifact":
        path.write_bytes(digits_artifact.read_bytes())
    elif kind == "checkpoint":
        session.save_checkpoint(path)
    elif kind in ("array", "archive"):
        with path.open("wb") as file:
            (np.save if kind == "array" else np.savez)(file, np.ones(3))
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_text("" if kind == "empty" else "not a file of ours\n" * 100)
    loaders = {"artifact": [fer.load], "checkpoint": [session.load_checkpoint, session.load_variables], "": [fer.onnx.load]}
    before = {name: session[name].tobytes() for name in session.variables()}
    for own, functions in loaders.items():
        for load in functions:
            if own == kind:
                load(path)
                continue
            with pytest.raises(FerruleError, match=f"(?s){re.escape(str(path))}.*"):
                load(path)
    assert before == {name: session[name].tobytes() for name in session.variables()}


def test_checkpoint_of_another_model_lists_names(tmp_path, digits_artifact):
    session = fer.Session(fer.load(digits_artifact), threads=1)
    checkpoint = tmp_path / "other"
    session.save_checkpoint(checkpoint)
    state = load_file(checkpoint)
    state["net.head.weight"] = state.pop("net.classifier.weight")
    save_file(state, checkpoint)
    before = session["net.classifier.weight"]
    with pytest.raises(FerruleError) as caught:
        session.load_checkpoint(checkpoint)
    message = str(caught.value)
    assert "net.classifier.weight" in message and "net.head.weight" in message
    assert "missing" in message and "unexpected" in message
    assert np.array_equal(session["net.classifier.weight"], before)


def test_checkpoint_with_another_shape(tmp_path, digits_artifact):
    session = fer.Session(fer.load(digits_artifact), threads=1)
    checkpoint = tmp_path / "other"
    session.save_checkpoint(checkpoint)
    state = load_file(checkpoint)
    state["net.classifier.bias"] = np.zeros(11, np.float32)
    save_file(state, checkpoint)
    with pytest.raises(FerruleError) as caught:
        session.load_checkpoint(checkpoint)
    assert all(part in str(caught.value) for part in ("net.classifier.bias", "11", "10"))


def test_checkpoint_that_is_cut(tmp_path, digits_artifact):
    session = fer.Session(fer.load(digits_artifact), threads=1)
    checkpoint = tmp_path / "cut"
    session.save_checkpoint(checkpoint)
    data = checkpoint.read_bytes()
    for kept in (0, 7, 100, len(data) - 1):
        checkpoint.write_bytes(data[:kept])
        with pytest.raises(FerruleError) as caught:
            session.load_checkpoint(checkpoint)
        assert "cut" in str(caught.value)


SAVE = """
    import signal, sys
    import numpy as np
    import ferrule as fer
    from ferrule.errors import FerruleError
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    session = fer.Session(fer.load({artifact!r}), threads=1)
    value = 2.0
    while True:
        session["net.classifier.bias"] = np.full(10, value, np.float32)
        try:
            session.save_checkpoint({checkpoint!r})
        except FerruleError as error:
            sys.exit(str(error))
        print("saved", value, flush=True)
        value += 1.0
"""


def save_in_a_process(digits_artifact, checkpoint, **options):
    code = textwrap.dedent(SAVE).format(artifact=str(digits_artifact), checkpoint=str(checkpoint))
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


@pytest.fixture
def checkpoint(tmp_path, digits_artifact):
    """A checkpoint whose classifier bias is 1, and the session that wrote it."""
    session = fer.Session(fer.load(digits_artifact), threads=1)
    session["net.classifier.bias"] = np.ones(10, np.float32)
    path = tmp_path / "checkpoint"
    session.save_checkpoint(path)
    return session, path


def test_a_full_disk_leaves_the_old_checkpoint(digits_artifact, checkpoint):
    session, path = checkpoint
    limit = path.stat().st_size // 2
    child = save_in_a_process(digits_artifact, path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    _, errors = child.communicate(timeout=60)
    assert child.returncode == 1 and path.name in errors, errors
    session.reset()
    session.load_checkpoint(path)
    assert np.array_equal(session["net.classifier.bias"], np.ones(10, np.float32))
    assert os.listdir(path.parent) == [path.name], "the unfinished file was left behind"


def test_a_kill_leaves_an_old_or_a_new_checkpoint(digits_artifact, checkpoint):
    session, path = checkpoint
    generator = random.Random(0)
    for _ in range(8):
        child = save_in_a_process(digits_artifact, path)
        child.stdout.readline()
        time.sleep(generator.uniform(0.0, 0.02))
        child.send_signal(signal.SIGKILL)
        child.communicate(timeout=60)
        session.load_checkpoint(path)
        bias = session["net.classifier.bias"]
        assert bias[0] >= 2.0 and np.all(bias == bias[0])
