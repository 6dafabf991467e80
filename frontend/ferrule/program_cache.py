"""What was compiled is kept: that of dynamic mode and `jit.trace` in memory up to a limit, and all in files for the next
process, which `compile` and `onnx.compile` then only open.

A file is named after a hash of the program with its values, the compiler and the CPU level, so that it never has to be
removed by hand; a damaged one is written anew. No result depends on it. The environment variable ``FERRULE_PROGRAM_CACHE`` holds another
folder, or ``off``; without it the files stand in ``$XDG_CACHE_HOME/ferrule/programs`` (``~/.cache/ferrule/programs``).
"""

import hashlib
import os
import pathlib
import time

from . import _compiler
from .errors import ArtifactError
from .program import Program

__all__ = ["configure", "folder", "statistics"]

MEMORY_BYTES = 1 << 30
DISK_BYTES = 1 << 30

_folder = None


def configure(folder=..., memory_bytes=MEMORY_BYTES, disk_bytes=DISK_BYTES):
    """Sets where programs are kept, and how many bytes of them.

    Args:
        folder: a folder of this user, made when the first program is written. None keeps no files; without it the
            default folder is taken (see the module).
        memory_bytes: what programs take in this process, an estimate: the code of all, and the values of the one with
            most, since they run in one arena. Where the code is too much, the program used least recently leaves first,
            else that one.
        disk_bytes: what the files may take. Those used least recently are removed, when a process writes its first file
            and from time to time later.
    """
    global _folder
    if folder is ...:
        folder = _default_folder()
    for name, value in (("memory_bytes", memory_bytes), ("disk_bytes", disk_bytes)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ValueError(f"program_cache.configure: {name} is {value!r}; allowed is an int that is not negative")
    _folder = None if folder is None else os.path.abspath(os.fspath(folder))
    _compiler.set_program_cache(memory_bytes)
    _compiler.set_program_store(_folder or "", _compiler_build(), disk_bytes)


def folder():
    """The folder of the files, or None."""
    return _folder


def statistics():
    """Counts since the process began: programs ``compiled``, ``found`` in a file and ``evicted`` from memory; and how
    many ``programs`` of how many ``bytes`` are in memory now, and the ``arena_bytes`` of the memory in which they run one
    after the other: what the largest needs, at the largest sizes that it takes."""
    return _compiler.program_cache_statistics()


def _default_folder():
    chosen = os.environ.get("FERRULE_PROGRAM_CACHE")
    if chosen:
        return None if chosen == "off" else chosen
    base = os.environ.get("XDG_CACHE_HOME")
    if not base or not os.path.isabs(base):
        home = os.path.expanduser("~")
        if not os.path.isabs(home):
            return None  # no home, so no place that is this user's
        base = os.path.join(home, ".cache")
    return os.path.join(base, "ferrule", "programs")


def open_program(path, report=None):
    """The Program of a file in the folder, or None for one that is damaged or gone."""
    try:
        # What was written before the machine started may have been lost with the power: its weights are read once.
        started = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
        verify = "structure" if os.stat(path).st_mtime > started else "all"
        program = Program(path, verify=verify, report=report)
        os.utime(path)  # what was used last stays longest
    except (ArtifactError, OSError):
        return None
    return program


def name_of(*facts):
    """The name of a program that is made from these facts, which have a ``repr``, and from this package's Python code."""
    text = repr((_compiler_build(), _package_build(), facts))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def find(name):
    """The Program of that name, or None."""
    path = _compiler.find_program(name)
    return None if path is None else open_program(path)


def _compiler_build():
    """Tells one build of the compiler from another."""
    status = os.stat(_compiler.__file__)
    return f"{status.st_size}.{status.st_mtime_ns}, "


def _package_build():
    """Tells one state of the package's Python code from another."""
    folder = pathlib.Path(__file__).parent
    files = [(path, path.stat()) for path in sorted(folder.rglob("*.py"))]
    return [(str(path.relative_to(folder)), status.st_size, status.st_mtime_ns) for path, status in files]


configure()
