"""The slowest kernels of a session's entry, for the workers that run Ferrule."""

RUNS = 5


def slowest(session, call, count):
    """[[name, share of the time of all kernels, milliseconds of a call], ...] of the kernels of ``call``."""
    with session.profile() as profile:
        for _ in range(RUNS):
            call()
    return [[each["kernel"], each["share"], each["seconds"] * 1e3 / RUNS] for each in profile.kernels()[:count]]
