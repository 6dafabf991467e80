"""The machine a table was measured on, and how much of it others took meanwhile."""

import os
import platform
import resource
import time


def cpu_name():
    """The processor's name."""
    for line in _lines("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def cpu_level():
    """The widest vectors of this CPU that matter here."""
    flags = next((line.split(":", 1)[1].split() for line in _lines("/proc/cpuinfo") if line.startswith("flags")), [])
    return "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "neither AVX2 nor AVX-512"


def description():
    """One phrase for a table's caption."""
    return f"{cpu_name()}, {cpu_level()}, {len(os.sched_getaffinity(0))} cores"


class OtherLoad:
    """How much of the CPUs other processes, or other machines on the same host, took since this object was made.

    Counts this process and its children that have ended; the share is of all CPUs.
    """

    def __init__(self):
        self._start = time.monotonic()
        self._busy, self._stolen, self._own = *_busy_and_stolen(), _own_seconds()

    def share(self):
        """(share of other processes, share stolen by the host), each 0 to 1."""
        capacity = max(time.monotonic() - self._start, 1e-9) * os.cpu_count()
        busy, stolen = _busy_and_stolen()
        others = (busy - self._busy) - (_own_seconds() - self._own)
        return min(max(others / capacity, 0.0), 1.0), min((stolen - self._stolen) / capacity, 1.0)


def _busy_and_stolen():
    """Seconds that all CPUs worked, and that the host gave to others, since the machine started."""
    ticks = os.sysconf("SC_CLK_TCK")
    user, nice, system, _, _, irq, soft_irq, steal = map(int, _lines("/proc/stat")[0].split()[1:9])
    return (user + nice + system + irq + soft_irq) / ticks, steal / ticks


def _own_seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _lines(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()
