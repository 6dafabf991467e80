"""Element types by name. The name is the one thing that passes between Python, the compiler and the artifact."""

import numpy as np

from .errors import DtypeError

FLOATS = ("float16", "bfloat16", "float32", "float64")
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
ALL = ("bool",) + INTEGERS + FLOATS

DEFAULT_FLOAT = "float32"
DEFAULT_INTEGER = "int32"

_FROM_PYTHON = {bool: "bool", int: DEFAULT_INTEGER, float: DEFAULT_FLOAT}


def canonical(dtype):
    """The name of ``dtype``: a name, a NumPy dtype or scalar type, or Python's bool, int or float.

    Raises DtypeError for what is not an element type of Ferrule.
    """
    if isinstance(dtype, str) and dtype in ALL:
        return dtype
    if isinstance(dtype, type) and dtype in _FROM_PYTHON:
        return _FROM_PYTHON[dtype]
    try:
        name = np.dtype(dtype).name
    except TypeError:
        name = str(dtype)
    if name not in ALL:
        raise DtypeError(f"{dtype!r} is not an element type; the element types are {', '.join(ALL)}")
    return name


def to_numpy(name):
    """The NumPy dtype of an element type's name."""
    if name == "bfloat16":
        import ml_dtypes  # only programs that use bfloat16 need it

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def is_float(name):
    """Whether ``name`` is a floating-point type."""
    return name in FLOATS


def is_integer(name):
    """Whether ``name`` is a signed or unsigned integer type (bool is not)."""
    return name in INTEGERS


def limits(name):
    """NumPy's ``finfo`` of a floating-point type, ``iinfo`` of an integer type."""
    if name == "bfloat16":
        import ml_dtypes

        return ml_dtypes.finfo(name)
    return np.finfo(name) if is_float(name) else np.iinfo(name)


def category(name):
    """0 for bool, 1 for integers, 2 for floats: the order of promotion."""
    return 0 if name == "bool" else 1 if name in INTEGERS else 2


def array_of(data, dtype=None):
    """``data`` as a NumPy array of an element type.

    Arrays and NumPy scalars keep their dtype. Python numbers and nested lists of them take the default types: float32,
    and int32 where every value fits (else int64). ``dtype`` overrides.
    """
    if dtype is not None:
        return np.asarray(data, dtype=to_numpy(canonical(dtype)))
    array = np.asarray(data)
    if not isinstance(data, (np.ndarray, np.generic)):
        if array.dtype == np.float64 and not _holds_numpy(data):
            array = array.astype(DEFAULT_FLOAT)
        elif array.dtype == np.int64 and not _holds_numpy(data):
            limits = np.iinfo(DEFAULT_INTEGER)
            if array.size == 0 or (array.min() >= limits.min and array.max() <= limits.max):
                array = array.astype(DEFAULT_INTEGER)
    canonical(array.dtype)
    return array


def _holds_numpy(data):
    """Whether the first leaf of nested lists is a NumPy value, whose dtype then counts."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(data, (np.ndarray, np.generic))
