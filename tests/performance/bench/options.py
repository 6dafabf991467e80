"""The command line that the benchmarks share, and what they do with a finished table."""

import argparse
import json
import os
import pathlib
import time
from typing import NamedTuple

from . import machine, tables
from .harness import show
from .worker import CLOCKS


def parser(description, rounds, seconds, models=(), all_threads=False, large=()):
    """A parser with the options of every benchmark.

    Args:
        description: its first line is shown by --help.
        rounds, seconds: defaults of --rounds and --seconds; with None there is no such option: without rounds nothing
            is timed, without seconds each process is timed once.
        models: the names that --model allows; without any there is no such option.
        large: names that it allows besides, which take long and run only if they are asked for.
        all_threads: whether the default is two threads where there are so many, instead of one and two.
    """
    result = argparse.ArgumentParser(prog="./dev bench", description=description.splitlines()[0])
    if rounds:
        both = [count for count in (1, 2) if count <= len(os.sched_getaffinity(0))]
        both = both[-1:] if all_threads else both
        text = ",".join(map(str, both))
        result.add_argument("--threads", type=thread_counts, default=both, help=f"for example 1,2 (default: {text})")
        result.add_argument(
            "--rounds", type=positive(int), default=rounds, help="turns of each system (default: %(default)s)"
        )
    if seconds:
        result.add_argument(
            "--seconds", type=positive(float), default=seconds, help="of each turn (default: %(default)s)"
        )
        result.add_argument(
            "--clock", choices=list(CLOCKS), default="wall", help="processor: for one thread on a busy machine"
        )
    result.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all numbers to FILE")
    result.add_argument("--update-docs", action="store_true", help="write the table into docs/performance.md")
    if models:
        default = f"all but {','.join(large)}" if large else "all"
        text = f"some of {','.join([*models, *large])} (default: {default})"
        result.add_argument("--model", type=names([*models, *large]), default=list(models), help=text)
    return result


def add_kernels(wanted):
    """The option --kernels, of benchmarks of whole programs."""
    wanted.add_argument(
        "--kernels", type=positive(int), metavar="N", help="list Ferrule's N slowest kernels of each row"
    )


def thread_counts(text):
    """[1, 2] of "1,2"; no more than this process may use."""
    allowed, counts = len(os.sched_getaffinity(0)), []
    for part in text.split(","):
        if not part.isdigit() or not 1 <= int(part) <= allowed:
            raise argparse.ArgumentTypeError(f"{part!r} threads; allowed: 1 to {allowed}, separated by commas")
        counts.append(int(part))
    return counts


def positive(kind):
    """A parser of numbers above 0."""

    def number(text):
        value = kind(text)
        if not value > 0:
            raise argparse.ArgumentTypeError(f"{text}; allowed: more than 0")
        return value

    number.__name__ = kind.__name__  # argparse names it where the text is no number
    return number


def names(allowed):
    """A parser of names separated by commas."""

    def chosen(text):
        found = text.split(",")
        for name in found:
            if name not in allowed:
                raise argparse.ArgumentTypeError(f"{name!r}; allowed: {', '.join(allowed)}, separated by commas")
        return found

    return chosen


def parse(wanted, benchmark, arguments):
    """The options; a table in the documentation is of everything, so --update-docs allows no choice."""
    options = wanted.parse_args(arguments)
    options.command = " ".join(["./dev bench", benchmark, *(a for a in arguments if a != "--update-docs")])
    if getattr(options, "clock", "wall") == "processor" and options.threads != [1]:
        wanted.error("--clock processor adds up the time of all threads: give --threads 1")
    chosen = [
        name
        for name in ("threads", "model", "clock", "shape", "target")
        if getattr(options, name, None) != wanted.get_default(name)
    ]
    if options.update_docs and chosen:
        wanted.error(f"--update-docs writes the whole table; leave out --{' and --'.join(chosen)}")
    return options


def unit(options):
    """What the numbers of a table of timings are."""
    clock = "Milliseconds" if options.clock == "wall" else "Milliseconds of processor time"
    return f"{clock}, medians over {options.rounds} interleaved slices of {options.seconds:g} s"


class Table(NamedTuple):
    """The rows of a benchmark and what is said about them."""

    benchmark: str  # as on the command line
    what: str  # one sentence, the begin of the caption
    label_names: tuple
    rows: list
    titles: dict  # {system: head of its column}
    versions: dict  # {title: version}
    notes: tuple = ()  # lines under the table


def publish(options, table, others, document=tables.DOCUMENT):
    """Prints a table, and writes it where the options say.

    Args:
        others: the `machine.OtherLoad` of the measuring.
    """
    show("")
    share = others.share()
    lines = [
        tables.caption(table.what, table.versions, options.command, share),
        "",
        *tables.timing_table(table.label_names, table.rows, table.titles),
        "",
        *table.notes,
        *tables.closing_lines(table.rows),
    ]
    publish_lines(
        options, table.benchmark, lines, [row_facts(row) for row in table.rows], table.versions, share, document
    )


def publish_lines(options, benchmark, lines, rows, versions, share, document=tables.DOCUMENT):
    """As `publish`, for a table that is no table of timings.

    Args:
        lines: the Markdown.
        rows: JSON for the file of --json.
        versions: {title: version}.
        share: what `machine.OtherLoad.share` gave.
    """
    print("\n".join(lines))
    if options.update_docs:
        tables.update(document, benchmark, lines)
    if not options.json:
        return
    facts = {
        "benchmark": benchmark,
        "command": options.command,
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "machine": machine.description(),
        "versions": versions,
        "other_processes_share": round(share[0], 4),
        "stolen_share": round(share[1], 4),
        "rows": rows,
    }
    options.json.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def row_facts(row):
    """A Row as JSON."""
    timings = {
        name: {key: round(value, 5) for key, value in timing._asdict().items()}
        if isinstance(timing, tables.Timing)
        else timing
        for name, timing in row.timings.items()
    }
    return {"labels": row.labels, "milliseconds": timings, "ratio": row.ratio(), **row.more}
