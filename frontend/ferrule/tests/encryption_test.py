"""Encrypted weights: made by Python and by the command line, opened with the key and with nothing else."""

import os
import stat

import numpy as np
import pytest

import ferrule as fer
from ferrule import encryption
from ferrule.cli.main import main

WEIGHT = np.arange(1, 65, dtype=np.float32)
X = np.full(64, 3, np.float32)


@pytest.fixture
def plain(tmp_path):
    """The path of an artifact that multiplies by WEIGHT."""
    weight = fer.Parameter(WEIGHT)
    scale = fer.jit.trace(lambda x: x * weight, symbolic=True)
    path = tmp_path / "net.fer"
    fer.compile({"scale": (scale, [fer.Spec((64,), name="x")])}).save(path)
    return path


@pytest.fixture
def encrypted(plain, tmp_path):
    """The paths of that artifact, encrypted by the command line, and of the key."""
    path, key = tmp_path / "shipped.fer", tmp_path / "weights.key"
    assert main(["keygen", "--weights", "-o", str(key)]) == 0
    assert main(["encrypt", str(plain), "--key", str(key), "--key-name", "product", "-o", str(path)]) == 0
    return path, key


def scaled(program):
    return fer.Session(program, threads=1).run("scale", X)[0]


def test_the_cipher_is_aes_256_gcm():
    """Test case 16 of McGrew and Viega, The Galois/Counter Mode of Operation."""
    key = bytes.fromhex("feffe9928665731c6d6a8f9467308308" * 2)
    sealed = bytes.fromhex(
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
        "76fc6ece0f4e1768cddf8853bb2d551b"
    )
    nonce, associated = bytes.fromhex("cafebabefacedbaddecaf888"), bytes.fromhex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
    plain = encryption.decryption(key)("any", sealed, nonce, associated)
    assert plain.hex() == (
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
    )
    assert encryption.decryption(key)("any", sealed, nonce, associated[1:]) is None


def test_it_runs_with_the_key(plain, encrypted):
    path, key = encrypted
    assert stat.S_IMODE(os.stat(key).st_mode) == 0o600
    assert WEIGHT.tobytes() in plain.read_bytes() and WEIGHT.tobytes() not in path.read_bytes()
    asked = []

    def find(name):
        asked.append(name)
        return key

    for weights_key in (key, str(key), key.read_bytes(), find):
        np.testing.assert_array_equal(scaled(fer.load(path, weights_key=weights_key)), X * WEIGHT)
    assert asked == ["product"]
    assert main(["verify", str(path), "--weights-key", str(key)]) == 0


def test_each_encryption_has_a_nonce_of_its_own(plain):
    program, key = fer.load(plain), bytes(range(32))
    first, second = program.encrypt(key), program.encrypt(key)
    assert first.root_sha256 != second.root_sha256
    np.testing.assert_array_equal(scaled(first), scaled(second))


def test_without_the_key_it_can_be_looked_at_and_sliced(encrypted, tmp_path, capsys):
    path, key = encrypted
    program = fer.load(path, verify="all")
    assert program.entries == ["scale"]
    assert main(["info", str(path)]) == 0
    with pytest.raises(fer.errors.ExecutionError, match="encrypted with the key 'product'"):
        fer.Session(program)
    stripped = tmp_path / "stripped.fer"
    assert main(["strip", str(path), "-o", str(stripped)]) == 0
    np.testing.assert_array_equal(scaled(fer.load(stripped, weights_key=key)), X * WEIGHT)
    assert main(["slice", str(path), "--entry", "scale", "-o", str(stripped)]) == 1
    assert "dropping entries needs plain weights" in capsys.readouterr().err


def test_an_older_runtime_is_told(encrypted):
    runs, sentence = fer.load(encrypted[0]).check_runtime(1)
    assert not runs and "which lacks: encrypted weights (version 2)" in sentence


def test_wrong_keys_are_refused(encrypted, tmp_path):
    path, key = encrypted
    with pytest.raises(fer.errors.ArtifactError, match="do not open with the key 'product'"):
        fer.load(path, weights_key=bytes(32))
    with pytest.raises(fer.errors.ArtifactError, match="a key of weights has 32 bytes; it has 5"):
        fer.load(path, weights_key=b"short")
    with pytest.raises(fer.errors.ArtifactError, match=r"cannot read a key of weights from .*none\.key"):
        fer.load(path, weights_key=tmp_path / "none.key")
    with pytest.raises(KeyError, match="product"):
        fer.load(path, weights_key=lambda name: {}[name])
    before = key.read_bytes()
    assert main(["keygen", "--weights", "-o", str(key)]) == 1
    assert key.read_bytes() == before


def test_edited_weights_are_refused_without_a_full_verification(encrypted):
    path, key = encrypted
    contents = bytearray(path.read_bytes())
    for behind in (1, 20, 100):  # nonce, tag, weights
        contents[-behind] ^= 1
        path.write_bytes(contents)
        with pytest.raises(fer.errors.ArtifactError, match="do not open"):
            fer.load(path, weights_key=key)
        contents[-behind] ^= 1
    path.write_bytes(contents)
    fer.load(path, weights_key=key)


def test_what_cannot_be_encrypted_is_said(encrypted):
    path, key = encrypted
    with pytest.raises(fer.errors.ArtifactError, match="encrypting needs plain weights"):
        fer.load(path, weights_key=key).encrypt(key)
    double = fer.jit.trace(lambda x: x + x, symbolic=True)
    with pytest.raises(fer.errors.ArtifactError, match="there are no weights to encrypt"):
        fer.compile({"double": (double, [fer.Spec((3,))])}).encrypt(key)
    with pytest.raises(fer.errors.ArtifactError, match="the name of the key is empty"):
        weight = fer.Parameter(WEIGHT)
        scale = fer.jit.trace(lambda x: x * weight, symbolic=True)
        fer.compile({"scale": (scale, [fer.Spec((64,))])}).encrypt(key, key_name="")
