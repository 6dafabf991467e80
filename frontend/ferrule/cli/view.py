"""``ferrule view memory FILE``: a page that shows what lies in the arena, and when."""

import argparse
import json
import pathlib

_PAGE = ("memory_page.html", "memory_page.js")
# Of Program.memory_plan, what the page reads.
_ENTRY_KEYS = ("name", "peak_bytes", "lower_bound_bytes", "naive_bytes", "fullest_time", "timeline", "buffers")


def add_arguments(commands):
    """Adds the command to the parser."""
    parser = commands.add_parser("view", help="show an artifact in the browser", description="Writes pages for a browser.")
    views = parser.add_subparsers(dest="view", required=True, metavar="WHAT")
    memory = views.add_parser(
        "memory",
        help="what lies in the arena, and when",
        description="Writes one HTML page, which needs nothing else: time to the right, addresses upwards, buffers coloured "
        "by kind. Of several artifacts, say of one model under several budgets, the page shows one at a time.",
        epilog="Examples:\n  ferrule view memory net.fer    # writes net.memory.html\n"
        "  ferrule view memory full.fer half.fer quarter.fer -o budgets.html",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    memory.add_argument("files", nargs="+", metavar="FILE", help="artifacts (.fer)")
    memory.add_argument("-o", "--output", metavar="FILE", help="the page (default: the first artifact's name, .memory.html)")
    memory.set_defaults(run=run)


def memory_page(programs):
    """The page's text.

    Args:
        programs: ``{label: Program}``; the page lets its reader choose one, and an entry of it.
    """
    plans = [
        {"label": label, "entries": [_entry(program, name) for name in program.entries]} for label, program in programs.items()
    ]
    page, script = ((pathlib.Path(__file__).parent / name).read_text(encoding="utf-8") for name in _PAGE)
    # "<" would let a name end the element that it stands in.
    data = json.dumps(plans, separators=(",", ":")).replace("<", "\\u003c")
    return page.replace("@SCRIPT@", script).replace("@PLANS@", data)


def _entry(program, name):
    plan = program.memory_plan(name)
    return {key: plan[key] for key in _ENTRY_KEYS}


def _labels(files):
    """Names of the files, as much of each path as tells them apart."""
    short = [pathlib.Path(file).stem for file in files]
    return short if len(set(short)) == len(short) else files


def run(options):
    """Writes the page; returns the exit code."""
    from ..program import load

    programs = {label: load(file) for label, file in zip(_labels(options.files), options.files)}
    path = pathlib.Path(options.output or pathlib.Path(options.files[0]).with_suffix(".memory.html"))
    path.write_text(memory_page(programs), encoding="utf-8")
    entries = sum(len(program.entries) for program in programs.values())
    print(f"{path}: {entries} {'entry' if entries == 1 else 'entries'}, {path.stat().st_size:,} bytes")
    return 0
