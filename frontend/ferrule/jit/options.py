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
    "sublinear_memory_config": ((None,), "memory_budget=... says how much memory the program may take"),
    "dtr_config": ((None,), "memory_budget=... says how much memory the program may take"),
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


def split_budget(memory_budget, what):
    """The option ``memory_budget`` as (bytes, fraction), 0 for what is not given.

    Raises:
        UnsupportedError: if it is neither an int above 0, nor a float above 0 and at most 1, nor None.
    """
    if memory_budget is None:
        return 0, 0.0
    is_number = isinstance(memory_budget, (int, float)) and not isinstance(memory_budget, bool)
    if is_number and isinstance(memory_budget, int) and 0 < memory_budget < 2**63:
        return memory_budget, 0.0
    if is_number and isinstance(memory_budget, float) and 0 < memory_budget <= 1:
        return 0, memory_budget
    raise UnsupportedError(
        f"{what}: memory_budget={memory_budget!r}; allowed: an int, the bytes of the arena, or a float above 0 and at "
        f"most 1, a part of what the arena takes without a budget"
    )


def check_options(options):
    """Raises UnsupportedError for an option that is unknown or asks for what there is not."""
    for name, value in options.items():
        if name not in _OPTIONS:
            raise UnsupportedError(
                f"trace: unknown option {name!r}; allowed: symbolic, enabled, check, memory_budget, {', '.join(_OPTIONS)}"
            )
        allowed, instead = _OPTIONS[name]
        if allowed is not None and value not in allowed:
            reason = f" ({instead})" if instead else ""
            raise UnsupportedError(f"trace: {name}={value!r}; allowed: {', '.join(map(repr, allowed))}{reason}")
