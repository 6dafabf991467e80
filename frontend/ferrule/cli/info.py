"""``ferrule info FILE``: what an artifact holds."""

import argparse
import json


def add_arguments(commands):
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "info",
        help="print what an artifact holds",
        description="Prints entries, memory plan, variables, targets and sizes of an artifact.",
        epilog="Examples:\n  ferrule info net.fer\n  ferrule info net.fer --verify all --json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", help="the artifact (.fer)")
    parser.add_argument(
        "--verify", choices=("structure", "all"), default="structure", help="all: hash the weights, too"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def collect(program):
    """The facts about a program as JSON data."""
    return {
        "root_sha256": program.root_sha256,
        "sizes": program.sizes(),
        "entries": {name: {**program.signature(name), "memory": program.memory(name)} for name in program.entries},
        "variables": program.variables(),
    }


def run(options):
    """Prints the facts; returns the exit code."""
    from ..program import load

    facts = collect(load(options.file, verify=options.verify))
    print(json.dumps(facts, indent=2) if options.json else _text(options.file, facts))
    return 0


def _text(path, facts):
    sizes = facts["sizes"]
    lines = [
        f"{path}: {sizes['file']:,} bytes (weights {sizes['weights']:,}, code {sizes['code']:,})",
        f"root sha256 {facts['root_sha256']}",
        "targets: " + ", ".join(f"{name} ({size:,} bytes)" for name, size in sizes["targets"].items()),
    ]
    for name, entry in facts["entries"].items():
        memory = entry["memory"]
        lines.append(f"\nentry {name}")
        for kind in ("inputs", "outputs"):
            lines += [f"  {kind[:-1]:6} {t['name']}: {t['dtype']}{t['shape_text']}" for t in entry[kind]]
        for dim in entry["dims"]:
            limit = "no maximum" if dim["max"] is None else f"max {dim['max']}"
            lines.append(f"  dim    {dim['name']}: min {dim['min']}, {limit}, multiple of {dim['multiple_of']}")
        lines.append(
            f"  memory peak {memory['peak']:,}, lower bound {memory['lower_bound']:,}, naive {memory['naive']:,}, "
            f"scratch {memory['scratch']:,} a thread"
        )
    lines.append("\nvariables")
    for v in facts["variables"]:
        state = "assigned" if v["assigned"] else "constant"
        lines.append(f"  {v['name']}: {v['dtype']}{list(v['shape'])} {v['role']}, {state}")
    return "\n".join(lines)
