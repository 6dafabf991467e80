"""What is true of real numbers only is not applied to floats, and what is exact for integers wraps as they do.

Each expression is written out in NumPy, one rounding an operation; the compiled program must have those bits with every
pass and with none, on values that arrive as inputs and on constants that are folded.
"""

import numpy as np
import pytest

import ferrule as fer
import ferrule.functional as F

OPTIONAL_PASSES = ("simplify", "fold", "prune", "attention", "fuse", "schedule", "memory")
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.1, 3.0, -7.5, 1e-30, -1e30, 3e38, 1e-45, np.inf, -np.inf, np.nan, 16777217.0, 1 / 3, 5e-39]
X, Y = (grid.ravel() for grid in np.meshgrid(SPECIAL, SPECIAL))

# Each is read twice: with Ferrule's tensors and with NumPy's arrays.
EXPRESSIONS = {
    "x * 1": lambda x, y: x * 1.0,
    "x / 1": lambda x, y: x / 1.0,
    "x + 0": lambda x, y: x + 0.0,
    "x + -0": lambda x, y: x + -0.0,
    "x - 0": lambda x, y: x - 0.0,
    "0 - x": lambda x, y: 0.0 - x,
    "-(-x)": lambda x, y: -(-x),
    "x * -1": lambda x, y: x * -1.0,
    "x * 0": lambda x, y: x * 0.0,
    "0 / x": lambda x, y: 0.0 / x,
    "x - x": lambda x, y: x - x,
    "x / x": lambda x, y: x / x,
    "(x + y) - y": lambda x, y: (x + y) - y,
    "(x * y) / y": lambda x, y: (x * y) / y,
    "(x + 1) + 1e-8": lambda x, y: (x + 1.0) + 1e-8,
    "(x * 0.1) * 10": lambda x, y: (x * 0.1) * 10.0,
    "x / 3": lambda x, y: x / 3.0,
    "x / 1e-39": lambda x, y: x / 1e-39,
    "1 / (1 / x)": lambda x, y: 1.0 / (1.0 / x),
    "x * y + x": lambda x, y: x * y + x,
    "x * y - x * y": lambda x, y: x * y - x * y,
    "x * 3 + x * 5": lambda x, y: x * 3.0 + x * 5.0,
    "x * y + x * 2": lambda x, y: x * y + x * 2.0,
    "-(x - y)": lambda x, y: -(x - y),
    "abs(-x) * 1": lambda x, y: abs(-x) * 1.0,
    "x < y or x >= y": lambda x, y: (x < y) | (x >= y),
    "x == x": lambda x, y: x == x,  # noqa: PLR0124
}


def assert_same_bits(got, wanted, message):
    np.testing.assert_array_equal(got, wanted, err_msg=message)
    if got.dtype.kind == "f":
        zero = wanted == 0
        np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(wanted[zero]), err_msg=f"{message}: signs of 0")


def run(function, *arrays, disabled=()):
    specs = [fer.Spec(array.shape, str(array.dtype)) for array in arrays]
    program = fer.compile({"main": (function, specs)}, disable_passes=disabled)
    return fer.Session(program).run("main", *arrays)


@pytest.mark.parametrize("dtype", ("float32", "float64"))
def test_each_operation_rounds(dtype):
    arrays = X.astype(dtype), Y.astype(dtype)
    with np.errstate(all="ignore"):
        wanted = [expression(*arrays) for expression in EXPRESSIONS.values()]

    def everything(*tensors):
        return tuple(expression(*tensors) for expression in EXPRESSIONS.values())

    for label, results in (
        ("all passes", run(everything, *arrays)),
        ("no pass", run(everything, *arrays, disabled=OPTIONAL_PASSES)),
        ("dynamic", [each.numpy() for each in everything(*map(fer.Tensor, arrays))]),
    ):
        for name, got, want in zip(EXPRESSIONS, results, wanted):
            assert_same_bits(got, want, f"{name}, {label}")


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_folded_constants_have_the_bits_of_a_run(name):
    """The expression of constants is computed by the compiler; `where` needs an input to choose it."""
    x, y = X.astype("float32"), Y.astype("float32")
    with np.errstate(all="ignore"):
        wanted = EXPRESSIONS[name](x, y)

    def chosen(take):
        value = EXPRESSIONS[name](fer.Tensor(x), fer.Tensor(y))
        return F.where(take, value, F.logical_not(value) if value.dtype == "bool" else 7.0)

    (got,) = run(chosen, np.ones(x.shape, bool))
    assert_same_bits(got, wanted, name)


INTEGER_EXPRESSIONS = {
    "(x + y) - y": lambda x, y: (x + y) - y,
    "(x * 2) // 2": lambda x, y: (x * 2) // 2,
    "x * 3 - x": lambda x, y: x * 3 - x,
    "-(-x)": lambda x, y: -(-x),
    "abs(x) * 1": lambda x, y: abs(x) * 1,
    "x < x + 1": lambda x, y: x < x + 1,
    "(x >> 1) << 1": lambda x, y: (x >> 1) << 1,
    "x // 4, x % 4": lambda x, y: (x // 4) * 4 + x % 4,
    "x & y ^ ~x": lambda x, y: x & y ^ ~x,
    "x // -1": lambda x, y: x // np.int8(-1) if isinstance(x, np.ndarray) else x // -1,
}


@pytest.mark.parametrize("dtype", ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"))
def test_integers_wrap_in_every_expression(dtype):
    limits = np.iinfo(dtype)
    values = np.array([0, 1, 2, 3, 7, limits.max, limits.max - 1, limits.max // 2, limits.min, limits.min + 1], dtype)
    arrays = [grid.ravel() for grid in np.meshgrid(values, values)]
    expressions = {n: e for n, e in INTEGER_EXPRESSIONS.items() if limits.min < 0 or n != "x // -1"}
    with np.errstate(all="ignore"):
        wanted = [expression(*arrays) for expression in expressions.values()]

    def everything(*tensors):
        return tuple(expression(*tensors) for expression in expressions.values())

    for label, results in (
        ("all passes", run(everything, *arrays)),
        ("no pass", run(everything, *arrays, disabled=OPTIONAL_PASSES)),
        ("dynamic", [each.numpy() for each in everything(*map(fer.Tensor, arrays))]),
    ):
        for name, got, want in zip(expressions, results, wanted):
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want, err_msg=f"{name}, {label}")


def test_the_sum_of_a_softmax_is_not_one():
    """Rounded, it is a little less or more, and floor tells it apart."""
    x = np.random.default_rng(0).standard_normal((200, 7)).astype("float32") * 3

    def function(x):
        total = F.sum(F.softmax(x, -1), -1)
        return F.floor(total), total

    (floor, total), plain = run(function, x), run(function, x, disabled=OPTIONAL_PASSES)
    assert set(np.unique(floor)) == {0.0, 1.0}
    np.testing.assert_array_equal(floor, np.floor(total))
    for got, want in zip((floor, total), plain):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ("float32", "float64", "float16"))
def test_rounding_after_an_elementary_function(dtype):
    """A unit in the last place before `floor` is a whole one after it: fused, alone and in a long row agree."""
    x = np.concatenate([np.linspace(-7, 7, 58), np.arange(-3, 4) * (np.pi / 2), [0.0, -0.0]]).astype(dtype)
    functions = [
        (rounding, inner)
        for inner in (F.sin, F.cos, F.tan, F.exp, F.tanh, F.erf, F.atan, F.sigmoid, F.exp2, F.log1p)
        for rounding in (F.floor, F.ceil, F.round, F.trunc)
    ]

    def fused(x):
        return tuple(rounding(inner(x) * 4.0) for rounding, inner in functions)

    def apart(x):
        return [rounding(fer.Tensor(inner(x).numpy()) * 4.0).numpy() for rounding, inner in functions]

    with np.errstate(all="ignore"):
        whole, alone = apart(fer.Tensor(x)), [apart(fer.Tensor(x[i : i + 1])) for i in (0, 17, len(x) - 1)]
    for place, got in enumerate(run(fused, x)):
        np.testing.assert_array_equal(got, whole[place])
        np.testing.assert_array_equal(got[[0, 17, -1]], [row[place][0] for row in alone])
    assert F.floor(F.cos(fer.Tensor(np.array([0.0], dtype)))).item() == 1
