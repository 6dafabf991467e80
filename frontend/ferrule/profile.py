"""Where the time of a session's runs goes, kernel by kernel."""

import json
from collections import defaultdict

from . import _runtime

DEFAULT_CAPACITY = 1_000_000
PEAK_SIZES = tuple(1 << bits for bits in (14, 17, 20, 23, 26))


class Peak:
    """What one core of this machine reaches, measured when made (about half a second).

    ``gflops``: multiply-adds in float32, with the vector registers of ``target``'s code. ``load_gb_per_second``: a dict of
    the bytes of a buffer and the speed of reading it again and again. Both are zeros where this machine lacks the registers.
    """

    def __init__(self, target):
        measured = _runtime.machine_peak(target, list(PEAK_SIZES))
        self.gflops = measured["gflops"]
        self.load_gb_per_second = measured["load_gb_per_second"]

    def seconds(self, event):
        """What a call would take at the peak of its threads: the longer of its arithmetic and of its memory traffic."""
        if not self.gflops or not event["threads"]:
            return 0.0
        threads, moved = event["threads"], moved_bytes(event)
        size = next((size for size in PEAK_SIZES if moved <= size * threads), PEAK_SIZES[-1])
        compute = (event["flops"] or 0) / (self.gflops * threads)
        return max(compute, moved / (self.load_gb_per_second[size] * threads)) * 1e-9


def moved_bytes(event):
    """What a call reads and writes: as the artifact says, else all of its buffers."""
    if event["read_bytes"] is None or event["written_bytes"] is None:
        return event["bytes"]
    return event["read_bytes"] + event["written_bytes"]


class Profile:
    """The kernel calls and copies of the runs in a ``with session.profile() as profile:`` block.

    ``events`` is filled when the block ends: a list of dicts of ``entry``, ``kernel``, ``location`` (the line of the
    model), ``begin_ns`` and ``end_ns`` (nanoseconds since the block began), ``bytes`` (of the buffers that are read or
    written), ``threads``, and as far as the artifact says (else None) ``flops`` (arithmetic operations on elements, a fused
    multiply-add being two), ``read_bytes`` and ``written_bytes`` (that the kernel cannot do without, each once).
    ``dropped`` counts what came after ``capacity`` events.
    """

    def __init__(self, session, capacity=DEFAULT_CAPACITY):
        self.events = []
        self.dropped = 0
        self._session = session
        self._capacity = capacity

    def __enter__(self):
        self._session.start_profile(self._capacity)
        return self

    def __exit__(self, *error):
        self.events, self.dropped = self._session.stop_profile()

    def kernels(self, peak=None):
        """One dict a kernel and line, the slowest first: ``kernel``, ``location``, ``calls``, ``seconds``, ``share`` of the
        time of all kernels, ``gflops``, ``gb_per_second``, and with a `Peak` ``of_peak``: the part of the time that it would
        take at the peak."""
        groups = defaultdict(list)
        for event in self.events:
            groups[event["kernel"], event["location"]].append(event)
        total = sum(_seconds(event) for event in self.events) or 1.0
        rows = []
        for (kernel, location), events in groups.items():
            seconds = sum(map(_seconds, events))

            def per_second(amount, seconds=seconds):
                return amount / seconds if seconds else 0.0

            row = {
                "kernel": kernel,
                "location": location,
                "calls": len(events),
                "seconds": seconds,
                "share": seconds / total,
                "gflops": per_second(sum(event["flops"] or 0 for event in events)) / 1e9,
                "gb_per_second": per_second(sum(map(moved_bytes, events))) / 1e9,
            }
            if peak is not None:
                row["of_peak"] = per_second(sum(map(peak.seconds, events)))
            rows.append(row)
        return sorted(rows, key=lambda row: -row["seconds"])

    def chrome_trace(self):
        """The events as JSON for chrome://tracing and Perfetto."""
        details = ("location", "threads", "flops", "read_bytes", "written_bytes")
        return json.dumps(
            {
                "displayTimeUnit": "ns",
                "traceEvents": [
                    {
                        "name": event["kernel"],
                        "cat": event["entry"],
                        "ph": "X",
                        "pid": 0,
                        "tid": 0,
                        "ts": event["begin_ns"] / 1e3,
                        "dur": (event["end_ns"] - event["begin_ns"]) / 1e3,
                        "args": {key: event[key] for key in details},
                    }
                    for event in self.events
                ],
            }
        )

    def table(self, peak=None):
        """The kernels as text."""
        of_peak = f" {'of peak':>8}" if peak is not None else ""
        lines = [f"{'ms':>10} {'share':>6} {'calls':>7} {'GFLOP/s':>9} {'GB/s':>7}{of_peak}  kernel"]
        for row in self.kernels(peak):
            of_peak = f" {row['of_peak']:8.0%}" if peak is not None else ""
            lines.append(
                f"{row['seconds'] * 1e3:10.3f} {row['share']:6.1%} {row['calls']:7} {row['gflops']:9.1f} "
                f"{row['gb_per_second']:7.1f}{of_peak}  {row['kernel']}  {row['location']}"
            )
        return "\n".join(lines)

    def __str__(self):
        return self.table()


def _seconds(event):
    return (event["end_ns"] - event["begin_ns"]) / 1e9
