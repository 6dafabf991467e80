"""`python -m bench NAME ...`: runs one benchmark; `./dev bench` makes the environments first."""

import importlib
import sys

# In the order of docs/performance.md.
BENCHMARKS = ("demo", "infer", "train", "kernels", "neon", "choice", "compile", "cold", "size", "frontend")
# `compile` is a function of Python, so its module has a longer name.
MODULES = {"compile": "compile_time"}


def main():
    """Runs the benchmark that the first argument names."""
    if len(sys.argv) < 2 or sys.argv[1] not in BENCHMARKS:
        sys.exit(f"usage: ./dev bench NAME [--help]; NAME is one of {', '.join(BENCHMARKS)}")
    name = sys.argv[1]
    importlib.import_module(f".{MODULES.get(name, name)}", __package__).main(sys.argv[2:])


if __name__ == "__main__":
    main()
