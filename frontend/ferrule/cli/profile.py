"""``ferrule profile FILE``: where the time of an entry goes."""

import argparse
import json

import numpy as np

from ..errors import ExecutionError
from ..made_inputs import make_inputs


def add_arguments(commands):
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "profile",
        help="time an entry kernel by kernel",
        description="Runs an entry of an artifact several times and prints what each kernel took.",
        epilog="Examples:\n  ferrule profile net.fer --entry predict --size batch=8 --threads 1\n"
        "  ferrule profile net.fer --entry main --input x=image.npy --trace trace.json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", help="the artifact (.fer)")
    parser.add_argument("--entry", required=True, help="the entry to run")
    parser.add_argument("--runs", type=int, default=20, help="measured runs, after two that are not (default 20)")
    parser.add_argument("--threads", type=int, default=None, help="threads (default: one a CPU)")
    parser.add_argument("--size", action="append", default=[], metavar="DIM=N", help="the size of a dim (default: its min)")
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="an input from a .npy file (default: seeded numbers, zeros for integers)",
    )
    parser.add_argument("--trace", metavar="FILE", help="write the events for chrome://tracing or Perfetto")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


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


def run(options):
    """Prints the table; returns the exit code."""
    from ..program import Session, load

    program = load(options.file)
    session = Session(program, threads=options.threads)
    arrays = _arrays(program.signature(options.entry), _pairs(options.size, "--size"), _pairs(options.input, "--input"))
    for _ in range(2):
        session.run(options.entry, *arrays)
    with session.profile() as profile:
        for _ in range(options.runs):
            session.run(options.entry, *arrays)
    if options.trace:
        with open(options.trace, "w") as file:
            file.write(profile.chrome_trace())
    print(json.dumps(profile.kernels(), indent=2) if options.json else profile)
    return 0
