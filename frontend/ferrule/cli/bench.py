"""``ferrule bench FILE``: how long runs of an entry take."""

import argparse
import json
import math
import time

from . import rehearsal

PERCENTILES = (50, 90, 95, 99)
LEAST_RUNS = 10


def add_arguments(commands):
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "bench",
        help="measure the latencies of an entry",
        description="Runs an entry of an artifact again and again, after two runs that are not measured, and prints the wall "
        "time of one run: percentiles, mean, extremes. ferrule-run bench does the same without Python.",
        epilog="Examples:\n  ferrule bench net.fer --entry predict --size batch=8 --threads 1\n"
        "  ferrule bench net.fer --entry main --input x=image.npy --seconds 10 --json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    rehearsal.add_arguments(parser)
    parser.add_argument("--seconds", type=float, default=2, help="measure runs for so long, and ten at least (default 2)")
    parser.add_argument("--runs", type=int, default=None, help="measure so many runs instead")
    parser.set_defaults(run=run)


def measure(session, entry, arrays, seconds, runs=None):
    """Seconds of each run."""
    taken, begin = [], time.perf_counter()
    while len(taken) < (runs or LEAST_RUNS) or (runs is None and time.perf_counter() - begin < seconds):
        start = time.perf_counter()
        session.run(entry, *arrays)
        taken.append(time.perf_counter() - start)
    return taken


def summarize(taken):
    """The keys of ``ferrule-run bench --json`` that describe times. A percentile is the least time that so many percent of
    the runs do not exceed."""
    taken = sorted(taken)
    mean = sum(taken) / len(taken)
    percentiles = {f"p{p}_seconds": taken[max(1, math.ceil(p * len(taken) / 100)) - 1] for p in PERCENTILES}
    return {
        "runs": len(taken),
        "mean_seconds": mean,
        "min_seconds": taken[0],
        **percentiles,
        "max_seconds": taken[-1],
        "runs_per_second": 1 / mean,
    }


def run(options):
    """Prints the latencies; returns the exit code."""
    session, arrays = rehearsal.open_session(options)
    info = session.info()
    facts = summarize(measure(session, options.entry, arrays, options.seconds, options.runs))
    if options.json:
        print(json.dumps({"entry": options.entry, "target": info["target"], "threads": info["threads"], **facts}))
        return 0
    print(f"{options.entry}: {facts['runs']} runs with {info['threads']} threads on {info['target']}")
    for name in ("min", *(f"p{p}" for p in PERCENTILES), "max", "mean"):
        print(f"  {name:5} {facts[name + '_seconds'] * 1e3:9.3f} ms")
    print(f"  {facts['runs_per_second']:.1f} runs a second")
    return 0
