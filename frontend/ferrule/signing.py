"""Detached Ed25519 signatures: who made an artifact, checked before anything of it becomes executable.

What is signed is the 32 bytes of the root hash, so a signature stays valid when a target or the debug segment is sliced
away. A secret key is a file of 32 bytes (the seed), a public key one of 32, a signature one of 64. The arithmetic is
libsodium's, by way of PyNaCl; a product in C checks the same files with ``crypto_sign_verify_detached`` in the callback
``accept`` of ``FerruleProgramOptions``.
"""

import os

from . import key_files
from .errors import ArtifactError

KEY_BYTES, SIGNATURE_BYTES = 32, 64


def generate_key(path):
    """Writes a new secret key to ``path``, readable by its owner only, and its public key to ``path`` + ".pub".

    Raises:
        FileExistsError: there is such a file; a key is never replaced.
    """
    key = _signing().SigningKey.generate()
    key_files.write_secret(path, bytes(key))
    with open(f"{os.fspath(path)}.pub", "xb") as file:
        file.write(bytes(key.verify_key))


def sign(program, key_path):
    """The signature (bytes) of a `Program` by the secret key in a file."""
    key = _signing().SigningKey(_read(key_path, KEY_BYTES, "a secret key"))
    return key.sign(bytes.fromhex(program.root_sha256)).signature


def check(program, public_key_path, signature_path):
    """Raises `ArtifactError` unless the file holds the signature of ``program`` by the owner of the public key."""
    from nacl.exceptions import BadSignatureError

    key = _signing().VerifyKey(_read(public_key_path, KEY_BYTES, "a public key"))
    signature = _read(signature_path, SIGNATURE_BYTES, "a signature")
    try:
        key.verify(bytes.fromhex(program.root_sha256), signature)
    except BadSignatureError:
        raise ArtifactError(
            f"{os.fspath(signature_path)!r} is no signature of the artifact with root sha256 {program.root_sha256} by the "
            f"owner of {os.fspath(public_key_path)!r}"
        ) from None


def _signing():
    # Only those who sign need the package.
    from nacl import signing

    return signing


def _read(path, byte_count, what):
    contents = key_files.read(path, what)
    if len(contents) != byte_count:
        raise ArtifactError(f"{os.fspath(path)!r} holds {len(contents)} bytes; {what} has {byte_count}")
    return contents
