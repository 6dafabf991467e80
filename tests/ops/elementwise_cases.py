"""Cases of elementwise ops: elementary functions, remainders, bits. All values by NumPy or the standard library."""

import math

import numpy as np

NAN, INF = math.nan, math.inf
X = np.array([[-2.5, -1.0, -0.0], [0.0, 0.5, 3.0]])
INSIDE = np.array([-0.9, -0.5, -0.0, 0.0, 0.25, 0.99])


def add_cases(case):
    elementary(case)
    pairs(case)
    bits(case)


def elementary(case):
    def exact(function):
        return np.vectorize(function, otypes=[float])

    for op, function in [("exp2", np.exp2), ("tan", np.tan), ("atan", np.arctan), ("sinh", np.sinh), ("cosh", np.cosh),
                         ("asinh", np.arcsinh), ("cbrt", np.cbrt), ("erfc", exact(math.erfc))]:
        case(op, [X], [function(X)], 4e-7)
    for op, function in [("asin", np.arcsin), ("acos", np.arccos), ("atanh", np.arctanh)]:
        case(op, [INSIDE], [function(INSIDE)], 4e-7)
    case("acosh", [np.array([1.5, 2.0, 100.0])], [np.arccosh([1.5, 2.0, 100.0])], 4e-7)
    case("acosh", [np.array([1.0, INF, 0.5, NAN])], [[0.0, INF, NAN, NAN]])
    case("log2", [np.array([0.25, 1.0, 8.0, 10.0])], [[-2.0, 0.0, 3.0, math.log2(10)]], 4e-7)
    case("log10", [np.array([0.25, 1.0, 1000.0])], [[math.log10(0.25), 0.0, 3.0]], 4e-7)
    # Outside the domain NaN, at its ends the limits, of an odd function the sign of zero.
    case("log2", [np.array([0.0, -1.0, INF])], [[-INF, NAN, INF]])
    case("asin", [np.array([-0.0, 2.0, NAN])], [[-0.0, NAN, NAN]])
    case("atanh", [np.array([1.0, -1.0, -0.0, 2.0])], [[INF, -INF, -0.0, NAN]])
    case("exp2", [np.array([-INF, INF, 10.0, -149.0])], [[0.0, INF, 1024.0, 2.0**-149]])
    case("erfc", [np.array([-INF, INF, 0.0])], [[2.0, 0.0, 1.0]])
    case("cbrt", [np.array([27.0, -8.0, -0.0, INF])], [[3.0, -2.0, -0.0, INF]])
    case("trunc", [np.array([-2.5, -0.5, 0.5, 2.5, NAN])], [[-2.0, -0.0, 0.0, 2.0, NAN]])


def pairs(case):
    y, x = np.array([0.0, -0.0, 1.0, -1.0, 2.0]), np.array([-1.0, -1.0, 0.0, 0.0, 2.0])
    case("atan2", [y, x], [np.arctan2(y, x)], 4e-7)
    case("hypot", [np.array([3.0, -5.0, 1.0, 0.5]), np.array([4.0, 12.0, 1.0, 2.0])],
         [np.hypot([3.0, -5.0, 1.0, 0.5], [4.0, 12.0, 1.0, 2.0])], 4e-7)
    case("hypot", [np.array([3e38, 0.0, INF, NAN]), np.array([1.0, -0.0, NAN, 1.0])], [[3e38, 0.0, INF, NAN]])
    case("copysign", [np.array([1.0, -2.0, 0.5, NAN]), np.array([-0.0, 3.0, -INF, 1.0])], [[-1.0, 2.0, -0.5, NAN]])
    case("fmod", [np.array([7.0, -7.0, 7.5, 1.0]), np.array([2.0, 2.0, -2.0, INF])], [[1.0, -1.0, 1.5, 1.0]])
    case("fmod", [np.array([1.0, -1.0]), np.array([0.3, 0.3])],
         [np.float32([math.fmod(1.0, np.float32(0.3)), -math.fmod(1.0, np.float32(0.3))])])
    case("fmod", [np.array([7, -7, 5]), np.array([2, 2, 0])], [np.array([1, -1, 0])])


def bits(case):
    a, b = np.array([12, -1, 7, 0]), np.array([10, 255, -8, 5])
    case("bitwise_and", [a, b], [a & b])
    case("bitwise_or", [a, b], [a | b])
    case("bitwise_xor", [a, b], [a ^ b])
    case("bitwise_not", [a], [~a])
    # A distance outside the width shifts every bit out.
    case("left_shift", [np.array([1, 3, 1, 1]), np.array([4, 31, 32, -1])], [np.array([16, -(2**31), 0, 0])])
    case("right_shift", [np.array([-5, 5, -5, 5]), np.array([1, 1, 40, -1])], [np.array([-3, 2, -1, 0])])
    u8 = {0: "uint8", 1: "uint8"}
    case("right_shift", [np.array([200, 200]), np.array([3, 9])], [np.array([25, 0])], input_dtypes=u8, output_dtypes=u8)
    case("left_shift", [np.array([200, 200]), np.array([1, 8])], [np.array([144, 0])], input_dtypes=u8, output_dtypes=u8)
