"""Which capture is active on this thread: the only state that tensors and modules share with `ferrule.jit`."""

import threading

from .errors import TraceError
from .location import user_location


class _State(threading.local):
    def __init__(self):
        self.capture = None
        self.examination = None  # collects what has no gradient, see ferrule.autodiff.explain
        self.gradient_scopes = 0  # managers recording in dynamic mode; a compiled call has no residuals for them
        self.scopes_entered = 0


_state = _State()
_trainable_changes = 0


def trainable_changes():
    """How often some ``requires_grad`` was set: while it stays, so does which parameters are trained."""
    return _trainable_changes


def note_trainable_change():
    """Counts that a ``requires_grad`` was set."""
    global _trainable_changes
    _trainable_changes += 1


def current():
    """The active `ferrule.jit.capture.Capture`, or None in dynamic mode."""
    return _state.capture


def activate(capture):
    """Makes ``capture`` (or None) the active one and returns the one before."""
    before = _state.capture
    _state.capture = capture
    _state.scopes_entered += 1
    return before


def enter_gradient_scope():
    """Counts a gradient manager that starts to record."""
    _state.gradient_scopes += 1
    _state.scopes_entered += 1


def exit_gradient_scope():
    """Counts a gradient manager that stops recording."""
    _state.gradient_scopes -= 1


def in_gradient_scope():
    """Whether a gradient manager records on this thread."""
    return _state.gradient_scopes > 0


def examination():
    """The active `ferrule.autodiff.explain.Examination`, or None."""
    return _state.examination


def set_examination(examination):
    """Makes ``examination`` (or None) the active one and returns the one before."""
    before = _state.examination
    _state.examination = examination
    return before


def enter_region():
    """Notes that ops go into another block from now on: a branch or loop body begins or ends."""
    _state.scopes_entered += 1


def refuse_leak(before, after):
    """Raises TraceError where a branch or loop body would write its value ``after`` into a tensor from outside.

    Args:
        before, after: the tensor's handles before the write and after it; the tensor has no variable.
    """
    if _state.capture is None and after.is_traced and not before.is_traced:
        raise TraceError(
            f"a branch or loop body writes into a tensor from outside, at {user_location()}: it has a value only when "
            f"that runs. Return the new value, or make the tensor a variable (fer.Parameter, a module's buffer)"
        )


def scope():
    """A number that changes when handles from before may be of no use: a trace or a gradient manager starts to record
    or ends, which has no ops from before, or a branch or loop body does, whose handles are its own."""
    return _state.scopes_entered
