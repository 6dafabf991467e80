"""Rows of timings, their ratios, and the Markdown that `docs/performance.md` shows."""

import math
import time
from typing import NamedTuple

from .harness import ROOT, Timing
from .machine import description

DOCUMENT = ROOT / "docs" / "performance.md"
END = "<!-- to here -->"
OURS = "ferrule"
BUSY_SHARE = 0.05


class Row(NamedTuple):
    """One job: its labels, {system: Timing, or the text of why there is none}, and more cells by column."""

    labels: tuple
    timings: dict
    more: dict = {}

    def ratio(self):
        """How many times as long the fastest other system takes; None where either side has no timing."""
        return ratio(self.timings)


def ratio(timings, ours=OURS):
    """The fastest other median divided by ours; None where either side has none."""
    mine = timings.get(ours)
    others = [timing.median for name, timing in timings.items() if name != ours and isinstance(timing, Timing)]
    return min(others) / mine.median if isinstance(mine, Timing) and others else None


def geometric_mean(values):
    """Of positive numbers; None of none."""
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def number(value):
    """Three digits that count, more before the point."""
    if value is None:
        return "-"
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def markdown(heads, lines):
    """A table: heads and rows of texts."""
    return ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)] + [
        "| " + " | ".join(line) + " |" for line in lines
    ]


def timing_table(label_names, rows, titles, ratio_name="best other / Ferrule"):
    """The table of rows of timings.

    Args:
        label_names: the heads of the labels.
        rows: the Rows.
        titles: {system: head of its column}.
        ratio_name: the head of `Row.ratio`.
    """
    more = list(dict.fromkeys(name for row in rows for name in row.more))
    lines = []
    for row in rows:
        times = [row.timings.get(system) for system in titles]
        cells = ["-" if t is None else number(t.median) if isinstance(t, Timing) else "fails" for t in times]
        lines.append(
            [*map(str, row.labels), *cells, number(row.ratio()), *(str(row.more.get(name, "")) for name in more)]
        )
    return markdown([*label_names, *titles.values(), ratio_name, *more], lines)


def closing_lines(rows):
    """A list under a table whose last label is the number of threads: geometric means, what is behind, what fails."""
    lines, groups, behind = [], {}, []
    for row in rows:
        value = row.ratio()
        if value is not None:
            groups.setdefault(row.labels[-1], []).append(value)
            if value < 1:
                behind.append((value, f"{_name(row)} ({value:.2f})"))
    for threads, values in groups.items():
        count = sum(value < 1 for value in values)
        lines.append(
            f"- Geometric mean at {threads} thread{'s' if threads != 1 else ''}: {geometric_mean(values):.2f}; "
            f"ahead on {len(values) - count}, behind on {count} of {len(values)}."
        )
    if behind:
        lines.append(f"- Behind, the worst first: {', '.join(text for _, text in sorted(behind))}.")
    for row in rows:
        lines += [f"- Fails: {_name(row)}: {text}." for text in row.timings.values() if isinstance(text, str)]
    return lines


def _name(row):
    return " ".join(map(str, row.labels))


def caption(what, versions, command, others):
    """The paragraph over a table: what it shows, machine, versions, date, command, and how busy the machine was.

    Args:
        others: `machine.OtherLoad.share()`.
    """
    named = "".join(f"{title} {version}; " for title, version in versions.items())
    text = f"{what} {description()}; {named}{time.strftime('%Y-%m-%d')}; `{command}`."
    if max(others) > BUSY_SHARE:
        text += f" **The machine was busy**: other processes took {others[0]:.0%} of it, its host {others[1]:.0%}."
    return text


def begin_mark(benchmark):
    """The comment after which a benchmark's table stands."""
    return f"<!-- ./dev bench {benchmark} --update-docs writes from here -->"


def update(path, benchmark, lines):
    """Puts lines between the two comments that mark the place of a benchmark's table.

    Raises:
        ValueError: the file has no such place, or several.
    """
    text, begin = path.read_text(encoding="utf-8"), begin_mark(benchmark)
    if text.count(begin) != 1 or END not in text.split(begin)[1]:
        raise ValueError(f"{path}: wanted one line {begin} and a line {END} after it")
    before, rest = text.split(begin)
    path.write_text(before + begin + "\n" + "\n".join(lines) + "\n" + END + rest.split(END, 1)[1], encoding="utf-8")
