"""The demo's training step and prediction beside torch's: same network, weights, data, threads, on the same cores.

`./dev bench demo` runs this and prints the table of README.md. Each system runs in a process of its own; the processes take
turns in rounds A B B A, so that a change of the machine's clock meets all of them. A number is the median over all rounds.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKER = pathlib.Path(__file__).with_name("demo_worker.py")
NAMES = {"ferrule": "Ferrule", "torch": "torch", "torch-compile": "torch.compile"}
JOBS = (
    ("train_step", 64, "training step, batch 64"),
    ("predict", 64, "predict, batch 64"),
    ("predict", 1, "predict, batch 1"),
)
# A system's loss after the same steps from the same weights; float32 rounding is all that may differ.
LOSS_TOLERANCE = 1e-3
BEGIN, END = "<!-- ./dev bench demo --update-readme writes from here -->", "<!-- to here -->"


class Worker:
    """One system in a process of its own, waiting for jobs on its standard input."""

    def __init__(self, python, system, threads, artifact):
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads))
        if system == "ferrule":
            environment["PYTHONPATH"] = str(ROOT / "build" / "python")
        self._process = subprocess.Popen(
            [str(python), str(WORKER), system, str(threads), str(artifact)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        self.version = self._answer()["version"]

    def _answer(self):
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"a worker ended: {' '.join(self._process.args)}")
        return json.loads(line)

    def measure(self, job, batch, seconds):
        """(milliseconds of each call, loss after the last) of about so many seconds of calls."""
        print(json.dumps({"job": job, "batch": batch, "seconds": seconds}), file=self._process.stdin, flush=True)
        answer = self._answer()
        return answer["milliseconds"], answer["losses"]

    def close(self):
        self._process.stdin.close()
        self._process.wait(timeout=30)


def measure_threads(systems, pythons, threads, artifact, rounds, seconds):
    """{(job, batch): {system: median ms}}, versions."""
    workers = {system: Worker(pythons[system], system, threads, artifact) for system in systems}
    times = {}
    for job, batch, label in JOBS:
        per_system = {system: [] for system in systems}
        for round_number in range(rounds):
            order = systems if round_number % 2 == 0 else systems[::-1]
            for system in order:
                milliseconds, losses = workers[system].measure(job, batch, seconds)
                per_system[system] += milliseconds
                if round_number == 0 and job == "train_step":
                    check_losses(system, losses)
            print(f"\r{threads} threads, {label}: round {round_number + 1}/{rounds} ", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        times[job, batch] = {system: statistics.median(values) for system, values in per_system.items()}
    for worker in workers.values():
        worker.close()
    return times, {system: worker.version for system, worker in workers.items()}


_first_losses = {}


def check_losses(system, losses):
    """The first 20 losses must agree between systems, or they do not do the same work."""
    wanted = _first_losses.setdefault("losses", losses[:20])
    worst = max(abs(a - b) for a, b in zip(wanted, losses[:20]))
    if worst > LOSS_TOLERANCE:
        sys.exit(f"{system} does not train as the others: losses differ by {worst:.2e}")


def table(arguments, results, versions):
    """The lines that README.md shows."""
    systems = arguments.systems
    named = ", ".join(f"{NAMES[system]} {version}" for system, version in versions.items() if system != "ferrule")
    lines = [
        f"Milliseconds, medians over {arguments.rounds} interleaved rounds of {arguments.seconds} s, float32; {cpu_name()}, "
        f"{os.cpu_count()} cores; {named}; {time.strftime('%Y-%m-%d')}.",
        "",
        "| | threads | " + " | ".join(NAMES[system] for system in systems) + " |",
        "|---|---|" + "---|" * len(systems),
    ]
    for job, batch, label in JOBS:
        for threads in arguments.threads:
            row = results[threads][job, batch]
            lines.append(f"| {label} | {threads} | " + " | ".join(f"{row[system]:.3f}" for system in systems) + " |")
    return lines


def update_readme(lines):
    """Puts the lines between the two comments that mark the table's place."""
    path = ROOT / "README.md"
    before, rest = path.read_text(encoding="utf-8").split(BEGIN)
    path.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n" + END + rest.split(END)[1], encoding="utf-8")


def cpu_name():
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--torch-python", required=True, help="the Python of the environment that has torch")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each turn (default: %(default)s)")
    parser.add_argument("--systems", nargs="+", default=list(NAMES), choices=list(NAMES))
    parser.add_argument("--update-readme", action="store_true", help="write the table into README.md")
    arguments = parser.parse_args()
    pythons = {system: sys.executable if system == "ferrule" else arguments.torch_python for system in arguments.systems}

    results, versions = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        artifact = pathlib.Path(folder) / "digits.fer"
        for threads in arguments.threads:
            times, versions = measure_threads(arguments.systems, pythons, threads, artifact, arguments.rounds, arguments.seconds)
            results[threads] = times

    lines = table(arguments, results, versions)
    print("\n".join(lines))
    if arguments.update_readme:
        update_readme(lines)
    flat = [{"job": job, "batch": batch, "threads": threads, "milliseconds": {s: round(v, 4) for s, v in row.items()}}
            for threads, times in results.items() for (job, batch), row in times.items()]  # fmt: skip
    print("\n" + json.dumps({"cpu": cpu_name(), "versions": versions, "results": flat}))


if __name__ == "__main__":
    main()
