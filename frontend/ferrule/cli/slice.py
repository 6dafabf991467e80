"""``ferrule slice FILE`` and ``ferrule strip FILE``: smaller artifacts."""

import argparse


def add_arguments(commands):
    """Adds both commands to the parser."""
    parser = commands.add_parser(
        "slice",
        help="keep some targets or entries of an artifact",
        description="Writes an artifact that holds only some targets or entries, and verifies it.",
        epilog="Examples:\n  ferrule slice net.fer -o phone.fer --target x86-64-v3\n"
        "  ferrule slice net.fer -o phone.fer --entry predict    # without the training part",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--target", action="append", metavar="NAME", help="a target that stays; may be repeated")
    parser.add_argument("--entry", action="append", metavar="NAME", help="an entry that stays; may be repeated")
    parser.add_argument("--strip", action="store_true", help="also drop the debug segment")
    _add_files(parser)
    parser.set_defaults(run=run)

    parser = commands.add_parser(
        "strip",
        help="drop the debug segment of an artifact",
        description="Writes an artifact without the lines of the model's source, and verifies it: errors name none.",
        epilog="Example: ferrule strip net.fer -o phone.fer",
    )
    _add_files(parser)
    parser.set_defaults(run=run, target=None, entry=None, strip=True)


def _add_files(parser):
    parser.add_argument("file", help="the artifact (.fer)")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="what to write")


def run(options):
    """Writes the smaller artifact; returns the exit code."""
    from ..program import load

    program = load(options.file)
    sliced = program.slice(targets=options.target, entries=options.entry, debug=not options.strip)
    sliced.save(options.output)
    before, after = (each.sizes()["file"] for each in (program, sliced))
    same = "the same root sha256" if program.root_sha256 == sliced.root_sha256 else f"root sha256 {sliced.root_sha256}"
    print(f"{options.output}: {after:,} bytes of {before:,}, {same}")
    return 0
