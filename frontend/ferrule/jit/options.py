"""The options of MegEngine's `trace` beyond those that `trace` itself explains, and what each means here."""

from ..errors import UnsupportedError

# name: (values that are accepted, None for any; what to do about the others)
_OPTIONS = {
    # What a function reads from outside is part of its program in any case: a constant, or a variable if it is state.
    "capture_as_const": ((False, True), ""),
    # A size is an int while recording; another shape is recorded again. `ferrule.compile` takes `Dim`s.
    "symbolic_shape": ((False, True), ""),
    "record_only": ((False,), "trace runs what it has recorded; `ferrule.compile` records without running"),
    "profiling": ((False,), "time the calls"),
    # No pass changes a bit of a result, so that there is one level.
    "opt_level": ((0, 1, 2, 3), ""),
    "graph_opt_config": (None, ""),
    "sublinear_memory_config": ((None,), "the memory planner is always on"),
    "dtr_config": ((None,), "the memory planner is always on"),
    "tensor_shape": ((False, True), ""),
    "without_host": ((False, True), ""),
    "imperative": ((False, True), ""),
    "backend": (("default",), "the one backend is Ferrule's own"),
}


class GraphOptimizationConfig:
    """Accepted by ``trace(graph_opt_config=...)`` for MegEngine programs.

    Its switches choose passes of MegEngine's just-in-time fusion. Fusion is always on here and changes no bit of a
    result, so that they have no effect.
    """

    def __init__(self):
        self.jit_fuse_dimshuffle = False
        self.jit_fuse_reduce = False


def check_options(options):
    """Raises UnsupportedError for an option that is unknown or asks for what there is not."""
    for name, value in options.items():
        if name not in _OPTIONS:
            raise UnsupportedError(
                f"trace: unknown option {name!r}; allowed: symbolic, enabled, check, {', '.join(_OPTIONS)}"
            )
        allowed, instead = _OPTIONS[name]
        if allowed is not None and value not in allowed:
            reason = f" ({instead})" if instead else ""
            raise UnsupportedError(f"trace: {name}={value!r}; allowed: {', '.join(map(repr, allowed))}{reason}")
