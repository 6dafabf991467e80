"""Files of keys and signatures: written once, readable by their owner only, and read whole."""

import os
import pathlib

from .errors import ArtifactError


def write_secret(path, contents):
    """Writes a new file, readable by its owner only.

    Raises:
        FileExistsError: there is such a file; a key is never replaced.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(contents)


def read(path, what):
    """The bytes of a file; `ArtifactError` names ``what`` it was to hold if it cannot be read."""
    try:
        return pathlib.Path(path).read_bytes()
    except OSError as error:
        raise ArtifactError(f"cannot read {what} from {os.fspath(path)!r}: {error.strerror}") from None
