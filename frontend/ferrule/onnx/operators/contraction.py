"""Products of matrices and tensors."""

from ... import functional as F
from ..registry import operator


@operator("MatMul")
def matmul(node, a, b):
    """NumPy's product for every rank."""
    return F.matmul(a, b)


@operator("Gemm", since=7)
def gemm(node, a, b, c=None):
    """alpha * a @ b + beta * c of matrices, each transposed on request."""
    product = F.matmul(a, b, transpose_a=bool(node.get("transA", 0)), transpose_b=bool(node.get("transB", 0)))
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
