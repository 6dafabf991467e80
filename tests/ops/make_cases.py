"""Writes one data file an op: small inputs, attributes, and outputs computed by NumPy in float64.

    ./dev python tests/ops/make_cases.py            # writes tests/ops/<op>.json

A case is {"inputs": [tensor], "attributes": {...}, "outputs": [tensor], "tolerance": t}; a tensor is {"dtype", "shape",
"values"} with row-major values, NaN and infinities as strings. An output equals if |got - expected| <= tolerance *
max(1, |expected|); NaN equals NaN; with tolerance 0 zeros must agree in sign. Attributes are as Tensor ops take them:
dtypes by name, shapes as lists. Families with many cases stand in files of their own, <family>_cases.py, each with a
function add_cases(case).
"""

import importlib
import json
import math
import pathlib

import numpy as np

CASES = {}


def encode(value):
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def tensor(array, dtype=None):
    array = np.asarray(array)
    if dtype is None:
        dtype = {"float64": "float32", "int64": "int32"}.get(array.dtype.name, array.dtype.name)
    return {"dtype": dtype, "shape": list(array.shape), "values": [encode(v) for v in array.astype(dtype).ravel()]}


def case(op, inputs, outputs, tolerance=0.0, input_dtypes=None, output_dtypes=None, **attributes):
    inputs = [None if x is None else tensor(x, (input_dtypes or {}).get(i)) for i, x in enumerate(inputs)]
    outputs = [tensor(y, (output_dtypes or {}).get(i)) for i, y in enumerate(outputs)]
    CASES.setdefault(op, []).append(
        {"inputs": inputs, "attributes": attributes, "outputs": outputs, "tolerance": tolerance})


NAN, INF = math.nan, math.inf
X = np.array([[-2.5, -1.0, -0.0], [0.0, 0.5, 3.0]])
POSITIVE = np.array([0.25, 1.0, 2.0, 10.0])


def elementwise():
    signed = np.array([-2.5, -0.5, -0.0, 0.0, 0.5, 1.5, 2.5, NAN])
    case("neg", [signed], [-signed])
    case("abs", [signed], [np.abs(signed)])
    case("sign", [signed], [[-1, -1, -0.0, 0.0, 1, 1, 1, NAN]])
    case("floor", [signed], [np.floor(signed)])
    case("ceil", [signed], [np.ceil(signed)])
    case("round", [signed], [np.round(signed)])
    case("relu", [signed], [[0, 0, -0.0, 0, 0.5, 1.5, 2.5, NAN]])
    case("stop_gradient", [signed], [signed])
    for op, function in [("exp", np.exp), ("expm1", np.expm1), ("tanh", np.tanh), ("sin", np.sin), ("cos", np.cos),
                         ("sigmoid", lambda v: 1 / (1 + np.exp(-v))),
                         ("erf", np.vectorize(math.erf, otypes=[float]))]:
        case(op, [X], [function(X)], 4e-7)
    for op, function in [("log", np.log), ("log1p", np.log1p)]:
        case(op, [POSITIVE], [function(POSITIVE)], 4e-7)
    case("sqrt", [np.array([0.0, -0.0, 0.25, 4.0, 144.0])], [[0.0, -0.0, 0.5, 2.0, 12.0]])
    case("logical_not", [np.array([True, False])], [np.array([False, True])])
    case("cast", [np.array([1e10, -1.9, NAN, 2.5])], [np.array([2147483647, -1, 0, 2])], dtype="int32")
    case("cast", [np.array([0, 1, -3])], [np.array([False, True, True])], dtype="bool")

    a, b = np.array([7.0, -7.0, 1.0, -0.0]), np.array([2.0, 2.0, 0.1, 5.0])
    case("add", [a, b], [np.float32(a) + np.float32(b)])
    case("sub", [a, b], [np.float32(a) - np.float32(b)])
    case("mul", [a, b], [np.float32(a) * np.float32(b)])
    case("div", [a, b], [np.float32(a) / np.float32(b)])
    case("floor_div", [a, b], [[3.0, -4.0, 9.0, -0.0]])
    case("floor_div", [np.array([7, -7, 5]), np.array([2, 2, 0])], [np.array([3, -4, 0])])
    case("mod", [np.array([7, -7, 5]), np.array([2, 2, 0])], [np.array([1, 1, 0])])
    case("mod", [a[:2], b[:2]], [[1.0, 1.0]])
    case("pow", [np.array([2.0, 9.0, 0.0, 2.0]), np.array([3.0, 0.5, 0.0, -1.0])], [[8.0, 3.0, 1.0, 0.5]], 4e-7)
    p, q = np.array([1.0, -0.0, 0.0, NAN, 2.0]), np.array([2.0, 0.0, -0.0, 1.0, NAN])
    case("maximum", [p, q], [[2.0, 0.0, 0.0, NAN, NAN]])
    case("minimum", [p, q], [[1.0, -0.0, -0.0, NAN, NAN]])
    for op, function in [("equal", np.equal), ("not_equal", np.not_equal), ("less", np.less),
                         ("less_equal", np.less_equal), ("greater", np.greater), ("greater_equal", np.greater_equal)]:
        case(op, [p, q], [function(p, q)])
    t, f = np.array([True, True, False, False]), np.array([True, False, True, False])
    for op, function in [("logical_and", np.logical_and), ("logical_or", np.logical_or),
                         ("logical_xor", np.logical_xor)]:
        case(op, [t, f], [function(t, f)])
    case("where", [t, a, b], [np.where(t, a, b)])
    # 1 + 2^-23 squared, minus its rounded self: the error that one rounding keeps, 2^-46.
    e = 1 + 2.0**-23
    case("fma", [np.array([e, 2.0]), np.array([e, 3.0]), np.array([-(1 + 2.0**-22), 4.0])], [[2.0**-46, 10.0]])


def shape():
    x = np.arange(6.0).reshape(2, 3)
    case("reshape", [x], [x.reshape(3, 2)], shape=[3, 2])
    case("transpose", [x], [x.T], pattern=[1, 0])
    case("broadcast_to", [x[:, :1]], [np.broadcast_to(x[:, :1], (2, 2, 3))], shape=[2, 2, 3])
    case("slice", [x], [x[:, 0:3:2]], starts=[0, 0], stops=[2, 3], steps=[1, 2])
    case("slice", [x], [x[::-1, 1:]], starts=[1, 1], stops=[-1, 3], steps=[-1, 1])
    case("concat", [x, x[:, :1]], [np.concatenate([x, x[:, :1]], 1)], axis=1)
    case("dim", [], [np.array(12)], output_dtypes={0: "int64"}, expr=12)
    case("iota", [], [np.array([[0, 1, 2], [0, 1, 2]])], shape=[2, 3], axis=1, dtype="int32")
    case("constant", [], [x], value=tensor(x))


def reduce():
    x = np.array([[1.0, -2.0, 3.5], [3.5, 0.5, -0.0]])
    case("reduce_sum", [x], [x.sum(1)], axes=[1])
    case("reduce_sum", [np.zeros((2, 0))], [np.zeros(2)], axes=[1])
    case("reduce_max", [x], [x.max(0, keepdims=True)], axes=[0], keepdims=True)
    case("reduce_min", [x], [x.min()], axes=[0, 1])
    case("reduce_prod", [x], [[-7.0, -0.0]], axes=[1])
    case("argmax", [np.array([[1.0, 3.0, 3.0], [NAN, 9.0, NAN]])], [np.array([1, 0])], axis=1)
    case("argmin", [np.array([[2.0, 1.0, 1.0], [NAN, 9.0, 0.0]])], [np.array([1, 2])], axis=1)


def rows():
    x = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 0.0]])
    e = np.exp(x - x.max(1, keepdims=True))
    p = e / e.sum(1, keepdims=True)
    case("softmax", [x], [p], 4e-7, axis=1)
    case("log_softmax", [x], [np.log(p)], 4e-7, axis=1)
    labels, g = np.array([2, -1]), np.array([2.0, 1.0])
    loss = np.array([-np.log(p[0, 2]), 0.0])
    target = np.eye(3)[[2, 0]]
    gradient = (p - target) * g[:, None]
    gradient[1] = 0
    case("cross_entropy_rows", [x, labels], [loss], 4e-7, ignore_index=-1)
    case("cross_entropy_rows_gradient", [x, labels, g], [gradient], 4e-7, ignore_index=-1)
    smooth = 0.1
    q = 0.9 * target + smooth / 3
    case("cross_entropy_rows", [x[:1], labels[:1]], [-(q * np.log(p)).sum(1)[:1]], 4e-7, label_smooth=smooth)

    v = np.array([[1999.0, 2000.0, 2001.0, 2002.0]])
    mean, variance = v.mean(1), v.var(1)
    rstd = 1 / np.sqrt(variance + 1e-5)
    case("moments", [v], [mean, variance, rstd], 1e-7, axes=[1], eps=1e-5)
    w, b = np.array([1.0, 2.0, 1.0, 1.0]), np.array([0.0, 0.0, 0.5, 0.0])
    y = (v - mean[:, None]) * rstd[:, None]
    case("normalize", [v, None, None], [y, mean, variance, rstd], 1e-6, axes=[1], param_axes=[1], eps=1e-5)
    case("normalize", [v, w, b], [y * w + b, mean, variance, rstd], 1e-6, axes=[1], param_axes=[1], eps=1e-5)


def gradients():
    # Two inputs that do not depend on each other.
    case("gradient", [np.array(3.0), None, np.array(3.0)], [np.array(0.0)])


if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent
    for family in (elementwise, shape, reduce, rows, gradients):
        family()
    for path in sorted(folder.glob("*_cases.py")):
        if path.stem != "make_cases":
            importlib.import_module(path.stem).add_cases(case)
    for op, cases in CASES.items():
        with open(folder / (op + ".json"), "w") as file:
            lines = ",\n".join("  " + json.dumps(c) for c in cases)
            file.write('{"op": "%s", "cases": [\n%s\n]}\n' % (op, lines))
    print(len(CASES), "files in", folder)
