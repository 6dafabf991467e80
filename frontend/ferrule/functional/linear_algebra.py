"""Products that NumPy's and PyTorch's users write by name: Kronecker, cross, chains, powers of a matrix."""

from .._tensor import as_tensor
from ..errors import ShapeError
from ..location import user_location
from ..shapes import is_static, show
from .axes import resolve_axis
from .contraction import dot, matmul
from .creation import eye, full
from .cumulative import cumprod
from .recording import remembered
from .reduce import sum as sum_of
from .shape import concat, expand_dims, reshape, roll

__all__ = [
    "addbmm",
    "addmv",
    "addr",
    "chain_matmul",
    "cross",
    "inner",
    "kron",
    "matrix_power",
    "multi_dot",
    "vander",
    "vdot",
    "vecdot",
]


def kron(a, b):
    """Every element of ``a`` times the whole of ``b``, in the place of the element."""
    a, b = as_tensor(a), as_tensor(b)
    rank = max(a.ndim, b.ndim)
    first, second = (1,) * (rank - a.ndim) + a.shape, (1,) * (rank - b.ndim) + b.shape
    apart = reshape(a, [size for n in first for size in (n, 1)]) * reshape(b, [size for n in second for size in (1, n)])
    return reshape(apart, [n * m for n, m in zip(first, second)])


def cross(a, b, axis=-1):
    """The vector product along an axis of 3 elements."""
    a, b = as_tensor(a), as_tensor(b)
    for each in (a, b):
        place = resolve_axis("cross", axis, each.ndim)
        if not (is_static(each.shape[place]) and each.shape[place] == 3):
            raise ShapeError(f"cross: axis {axis} of {show(each.shape)} at {user_location()}; 3 elements are needed")
    return roll(a * roll(b, -1, axis) - roll(a, -1, axis) * b, -1, axis)


def inner(a, b):
    """The sum of products over the last axes of both: [..., M] and [... , M] to the axes before of both."""
    a, b = as_tensor(a), as_tensor(b)
    if not a.ndim or not b.ndim:
        return a * b
    if b.ndim == 1:
        return matmul(a, b)
    flat = matmul(a, reshape(b, (-1, b.shape[-1])), transpose_b=True)
    return reshape(flat, (*a.shape[:-1], *b.shape[:-1]))


@remembered
def vdot(a, b):
    """The inner product of all elements of both."""
    return dot(reshape(as_tensor(a), (-1,)), reshape(as_tensor(b), (-1,)))


def vecdot(a, b, axis=-1):
    """The inner products along ``axis``; the other axes broadcast."""
    return sum_of(as_tensor(a) * as_tensor(b), axis)


def matrix_power(inp, n):
    """The product of ``n`` times the square matrices on the last two axes, by repeated squaring; n is 0 or more."""
    inp = as_tensor(inp)
    if inp.ndim < 2 or (is_static(inp.shape[-1]) and not inp.shape[-1] == inp.shape[-2]):
        raise ShapeError(f"matrix_power: {show(inp.shape)} at {user_location()}; square matrices are needed")
    if n < 0:
        raise ShapeError(f"matrix_power: n is {n} at {user_location()}; 0 or more is needed, as nothing is inverted")
    if n == 0:
        return inp * 0 + eye(inp.shape[-1], dtype=inp.dtype)
    result, square = None, inp
    while True:
        if n & 1:
            result = square if result is None else matmul(result, square)
        n >>= 1
        if not n:
            return result
        square = matmul(square, square)


@remembered
def multi_dot(matrices):
    """The product of several matrices, in the order of brackets that takes the fewest multiplications; the first and
    the last may be vectors."""
    matrices = [as_tensor(each) for each in matrices]
    if len(matrices) < 2:
        raise ShapeError(f"multi_dot: {len(matrices)} matrices at {user_location()}; 2 or more are needed")
    row, column = matrices[0].ndim == 1, matrices[-1].ndim == 1
    if row:
        matrices[0] = expand_dims(matrices[0], 0)
    if column:
        matrices[-1] = expand_dims(matrices[-1], 1)
    for each in matrices:
        if each.ndim != 2 or not all(map(is_static, each.shape)):
            raise ShapeError(f"multi_dot: {show(each.shape)} at {user_location()}; matrices with known sizes are needed")
    sizes = [each.shape[0] for each in matrices] + [matrices[-1].shape[1]]
    result = _bracketed(matrices, _cheapest(sizes), 0, len(matrices) - 1)
    result = reshape(result, result.shape[1:]) if row else result
    return reshape(result, result.shape[:-1]) if column else result


def _cheapest(sizes):
    """{(i, j): where to cut the product of matrices i to j}, by dynamic programming over its length."""
    count = len(sizes) - 1
    cost, cut = {(i, i): 0 for i in range(count)}, {}
    for length in range(2, count + 1):
        for i in range(count - length + 1):
            j = i + length - 1
            cost[i, j], cut[i, j] = min(
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )
    return cut


def _bracketed(matrices, cut, i, j):
    if i == j:
        return matrices[i]
    k = cut[i, j]
    return matmul(_bracketed(matrices, cut, i, k), _bracketed(matrices, cut, k + 1, j))


def chain_matmul(*matrices):
    """PyTorch's older name for `multi_dot`; one matrix is itself."""
    return as_tensor(matrices[0]) if len(matrices) == 1 else multi_dot(matrices)


def vander(x, N=None, increasing=False):  # noqa: N803  (NumPy's names)
    """The powers of each element of a vector as columns: N - 1 down to 0, or with ``increasing`` 0 up to N - 1."""
    x = as_tensor(x)
    if x.ndim != 1:
        raise ShapeError(f"vander: {show(x.shape)} at {user_location()}; a vector is needed")
    count = x.shape[0] if N is None else N
    first = full((x.shape[0], 1), 1, dtype=x.dtype)
    if count <= 1:
        return first[:, :count]
    factors = expand_dims(x, 1) * full((1, count - 1), 1, dtype=x.dtype)
    columns = cumprod(concat([first, factors], 1), 1)
    return columns if increasing else columns[:, ::-1]


def _scaled(inp, product, beta, alpha):
    return as_tensor(inp) * beta + product * alpha


def addmv(inp, mat, vec, beta=1, alpha=1):
    """beta * inp + alpha * (mat @ vec)."""
    return _scaled(inp, matmul(mat, vec), beta, alpha)


def addr(inp, vec1, vec2, beta=1, alpha=1):
    """beta * inp + alpha * the outer product of two vectors."""
    return _scaled(inp, expand_dims(as_tensor(vec1), 1) * as_tensor(vec2), beta, alpha)


def addbmm(inp, batch1, batch2, beta=1, alpha=1):
    """beta * inp + alpha * the sum of the products of matrices."""
    return _scaled(inp, sum_of(matmul(batch1, batch2), 0), beta, alpha)
