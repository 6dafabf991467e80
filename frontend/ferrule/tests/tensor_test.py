"""Tensors: creation, operators, writes and what is refused."""

import operator

import ferrule as fer
import ferrule.functional as F
import numpy as np
import pytest
from ferrule.errors import DtypeError, ShapeError


def tensor(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


@pytest.mark.parametrize(
    ("data", "dtype"),
    (
        (1, "int32"),
        (1.5, "float32"),
        (True, "bool"),
        ([1, 2], "int32"),
        ([1, 2.5], "float32"),
        ([1 << 40], "int64"),
        (np.float64(1), "float64"),
        (np.zeros(2, "float64"), "float64"),
        ([np.float64(2)], "float64"),
        (np.zeros(2, "int64"), "int64"),
        (np.zeros(2, "uint8"), "uint8"),
    ),
)
def test_dtypes_of_data(data, dtype):
    value = fer.tensor(data)
    assert value.dtype == dtype
    np.testing.assert_array_equal(value.numpy(), data)


def test_the_data_is_copied():
    array = np.zeros(3, "float32")
    value = fer.tensor(array)
    array[0] = 1
    assert value.numpy()[0] == 0
    value.numpy()[1] = 5
    assert value.numpy()[1] == 0


def test_creation():
    np.testing.assert_array_equal(fer.zeros((2, 3)).numpy(), np.zeros((2, 3), "float32"))
    np.testing.assert_array_equal(fer.full((2,), 7).numpy(), np.full((2,), 7, "int32"))
    np.testing.assert_array_equal(fer.arange(2, 8, 2).numpy(), np.array([2, 4, 6], "float32"))
    np.testing.assert_array_equal(fer.arange(3, dtype="int32").numpy(), np.arange(3, dtype="int32"))
    np.testing.assert_array_equal(fer.eye(2).numpy(), np.eye(2, dtype="float32"))
    assert fer.ones((0, 3)).numpy().shape == (0, 3)


ARITHMETIC = (operator.add, operator.sub, operator.mul, operator.truediv)


@pytest.mark.parametrize("op", ARITHMETIC)
def test_arithmetic_is_ieee(op):
    a, b = tensor(3, 5), tensor(5, seed=1)
    np.testing.assert_array_equal(op(fer.tensor(a), fer.tensor(b)).numpy(), op(a, b))
    np.testing.assert_array_equal(op(fer.tensor(a), b).numpy(), op(a, b))
    np.testing.assert_array_equal(op(a, fer.tensor(b)).numpy(), op(a, b))
    np.testing.assert_array_equal(op(fer.tensor(a), 3.0).numpy(), op(a, np.float32(3)))
    np.testing.assert_array_equal(op(2, fer.tensor(a)).numpy(), op(np.float32(2), a))


@pytest.mark.parametrize("op", (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne))
def test_comparisons(op):
    a, b = np.array([1.0, 2.0, np.nan, -0.0], "float32"), np.array([1.0, 3.0, np.nan, 0.0], "float32")
    np.testing.assert_array_equal(op(fer.tensor(a), fer.tensor(b)).numpy(), op(a, b))


@pytest.mark.parametrize("op", (operator.floordiv, operator.mod))
def test_division_with_floor(op):
    a, b = np.array([7, -7, 7, -7], "int32"), np.array([2, 2, -2, -2], "int32")
    np.testing.assert_array_equal(op(fer.tensor(a), fer.tensor(b)).numpy(), op(a, b))
    x, y = np.array([7.5, -7.5, 1.0], "float32"), np.array([2.0, 2.0, 0.1], "float32")
    np.testing.assert_array_equal(op(fer.tensor(x), fer.tensor(y)).numpy(), op(x, y))


@pytest.mark.parametrize(
    ("left", "right", "dtype"),
    (
        ("int32", "float32", "float32"),
        ("bool", "int8", "int8"),
        ("int8", "int32", "int32"),
        ("float32", "float64", "float64"),
        ("int64", "float32", "float32"),
        ("uint8", "int8", "int16"),
    ),
)
def test_promotion(left, right, dtype):
    a, b = fer.tensor(np.ones(2, left)), fer.tensor(np.ones(2, right))
    assert (a * b).dtype == dtype and (b * a).dtype == dtype


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_python_integers_at_the_limits_of_each_type(bits):
    for dtype, low, high in ((f"int{bits}", -(2 ** (bits - 1)), 2 ** (bits - 1) - 1), (f"uint{bits}", 0, 2**bits - 1)):
        x = fer.tensor(np.array([low, 1, high], dtype))
        assert (x == high).numpy().tolist() == [False, False, True] and (x > low).numpy().tolist() == [False, True, True]
        assert F.where(x == 1, high, x).numpy().tolist() == [low, high, high]
        assert F.full((2,), high, dtype=dtype).numpy().tolist() == [high, high]
        assert (x * high).numpy().tolist() == (x.numpy() * np.array(high, dtype)).tolist()
        for number in (low - 1, high + 1, 2**64, -(2**63) - 1):
            with pytest.raises(DtypeError, match=rf"the number {number} does not fit in ({dtype}|64 bits).*tensor_test.py"):
                _ = x + number
    assert (fer.tensor([1.0]) * 2**63).item() == 2.0**63 and (2 ** (bits - 1) * fer.tensor([1.0])).item() == 2 ** (bits - 1)


def test_full_converts_as_a_cast():
    for dtype, low, high in (("int8", -128, 127), ("uint16", 0, 65535), ("int64", -(2**63), 2**63 - 1)):
        assert F.full((1,), 2.7, dtype=dtype).item() == 2 and F.full((1,), float("nan"), dtype=dtype).item() == 0
        assert low == 0 or F.full((1,), -2.7, dtype=dtype).item() == -2
    assert F.full((1,), 1e30, dtype="int64").item() == 2**63 - 1
    with pytest.raises(DtypeError, match="the number 300 does not fit in uint8"):
        F.full((1,), 300.0, dtype="uint8")


def test_python_numbers_never_widen():
    assert (fer.tensor(np.ones(2, "float32")) * 2.5).dtype == "float32"
    assert (fer.tensor(np.ones(2, "int8")) + 1).dtype == "int8"
    assert (fer.tensor(np.ones(2, "int32")) * 2.5).dtype == "float32"
    assert (fer.tensor(np.ones(2, "int32")) / fer.tensor(np.ones(2, "int32"))).dtype == "float32"


def test_power_of_two_is_one_multiplication():
    x = tensor(100)
    np.testing.assert_array_equal((fer.tensor(x) ** 2).numpy(), x * x)
    np.testing.assert_array_equal(F.pow(fer.tensor(x), 2.0).numpy(), x * x)


def test_in_place_writes_are_seen_by_every_alias():
    x = fer.tensor(np.ones(3, "float32"))
    alias = x
    x += 2
    x *= fer.tensor([1.0, 2.0, 3.0])
    assert alias is x
    np.testing.assert_array_equal(alias.numpy(), [3, 6, 9])
    x[...] = 4
    np.testing.assert_array_equal(alias.numpy(), [4, 4, 4])


def test_a_copy_and_a_result_do_not_follow_later_writes():
    x = fer.tensor(np.ones(3, "float32"))
    double, copy = x * 2, F.copy(x)
    x += 1
    np.testing.assert_array_equal(double.numpy(), [2, 2, 2])
    np.testing.assert_array_equal(copy.numpy(), [1, 1, 1])


def test_writes_keep_shape_and_dtype():
    x = fer.tensor(np.ones(3, "float32"))
    with pytest.raises(ShapeError, match=r"\(3,\).*\(2, 3\)"):
        x += fer.tensor(np.ones((2, 3), "float32"))
    counter = fer.tensor(np.zeros(3, "int32"))
    with pytest.raises(DtypeError, match="int32"):
        counter += 0.5


INDICES = (
    0,
    -1,
    slice(1, 3),
    slice(None, None, 2),
    (slice(None), 1),
    (Ellipsis, 2),
    (0, slice(None), slice(1, None)),
    (None, 0),
    (slice(-2, None), None, 1),
    (slice(5, 2),),
    slice(None, None, -1),
    (slice(3, 0, -2), slice(None), slice(-1, -4, -1)),
    slice(0, 100),
    (1, 2, 3),
    Ellipsis,
)


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_basic_indexing(index):
    x = tensor(4, 3, 5)
    value = fer.tensor(x)[index]
    np.testing.assert_array_equal(value.numpy(), x[index])
    assert value.shape == x[index].shape


def test_indices_out_of_range_are_refused():
    x = fer.tensor(tensor(4, 3))
    with pytest.raises(ShapeError, match="index 4 .*-4 to 3.*tensor_test.py"):
        x[4]
    with pytest.raises(ShapeError, match="3 indices"):
        x[0, 0, 0]


def test_iteration_and_conversion():
    x = fer.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert [row.numpy().tolist() for row in x] == [[1, 2], [3, 4]]
    assert len(x) == 2 and x.size == 4 and x.ndim == 2
    assert x.tolist() == [[1, 2], [3, 4]]
    assert float(fer.tensor(2.5)) == 2.5 and int(fer.tensor(7)) == 7 and [10, 20][fer.tensor(1)] == 20
    assert bool(fer.tensor(True)) and f"{fer.tensor(0.25):.3f}" == "0.250"
    np.testing.assert_array_equal(np.asarray(x), [[1, 2], [3, 4]])
    assert "float32" in repr(x)


def test_tensors_are_hashable_by_identity():
    a, b = fer.tensor(1.0), fer.tensor(1.0)
    assert len({a, b, a}) == 2


def test_logic_operators_take_bools_only():
    a, b = fer.tensor([True, False]), fer.tensor([True, True])
    np.testing.assert_array_equal((a & b).numpy(), [True, False])
    np.testing.assert_array_equal((a | b).numpy(), [True, True])
    np.testing.assert_array_equal((a ^ b).numpy(), [False, True])
    np.testing.assert_array_equal((~a).numpy(), [False, True])
    with pytest.raises(DtypeError, match="float32"):
        a & fer.tensor(1.0)


def test_unknown_dtypes_are_refused_with_the_list():
    with pytest.raises(DtypeError, match="complex.*float32"):
        fer.tensor(np.zeros(2, "complex128"))
    with pytest.raises(DtypeError, match="'float31'"):
        fer.zeros((2,), dtype="float31")


@pytest.mark.parametrize("dtype", (">f2", ">f4", ">f8", ">i2", ">i4", ">i8", ">u2", ">u4", ">u8"))
def test_arrays_in_the_other_byte_order_keep_their_values(dtype):
    array = np.array([1, 2, 300], dtype)
    tensor = fer.tensor(array)
    assert tensor.numpy().dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(tensor.numpy(), array)
    if array.dtype.kind == "f":
        np.testing.assert_array_equal(fer.Parameter(array).numpy(), array)
