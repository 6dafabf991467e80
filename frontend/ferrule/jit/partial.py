"""MegEngine's tools around `trace`: for functions of which only a part can be recorded, and for memory."""

from .. import _recording
from ..errors import TraceError, UnsupportedError
from ..location import user_location
from .trace import trace


class exclude_from_trace:  # noqa: N801  (MegEngine's name)
    """A block that belongs to no recording: ``with exclude_from_trace():``.

    A program holds all that its function computes, so that inside a recording this is refused.

    Raises:
        TraceError: inside a recording.
    """

    def __enter__(self):
        if _recording.current() is not None:
            raise TraceError(
                f"exclude_from_trace at {user_location()} inside a recording: a program runs without Python. Trace the "
                f"parts before and after as functions of their own (partial_trace), or run the function with "
                f"enabled=False"
            )
        return self

    def __exit__(self, *exception):
        return False


def partial_trace(func=None, *, backend="default", without_host=True, **trace_options):
    """`trace` for a function that is called inside a larger one that is not traced.

    Outside a GradManager its calls run the compiled program; under one they are recorded with everything else, so that
    gradients flow through them.
    """
    return trace(func, backend=backend, without_host=without_host, **trace_options)


def xla_trace(function=None, **options):
    """Refused: it names another compiler.

    Raises:
        UnsupportedError: always.
    """
    raise UnsupportedError("xla_trace compiles with XLA; trace(function) compiles with Ferrule and needs no other one")


def SublinearMemoryConfig(*args, **kwargs):  # noqa: N802  (a class of MegEngine's)
    """Refused: what is recomputed to save memory is not searched for at run time.

    Raises:
        UnsupportedError: always.
    """
    raise UnsupportedError(
        "SublinearMemoryConfig searches for what to recompute; programs are planned once, when they are compiled"
    )


def DTRConfig(*args, **kwargs):  # noqa: N802  (a class of MegEngine's)
    """Refused: nothing is evicted at run time.

    Raises:
        UnsupportedError: always.
    """
    raise UnsupportedError(
        "DTRConfig evicts tensors while a program runs; programs are planned once, when they are compiled"
    )
