"""The one door to the op stream: every op of the package is recorded by `apply`."""

from . import _compiler, _recording, program_cache  # noqa: F401  (sets where programs are kept)
from .errors import CLASSES, DtypeError
from .location import module_path, user_location

_compiler.set_error_classes(CLASSES)

# Records one op and returns the handles of its results; no function of Python stands between, as every op comes here.
apply = _compiler.apply


def record_gradient(cost, cotangents, wrt, names=()):
    """Records the gradient of ``cost`` with respect to the handles ``wrt`` and returns one handle for each.

    Args:
        cost: a handle.
        cotangents: a list with one handle, or an empty one for a scalar cost.
        names: what to call each of ``wrt`` in messages.

    Raises:
        GradientError: at once, when an op on the way has no gradient.
    """
    examination = _recording.examination()
    if examination is not None and examination.examine(cost, cotangents, wrt, names):
        return [apply("sub", [handle, handle])[0] for handle in wrt]
    return _compiler.gradient(
        cost, list(cotangents), list(wrt), location=user_location(), module_path=module_path(), names=list(names)
    )


def compare(op, handles):
    """`apply` of an op on the order of elements. Two bools are compared as int32, as no kernel orders them."""
    try:
        return apply(op, handles)
    except DtypeError:
        dtypes = [getattr(handle, "dtype", type(handle).__name__) for handle in handles]
        if dtypes.count("bool") != len(dtypes):
            raise
    wide = [int(h) if isinstance(h, bool) else apply("cast", [h], {"dtype": "int32"})[0] for h in handles]
    return apply(op, wide)
