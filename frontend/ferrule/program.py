"""`Program`, `Session` and `Arena`: an artifact, and the state and memory it runs in. Needs the runtime only, no compiler."""

import io
import json
import os
import shutil
import tempfile

import numpy as np

from . import _runtime, encryption, errors
from . import kernels as registry
from .profile import DEFAULT_CAPACITY, Profile

_runtime.set_error_classes(errors.CLASSES)


def load(
    path, verify="structure", expected_sha256=None, public_key=None, signature=None, kernels=None, weights_key=None
):
    """Opens an artifact.

    Args:
        verify: ``"structure"`` checks all but the contents of the weights, ``"all"`` hashes these, too.
        expected_sha256: the root hash (hex) that the artifact must have before its code becomes executable.
        public_key: the file of a key (`ferrule.signing`) by whose owner it must be signed. Everything is then hashed, as
            with ``verify="all"``: a signature is worth nothing for weights that nobody looked at.
        signature: the file of that signature; None: the artifact's name + ".sig".
        kernels: ``{symbol: kernel}`` for the external ops that it calls, as `ferrule.kernels.register` takes them; those that
            are registered need not be given.
        weights_key: of an artifact with encrypted weights the key: 32 bytes, the file that holds them, or a function of the
            key's name that returns either (`ferrule.encryption`). Without it the program can be looked at, and sliced, but
            not run.

    Raises:
        ArtifactError: the file is missing, truncated, edited, foreign, of another format version, not signed so, encrypted
            with another key, or calls a kernel that is neither given nor registered.
    """
    path = os.fspath(path)
    if public_key is None:
        return Program(
            path, verify=verify, expected_sha256=expected_sha256, kernels=kernels, weights_key=weights_key
        )
    from . import signing

    program = Program(
        path, verify="all", expected_sha256=expected_sha256, kernels=kernels, weights_key=weights_key
    )
    # Code becomes executable when a session is made.
    signing.check(program, public_key, f"{path}.sig" if signature is None else signature)
    return program


def _open(path):
    """The file, or None where the runtime says better why it cannot be had."""
    try:
        return open(path, "rb")  # noqa: SIM115  (as long as the Program)
    except OSError:
        return None


class Program:
    """An artifact: entries, the variables that they share, code for one or more targets.

    Args:
        source: a path, the artifact's bytes, or a file of its own that is open for reading.
        verify, expected_sha256, kernels, weights_key: see `load`.
        report: what the compiler says about making it.
    """

    def __init__(
        self, source, verify="structure", expected_sha256=None, report=None, kernels=None, weights_key=None
    ):
        self._bytes, self._file = None, None
        self._own_kernels, self._weights_key = kernels, weights_key
        self.emit = "artifact"
        if isinstance(source, bytes):
            self._bytes = source
        elif isinstance(source, io.IOBase):
            self._file = source
            source = f"/proc/self/fd/{source.fileno()}"
        else:
            # Held open: `save` writes what was opened, whatever became of the path.
            self._file = _open(source)
        self._program = _runtime.Program(
            source,
            verify=verify,
            expected_sha256=expected_sha256,
            kernels=registry.table(kernels),
            decrypt=None if weights_key is None else encryption.decryption(weights_key),
        )
        self._entries = {entry["name"]: entry for entry in self._program.entries()}
        self.report = report or {}

    @property
    def entries(self):
        """The names of the entries."""
        return list(self._entries)

    @property
    def targets(self):
        """The names of the targets that it holds code for."""
        return [target["name"] for target in self._program.info()["targets"]]

    @property
    def root_sha256(self):
        """The hash (hex) over all segments, for ``expected_sha256``."""
        return self._program.info()["root_sha256"]

    @property
    def weights_key_name(self):
        """The name of the key that the weights are encrypted with; None: they are plain."""
        return self._program.info()["weights_key_name"]

    def _entry(self, name):
        if name not in self._entries:
            raise errors.ExecutionError(f"no entry {name!r}; the entries are {', '.join(self._entries)}")
        return self._entries[name]

    def signature(self, entry):
        """The structure of an entry's arguments and results, its inputs, outputs and dims."""
        found = self._entry(entry)
        tree = json.loads(found["signature"]) if found["signature"] else {}
        return {"tree": tree, **{key: found[key] for key in ("inputs", "outputs", "dims")}}

    def memory(self, entry):
        """Bytes of an entry's plan: ``peak``, ``lower_bound`` (no plan needs less), ``naive`` (every buffer apart).

        ``arena`` is what a session allocates once for all entries, ``scratch`` what it allocates for each thread.
        """
        found, info = self._entry(entry), self._program.info()
        return {
            "peak": found["peak_bytes"],
            "lower_bound": found["lower_bound_bytes"],
            "naive": found["naive_bytes"],
            "arena": info["arena_bytes"],
            "scratch": info["scratch_bytes"],
        }

    def memory_plan(self, entry):
        """What happens in the arena while an entry runs.

        Returns:
            A dict of ``peak_bytes``, ``lower_bound_bytes`` and ``naive_bytes``, as `memory` has them; ``buffers``, each with
            its ``name``, ``kind`` (activation, residual, recomputed, gradient, state or workspace; input, output,
            variable or constant outside of the arena), ``offset``, ``planned_bytes``, ``first_time`` to ``last_time`` and
            ``maker_time``; ``timeline``: by time, the ``op``, the user's ``location`` and the ``live_bytes``; and
            ``fullest_time``, at which most is live. docs/format.md lists the rest.
        """
        self._entry(entry)
        entries = json.loads(_runtime.dump_artifact(self._artifact(), memory=True))["entries"]
        return next(found for found in entries if found["name"] == entry)

    def check_runtime(self, version):
        """(whether the artifact runs on a runtime that reads format versions up to ``version``, a sentence that says what
        such a runtime lacks)."""
        return _runtime.check_runtime(self._artifact(), version)

    def sizes(self):
        """Bytes of the artifact: ``file``, ``weights``, ``code``, and ``targets`` by name."""
        info = self._program.info()
        return {
            "file": info["file_bytes"],
            "weights": info["weight_bytes"],
            "code": info["code_bytes"],
            "targets": {target["name"]: target["code_bytes"] for target in info["targets"]},
        }

    def variables(self):
        """What each variable is: a dict of name, role, dtype, shape, byte_size, trainable, assigned, aliases."""
        return self._program.variables()

    def _artifact(self):
        if self._file is None:
            return self._bytes
        self._file.seek(0)
        return self._file.read()

    def missing_kernels(self):
        """The symbols that it calls and for which this process has no kernel: it can be saved here, but not run."""
        if not registry.may_lack():
            return []
        called = json.loads(_runtime.dump_artifact(self._artifact()))["kernels"]
        return registry.missing([kernel["symbol"] for kernel in called if "symbol" in kernel], self._own_kernels)

    def slice(self, targets=None, entries=None, debug=True):
        """A smaller program, verified.

        Args:
            targets: the names of the targets whose code stays; None: all.
            entries: the names of the entries that stay; what only the others use is dropped, too. None: all.
            debug: False drops the user's lines, so that errors of the result name none.

        Without `entries` the root hash stays. Entries can only be dropped from an artifact that has all its targets.

        Raises:
            ArtifactError: there is no target or entry of that name; the message lists those that there are.
        """
        for what, names in (("targets", targets), ("entries", entries)):
            if names is not None and (isinstance(names, str) or not names):
                raise ValueError(f"{what} must be a list of at least one name, or None for all, not {names!r}")
        sliced = _runtime.slice_artifact(self._artifact(), list(targets or ()), list(entries or ()), debug)
        return Program(sliced, verify="all", kernels=self._own_kernels, weights_key=self._weights_key)

    def encrypt(self, weights_key, key_name="weights"):
        """The program with encrypted weights, opened with the key. Only a whole program can be encrypted; slice entries out of
        it before, targets and debug when you like.

        Args:
            weights_key: 32 bytes, or the file that holds them.
            key_name: by which the product finds its key; everybody can read it in the artifact.

        Raises:
            ArtifactError: the weights are encrypted already, there are none, or the program lacks a target's code.
        """
        key = encryption.read_key(weights_key)
        encrypted = _runtime.encrypt_artifact(self._artifact(), key_name, encryption.cipher(key))
        return Program(encrypted, verify="all", kernels=self._own_kernels, weights_key=key)

    def write(self, file):
        """Writes the artifact to a binary file that is open."""
        if self._file is None:
            file.write(self._bytes)
        else:
            self._file.seek(0)
            shutil.copyfileobj(self._file, file, 1 << 20)

    def save(self, path):
        """Writes the artifact; the file is complete or not there. Of a program that was compiled with ``emit="object"``, what
        `save_object` writes."""
        if self.emit == "object":
            self.save_object(path)
        else:
            _save(path, self.write)

    def save_object(self, path, name=None, target=None):
        """Writes the program as a relocatable ELF object, for a product that has no files or where no memory may become
        executable, and beside it, with the ending .h, the C header that opens it.

        The object holds the kernels as functions, the artifact that calls them and the weights, all read-only. Needs the
        compiler.

        Args:
            path: of the object; ``"net.o"``.
            name: with which its symbols begin (``net_open``), an identifier; None: the file's name.
            target: the name of the target whose code it holds; None: the only one.

        Raises:
            ArtifactError: there is no such target, or None was given and there are several.
            UnsupportedError: the name is no identifier.
        """
        from . import _stream  # noqa: F401  (the compiler's errors)
        from . import _compiler

        path = os.fspath(path)
        stem, ending = os.path.splitext(path)
        if ending == ".h":
            raise ValueError(f"{path!r} is where the header of the object goes; name the object .o")
        if target is None and len(self.targets) != 1 or target is not None and target not in self.targets:
            raise errors.ArtifactError(f"an object holds code for one target; give one of {', '.join(self.targets)}, not {target}")
        contents, header = _compiler.make_object(
            self._artifact(), target or self.targets[0], name or os.path.basename(stem)
        )
        _save(path, lambda file: file.write(contents))
        _save(f"{stem}.h", lambda file: file.write(header.encode()))

    def __repr__(self):
        return f"Program(entries={self.entries}, targets={self.targets})"


def _save(path, write):
    """Has ``write`` fill a file beside ``path`` and puts it in its place: complete or not there."""
    path = os.fspath(path)
    handle, partial = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=os.path.basename(path) + ".")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(partial, 0o644)
        os.replace(partial, path)
    except BaseException:
        os.unlink(partial)
        raise


class Arena:
    """Memory that sessions run in, one at a time: activations, gradients, workspace and scratch.

    ``Session(program, arena=arena)`` makes it as large as that session needs. It serves sessions of any programs; a run that
    begins while another session runs in it is refused. The memory returns when neither the arena nor a session is left.
    """

    def __init__(self):
        self._arena = _runtime.Arena()

    def info(self):
        """A dict of ``arena_bytes`` and ``scratch_bytes``: what is allocated, as the largest of its sessions needs."""
        return self._arena.info()


class Session:
    """A program bound to memory and threads, with its own values of the variables that entries assign.

    Args:
        program: a Program.
        threads: how many; None takes all CPUs.
        target: one of the program's; None takes the best that this machine supports.
        share: a session of the same program whose variables this one uses.
        check_numerics: a run raises ExecutionError at the first value that is nan or infinite: of an input, of a variable,
            or of what a kernel made, with the line of the model. Every result is then read once more.
        arena: an Arena that this session runs in, in turn with others; None: memory of its own.
        swap_file: for devices with little memory: the variables that entries assign and, without ``arena``, the arena lie in
            this file, whose pages the system can take out of memory. It must not exist, and has no name once it is made:
            its space returns with the session.
        swap_limit: the most bytes that the file may take; None: what the session needs.
        resident_bytes: the most of the arena that may be in memory at once: what is idle for longest is written to the file
            meanwhile. ``info()`` tells what that takes. None: the system decides.
        arena_limit: the most bytes of the arena. A dim without a max may be larger than the size that ``plan_at`` gave it:
            the session then grows, and keeps what it took. None: as far as there is memory. With ``resident_bytes`` it does
            not grow, and refuses such a size.

    Raises:
        ExecutionError: the file cannot be made or has no room, or some instruction needs more than ``resident_bytes``; the
            message says what is the least.
        MemoryError: there is no memory, or the file would take more than ``swap_limit``. From `run`: a size for which the
            arena would have to be larger than ``arena_limit`` or than there is memory for; the session stays as it was.
    """

    def __init__(
        self,
        program,
        threads=None,
        target=None,
        share=None,
        check_numerics=False,
        arena=None,
        swap_file=None,
        swap_limit=None,
        resident_bytes=None,
        arena_limit=None,
    ):
        if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int) or threads < 1):
            raise errors.ExecutionError(f"threads is {threads!r}; allowed: 1 or more, or None for all CPUs")
        limits = {"swap_limit": swap_limit, "resident_bytes": resident_bytes, "arena_limit": arena_limit}
        for name, value in limits.items():
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise errors.ExecutionError(f"{name} is {value!r}; allowed: 1 byte or more, or None")
            if swap_file is None and name != "arena_limit":
                raise errors.ExecutionError(f"{name} is {value}, but there is no swap_file")
        if resident_bytes is not None and arena_limit is not None:
            raise errors.ExecutionError("a session with resident_bytes does not grow, so it takes no arena_limit")
        if absent := program.missing_kernels():
            raise errors.ExecutionError(
                f"the program calls {', '.join(absent)}, for which no kernel is registered; give external_op a kernel, or "
                f"register one with ferrule.kernels.register"
            )
        self.program = program
        self._session = _runtime.Session(
            program._program,
            threads=threads or 0,
            target=target,
            share=None if share is None else share._session,
            arena=None if arena is None else arena._arena,
            swap_file=swap_file,
            swap_limit=swap_limit or 0,
            resident_bytes=resident_bytes or 0,
            arena_limit=arena_limit or 0,
        )
        self._session.check_numerics(check_numerics)

    def run(self, entry, *arrays, **named):
        """Runs an entry and returns its outputs as a list of arrays.

        Args:
            arrays: the inputs in order.
            named: inputs by name, after those in order.

        Raises:
            ExecutionError: wrong count, name, dtype, rank or size; the message names what is allowed.
        """
        inputs = self.program._entry(entry)["inputs"]
        names = [spec["name"] for spec in inputs]
        if len(arrays) > len(names):
            raise errors.ExecutionError(f"{entry}: {len(arrays)} inputs given, it has {len(names)}: {', '.join(names)}")
        given = dict(zip(names, arrays))
        for name, array in named.items():
            if name not in names or name in given:
                problem = "is given twice" if name in given else "is no input"
                raise errors.ExecutionError(f"{entry}: {name!r} {problem}; the inputs are {', '.join(names)}")
            given[name] = array
        missing = [name for name in names if name not in given]
        if missing:
            raise errors.ExecutionError(f"{entry}: no value for {', '.join(missing)}")
        return self._session.run(entry, [_array(given[spec["name"]], spec) for spec in inputs])

    def variables(self):
        """The names of the variables."""
        return [variable["name"] for variable in self.program.variables()]

    def __getitem__(self, name):
        """A copy of a variable's value."""
        return self._session.get_variable(name)

    def __setitem__(self, name, value):
        """Sets a variable; shape and dtype stay."""
        if not isinstance(value, np.ndarray):
            value = value.numpy() if hasattr(value, "numpy") else np.asarray(value, dtype=self[name].dtype)
        self._session.set_variable(name, value)

    def save_checkpoint(self, path, position=None, delta=False):
        """Writes all variables; a cut at any moment leaves the old file or the new one.

        Args:
            position: the place in the data: a dict of ``seed``, ``epoch``, ``sample``, ``step``.
            delta: write only the variables that differ from the program's initial values. Such a file loads like any
                other, into a program with the same initial values.
        """
        self._session.save_checkpoint(path, position, delta)

    def load_checkpoint(self, path):
        """Sets all variables from a checkpoint of any compile of the same model; returns the place in the data."""
        return self._session.load_checkpoint(path)

    def save_variables(self, path, names=None):
        """Writes variables into a safetensors file, which is replaced as a checkpoint is.

        Args:
            names: which; None: all.

        Raises:
            ExecutionError: a name that is no variable.
        """
        self._session.save_variables(path, self.variables() if names is None else list(names))

    def load_variables(self, path):
        """Sets every variable that a safetensors file holds, or none, and returns how many it holds.

        Raises:
            ArtifactError: a tensor of the file is no variable, or has another dtype or shape.
        """
        return self._session.load_variables(path)

    def cancel(self):
        """Ends the run that another thread has in progress, between two kernels: that raises an ExecutionError."""
        self._session.cancel()

    def reset(self):
        """Sets all variables to their initial values."""
        self._session.reset()

    def profile(self, capacity=DEFAULT_CAPACITY):
        """A context manager: the runs in its block are measured, kernel by kernel (`ferrule.profile.Profile`).

        Args:
            capacity: the most kernel calls that are kept; memory for them is taken at once.
        """
        return Profile(self._session, capacity)

    def info(self):
        """The target, the thread count and the bytes that are allocated.

        With a swap file also ``swap_bytes``, what it takes; and under ``resident_bytes`` that number as it was planned,
        ``written_bytes`` and ``forgotten_bytes``, what was written to the file or given up unwritten since the session
        began, and ``paging_seconds``, what runs spent on that. Waiting for what is read again is in the kernels' times.
        """
        return self._session.info()


def _array(value, spec):
    """``value`` as an array: numbers, lists and tensors are converted, arrays are left for the runtime to check."""
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value, order="C")
    if hasattr(value, "numpy"):
        return value.numpy()
    from .dtypes import to_numpy

    return np.asarray(value, dtype=to_numpy(spec["dtype"]))
