"""``ferrule info FILE``: what an artifact holds."""

import argparse
import json


def add_arguments(commands):
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "info",
        help="print what an artifact holds",
        description="Prints entries, memory plan, variables, targets and sizes of an artifact.",
        epilog="Examples:\n  ferrule info net.fer\n  ferrule info net.fer --verify all --json\n"
        "  ferrule info net.fer --memory",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", help="the artifact (.fer)")
    parser.add_argument(
        "--verify", choices=("structure", "all"), default="structure", help="all: hash the weights, too"
    )
    parser.add_argument("--memory", action="store_true", help="also what lies in the arena, and when")
    parser.add_argument(
        "--check-runtime",
        type=_version,
        metavar="VERSION",
        help="only say whether the artifact runs on a runtime that reads format versions up to this one, and what it lacks; "
        "exit code 1 if it does not",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


# The parts of `Program.memory_plan` that `Program.memory` does not have.
_PLAN = ("buffers", "timeline", "fullest_time")


def collect(program, memory=False):
    """The facts about a program as JSON data; with ``memory`` also its `Program.memory_plan`."""
    entries = {}
    for name in program.entries:
        numbers = program.memory(name)
        if memory:
            plan = program.memory_plan(name)
            numbers.update({key: plan[key] for key in _PLAN})
        entries[name] = {**program.signature(name), "memory": numbers}
    return {
        "root_sha256": program.root_sha256,
        "weights_key_name": program.weights_key_name,
        "sizes": program.sizes(),
        "entries": entries,
        "variables": program.variables(),
    }


def run(options):
    """Prints the facts; returns the exit code."""
    from ..program import load

    program = load(options.file, verify=options.verify)
    if options.check_runtime is not None:
        return _check_runtime(program, options)
    facts = collect(program, options.memory)
    print(json.dumps(facts, indent=2) if options.json else _text(options.file, facts))
    return 0


def _version(text):
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is no format version: 0 or more")
    return int(text)


def _check_runtime(program, options):
    runs, sentence = program.check_runtime(options.check_runtime)
    print(json.dumps({"runs": runs, "reason": sentence}) if options.json else sentence)
    return 0 if runs else 1


def _text(path, facts):
    sizes = facts["sizes"]
    lines = [
        f"{path}: {sizes['file']:,} bytes (weights {sizes['weights']:,}, code {sizes['code']:,})",
        f"root sha256 {facts['root_sha256']}",
        "targets: " + ", ".join(f"{name} ({size:,} bytes)" for name, size in sizes["targets"].items()),
    ]
    if facts["weights_key_name"] is not None:
        lines.append(f"weights encrypted with the key {facts['weights_key_name']!r}")
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
        if "buffers" in memory:
            lines += _buffer_lines(memory)
    lines.append("\nvariables")
    for v in facts["variables"]:
        state = "assigned" if v["assigned"] else "constant"
        lines.append(f"  {v['name']}: {v['dtype']}{list(v['shape'])} {v['role']}, {state}")
    return "\n".join(lines)


def _buffer_lines(memory):
    """The arena's buffers in order of time."""
    timeline = memory["timeline"]
    lines = [f"  {'from':>14} {'to':>14}  {'live':13} {'kind':11} made by"]
    for buffer in sorted(memory["buffers"], key=lambda buffer: (buffer["first_time"], buffer["offset"])):
        if buffer["storage"] != "arena":
            continue
        live = f"{buffer['first_time']}-{buffer['last_time']}"
        maker = timeline[buffer["maker_time"]]
        line = f"  {buffer['offset']:>14,} {buffer['offset'] + buffer['planned_bytes']:>14,}  {live:13} {buffer['kind']:11} "
        lines.append(line + maker["op"] + (f" at {maker['location']}" if maker["location"] else ""))
    return lines
