"""Every element type through every elementwise op, cast and reduction, on each CPU level, against NumPy or the definition.

One program a type computes all ops on edge values, so that vectors, tails and every lane see them.
"""

import itertools

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import ferrule as fer
import ferrule.functional as F
from ferrule import dtypes
from ferrule.jit import trace

LEVELS = ("x86-64-v3", "host")
SIXTEEN_BITS = ("float16", "bfloat16")
FLOATS = (*SIXTEEN_BITS, "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
ALL = ("bool", *INTEGERS, *FLOATS)


def edges(dtype):
    """Values of a dtype where its arithmetic is delicate."""
    if dtype == "bool":
        return np.array([False, True])
    if dtype in FLOATS:
        limits = dtypes.limits(dtype)
        special = [np.nan, np.inf, -np.inf, 0.0, -0.0, float(limits.max), float(limits.smallest_subnormal)]
        ordinary = [1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 1e-3, 3.0, 127.5, -128.9, 200.0, -7.25, 0.1, 65504.0, 2.0**20]
        with np.errstate(over="ignore"):
            return np.array(special + ordinary).astype(dtypes.to_numpy(dtype))
    limits = np.iinfo(dtype)
    values = [0, 1, 2, 3, 5, 7, 100, limits.max, limits.max - 1, limits.min, limits.min + 1]
    return np.array([*values, *(() if limits.min == 0 else (-1, -2, -3, -7, -100))], dtype)


def pairs(dtype):
    x, y = zip(*itertools.product(edges(dtype), repeat=2))
    return np.array(x), np.array(y)


def run(function, arrays, target):
    """The outputs of ``function`` compiled for ``target``, by their number."""
    specs = [fer.Spec(a.shape, a.dtype.name) for a in arrays]
    program = fer.compile({"main": (trace(function, symbolic=True), specs)}, targets=(target,))
    return fer.Session(program, threads=1).run("main", *arrays)


def assert_bits(got, wanted, message):
    assert got.dtype == wanted.dtype and got.shape == wanted.shape, f"{message}: {got.dtype}{got.shape}"
    if dtypes.is_float(got.dtype.name):
        missing = np.isnan(wanted.astype(np.float64))
        np.testing.assert_array_equal(np.isnan(got.astype(np.float64)), missing, err_msg=message)
        got, wanted = got[~missing], wanted[~missing]
    np.testing.assert_array_equal(np.atleast_1d(got).view(np.uint8), np.atleast_1d(wanted).view(np.uint8), err_msg=message)


# ---- integers --------------------------------------------------------------------------------------------------------

INTEGER_BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
    "bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor, "equal": np.equal,
    "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal, "greater": np.greater,
    "greater_equal": np.greater_equal, "floor_div": np.floor_divide, "mod": np.remainder, "fmod": np.fmod,
}  # fmt: skip
INTEGER_UNARY = {"neg": np.negative, "abs": np.abs, "sign": np.sign, "bitwise_not": np.bitwise_not,
                 "relu": lambda x: np.maximum(x, np.zeros_like(x))}  # fmt: skip


@pytest.mark.parametrize("target", LEVELS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(dtype, target):
    x, y = pairs(dtype)
    got = run(lambda x, y: [getattr(F, op)(x, y) for op in INTEGER_BINARY] + [getattr(F, op)(x) for op in INTEGER_UNARY],
              [x, y], target)  # fmt: skip
    with np.errstate(all="ignore"):
        for value, (op, function) in zip(got, [*INTEGER_BINARY.items(), *INTEGER_UNARY.items()]):
            wanted = function(x) if op in INTEGER_UNARY else function(x, y)
            assert_bits(value, wanted, f"{op} {dtype}")


@pytest.mark.parametrize("target", LEVELS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts(dtype, target):
    """By Python's integers, wrapped; every distance inside and around the width."""
    width = np.dtype(dtype).itemsize * 8
    distances = [d for d in (0, 1, 2, width - 1, width, width + 1, 100, -1) if np.iinfo(dtype).min <= d]
    x, y = (np.array(v, dtype) for v in zip(*itertools.product(edges(dtype), distances)))
    left, right = run(lambda x, y: [x << y, x >> y], [x, y], target)
    inside = (y >= 0) & (y < width)
    for i in range(len(x)):
        value, distance = int(x[i]), int(y[i])
        shifted = (value << distance) % 2**width if inside[i] else 0
        assert int(left[i]) % 2**width == shifted, f"{value} << {distance}"
        assert int(right[i]) == (value >> distance if inside[i] else -1 if value < 0 else 0), f"{value} >> {distance}"


@pytest.mark.parametrize("target", LEVELS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_reductions_keep_their_dtype_and_wrap(dtype, target):
    x = np.tile(edges(dtype), 3)[:33].reshape(3, -1)
    got = run(lambda x: [F.sum(x, 1), F.prod(x, 0), F.max(x, 1), F.min(x, 0), F.argmax(x, 1), F.argmin(x, 0)], [x], target)
    wanted = [np.sum(x, 1, dtype=dtype), np.prod(x, 0, dtype=dtype), x.max(1), x.min(0),
              x.argmax(1).astype(np.int32), x.argmin(0).astype(np.int32)]  # fmt: skip
    for index, (value, expected) in enumerate(zip(got, wanted)):
        assert_bits(value, expected, f"reduction {index} of {dtype}")


# ---- 16-bit floats ---------------------------------------------------------------------------------------------------

FLOAT_UNARY = (
    "neg abs sign floor ceil round trunc relu exp exp2 expm1 log log2 log10 log1p sqrt cbrt tanh sigmoid erf erfc sin cos tan "
    "asin acos atan sinh cosh asinh acosh atanh"
).split()
FLOAT_BINARY = "add sub mul div floor_div mod fmod pow maximum minimum atan2 hypot copysign".split()
COMPARISONS = "equal not_equal less less_equal greater greater_equal".split()


@pytest.mark.parametrize("target", LEVELS)
@pytest.mark.parametrize("dtype", SIXTEEN_BITS)
def test_16_bit_floats_are_float32_rounded_once_an_op(dtype, target):
    x, y = pairs(dtype)

    def ops(x, y):
        return [getattr(F, op)(x) for op in FLOAT_UNARY] + [getattr(F, op)(x, y) for op in (*FLOAT_BINARY, *COMPARISONS)]

    narrow = run(ops, [x, y], target)
    wide = run(ops, [x.astype(np.float32), y.astype(np.float32)], target)
    for op, got, wanted in zip((*FLOAT_UNARY, *FLOAT_BINARY, *COMPARISONS), narrow, wide):
        with np.errstate(over="ignore", invalid="ignore"):
            assert_bits(got, wanted if op in COMPARISONS else wanted.astype(got.dtype), f"{op} {dtype}")
            assert got.dtype == (np.bool_ if op in COMPARISONS else x.dtype)


@pytest.mark.parametrize("target", LEVELS)
@pytest.mark.parametrize("dtype", SIXTEEN_BITS)
def test_whole_ops_of_16_bit_floats(dtype, target):
    """Contractions, windows, norms, reductions and rows: computed in float32, rounded once."""
    rng = np.random.default_rng(5)
    to = dtypes.to_numpy(dtype)
    a, b = rng.standard_normal((5, 7)).astype(to), rng.standard_normal((7, 19)).astype(to)
    image, weight = rng.standard_normal((2, 3, 6, 6)).astype(to), rng.standard_normal((4, 3, 3, 3)).astype(to)

    def ops(a, b, image, weight):
        convolved = F.conv2d(image, weight, padding=1)
        return [
            a @ b, convolved, F.max_pool2d(image, 2), F.avg_pool2d(image, 2), F.softmax(a, 1), F.logsoftmax(a, 1),
            F.sum(b, 0), F.mean(b, 1), F.var(b, 0), F.max(a, 1), F.argmax(b, 1), F.prod(a, 1), F.norm(a), F.logsumexp(b, 1),
            F.layer_norm(a, (7,), False), F.gelu(a), F.softplus(a),
        ]  # fmt: skip

    narrow = run(ops, [a, b, image, weight], target)
    wide = run(ops, [x.astype(np.float32) for x in (a, b, image, weight)], target)
    for index, (got, wanted) in enumerate(zip(narrow, wide)):
        assert_bits(got, wanted if wanted.dtype == np.int32 else wanted.astype(to), f"{dtype} op {index}")


@pytest.mark.parametrize("dtype", (*SIXTEEN_BITS, "int8", "uint16"))
def test_tiles_write_nothing_but_their_own_elements(dtype):
    """Tiles of one element each, of one or two bytes, on several threads: a wider store would reach the neighbour."""
    x = np.arange(1, 129).reshape(1, 1, 128, 1).astype(dtypes.to_numpy(dtype))

    def pooled(x):
        return F.avg_pool2d(x.astype("float32"), 1).astype(dtype)

    spec = fer.Spec(x.shape, dtype)
    program = fer.compile({"main": (trace(pooled, symbolic=True), [spec])}, targets=("host",))
    session = fer.Session(program, threads=3)
    for _ in range(500):
        assert_bits(session.run("main", x)[0], x, dtype)


@pytest.mark.parametrize("dtype", SIXTEEN_BITS)
def test_sums_of_16_bit_floats_do_not_stop_growing(dtype):
    """Summed in its own 11 or 8 bits, 5,000 ones would end at 2,048 or 256; the mean must not overflow on the way."""
    to = dtypes.to_numpy(dtype)
    assert float(F.sum(fer.Tensor(np.ones(5000, to))).numpy()) == float(np.array(5000).astype(to))
    assert float(F.mean(fer.Tensor(np.full(100000, 3, to))).numpy()) == 3.0


@pytest.mark.parametrize("dtype", SIXTEEN_BITS)
def test_gradients_of_16_bit_floats(dtype):
    to = dtypes.to_numpy(dtype)
    x = fer.Tensor(np.array([[1.0, -2.0], [0.5, 4.0]], to))
    w = fer.Tensor(np.array([[2.0, 1.0], [-1.0, 3.0]], to))
    dx, dw = fer.grad(lambda x, w: F.sum(F.relu(x @ w) * 2), wrt=(0, 1))(x, w)
    assert dx.dtype == dw.dtype == dtype
    # relu lets through where x @ w = [[4, -5], [-3, 12.5]] is positive.
    np.testing.assert_array_equal(dx.numpy().astype(np.float32), [[4, -2], [2, 6]])
    np.testing.assert_array_equal(dw.numpy().astype(np.float32), [[2, 1], [-4, 8]])


@pytest.mark.parametrize("target", LEVELS)
@pytest.mark.parametrize("dtype", (*SIXTEEN_BITS, "int8", "int16", "uint8", "uint16", "uint32"))
def test_kernels_of_whole_ops_see_narrow_types_widened(dtype, target):
    """A running sum of 16-bit floats is rounded once an element, not once a step; integers wrap."""
    x = np.array([100, 27, 1, 3, 120, 7], dtypes.to_numpy(dtype)) / (1 if dtypes.is_integer(dtype) else 8)
    x = x.astype(dtypes.to_numpy(dtype))
    total, largest = run(lambda x: [F.cumsum(x, 0), F.cummax(x, 0)[0]], [x], target)
    wide = x.astype(np.float64 if dtypes.is_float(dtype) else np.int64)
    assert_bits(total, np.cumsum(wide).astype(x.dtype), f"cumsum {dtype}")
    assert_bits(largest, np.maximum.accumulate(wide).astype(x.dtype), f"cummax {dtype}")


# ---- casts -----------------------------------------------------------------------------------------------------------


def cast(x, to):
    """The rule: float to integer saturates, NaN gives 0; integers wrap; to bool is `!= 0`; 16-bit floats round once."""
    if to == "bool":
        return x.astype(np.float64) != 0 if dtypes.is_float(x.dtype.name) else x != 0
    if dtypes.is_float(x.dtype.name) and dtypes.is_integer(to):
        limits = np.iinfo(to)
        values = [0.0 if np.isnan(v) else v for v in x.astype(np.float64)]
        return np.array([limits.max if v >= limits.max else limits.min if v <= limits.min else int(v) for v in values], to)
    with np.errstate(over="ignore"):
        if to in SIXTEEN_BITS and not dtypes.is_float(x.dtype.name):
            return x.astype(np.float32).astype(dtypes.to_numpy(to))
        return x.astype(dtypes.to_numpy(to))


@pytest.mark.parametrize("target", LEVELS)
@pytest.mark.parametrize("source", ALL)
def test_casts(source, target):
    x = np.tile(edges(source), 17)[: 17 * 5 + 3]
    for to, got in zip(ALL, run(lambda x: [x.astype(to) for to in ALL], [x], target)):
        assert_bits(got, cast(x, to), f"{source} to {to}")


@pytest.mark.parametrize("target", LEVELS)
def test_float64_rounds_to_16_bits_in_one_step(target):
    """1 + 2^-8 is a tie in bfloat16, 1 + 2^-11 in float16; a little more rounds up, but is lost in float32."""
    x = np.array([1 + 2.0**-8, 1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-40])
    brain, half = run(lambda x: [x.astype("bfloat16"), x.astype("float16")], [x], target)
    np.testing.assert_array_equal(brain[:2].astype(np.float64), [1.0, 1 + 2.0**-7])
    np.testing.assert_array_equal(half[2:].astype(np.float64), [1.0, 1 + 2.0**-10])


@pytest.mark.parametrize("target", LEVELS)
def test_float64_holds_no_uint64(target):
    """2^63 + 2^10 is a tie between float64's neighbours 2^63 and 2^63 + 2^11; 2^64 - 1 becomes 2^64 and saturates back."""
    x = np.array([2**63 + 2**10, 2**63 + 2**10 + 1, 2**64 - 1, 2**63 - 1], np.uint64)
    floats, back = run(lambda x: [x.astype("float64"), x.astype("float64").astype("uint64")], [x], target)
    np.testing.assert_array_equal(floats, [2.0**63, 2.0**63 + 2**11, 2.0**64, 2.0**63])
    np.testing.assert_array_equal(back, np.array([2**63, 2**63 + 2**11, 2**64 - 1, 2**63], np.uint64))


# ---- every way into and out of a program -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ALL)
def test_round_trip(dtype, ferrule_run, tmp_path):
    """Constants, inputs, variables and outputs of every type, through the artifact, Python's session and ferrule-run."""
    x = np.tile(edges(dtype), 3)
    constant = x[::-1].copy()

    def function(x):
        return F.concat([x, fer.Tensor(constant)]), F.where(fer.Tensor(np.arange(x.shape[0]) % 2 == 0), x, fer.Tensor(constant))

    program = fer.compile({"main": (trace(function, symbolic=True), [fer.Spec(x.shape, dtype, name="x")])}, targets=("host",))
    program.save(tmp_path / "program.fer")
    wanted = np.concatenate([x, constant]), np.where(np.arange(len(x)) % 2 == 0, x, constant)
    outputs = fer.Session(fer.load(tmp_path / "program.fer")).run("main", x)
    save_file({"x": x}, tmp_path / "in.safetensors")
    ferrule_run("run", tmp_path / "program.fer", "--entry", "main", "--inputs", tmp_path / "in.safetensors", "--outputs",
                tmp_path / "out.safetensors")  # fmt: skip
    from_file = load_file(tmp_path / "out.safetensors")
    for index, expected in enumerate(wanted):
        assert_bits(outputs[index], expected, f"session, output {index}")
        assert_bits(from_file[f"out.{index}"], expected, f"ferrule-run, output {index}")
    assert_bits(fer.Tensor(x).numpy(), x, "a Tensor")
    if dtype == "bfloat16":
        assert outputs[0].dtype == ml_dtypes.bfloat16
