"""Encrypted weights: AES-256-GCM under a key that the product keeps.

What is encrypted is the weights segment: initial values of the variables and constants. Plan, names, shapes and code stay
readable; the tag vouches for them too, so the key opens the weights only in the artifact that they were encrypted for, or in a
slice of it. A key is 32 bytes, in a file of its own. Each encryption draws a nonce at random, for which one key may make 2^32
artifacts (NIST SP 800-38D, 8.3).

The arithmetic is libsodium's, by way of PyNaCl, on processors that have instructions for AES; a product in C decrypts by
the callback ``decrypt`` of ``FerruleProgramOptions`` with the library that it trusts, for which
``runtime/encryption/ferrule_encryption.h`` is one.
"""

import os

from . import key_files
from .errors import ArtifactError, UnsupportedError

KEY_BYTES, NONCE_BYTES = 32, 12


def generate_key(path):
    """Writes a new key to ``path``, readable by its owner only.

    Raises:
        FileExistsError: there is such a file; a key is never replaced.
    """
    key_files.write_secret(path, os.urandom(KEY_BYTES))


def read_key(key):
    """The 32 bytes of a key: themselves, or the contents of the file of that path.

    Raises:
        ArtifactError: the file cannot be read, or there are not 32 bytes.
    """
    if isinstance(key, bytes):
        contents, what = key, "it"
    else:
        contents, what = key_files.read(key, "a key of weights"), repr(os.fspath(key))
    if len(contents) != KEY_BYTES:
        raise ArtifactError(f"a key of weights has {KEY_BYTES} bytes; {what} has {len(contents)}")
    return contents


def cipher(key):
    """cipher(weights, associated) -> (ciphertext and tag, nonce), all bytes, as the artifact's writer asks for it."""
    seal, _ = _aes_gcm()

    def encrypt(weights, associated):
        nonce = os.urandom(NONCE_BYTES)
        return seal(weights, associated, nonce, key), nonce

    return encrypt


def decryption(key):
    """decrypt(key name, ciphertext and tag, nonce, associated) -> the weights or None, as the loader asks for it.

    Args:
        key: as `read_key` takes it, or a function of the key's name that returns that.
    """
    from nacl.exceptions import CryptoError

    _, unseal = _aes_gcm()

    def decrypt(key_name, sealed, nonce, associated):
        try:
            return unseal(sealed, associated, nonce, read_key(key(key_name) if callable(key) else key))
        except CryptoError:
            return None

    return decrypt


def _aes_gcm():
    # Only those who encrypt need the package.
    from nacl import bindings
    from nacl.exceptions import UnavailableError

    def available(function):
        def call(*arguments):
            try:
                return function(*arguments)
            except UnavailableError:
                raise UnsupportedError("libsodium has AES-256-GCM only where the processor has instructions for AES") from None

        return call

    return available(bindings.crypto_aead_aes256gcm_encrypt), available(bindings.crypto_aead_aes256gcm_decrypt)
