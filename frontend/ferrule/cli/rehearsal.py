"""What bench and profile run: an entry of an artifact, on arrays out of files or made up."""

import numpy as np

from ..errors import ExecutionError
from ..made_inputs import make_inputs

WARM_UP_RUNS = 2


def add_arguments(parser):
    """Adds the options that say what is run."""
    parser.add_argument("file", help="the artifact (.fer)")
    parser.add_argument("--entry", required=True, help="the entry to run")
    parser.add_argument("--threads", type=int, default=None, help="threads (default: one a CPU)")
    parser.add_argument("--target", default=None, help="the code to use (default: the best that this machine supports)")
    parser.add_argument("--size", action="append", default=[], metavar="DIM=N", help="the size of a dim (default: its min)")
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="an input from a .npy file (default: seeded numbers, zeros for integers)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def open_session(options):
    """(session, arrays), after the runs that are not measured."""
    from ..program import Session, load

    program = load(options.file)
    session = Session(program, threads=options.threads, target=options.target)
    arrays = _arrays(program.signature(options.entry), _pairs(options.size, "--size"), _pairs(options.input, "--input"))
    for _ in range(WARM_UP_RUNS):
        session.run(options.entry, *arrays)
    return session, arrays


def _pairs(arguments, what):
    pairs = {}
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if not equals:
            raise ExecutionError(f"{what} is {argument!r}; it must be NAME=VALUE")
        pairs[name] = value
    return pairs


def _arrays(signature, sizes, files):
    """One array an input: from its file, or made up."""
    values = {dim["name"]: dim["min"] for dim in signature["dims"]}
    for name, size in sizes.items():
        if name not in values:
            raise ExecutionError(f"--size {name}={size}: the entry's dims are {', '.join(values) or 'none'}")
        values[name] = int(size)
    inputs = [spec["name"] for spec in signature["inputs"]]
    unknown = [name for name in files if name not in inputs]
    if unknown:
        raise ExecutionError(f"--input {', '.join(unknown)}: the inputs are {', '.join(inputs)}")
    return make_inputs(signature, values, {name: np.load(path) for name, path in files.items()})
