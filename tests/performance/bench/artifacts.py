"""Artifacts of the ONNX models, compiled in processes of their own."""

from .harness import System, Worker

COMPILER = System("Ferrule", "ferrule", "compile_ferrule")


def compile_model(job, threads=2, folder=None):
    """Compiles a model in a new process.

    Args:
        job: {"path", "shapes", "artifact"}.
        threads: CPUs that the process may use.
        folder: where the compiler keeps what it has compiled; nowhere without one.

    Returns:
        {"seconds" (without saving), "save_seconds", "cpu_seconds", "peak_bytes", "import_bytes" (resident before the
        compilation), "phases", "sizes"}.
    """
    cache = {"FERRULE_PROGRAM_CACHE": "off" if folder is None else str(folder)}
    with Worker(COMPILER._replace(variables=cache), threads) as worker:
        measured = measured_preparation(worker, job)
    return {**measured, "seconds": measured["seconds"] - measured["save_seconds"]}


def measured_preparation(worker, job):
    """What `Worker.prepare` costs: {"seconds", "cpu_seconds", "peak_bytes", "import_bytes"} and its facts."""
    before = worker.usage()
    seconds, facts = worker.prepare(job)
    after = worker.usage()
    return {
        "seconds": seconds,
        "cpu_seconds": after["cpu_seconds"] - before["cpu_seconds"],
        "peak_bytes": after["peak_bytes"],
        "import_bytes": before["peak_bytes"],
        **facts,
    }
