"""Cases of sorting and searching (ir/graph/Sort.td)."""

import math

import numpy as np


def add_cases(case):
    nan = math.nan
    x = np.array([[3.0, nan, -1.0, 3.0], [-0.0, 5.0, 0.0, -math.inf]])
    case("argsort", [x], [np.array([[2, 0, 3, 1], [3, 0, 2, 1]])], axis=1)
    case("argsort", [x], [np.array([[1, 0, 3, 2], [1, 0, 2, 3]])], axis=1, descending=True)
    case("argsort", [x], [np.array([[1, 1, 0, 1], [0, 0, 1, 0]])], axis=0)
    case("argsort", [np.array([1, 3, 3, 2])], [np.array([1, 2])], axis=0, descending=True, k=[2])
    wide = np.array([2**40, -1, 2**40 - 1])
    case("argsort", [wide], [np.array([1, 2, 0])], input_dtypes={0: "int64"}, axis=0)
    many = (np.arange(300) * 7919) % 101 - 50
    case("argsort", [many.astype(float)], [np.argsort(many, kind="stable")], axis=0)
    case("argsort", [np.zeros((2, 0))], [np.zeros((2, 0), int)], axis=1)
    steps, v = np.array([[1.0, 2.0, 2.0, 7.0]]), np.array([[0.0, 2.0, 7.0, 9.0, nan]])
    case("searchsorted", [steps, v], [np.array([[0, 1, 3, 4, 4]])])
    case("searchsorted", [steps, v], [np.array([[0, 3, 4, 4, 4]])], right=True)
