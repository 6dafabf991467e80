"""The span over which dynamic mode keeps what gradients need."""

from .. import _compiler, _recording


class GradientScope:
    """Open from its creation to `close`, which may be called more than once.

    In dynamic mode a flush inside an open scope keeps the residuals of the ops that it runs, so that a gradient asked
    for later never runs the forward computation again. While a function is recorded nothing is run, so nothing is kept.
    """

    __slots__ = ("_open",)

    def __init__(self):
        self._open = _recording.current() is None
        if self._open:
            _recording.enter_gradient_scope()
            _compiler.gradient_scope_enter()

    def close(self):
        """Forgets what was kept for gradients."""
        if self._open:
            self._open = False
            _compiler.gradient_scope_exit()
            _recording.exit_gradient_scope()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()
        return False
