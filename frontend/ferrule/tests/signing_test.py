"""Signed artifacts: made by the command line, checked when they are loaded."""

import os
import stat

import numpy as np
import pytest

import ferrule as fer
from ferrule import signing
from ferrule.cli.main import main


@pytest.fixture
def signed(tmp_path):
    """The paths of an artifact and of a key; the artifact has its signature beside it."""
    double = fer.jit.trace(lambda x: x * 2, symbolic=True)
    artifact, key = tmp_path / "net.fer", tmp_path / "release.key"
    fer.compile({"double": (double, [fer.Spec((3,))])}).save(artifact)
    assert main(["keygen", "-o", str(key)]) == 0
    assert main(["sign", str(artifact), "--key", str(key)]) == 0
    return artifact, key


def public(key):
    return f"{key}.pub"


def test_a_signed_artifact_loads_and_runs(signed):
    artifact, key = signed
    assert stat.S_IMODE(os.stat(key).st_mode) == 0o600
    assert (artifact.parent / "net.fer.sig").stat().st_size == signing.SIGNATURE_BYTES
    program = fer.load(artifact, public_key=public(key))
    np.testing.assert_array_equal(fer.Session(program).run("double", np.ones(3, np.float32))[0], [2, 2, 2])
    assert main(["verify", str(artifact), "--public-key", public(key)]) == 0


def test_a_slice_keeps_the_signature(signed, tmp_path):
    artifact, key = signed
    stripped = tmp_path / "stripped.fer"
    fer.load(artifact).slice(debug=False).save(stripped)
    fer.load(stripped, public_key=public(key), signature=f"{artifact}.sig")


def test_another_key_another_artifact_and_another_signature_are_refused(signed, tmp_path, capsys):
    artifact, key = signed
    other_key, other = tmp_path / "other.key", tmp_path / "other.fer"
    signing.generate_key(other_key)
    with pytest.raises(fer.errors.ArtifactError, match=r"no signature of the artifact.*other\.key\.pub"):
        fer.load(artifact, public_key=public(other_key))
    triple = fer.jit.trace(lambda x: x * 3, symbolic=True)
    fer.compile({"triple": (triple, [fer.Spec((3,))])}).save(other)
    with pytest.raises(fer.errors.ArtifactError, match="no signature"):
        fer.load(other, public_key=public(key), signature=f"{artifact}.sig")
    with pytest.raises(fer.errors.ArtifactError, match=r"cannot read a signature from .*other\.fer\.sig"):
        fer.load(other, public_key=public(key))
    assert main(["verify", str(other), "--public-key", public(key)]) == 1
    assert "other.fer.sig" in capsys.readouterr().err


def test_an_edited_weight_is_found_although_the_root_hash_stays(tmp_path):
    weight = fer.Parameter(np.arange(64, dtype=np.float32))
    scale = fer.jit.trace(lambda x: x * weight, symbolic=True)
    artifact, key = tmp_path / "net.fer", tmp_path / "release.key"
    fer.compile({"scale": (scale, [fer.Spec((64,))])}).save(artifact)
    signing.generate_key(key)
    (tmp_path / "net.fer.sig").write_bytes(signing.sign(fer.load(artifact), key))
    contents = bytearray(artifact.read_bytes())
    contents[-200] ^= 1  # the weights are last
    artifact.write_bytes(contents)
    fer.load(artifact)  # maps them unread
    with pytest.raises(fer.errors.ArtifactError, match="weights"):
        fer.load(artifact, public_key=public(key))


def test_files_of_a_wrong_size_and_a_key_that_exists_are_refused(signed):
    artifact, key = signed
    with pytest.raises(fer.errors.ArtifactError, match="holds 64 bytes; a public key has 32"):
        fer.load(artifact, public_key=f"{artifact}.sig")
    before = key.read_bytes()
    assert main(["keygen", "-o", str(key)]) == 1
    assert key.read_bytes() == before
