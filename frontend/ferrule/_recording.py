"""Which capture is active on this thread: the only state that tensors and modules share with `ferrule.jit`."""

import threading


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


def scope():
    """A number that changes when a trace or a gradient manager starts to record or ends: it has no ops from before."""
    return _state.scopes_entered
