"""MegEngine's tools for functions of which only a part can be recorded."""

from .. import _recording
from ..errors import TraceError
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
