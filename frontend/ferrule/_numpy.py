"""NumPy's functions on a Tensor: ``np.sum(t)``, ``np.exp(t)``, ``array + t``.

What `functional` has is recorded there, so that it is traced and differentiated, and the result is a Tensor. For the
rest NumPy gets arrays of the values, as any package does, and the result is NumPy's; while recording there are no
values, and the call is refused with a sentence that names the function.
"""

import numpy as np

from . import _recording
from .errors import TraceError, UnsupportedError
from .location import user_location

# Functions of NumPy that `functional` has under the same name, with the same arguments in the same order.
_SAME = frozenset(
    """
    append argwhere atleast_1d atleast_2d atleast_3d average broadcast_to column_stack copy corrcoef count_nonzero
    cov cross diag diagflat diff dstack dsplit einsum empty_like expand_dims flatnonzero flip fliplr
    flipud full_like gradient histogram hsplit hstack inner interp isclose isin kron
    matrix_transpose moveaxis nancumprod nancumsum nan_to_num ones_like outer ptp ravel repeat roll rot90 stack squeeze
    swapaxes take_along_axis tensordot tile trace trapezoid tril triu unique unravel_index vander vdot vecdot vstack
    zeros_like
    """.split()
)
# And those that reduce over an axis, with `keepdims`.
_REDUCTIONS = frozenset(
    """
    all amax amin any argmax argmin max mean median min nanargmax nanargmin nanmax nanmean nanmedian nanmin nanprod
    nansum prod sum
    """.split()
)
_SPREADS = frozenset("nanstd nanvar std var".split())
_QUANTILES = frozenset("nanpercentile nanquantile percentile quantile".split())
# Arguments that say how NumPy is to work, not what comes out.
_MANNERS = frozenset("casting like order subok device copy signature".split())
_UFUNCS = {"conjugate": None, "rint": "round", "invert": "invert", "degrees": "rad2deg", "radians": "deg2rad"}
_REDUCING = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "logical_and": "all", "logical_or": "any"}
_RUNNING = {"add": "cumsum", "multiply": "cumprod"}


def array_function(self, function, types, args, kwargs):
    """``__array_function__``: see the module."""
    from . import functional

    tensor = _tensor_class()
    if not all(issubclass(each, (tensor, np.ndarray)) for each in types):
        return NotImplemented
    name = function.__name__
    if function.__module__ == "numpy":
        if name in _ATTRIBUTES:
            return _ATTRIBUTES[name](*args, **kwargs)
        if name in _ADAPTED:
            return _adapted(functional, name, args, kwargs)
    return _on_arrays(self, f"{function.__module__}.{name}", name, function, args, kwargs)


def array_ufunc(self, ufunc, method, *inputs, **kwargs):
    """``__array_ufunc__``: see the module."""
    from . import functional

    name = _UFUNCS.get(ufunc.__name__, ufunc.__name__)
    options = _options(kwargs)
    if method == "__call__" and not options and name is not None and hasattr(functional, name):
        return getattr(functional, name)(*inputs)
    if method == "outer" and not options and name == "multiply" and all(np.ndim(x) == 1 for x in inputs):
        return functional.outer(*inputs)
    table = {"reduce": _REDUCING, "accumulate": _RUNNING}.get(method, {})
    if name in table and set(options) <= {"axis", "keepdims"}:
        options.setdefault("axis", 0)
        return getattr(functional, table[name])(*inputs, **options)
    shown = f"numpy.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
    return _on_arrays(self, shown, name, getattr(ufunc, method), inputs, kwargs)


def _adapted(functional, name, args, kwargs):
    """The function of `functional` with NumPy's arguments."""
    try:
        return _ADAPTED[name](functional, *args, **_options(kwargs))
    except TypeError as error:
        # An argument that only NumPy has; TypeErrors of other kinds have other texts.
        if "argument" not in str(error):
            raise
        raise UnsupportedError(
            f"numpy.{name} of a Tensor at {user_location()}: {error}; call functional.{name} with its own arguments, or "
            f"numpy.{name} on t.numpy()"
        ) from None


def _options(kwargs):
    """The keywords that say something: None does for an axis alone."""
    return {key: value for key, value in kwargs.items() if key not in _MANNERS and (value is not None or key == "axis")}


def _on_arrays(tensor, shown, name, function, args, kwargs):
    """NumPy's function on the values; refused while recording where one does not exist yet."""
    if _recording.current() is not None and any(t._is_traced() for t in _tensors((args, kwargs))):
        from . import functional

        known = f"functional.{name} records it" if hasattr(functional, name or "") else "functional has none of this name"
        raise TraceError(
            f"{shown} of a traced tensor of shape {tensor.shape} at {user_location()}: NumPy computes with values, and "
            f"while recording there are none; {known}. Other work of NumPy belongs before or behind the traced function"
        )
    return function(*_arrays(args), **_arrays(kwargs))


def _tensor_class():
    from ._tensor import Tensor

    return Tensor


def _tensors(tree):
    """The Tensors in nested sequences and dicts."""
    if isinstance(tree, _tensor_class()):
        yield tree
    elif isinstance(tree, (tuple, list, dict)):
        for each in tree.values() if isinstance(tree, dict) else tree:
            yield from _tensors(each)


def _arrays(tree):
    """The same with arrays for Tensors."""
    if isinstance(tree, _tensor_class()):
        return tree.numpy()
    if isinstance(tree, dict):
        return {key: _arrays(value) for key, value in tree.items()}
    if isinstance(tree, (tuple, list)) and next(_tensors(tree), None) is not None:
        return type(tree)(map(_arrays, tree))
    return tree


# --- arguments that differ --------------------------------------------------------------------------------------------


def _same(name):
    def call(functional, *args, a=None, **kwargs):
        return getattr(functional, name)(*([] if a is None else [a]), *args, **kwargs)

    return call


def _reduction(name):
    def call(functional, a, axis=None, dtype=None, *, keepdims=False, **kwargs):
        a = a if dtype is None else functional.copy(a).astype(np.dtype(dtype).name)
        return getattr(functional, name)(a, axis, bool(keepdims), **kwargs)

    return call


def _spread(name):
    def call(functional, a, axis=None, *, ddof=0, correction=0, keepdims=False, **kwargs):
        return getattr(functional, name)(a, axis, bool(keepdims), correction=ddof or correction, **kwargs)

    return call


def _quantile(name):
    def call(functional, a, q, axis=None, *, method="linear", keepdims=False, **kwargs):
        return getattr(functional, name)(a, q, axis, bool(keepdims), method, **kwargs)

    return call


def _run(name):
    def call(functional, a, axis=None, dtype=None, **kwargs):
        return getattr(functional, name)(a, axis, dtype if dtype is None else np.dtype(dtype).name, **kwargs)

    return call


def _clip(functional, a, a_min=None, a_max=None, *, min=None, max=None):  # noqa: A002  (NumPy's names)
    return functional.clip(a, a_min if min is None else min, a_max if max is None else max)


def _dot(functional, a, b):
    """NumPy's: a matrix product up to rank 2, over the last axis of ``a`` and the last but one of ``b`` above."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return functional.mul(a, b)
    if np.ndim(a) == np.ndim(b) == 1:
        return functional.dot(a, b)
    if np.ndim(b) <= 2:
        return functional.matmul(a, b)
    return functional.tensordot(a, b, ([np.ndim(a) - 1], [np.ndim(b) - 2]))


def _pad(functional, array, pad_width, mode="constant", constant_values=0):
    if np.ndim(pad_width) < 2:
        pad_width = [np.broadcast_to(pad_width, 2).tolist()] * np.ndim(array)
    names = {"constant": "constant", "edge": "edge", "reflect": "reflect", "symmetric": "symmetric", "wrap": "circular"}
    return functional.pad(array, pad_width, names.get(mode, mode), constant_values)


def _reshape(functional, a, shape=None, *, newshape=None):
    return functional.reshape(a, newshape if shape is None else shape)


def _split(functional, ary, indices_or_sections, axis=0):
    sections = indices_or_sections
    return functional.split(ary, sections if isinstance(sections, int) else list(sections), axis)


def _searchsorted(functional, a, v, side="left"):
    return functional.searchsorted(a, v, side == "right")


def _sorted(functional, a, axis=-1, **kwargs):
    kwargs.pop("kind", None), kwargs.pop("stable", None)
    return functional.sort(*((functional.ravel(a), False, 0) if axis is None else (a, False, axis)), **kwargs)[0]


def _argsorted(functional, a, axis=-1, **kwargs):
    kwargs.pop("kind", None), kwargs.pop("stable", None)
    return functional.argsort(*((functional.ravel(a), False, 0) if axis is None else (a, False, axis)), **kwargs)


def _transpose(functional, a, axes=None):
    return functional.transpose(a, tuple(range(np.ndim(a)))[::-1] if axes is None else axes)


def _where(functional, condition, *values):
    return functional.where(condition, *values) if values else functional.nonzero(condition, as_tuple=True)


def _rounded(functional, a, decimals=0):
    if decimals:
        return functional.round(a * 10.0**decimals) / 10.0**decimals
    return functional.round(a)


_ADAPTED = {
    **{name: _same(name) for name in _SAME},
    **{name: _reduction(name) for name in _REDUCTIONS},
    **{name: _spread(name) for name in _SPREADS},
    **{name: _quantile(name) for name in _QUANTILES},
    "allclose": lambda functional, *args, **kwargs: bool(functional.allclose(*args, **kwargs)),
    "argsort": _argsorted,
    "around": _rounded,
    "bincount": lambda functional, x, weights=None, minlength=0: functional.bincount(x, weights, minlength),
    "clip": _clip,
    "concatenate": lambda functional, arrays, axis=0: functional.concat(
        [functional.ravel(each) for each in arrays] if axis is None else arrays, axis or 0
    ),
    "cumprod": _run("cumprod"),
    "cumsum": _run("cumsum"),
    "diagonal": lambda functional, a, offset=0, axis1=0, axis2=1: functional.diagonal(a, offset, axis1, axis2),
    "digitize": lambda functional, x, bins, right=False: functional.digitize(x, bins, right),
    "dot": _dot,
    "nonzero": lambda functional, a: functional.nonzero(a, as_tuple=True),
    "pad": _pad,
    "reshape": _reshape,
    "round": _rounded,
    "searchsorted": _searchsorted,
    "sort": _sorted,
    "split": _split,
    "take": lambda functional, a, indices, axis=None: functional.take(a, indices, axis),
    "transpose": _transpose,
    "where": _where,
}
_ATTRIBUTES = {
    "ndim": lambda a: a.ndim,
    "shape": lambda a: a.shape,
    "size": lambda a, axis=None: a.size if axis is None else a.shape[axis],
}
