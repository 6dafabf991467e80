"""Arguments and exit codes. 0: done; 1: an artifact or a run was refused, the reason is on stderr; 2: wrong usage."""

import argparse
import sys

from ..errors import FerruleError
from . import compile as compile_command
from . import bench, encrypt, info, profile, sign, slice, view


def main(arguments=None):
    """Runs one command and returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="ferrule", description="Compiled models that train and run.", epilog="Example: ferrule info net.fer --json"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    compile_command.add_arguments(commands)
    info.add_arguments(commands)
    profile.add_arguments(commands)
    bench.add_arguments(commands)
    sign.add_arguments(commands)
    encrypt.add_arguments(commands)
    slice.add_arguments(commands)
    view.add_arguments(commands)
    options = parser.parse_args(arguments)
    try:
        return options.run(options)
    except FerruleError as error:
        print(f"ferrule: {error}", file=sys.stderr)
        return 1
