"""Reading and writing at places that index tensors name.

Indices are integer tensors. A negative one counts from the end of its axis, once; one outside the axis is an
ExecutionError when the program runs, which names the op, the user's line, the position, the index and the size. Writes
return a new tensor; of several writes to one place the last one stays. Sums add in ascending order of the index tensor.
"""

from .. import _compiler, dtypes
from .._stream import apply
from .._tensor import Tensor, as_tensor
from ..errors import DtypeError, ShapeError, UnsupportedError
from ..location import user_location
from ..shapes import is_static, same_shape, show
from .axes import resolve_axis
from .recording import remembered
from .shape import broadcast_to, expand_dims, flatten, reshape, squeeze
from .widening import narrow, widen

__all__ = [
    "gather",
    "gather_nd",
    "index_add",
    "index_copy",
    "index_select",
    "indexing_one_hot",
    "one_hot",
    "put_along_axis",
    "scatter",
    "scatter_add",
    "scatter_nd",
    "take",
    "take_along_axis",
    "update_slice",
]


def indices(op, index):
    """The index tensor as int32 or int64."""
    index = as_tensor(index)
    dtype = index.dtype
    if dtype in ("int32", "int64"):
        return index
    if not dtypes.is_integer(dtype):
        raise DtypeError(f"{op}: an index is an integer tensor, not {dtype} at {user_location()}")
    return index.astype("int64" if dtype in ("uint32", "uint64") else "int32")


def _take(inp, vectors, axis):
    """The parts at index vectors [..., K] into the K axes from ``axis`` on."""
    return Tensor._wrap(apply("take", [inp._handle, vectors._handle], {"axis": axis})[0])


def _write(op, inp, index, values, axis):
    """put, put_add, scatter or scatter_add; sums in a type that has kernels."""
    adds = op.endswith("_add")
    target = widen(inp) if adds else inp
    values = as_tensor(values, target.dtype)
    handles = [target._handle, index._handle, values._handle]
    return narrow(Tensor._wrap(apply(op, handles, {"axis": axis})[0]), inp.dtype)


@remembered
def take(inp, index, axis=None):
    """The parts of ``inp`` at ``index`` along ``axis``; without an axis elements of the flattened tensor.

    ``index`` may have any shape: the result has it in place of the axis.
    """
    inp, index = as_tensor(inp), indices("take", index)
    if axis is None:
        inp, axis = flatten(inp), 0
    return _take(inp, expand_dims(index, -1), resolve_axis("take", axis, inp.ndim))


@remembered
def index_select(inp, axis, index):
    """PyTorch's name for `take` with an index of one axis."""
    index = indices("index_select", index)
    if index.ndim > 1:
        raise ShapeError(f"index_select: the index {show(index.shape)} has more than one axis at {user_location()}")
    return take(inp, reshape(index, (-1,)) if index.ndim == 0 else index, axis)


def gather_nd(inp, index, axis=0):
    """The parts at the vectors ``index`` [..., K], each naming a place on the K axes from ``axis`` on."""
    inp, index = as_tensor(inp), indices("gather_nd", index)
    return _take(inp, index, resolve_axis("gather_nd", axis, inp.ndim))


@remembered
def scatter_nd(inp, index, source, axis=0, accumulate=False):
    """``inp`` with ``source`` at the vectors ``index``, or added there; the shapes are those of `gather_nd`."""
    inp, index = as_tensor(inp), indices("scatter_nd", index)
    axis = resolve_axis("scatter_nd", axis, inp.ndim)
    count = index.shape[-1]
    parts = inp.shape[:axis] + index.shape[:-1] + inp.shape[axis + count :]
    return _write("put_add" if accumulate else "put", inp, index, broadcast_to(source, parts), axis)


def _rows(op, inp, axis, index, source, alpha=1):
    inp, index = as_tensor(inp), indices(op, index)
    axis = resolve_axis(op, axis, inp.ndim)
    source = as_tensor(source)
    if alpha != 1:
        source = source * alpha
    parts = inp.shape[:axis] + index.shape + inp.shape[axis + 1 :]
    return _write(op, inp, expand_dims(index, -1), broadcast_to(source, parts), axis)


@remembered
def index_add(inp, axis, index, source, alpha=1):
    """``inp`` with ``alpha * source`` added to its parts at ``index`` along ``axis``; repeated ones add up."""
    return _rows("put_add", inp, axis, index, source, alpha)


@remembered
def index_copy(inp, axis, index, source):
    """``inp`` with ``source`` in place of its parts at ``index`` along ``axis``."""
    return _rows("put", inp, axis, index, source)


def _aligned(op, inp, axis, index):
    """inp, axis and index, where ``index`` may be shorter than ``inp`` on the other axes."""
    inp, index = as_tensor(inp), indices(op, index)
    sizes, wanted = inp.shape, index.shape
    axis = resolve_axis(op, axis, len(sizes))
    fits = len(sizes) == len(wanted)
    for i, (size, want) in enumerate(zip(sizes, wanted)):
        if i != axis and is_static(size) and is_static(want) and want > size:
            fits = False
    if not fits:
        raise ShapeError(
            f"{op}: the index {show(wanted)} must have the rank of the tensor {show(sizes)} and be no larger "
            f"on any axis but {axis} at {user_location()}"
        )
    return inp, axis, index


def _cut(inp, axis, shape):
    """The part of ``inp`` that begins at 0 and has the sizes ``shape`` on all axes but ``axis``."""
    whole = inp.shape
    sizes = list(shape)
    if axis < len(sizes):
        sizes[axis] = whole[axis]
    if same_shape(sizes, whole):
        return inp
    return inp[tuple(slice(None) if same_shape([a], [b]) else slice(0, b) for a, b in zip(whole, sizes))]


def gather(inp, axis, index):
    """Along ``axis`` the elements that ``index`` names: y[i][j] = inp[index[i][j]][j] for axis 0.

    ``index`` has the rank of ``inp`` and is no larger on the other axes; the result has its shape.
    """
    inp, axis, index = _aligned("gather", inp, axis, index)
    handles = [_cut(inp, axis, index.shape)._handle, index._handle]
    return Tensor._wrap(apply("gather", handles, {"axis": axis})[0])


def _scatter(op, inp, axis, index, source):
    inp, axis, index = _aligned(op, inp, axis, index)
    source = source if isinstance(source, Tensor) else Tensor(dtypes.array_of(source), dtype=inp.dtype)
    shape = index.shape
    if not same_shape(source.shape, shape):
        if source.ndim == len(shape):
            source = _cut(source, len(shape), shape)
        source = broadcast_to(source, shape)
    part = _cut(inp, axis, shape)
    written = _write(op, part, index, source, axis)
    return written if part is inp else update_slice(inp, written, [0] * inp.ndim, part.shape)


@remembered
def scatter(inp, axis, index, source):
    """``inp`` with the elements of ``source`` where ``index`` says along ``axis``; the inverse of `gather`.

    ``source`` is a number or at least as large as ``index``.
    """
    return _scatter("scatter", inp, axis, index, source)


@remembered
def scatter_add(inp, axis, index, source):
    """``inp`` with the elements of ``source`` added where ``index`` says along ``axis``; repeated ones add up."""
    return _scatter("scatter_add", inp, axis, index, source)


def _broadcast_other(inp, index, axis):
    """NumPy's rule: the axes of inp and index other than ``axis`` broadcast."""
    shape = [a if same_shape([a], [b]) or b == 1 else b for a, b in zip(inp.shape, index.shape)]
    from_inp, from_index = list(shape), list(shape)
    from_inp[axis], from_index[axis] = inp.shape[axis], index.shape[axis]
    return broadcast_to(inp, from_inp), broadcast_to(index, from_index)


@remembered
def take_along_axis(inp, index, axis):
    """NumPy's `gather`: the other axes of ``inp`` and ``index`` broadcast."""
    inp, axis, index = as_tensor(inp), resolve_axis("take_along_axis", axis, as_tensor(inp).ndim), as_tensor(index)
    if inp.ndim != index.ndim:
        raise ShapeError(
            f"take_along_axis: the index {show(index.shape)} must have the rank of {show(inp.shape)} "
            f"at {user_location()}"
        )
    inp, index = _broadcast_other(inp, index, axis)
    return gather(inp, axis, index)


@remembered
def put_along_axis(inp, index, values, axis):
    """``inp`` with ``values`` where ``index`` says along ``axis``; the other axes of ``index`` broadcast to it."""
    inp, index = as_tensor(inp), as_tensor(index)
    axis = resolve_axis("put_along_axis", axis, inp.ndim)
    shape = list(inp.shape)
    shape[axis] = index.shape[axis]
    index = broadcast_to(index, shape)
    return scatter(inp, axis, index, broadcast_to(as_tensor(values, inp.dtype), shape))


@remembered
def update_slice(inp, value, starts, stops, steps=None):
    """``inp`` with ``value`` in place of inp[starts[0]:stops[0]:steps[0], ...].

    Args:
        value: broadcasts to the slice's shape, and is converted to the dtype of ``inp``.
        starts, stops, steps: one for each axis, as in a slice; negative ones count from the end, None is left out. A
            symbolic axis is taken whole, or from a start to a stop that lie within its smallest size.
    """
    inp = as_tensor(inp)
    steps = [1] * inp.ndim if steps is None else list(steps)
    if not len(starts) == len(stops) == len(steps) == inp.ndim:
        raise ShapeError(
            f"update_slice: {inp.ndim} starts, stops and steps are needed for {show(inp.shape)} "
            f"at {user_location()}"
        )
    begins, counts = [], []
    for size, start, stop, step in zip(inp.shape, starts, stops, steps):
        begin, count = _bounds(inp, size, start, stop, 1 if step is None else step)
        begins.append(begin)
        counts.append(count)
    value = broadcast_to(as_tensor(value, inp.dtype), counts)
    attrs = {"offsets": begins, "steps": [1 if step is None else step for step in steps]}
    return Tensor._wrap(apply("update_slice", [inp._handle, value._handle], attrs)[0])


def _bounds(inp, size, start, stop, step):
    """The first position and the number of elements of a slice of one axis."""
    if step == 0:
        raise ShapeError(f"update_slice: a step is 0 at {user_location()}")
    if is_static(size):
        begin, end, step = slice(start, stop, step).indices(size)
        count = len(range(begin, end, step))
        return (begin if count else 0), count
    if step == 1 and start in (None, 0) and (stop is None or same_shape([stop], [size])):
        return 0, size
    if step < 1 or start is None or stop is None or isinstance(stop, _compiler.DimExpr) or not 0 <= start <= stop:
        raise UnsupportedError(
            f"update_slice: the part {start}:{stop}:{step} of an axis with the symbolic size {size} of "
            f"{show(inp.shape)} at {user_location()}; such an axis is taken whole, or forwards between numbers"
        )
    if not stop <= size:
        raise ShapeError(f"update_slice: the stop {stop} lies beyond the size {size} at {user_location()}")
    return start, len(range(start, stop, step))


@remembered
def one_hot(inp, num_classes):
    """A new last axis of size ``num_classes`` with 1 at the position that each element names, else 0 (int32)."""
    inp = as_tensor(inp)
    inp = inp.astype("int32") if inp.dtype == "bool" else inp
    positions = apply("iota", [], {"shape": [num_classes], "axis": 0, "dtype": inp.dtype})[0]
    return (expand_dims(inp, -1) == Tensor._wrap(positions)).astype("int32")


@remembered
def indexing_one_hot(src, index, axis=1, keepdims=False):
    """Along ``axis`` the element of ``src`` that ``index`` names; that has the shape of ``src`` without it."""
    src = as_tensor(src)
    axis = resolve_axis("indexing_one_hot", axis, src.ndim)
    picked = gather(src, axis, expand_dims(indices("indexing_one_hot", index), axis))
    return picked if keepdims else squeeze(picked, axis)
