"""``ferrule profile FILE``: where the time of an entry goes."""

import argparse
import json
import time

from . import rehearsal


def add_arguments(commands):
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "profile",
        help="time an entry kernel by kernel",
        description="Runs an entry of an artifact several times and prints what each kernel took, how fast it computed and "
        "moved data, and how near that is to what one core of this machine reaches times the threads (measured first): the "
        "larger of its share of the multiply-add peak and of the load bandwidth for as many bytes.",
        epilog="Examples:\n  ferrule profile net.fer --entry predict --size batch=8 --threads 1\n"
        "  ferrule profile net.fer --entry main --input x=image.npy --trace trace.json",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    rehearsal.add_arguments(parser)
    parser.add_argument("--runs", type=int, default=20, help="measured runs, after two that are not (default 20)")
    parser.add_argument("--trace", metavar="FILE", help="write the events for chrome://tracing or Perfetto")
    parser.set_defaults(run=run)


def run(options):
    """Prints the table; returns the exit code."""
    from ..profile import Peak

    session, arrays = rehearsal.open_session(options)
    info = session.info()
    peak = Peak(info["target"])
    with session.profile() as profile:
        start = time.perf_counter()
        for _ in range(options.runs):
            session.run(options.entry, *arrays)
        seconds = (time.perf_counter() - start) / options.runs
    if options.trace:
        with open(options.trace, "w") as file:
            file.write(profile.chrome_trace())
    if options.json:
        facts = {
            "entry": options.entry,
            "target": info["target"],
            "threads": info["threads"],
            "runs": options.runs,
            "seconds_per_run": seconds,
            "peak": {"gflops": peak.gflops, "load_gb_per_second": peak.load_gb_per_second},
            "kernels": profile.kernels(peak),
        }
        print(json.dumps(facts, indent=2))
        return 0
    print(profile.table(peak))
    loads = ", ".join(f"{speed:.1f} in {size // 1024} KiB" for size, speed in peak.load_gb_per_second.items())
    print(f"{seconds * 1e3:.4f} ms a run; {options.runs} runs with {info['threads']} threads on {info['target']}")
    print(f"one core: {peak.gflops:.1f} GFLOP/s; loads, GB/s: {loads}")
    return 0
