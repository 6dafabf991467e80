"""Calls of the functions of arrays that NumPy and PyTorch have, for `function_calls`."""

import numpy as np

import ferrule as fer
import ferrule.functional as F

from .operands import array, named


def statistics():
    """{name: a call} of sums, runs and statistics."""
    x, row, other = fer.tensor(array(3, 4)), fer.tensor(array(4)), fer.tensor(array(4) + 2)
    ordered, numbers = fer.tensor(np.arange(4, dtype=np.float32)), fer.tensor(np.array([0, 2, 1], np.int32))
    bins = np.array([-0.5, 0.0, 0.5], np.float32)
    whole = """aminmax average corrcoef cov nanargmax nanargmin nancumprod nancumsum nanmedian nanstd nanvar std_mean
        var_mean msort"""
    return {
        **named(whole, lambda f: f(x)),
        **named("nanpercentile nanquantile", lambda f: f(x, 0.5)),
        **named("cumulative_trapezoid trapezoid trapz gradient", lambda f: f(row)),
        **named("bucketize", lambda f: f(x, fer.tensor(bins))),
        **named("digitize", lambda f: f(x, bins)),
        **named("histc histogram", lambda f: f(row, 4)),
        "interp": lambda: F.interp(row, ordered, other),
        "isin": lambda: F.isin(numbers, numbers),
        "kthvalue": lambda: F.kthvalue(x, 2),
        "logcumsumexp": lambda: F.logcumsumexp(x, 1),
        "unravel_index": lambda: F.unravel_index(numbers, (2, 2)),
    }


def elementwise():
    """{name: a call} of functions of single elements."""
    x, y = fer.tensor(array(3, 4)), fer.tensor(array(3, 4) + 2)
    return {
        **named("fabs isneginf isposinf sgn signbit sinc", lambda f: f(x)),
        **named("clamp_max clamp_min divmod float_power heaviside ldexp logaddexp2 rsub", lambda f: f(x, y)),
    }


def products():
    """{name: a call} of products of vectors and matrices."""
    x, square, row, column = (fer.tensor(array(*shape)) for shape in ((3, 4), (3, 3), (4,), (3,)))
    batch, other = fer.tensor(array(2, 3, 3)), fer.tensor(array(2, 3, 3))
    return {
        **named("inner vdot vecdot", lambda f: f(row, row)),
        **named("cross", lambda f: f(column, column)),
        **named("kron", lambda f: f(square, square)),
        **named("multi_dot", lambda f: f([square, square, x])),
        **named("chain_matmul", lambda f: f(square, square, x)),
        "addbmm": lambda: F.addbmm(square, batch, other),
        "addmv": lambda: F.addmv(column, x, row),
        "addr": lambda: F.addr(x, column, row),
        "block_diag": lambda: F.block_diag(square, x),
        "matrix_power": lambda: F.matrix_power(square, 3),
        "vander": lambda: F.vander(row),
    }


def parts():
    """{name: a call} of functions that take arrays apart, join them, and write into parts."""
    x, y, row = fer.tensor(array(3, 4)), fer.tensor(array(3, 4)), fer.tensor(array(4))
    cube, mask, column = fer.tensor(array(2, 2, 4)), fer.tensor(np.eye(3, 4, dtype=bool)), fer.tensor(array(3))
    places, grid = fer.tensor(np.array([0, 2], np.int32)), fer.tensor(np.zeros((3, 4), np.int32))
    return {
        **named("atleast_1d atleast_2d atleast_3d diag_embed diagflat", lambda f: f(row)),
        **named("column_stack dstack row_stack", lambda f: f([x, y])),
        **named("expand_as reshape_as view_as", lambda f: f(x, y)),
        **named("matrix_transpose", lambda f: f(x)),
        **named("hsplit", lambda f: f(cube, 2)),
        **named("vsplit dsplit", lambda f: f(cube, 2)),
        "append": lambda: F.append(x, y, 0),
        "cartesian_prod": lambda: F.cartesian_prod(row, column),
        "combinations": lambda: F.combinations(row),
        "diagonal_scatter": lambda: F.diagonal_scatter(x, column),
        "index_fill": lambda: F.index_fill(x, 0, places, 2.0),
        "masked_scatter": lambda: F.masked_scatter(x, mask, row),
        "narrow": lambda: F.narrow(x, 1, 1, 2),
        "select": lambda: F.select(x, 1, 2),
        "select_scatter": lambda: F.select_scatter(x, row, 0, 1),
        "slice_scatter": lambda: F.slice_scatter(x, row[None], 0, 1, 2),
        "take_along_dim": lambda: F.take_along_dim(x, grid, 1),
        "tensor_split": lambda: F.tensor_split(x, 2, 1),
    }


def created():
    """{name: a call} of functions that make arrays."""
    x = fer.tensor(array(3, 4))
    return {
        **named("bartlett blackman hamming hanning", lambda f: f(5)),
        **named("bartlett_window blackman_window hamming_window hann_window kaiser_window", lambda f: f(5)),
        **named("identity tri", lambda f: f(3)),
        **named("tril_indices triu_indices", lambda f: f(3, 3)),
        **named("geomspace", lambda f: f(1.0, 8.0, 4)),
        **named("logspace", lambda f: f(0.0, 1.0, 4)),
        "empty": lambda: F.empty((3, 4)),
        "empty_like": lambda: F.empty_like(x),
        "kaiser": lambda: F.kaiser(5, 2.0),
    }
