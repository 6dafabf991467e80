"""What a name of the graph stands for while it is imported.

Three kinds, from the most to the least that is known:

- `Known` with a numeric array: a constant on the host;
- `Known` with an object array: integers of which some are DimExprs, as the result of ``Shape`` on a symbolic tensor;
- Tensor: a value of the graph.

`Known` becomes a Tensor when an operator needs one.
"""

import numpy as np

from .. import _compiler, _recording, dtypes
from .._stream import apply
from .._tensor import Tensor
from ..functional import concat, reshape


# Arrays of floats with more elements are weights.
LARGEST_LIST = 64


class Known:
    """A value that is known while importing.

    Attributes:
        array: NumPy, of the dtype's numeric type, or of objects (ints and DimExprs).
        dtype: the name of the element type that the graph sees.
        label: the name in the model of what it is a part of; None for a constant without one.
        store: gives the Parameter for it, or None: see `weights`.
    """

    __slots__ = ("array", "dtype", "label", "store", "_made")

    def __init__(self, array, dtype=None, label=None, store=None):
        self.array = np.asarray(array)
        self.dtype = dtypes.canonical(self.array.dtype) if dtype is None else dtype
        self.label = label
        self.store = store
        self._made = None
        if self.array.dtype == object and not any(isinstance(item, _compiler.DimExpr) for item in self.array.flat):
            self.array = self.array.astype(dtypes.to_numpy(self.dtype))

    @property
    def is_symbolic(self):
        """Whether an element is a DimExpr."""
        return self.array.dtype == object

    @property
    def is_weight(self):
        """Whether it has floats enough to be a weight and no list of sizes or scales."""
        return self.store is not None and self.array.size > LARGEST_LIST and dtypes.is_float(self.dtype)

    @property
    def shape(self):
        """The sizes, all of them ints."""
        return self.array.shape

    def part(self, array, suffix):
        """A Known for what was made of this one, with its label and a suffix."""
        label = None if self.label is None else self.label + suffix
        return Known(array, label=label, store=self.store)

    def as_tensor(self):
        """The value in the graph; made once for each block of it (a branch or loop body is one of its own)."""
        parameter = None if self.store is None else self.store.parameter(self.label, self.array)
        if parameter is not None:
            return parameter
        scope = _recording.scope()
        if self._made is None or self._made[0] != scope:
            self._made = scope, _tensor_of_sizes(self) if self.is_symbolic else Tensor(self.array)
        return self._made[1]


def _tensor_of_sizes(known):
    parts = [
        Tensor._wrap(apply("dim", [], {"expr": [item]})[0])
        if isinstance(item, _compiler.DimExpr)
        else Tensor(np.asarray(item, np.int64))
        for item in known.array.flat
    ]
    vector = concat([reshape(part.astype("int64"), (1,)) for part in parts])
    return reshape(vector, known.array.shape).astype(known.dtype)


def tensor_of(value):
    """A Tensor for a Known or a Tensor; None stays."""
    return value.as_tensor() if isinstance(value, Known) else value


def shape_of(value):
    """The sizes of a Known or a Tensor."""
    return tuple(value.shape)


def dtype_of(value):
    """The element type's name of a Known or a Tensor."""
    return value.dtype
