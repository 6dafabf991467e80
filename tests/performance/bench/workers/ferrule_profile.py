"""What the kernels of a session's entry take and would take, for the workers that run Ferrule."""

from ferrule.profile import Peak

RUNS = 5


def slowest(session, call, count):
    """[[name, share of the time of all kernels, milliseconds of a call], ...] of the kernels of ``call``."""
    with session.profile() as profile:
        for _ in range(RUNS):
            call()
    return [[each["kernel"], each["share"], each["seconds"] * 1e3 / RUNS] for each in profile.kernels()[:count]]


def at_peak(session, call):
    """Milliseconds of the arithmetic of ``call`` at the multiply-add peak of the session's threads, measured now."""
    info = session.info()
    with session.profile() as profile:
        call()
    operations = sum(event["flops"] or 0 for event in profile.events)
    return operations / (Peak(info["target"]).gflops * info["threads"]) * 1e-6
