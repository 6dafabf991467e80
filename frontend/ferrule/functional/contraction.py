"""Products of vectors, matrices and tensors, and linear maps."""

from .. import _compiler, dtypes
from .._stream import apply
from .._tensor import Tensor, as_tensor
from ..errors import ShapeError
from ..location import user_location
from ..shapes import is_static, show, size_of
from .axes import resolve_axis
from .recording import remembered
from .shape import expand_dims, flatten, reshape, squeeze, swapaxes, transpose

__all__ = ["addmm", "baddbmm", "bilinear", "bmm", "dot", "linear", "matmul", "mm", "mv", "outer", "tensordot"]


def matmul(inp1, inp2, transpose_a=False, transpose_b=False, compute_mode="default"):
    """The product over the last axis of ``inp1`` and the last but one of ``inp2``, by NumPy's rule for every rank.

    Axes before the last two broadcast. A vector is a row on the left and a column on the right, and its axis is gone
    from the result. A product with a vector on the right sums in the order of a reduction, all others in that of a
    matrix product (docs/numerics.md). An inner size of 0 gives zeros.

    Args:
        transpose_a, transpose_b: exchange the last two axes of that operand first; a vector stays as it is.
        compute_mode: accepted for MegEngine's sake; float16 and bfloat16 always accumulate in float32.
    """
    del compute_mode
    return _product("matmul", inp1, inp2, bool(transpose_a), bool(transpose_b))


def _product(op, inp1, inp2, transpose_a=False, transpose_b=False):
    a, b = as_tensor(inp1), as_tensor(inp2)
    left, right = a.shape, b.shape
    if not left or not right:
        raise ShapeError(
            f"{op}: operands of shape {show(a.shape)} and {show(b.shape)} at {user_location()}; "
            f"rank 1 or more is needed"
        )
    dtype = a.dtype
    if b.dtype != dtype:
        dtype = _compiler.promote(dtype, b.dtype)
        a, b = as_tensor(a, dtype), as_tensor(b, dtype)
    transpose_a, transpose_b = transpose_a and len(left) > 1, transpose_b and len(right) > 1
    inner = left[-2 if transpose_a else -1], right[-1 if transpose_b or len(right) == 1 else -2]
    if is_static(inner[0]) and is_static(inner[1]) and inner[0] != inner[1]:
        raise ShapeError(
            f"{op}: operands of shape {show(a.shape)}{' transposed' * transpose_a} and "
            f"{show(b.shape)}{' transposed' * transpose_b} at {user_location()}; "
            f"the inner sizes {inner[0]} and {inner[1]} must be equal"
        )
    if not dtypes.is_float(dtype):
        return _exact_product(a, b, transpose_a, transpose_b)
    if len(right) == 1:
        return _times_vector(swapaxes(a, -1, -2) if transpose_a else a, b)
    if len(left) > 1:
        return _times_matrix(a, b, transpose_a, transpose_b)
    result = _times_matrix(reshape(a, (1,) + left), b, False, transpose_b)
    return reshape(result, result.shape[:-2] + result.shape[-1:])


def _times_vector(a, vector):
    return Tensor._wrap(apply("dot", [a._handle, vector._handle])[0])


def _times_matrix(a, b, transpose_a, transpose_b):
    """One product of matrices where the right operand is a matrix: the leading axes become rows."""
    shape = a.shape
    lead = shape[:-1]
    merge = len(shape) > 2 and b.ndim == 2 and not transpose_a
    if merge:
        a = reshape(a, (size_of(lead), shape[-1]))
    attrs = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    result = Tensor._wrap(apply("matmul", [a._handle, b._handle], attrs)[0])
    return reshape(result, lead + (result.shape[-1],)) if merge else result


def _exact_product(a, b, transpose_a, transpose_b):
    """Integers, whose sums have no order: one fused multiplication and reduction. Of bools: any of the ands."""
    dtype = a.dtype
    if dtype == "bool":
        a, b = a.astype("int32"), b.astype("int32")
    a = swapaxes(a, -1, -2) if transpose_a else a
    b = swapaxes(b, -1, -2) if transpose_b else b
    if b.ndim == 1:
        result = (a * b).sum(-1)
    else:
        result = (expand_dims(a, -1) * (b if a.ndim == 1 else expand_dims(b, -3))).sum(-2)
    return result != 0 if dtype == "bool" else result.astype(dtype)


def _checked(op, inp, ndim, name):
    inp = as_tensor(inp)
    if inp.ndim != ndim:
        kind = {1: "a vector", 2: "a matrix", 3: "a batch of matrices (rank 3)"}[ndim]
        raise ShapeError(f"{op}: {name} of shape {show(inp.shape)} at {user_location()}; {kind} is needed")
    return inp


def dot(inp1, inp2):
    """The inner product of two vectors, a scalar."""
    a, b = as_tensor(inp1), as_tensor(inp2)
    if a.ndim != 1 or b.ndim != 1:
        raise ShapeError(
            f"dot: operands of shape {show(a.shape)} and {show(b.shape)} at {user_location()}; two vectors are needed"
        )
    return _product("dot", a, b)


def mm(inp1, inp2):
    """The product of two matrices."""
    return _product("mm", _checked("mm", inp1, 2, "inp1"), _checked("mm", inp2, 2, "inp2"))


def bmm(inp1, inp2):
    """The products of two batches of matrices, (b, m, k) and (b, k, n)."""
    return _product("bmm", _checked("bmm", inp1, 3, "inp1"), _checked("bmm", inp2, 3, "inp2"))


def mv(inp, vec):
    """The product of a matrix and a vector."""
    return _product("mv", _checked("mv", inp, 2, "inp"), _checked("mv", vec, 1, "vec"))


@remembered
def addmm(inp, mat1, mat2, *, beta=1, alpha=1):
    """beta * inp + alpha * (mat1 @ mat2) of two matrices; ``inp`` broadcasts."""
    return _scaled_sum(inp, mm(mat1, mat2), beta, alpha)


@remembered
def baddbmm(inp, batch1, batch2, *, beta=1, alpha=1):
    """beta * inp + alpha * (batch1 @ batch2) of two batches of matrices; ``inp`` broadcasts."""
    return _scaled_sum(inp, bmm(batch1, batch2), beta, alpha)


def _scaled_sum(inp, product, beta, alpha):
    """With beta 0 ``inp`` is not read, so its NaN does not spread."""
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product
    return product + (as_tensor(inp) if beta == 1 else as_tensor(inp) * beta)


@remembered
def outer(inp1, inp2):
    """The products of every element of ``inp1`` with every element of ``inp2``, both flattened: (n, m)."""
    return expand_dims(flatten(as_tensor(inp1)), 1) * flatten(as_tensor(inp2))


@remembered
def tensordot(inp1, inp2, axes=2):
    """The sum of products over several axes at once.

    Args:
        axes: a number n (the last n axes of ``inp1`` with the first n of ``inp2``), or two lists of axes (or two ints)
            that meet in order.

    Returns:
        The other axes of ``inp1``, then those of ``inp2``.
    """
    a, b = as_tensor(inp1), as_tensor(inp2)
    if hasattr(axes, "__index__"):
        count = axes.__index__()
        if not 0 <= count <= min(a.ndim, b.ndim):
            raise ShapeError(
                f"tensordot: axes={count} for operands of rank {a.ndim} and {b.ndim} at {user_location()}; "
                f"allowed: 0 to {min(a.ndim, b.ndim)}"
            )
        left, right = list(range(a.ndim - count, a.ndim)), list(range(count))
    else:
        left, right = ([x] if hasattr(x, "__index__") else list(x) for x in axes)
        left = [resolve_axis("tensordot", axis, a.ndim) for axis in left]
        right = [resolve_axis("tensordot", axis, b.ndim) for axis in right]
    if len(left) != len(right) or len(set(left)) != len(left) or len(set(right)) != len(right):
        raise ShapeError(
            f"tensordot: axes {axes!r} at {user_location()}; two lists of as many different axes are needed"
        )
    for i, j in zip(left, right):
        if is_static(a.shape[i]) and is_static(b.shape[j]) and a.shape[i] != b.shape[j]:
            raise ShapeError(
                f"tensordot: axis {i} of {show(a.shape)} and axis {j} of {show(b.shape)} at {user_location()}; "
                f"their sizes must be equal"
            )
    kept_a = [i for i in range(a.ndim) if i not in left]
    kept_b = [j for j in range(b.ndim) if j not in right]
    rows, columns = [a.shape[i] for i in kept_a], [b.shape[j] for j in kept_b]
    inner = size_of(a.shape[i] for i in left)
    product = _product(
        "tensordot",
        reshape(transpose(a, kept_a + left), (size_of(rows), inner)),
        reshape(transpose(b, right + kept_b), (inner, size_of(columns))),
    )
    return reshape(product, rows + columns)


@remembered
def linear(inp, weight, bias=None, compute_mode="default"):
    """inp @ weight.T + bias, with the weight as (out_features, in_features) and any axes before the last of ``inp``."""
    del compute_mode
    result = _product("linear", inp, weight, transpose_b=True)
    return result if bias is None else result + bias


@remembered
def bilinear(inp1, inp2, weight, bias=None):
    """y[o] = inp1 @ weight[o] @ inp2 + bias[o] over the last axes.

    Args:
        inp1, inp2: (..., in1) and (..., in2).
        weight: (out, in1, in2).
        bias: (out,).
    """
    inp1, inp2, weight = as_tensor(inp1), as_tensor(inp2), as_tensor(weight)
    if weight.ndim != 3:
        raise ShapeError(f"bilinear: weight of shape {show(weight.shape)} at {user_location()}; (out, in1, in2)")
    outputs, first, second = weight.shape
    # All maps of inp1 in one product: (..., in1) @ (in1, out * in2).
    maps = matmul(inp1, reshape(transpose(weight, (1, 0, 2)), (first, outputs * second)))
    maps = reshape(maps, (*inp1.shape[:-1], outputs, second))
    result = squeeze(matmul(maps, expand_dims(inp2, -1)), -1)
    return result if bias is None else result + bias
