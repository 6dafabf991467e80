"""Subscripts with arrays: ints and masks by NumPy's rules, read as copies by the op `take`, written by `put`.

Index arrays are broadcast against each other, ints among them count as arrays; their axes in the result stand where the
first of them stands if nothing separates them, else in front. A mask counts as the index arrays of its true elements,
and while recording their number is a dim that the program finds out.
"""

import operator

import numpy as np

from . import _recording, dtypes
from ._slices import position
from ._stream import apply
from ._tensor import Tensor, as_tensor, converted
from ._views import broadcasted, inverse, reshaped, transposed
from .errors import DtypeError, ShapeError, UnsupportedError
from .location import user_location
from .shapes import is_one, is_static, show

MOST_INT32 = (1 << 31) - 1


class IndexArray:
    """An index of one axis: an int, or an array or Tensor of ints."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    @property
    def shape(self):
        """The shape of the array; () for an int."""
        return () if isinstance(self.value, int) else tuple(self.value.shape)


class Mask:
    """Bools (an array or a Tensor) that stand for the positions of the true ones, over as many axes as they have."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def indices(self):
        """An IndexArray for each of its axes; for a mask without axes one that chooses none or all of a new axis.

        While recording, how many elements a mask selects is a dim that the program finds out. Raises UnsupportedError for
        a traced mask without axes.
        """
        known = isinstance(self.value, np.ndarray)
        if not known and _recording.current() is not None and self.value._is_traced():
            if self.value.ndim == 0:
                raise UnsupportedError(
                    f"indexing with a traced bool without axes at {user_location()}: use F.where or F.cond"
                )
            from .functional.selection import nonzero

            return [IndexArray(places) for places in nonzero(self.value, as_tuple=True)]
        array = self.value if known else self.value.numpy()
        return [IndexArray(places) for places in (np.nonzero(array) if array.ndim else (np.zeros(int(array), int),))]


def parse(part):
    """What a part of an index is: an IndexArray, a Mask, or None if it is basic (int, slice, None, Ellipsis)."""
    if part is None or part is Ellipsis or isinstance(part, slice):
        return None
    if isinstance(part, (bool, np.bool_)):
        return Mask(np.asarray(part))
    if isinstance(part, Tensor):
        if part.dtype == "bool":
            return Mask(part)
        _check(part.dtype)
        return IndexArray(part)
    if isinstance(part, (list, tuple, np.ndarray)):
        array = np.asarray(part)
        if array.size == 0 and not isinstance(part, np.ndarray):
            array = array.astype("int64")
        if array.dtype == bool:
            return Mask(array)
        _check(array.dtype)
        return IndexArray(array) if array.ndim else None
    if hasattr(part, "__index__"):
        return None
    raise UnsupportedError(
        f"indexing with {type(part).__name__} at {user_location()}: ints, slices, Ellipsis, None, and arrays, lists "
        f"and tensors of ints or bools are allowed"
    )


def _check(dtype):
    if not dtypes.is_integer(dtypes.canonical(dtype)):
        raise DtypeError(f"an index of {dtype} at {user_location()}: indices are integers or bools")


class Selection:
    """Where index arrays point in a tensor: some of its axes, and a vector of places on them.

    Args:
        shape: of the tensor, whose other axes are taken whole.
        axes: the axes that the arrays index, ascending.
        arrays: the IndexArrays.
        adjacent: whether nothing stands between them in the subscript.
    """

    def __init__(self, shape, axes, arrays, adjacent):
        self._rank = len(shape)
        self._axes = axes
        self._sizes = [shape[axis] for axis in axes]
        self.places_shape = _broadcast([array.shape for array in arrays])
        self._indices = self._stacked(arrays)
        rest = [axis for axis in range(self._rank) if axis not in axes]
        self._order = list(range(self._rank)) if adjacent else [*axes, *rest]
        self._axis = axes[0] if adjacent else 0
        kept = [shape[axis] for axis in self._order]
        self.shape = [*kept[: self._axis], *self.places_shape, *kept[self._axis + len(axes) :]]

    def read(self, handle):
        """The handle of the elements, in `shape`."""
        return apply("take", [transposed(handle, self._order), self._indices], {"axis": self._axis})[0]

    def write(self, handle, value):
        """``handle`` with the elements replaced by ``value`` in `shape`; of repeated places the last one counts."""
        written = apply("put", [transposed(handle, self._order), self._indices, value], {"axis": self._axis})[0]
        return transposed(written, inverse(self._order))

    def _stacked(self, arrays):
        """The index vectors as a handle of shape [places.., arrays]."""
        shape = (*self.places_shape, 1)
        tensors = [array.value for array in arrays if isinstance(array.value, Tensor)]
        wide = any(tensor.dtype in ("int64", "uint32", "uint64") for tensor in tensors)
        wide = wide or any(not is_static(size) or size > MOST_INT32 for size in self._sizes)
        dtype = "int64" if wide else "int32"
        columns = []
        for axis, size, array in zip(self._axes, self._sizes, arrays):
            value = array.value
            if not isinstance(value, Tensor):
                value = _in_range(np.asarray(value), axis, size).astype(dtype)
                if not tensors:
                    columns.append(np.broadcast_to(value, self.places_shape).reshape(shape))
                    continue
            columns.append(reshaped(broadcasted(as_tensor(value, dtype)._handle, self.places_shape), shape))
        if not tensors:
            return Tensor(np.concatenate(columns, axis=-1))._handle
        return apply("concat", columns, {"axis": len(shape) - 1})[0] if len(columns) > 1 else columns[0]


def _in_range(array, axis, size):
    """Known indices as int64, counted from the start; raises ShapeError for one that is out of range."""
    array = array.astype("int64")
    if not is_static(size):
        return array
    wrong = (array < -size) | (array >= size)
    if wrong.any():
        allowed = f"{-size} to {size - 1}" if size else "none: the axis is empty"
        raise ShapeError(
            f"index {array[wrong].flat[0]} is out of range for axis {axis} of size {size} (allowed: {allowed}) "
            f"at {user_location()}"
        )
    return np.where(array < 0, array + size, array)


def _broadcast(shapes):
    """The shape to which index arrays broadcast; of symbolic sizes that meet the first one counts."""
    rank = max(map(len, shapes))
    result = []
    for sizes in zip(*[(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]):
        wide = [size for size in sizes if not is_one(size)]
        static = {size for size in wide if is_static(size)}
        if len(static) > 1:
            given = ", ".join(map(show, shapes))
            raise ShapeError(f"index arrays of shapes {given} at {user_location()} do not broadcast together")
        result.append(static.pop() if static else wide[0] if wide else 1)
    return tuple(result)


def select(shape, parts, found):
    """What a subscript with arrays means for a tensor of ``shape``.

    Args:
        parts: the subscript; missing axes are written out after the Ellipsis, which still stands there.
        found: for each part what `parse` says of it.

    Returns:
        (its basic parts, a function that gives the Selection for the shape that these leave)
    """
    basic, axes, arrays, numbers, axis = [], [], [], [], 0
    for number, (part, what) in enumerate(zip(parts, found)):
        if part is None or isinstance(part, slice):
            basic.append(part)
            axis += part is not None
        elif part is not Ellipsis:
            if isinstance(what, Mask):
                check_mask(shape, axis, what)
            new = _index_arrays(shape, axis, part, what)
            width = what.value.ndim if isinstance(what, Mask) else 1
            basic += [slice(None)] * width or [None]
            axis += width
            axes += range(len(basic) - len(new), len(basic))
            arrays += new
            numbers.append(number)
    adjacent = numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    return basic, lambda left: Selection(left, axes, arrays, adjacent)


def _index_arrays(shape, axis, part, what):
    if what is None:
        return [IndexArray(position(shape, axis, part) if is_static(shape[axis]) else operator.index(part))]
    return what.indices() if isinstance(what, Mask) else [what]


def masked_parts(shape, parts, found):
    """(basic parts, the axis at which the mask stands after them, the mask) of a subscript whose one array is a mask;
    None for any other.
    """
    arrays = [what for what in found if what is not None]
    ints = any(what is None and hasattr(part, "__index__") for part, what in zip(parts, found))
    if len(arrays) != 1 or not isinstance(arrays[0], Mask) or ints:
        return None
    basic, axis, start = [], 0, 0
    for part, what in zip(parts, found):
        if what is not None:
            check_mask(shape, axis, what)
            start = len(basic)
            basic += [slice(None)] * what.value.ndim
            axis += what.value.ndim
        elif part is not Ellipsis:
            basic.append(part)
            axis += part is not None
    return basic, start, arrays[0]


def write_masked(target, start, mask, value):
    """Writes ``value`` where ``mask`` is true, if it is the same for all of these elements; returns whether it is.

    Args:
        target: the view of what the basic parts of the subscript name.
        start: the axis of ``target`` that the first axis of the mask lies on.
    """
    rank, width = target.ndim, mask.value.ndim
    after = rank - start - width
    if value.ndim > after:
        place = value.ndim - after - 1
        if not is_one(value.shape[place]):
            return False
        value = value.reshape((*value.shape[:place], *(1,) * width, *value.shape[place + 1 :]))
    where = as_tensor(mask.value).reshape((*mask.value.shape, *(1,) * after))
    chosen = apply("where", [where._handle, converted(value, target)._handle, target._handle])[0]
    target.set_value(Tensor._wrap(chosen))
    return True


def check_mask(shape, axis, mask):
    """Raises ShapeError if the sizes of a mask are not those of the axes from ``axis`` on."""
    for offset, size in enumerate(mask.value.shape):
        own = shape[axis + offset]
        if is_static(size) and is_static(own) and size != own:
            raise ShapeError(
                f"a mask of shape {show(mask.value.shape)} over the axes from {axis} on of {show(shape)} "
                f"at {user_location()}: their sizes must be equal"
            )
