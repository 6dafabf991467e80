"""Products of matrices and tensors."""

from ... import functional as F
from ..registry import operator


def _product(node, a, b, transpose_a=False, transpose_b=False):
    """a @ b; where an operand was transposed before, the product does that itself."""
    source_a, source_b = (node.importer.before_transpose(x) for x in (a, b))
    if source_a is not None:
        a, transpose_a = source_a, not transpose_a
    if source_b is not None:
        b, transpose_b = source_b, not transpose_b
    return F.matmul(a, b, transpose_a=transpose_a, transpose_b=transpose_b)


@operator("MatMul")
def matmul(node, a, b):
    """NumPy's product for every rank."""
    return _product(node, a, b)


@operator("Gemm", since=7)
def gemm(node, a, b, c=None):
    """alpha * a @ b + beta * c of matrices, each transposed on request."""
    product = _product(node, a, b, bool(node.get("transA", 0)), bool(node.get("transB", 0)))
    alpha, beta = node.get("alpha", 1.0), node.get("beta", 1.0)
    product = _scaled(product, alpha)
    return product if c is None or beta == 0 else product + _scaled(c, beta)


@operator("Gemm", since=1)
def gemm_aligned(node, a, b, c):
    """Before version 7 the last operand broadcasts on request."""
    return gemm(node, a, b, c)


def _scaled(x, factor):
    """factor * x in the dtype of x."""
    return x if factor == 1 else (x * factor).astype(x.dtype)


@operator("Einsum", since=12)
def einsum(node, *operands):
    """The sum of products that the equation names."""
    return F.einsum(node.get("equation").replace(" ", ""), *operands)
