"""Where the time of a session's runs goes, kernel by kernel."""

import json
from collections import defaultdict

DEFAULT_CAPACITY = 1_000_000


class Profile:
    """The kernel calls and copies of the runs in a ``with session.profile() as profile:`` block.

    ``events`` is filled when the block ends: a list of dicts of ``entry``, ``kernel``, ``location`` (the line of the
    model), ``begin_ns`` and ``end_ns`` (nanoseconds since the block began), ``bytes`` (of the buffers that are read or
    written) and ``threads``. ``dropped`` counts what came after ``capacity`` events.
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

    def kernels(self):
        """One dict a kernel, the slowest first: ``kernel``, ``location``, ``calls``, ``seconds``, ``share`` of the time of
        all kernels, and ``bytes_per_second``."""
        groups = defaultdict(list)
        for event in self.events:
            groups[event["kernel"], event["location"]].append(event)
        total = sum(_seconds(event) for event in self.events) or 1.0
        rows = []
        for (kernel, location), events in groups.items():
            seconds = sum(map(_seconds, events))
            moved = sum(event["bytes"] for event in events)
            rows.append(
                {
                    "kernel": kernel,
                    "location": location,
                    "calls": len(events),
                    "seconds": seconds,
                    "share": seconds / total,
                    "bytes_per_second": moved / seconds if seconds else 0.0,
                }
            )
        return sorted(rows, key=lambda row: -row["seconds"])

    def chrome_trace(self):
        """The events as JSON for chrome://tracing and Perfetto."""
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
                        "args": {key: event[key] for key in ("location", "bytes", "threads")},
                    }
                    for event in self.events
                ],
            }
        )

    def __str__(self):
        lines = [f"{'ms':>10} {'share':>6} {'calls':>7} {'GB/s':>7}  kernel"]
        for row in self.kernels():
            lines.append(
                f"{row['seconds'] * 1e3:10.3f} {row['share']:6.1%} {row['calls']:7} {row['bytes_per_second'] / 1e9:7.1f}  "
                f"{row['kernel']}  {row['location']}"
            )
        return "\n".join(lines)


def _seconds(event):
    return (event["end_ns"] - event["begin_ns"]) / 1e9
