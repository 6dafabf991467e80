"""`Collator`: samples joined to a batch."""

import collections.abc

import numpy as np

from .._tensor import Tensor
from ..errors import ShapeError, UnsupportedError


class Collator:
    """Joins samples to a batch: arrays and numbers are stacked, tuples, lists and dicts item by item; strings stay."""

    def apply(self, inputs):
        """The batch of the list ``inputs``; a list of tuples gives a tuple.

        Raises:
            ShapeError: arrays of different shapes, or tuples of different lengths.
            UnsupportedError: values of another kind.
        """
        first = inputs[0]
        if isinstance(first, Tensor):
            inputs = [item.numpy() for item in inputs]
            first = inputs[0]
        if isinstance(first, (str, bytes)):
            return list(inputs)
        if isinstance(first, collections.abc.Mapping):
            return {key: self.apply([sample[key] for sample in inputs]) for key in first}
        if isinstance(first, tuple) and hasattr(first, "_fields"):
            return type(first)(*(self.apply(list(items)) for items in zip(*inputs, strict=True)))
        if isinstance(first, (tuple, list)):
            if len({len(sample) for sample in inputs}) != 1:
                raise ShapeError(f"Collator: samples of {sorted({len(s) for s in inputs})} items in one batch")
            return tuple(self.apply(list(items)) for items in zip(*inputs))
        arrays = [np.asarray(item) for item in inputs]
        if arrays[0].dtype == object:
            raise UnsupportedError(
                f"Collator: cannot join values of {type(first).__name__}; give a collator of your own"
            )
        if len({array.shape for array in arrays}) != 1:
            raise ShapeError(
                f"Collator: samples of the shapes {sorted({array.shape for array in arrays})} in one batch; pad or "
                f"crop them to one shape"
            )
        return np.stack(arrays)
