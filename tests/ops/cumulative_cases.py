"""Cases of the runs along an axis (ir/graph/Cumulative.td)."""

import math

import numpy as np


def exclusive_of(y, axis, first):
    """`y` moved by one along the axis, with `first` at its start."""
    start = np.full_like(np.take(y, [0], axis), first)
    return np.concatenate([start, np.delete(y, -1, axis)], axis)


def recurrence(a, b):
    y = b.copy()
    for i in range(1, len(b)):
        y[i] = a[i] * y[i - 1] + b[i]
    return y


def add_cases(case):
    x = np.array([[1.0, -2.0, 0.5], [3.0, 0.0, 4.0], [-1.0, 2.0, 0.25]])
    ints = np.array([[3, -1, 7, 2]])
    for op, total, first in [("cumsum", np.cumsum, 0.0), ("cumprod", np.cumprod, 1.0)]:
        case(op, [x], [total(x, 0)], axis=0)
        case(op, [x], [total(x, 1)], axis=1)
        case(op, [x], [total(x[:, ::-1], 1)[:, ::-1]], axis=1, reverse=True)
        case(op, [x], [exclusive_of(total(x, 1), 1, first)], axis=1, exclusive=True)
        case(op, [x], [exclusive_of(total(x[::-1], 0), 0, first)[::-1]], axis=0, reverse=True, exclusive=True)
        case(op, [ints], [total(ints, 1)], axis=1)
        case(op, [x], [total(x, 0)], input_dtypes={0: "float64"}, output_dtypes={0: "float64"}, axis=0)
        case(op, [np.zeros((2, 0))], [np.zeros((2, 0))], axis=1)
    # Beyond 2^31: an int64 sum is not demoted.
    wide = np.array([2**31 - 1, 1, -(2**33)])
    case("cumsum", [wide], [np.cumsum(wide)], input_dtypes={0: "int64"}, output_dtypes={0: "int64"}, axis=0)
    nan = math.nan
    y = np.array([[1.0, 3.0, 3.0, 2.0], [0.0, nan, 9.0, nan]])
    case("cummax", [y], [np.maximum.accumulate(y, 1)], axis=1)
    case("cumargmax", [y], [np.array([[0, 1, 1, 1], [0, 1, 1, 1]])], axis=1)
    case("cummin", [y], [np.minimum.accumulate(y, 0)], axis=0)
    case("cumargmin", [np.array([4, 2, 2, 5, 1])], [np.array([0, 1, 1, 1, 4])], axis=0)
    case("cummax", [ints], [np.maximum.accumulate(ints, 1)], axis=1)
    a, b = np.array([0.5, 2.0, 0.0, -3.0]), np.array([1.0, 4.0, -2.0, 0.25])
    y = recurrence(a, b)
    case("linear_recurrence", [a, b], [y], axis=0)
    case("linear_recurrence", [a, b], [exclusive_of(y, 0, 0.0)], axis=0, exclusive=True)
    case("linear_recurrence", [a, b], [recurrence(np.roll(a, 1), b)], axis=0, lagged=True)
    case("linear_recurrence", [a, b], [recurrence(a[::-1], b[::-1])[::-1]], axis=0, reverse=True)
    case("linear_recurrence", [a, b], [recurrence(np.roll(a[::-1], 1), b[::-1])[::-1]], axis=0, reverse=True, lagged=True)
