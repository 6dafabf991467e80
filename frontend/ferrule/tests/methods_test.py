"""Methods of tensors under NumPy's, MegEngine's and PyTorch's names; exchange with NumPy, DLPack and pickle."""

import copy
import pickle

import ferrule as fer
import ferrule.functional as F
import numpy as np
import pytest
from ferrule import _methods
from ferrule.errors import DtypeError, TraceError, UnsupportedError
from ferrule.jit import trace


def data(*shape):
    return np.arange(1, 1 + int(np.prod(shape)), dtype="float32").reshape(shape)


@pytest.mark.parametrize("method", _methods._FUNCTIONS)
def test_each_method_is_the_function_that_it_names(method):
    function = getattr(F, _methods._FUNCTIONS[method])
    bound = getattr(fer.tensor(data(2)), method)
    assert callable(function) and bound.__doc__


def test_methods_take_the_arguments_of_the_functions():
    x = fer.tensor(data(2, 3))
    np.testing.assert_array_equal(x.sum(dim=1, keepdim=True).numpy(), data(2, 3).sum(1, keepdims=True))
    np.testing.assert_array_equal(x.clamp(2, 4).numpy(), data(2, 3).clip(2, 4))
    np.testing.assert_array_equal(x.argmax(axis=1).numpy(), [2, 2])
    np.testing.assert_array_equal(x.permute(1, 0).numpy(), data(2, 3).T)
    np.testing.assert_array_equal(x.t().numpy(), data(2, 3).T)
    np.testing.assert_array_equal(x.view(3, 2).numpy(), data(3, 2))
    np.testing.assert_array_equal(x.ravel().numpy(), data(6))
    np.testing.assert_array_equal(x.unsqueeze(0).squeeze(0).expand(2, -1, -1).numpy(), [data(2, 3)] * 2)
    np.testing.assert_array_equal(x.masked_fill(x > 3, 0).numpy(), [[1, 2, 3], [0, 0, 0]])
    assert (x.numel(), x.size, x.dim(), x.ndim, x.nbytes, x.device, x.format) == (6, 6, 2, 2, 24, "cpu", "default")
    assert x.contiguous() is x and x.cpu() is x and x.to("cpu0") is x
    with pytest.raises(UnsupportedError, match="cuda"):
        x.to("cuda")
    with pytest.raises(UnsupportedError, match="-1 stands for no axis"):
        x.expand(-1, 2, 3)


@pytest.mark.parametrize(("method", "dtype"), _methods._CONVERSIONS.items())
def test_conversions_by_name(method, dtype):
    assert getattr(fer.tensor(data(2)), method)().dtype == dtype
    like = fer.tensor(np.zeros(1, "float32")).astype(dtype)
    assert fer.tensor(data(2)).type_as(like).tolist() == [True, True] if dtype == "bool" else [1, 2]


def test_methods_that_write():
    x = fer.tensor(data(2, 2))
    row = x[0]
    assert x.add_(1).mul_(2).sub_(1).div_(1.0) is x
    np.testing.assert_array_equal(row.numpy(), [3, 5])
    row.fill_(7)
    x[1].copy_(np.array([8.0, 9.0]))
    np.testing.assert_array_equal(x.numpy(), [[7, 7], [8, 9]])
    x @= fer.tensor(np.array([[0, 1], [1, 0]], "float32"))
    np.testing.assert_array_equal(row.numpy(), [7, 7])
    np.testing.assert_array_equal(x.numpy(), [[7, 7], [9, 8]])
    x.zero_()
    assert row.tolist() == [0, 0]


def test_every_augmented_operator_writes_into_the_tensor():
    x = fer.tensor(np.array([0.3, 1.7, -2.5], "float32"))
    square, alias = x**2, x
    x **= 2
    assert alias is x and x.tolist() == square.tolist()
    mask = fer.tensor([True, False, True])
    part = mask[1:]
    mask &= fer.tensor([True, True, False])
    mask |= fer.tensor([False, True, False])
    mask ^= fer.tensor([True, False, False])
    assert mask.tolist() == [False, True, False] and part.tolist() == [True, False]


def test_python_protocols():
    x = fer.tensor(data(3))
    assert 2.0 in x and 5 not in x
    quotient, rest = divmod(x, 2.0)
    assert quotient.tolist() == [0, 1, 1] and rest.tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="ambiguous"):
        bool(x)
    with pytest.raises(TypeError, match="0-d"):
        len(fer.tensor(1.0))
    with pytest.raises(TypeError, match="0-d"):
        list(fer.tensor(1.0))
    with pytest.raises(TypeError, match="integer"):
        [1, 2][fer.tensor(1.0)]
    assert {x: 1}[x] == 1 and (x == x).tolist() == [True] * 3


def test_numpy_takes_tensors_and_gives_them():
    x = fer.tensor(data(2, 2))
    assert type(np.asarray(x)) is np.ndarray and np.asarray(x, "int64").dtype == np.int64
    np.testing.assert_array_equal(np.stack([x, x * 2]), [data(2, 2), data(2, 2) * 2])
    np.testing.assert_array_equal(np.concatenate([x, data(1, 2)]), np.concatenate([data(2, 2), data(1, 2)]))
    total = data(2, 2) + x
    assert isinstance(total, fer.Tensor)
    with pytest.raises(ValueError, match="copy"):
        np.array(x, copy=False)
    array = np.asarray(x)
    array[0, 0] = 100
    assert x.numpy()[0, 0] == 1


def test_dlpack_both_ways():
    for array in (data(2, 3), np.arange(4, dtype="int64"), data(3, 2).T):
        np.testing.assert_array_equal(np.from_dlpack(fer.tensor(array)), array)
        tensor = fer.from_dlpack(array)
        np.testing.assert_array_equal(tensor.numpy(), array)
        assert tensor.dtype == array.dtype.name
    with pytest.raises(BufferError, match="copy"):
        fer.tensor(data(2)).__dlpack__(copy=False)


@pytest.mark.parametrize("again", (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))))
def test_copies_and_pickles_hold_the_value_and_the_kind(again):
    x = fer.tensor(data(2, 3))
    p = fer.Parameter(data(2), name="weight")
    p.requires_grad = False
    for original in (x, x.T, p, x > 2):
        other = again(original)
        assert type(other) is type(original) and other is not original and other.dtype == original.dtype
        np.testing.assert_array_equal(other.numpy(), original.numpy())
        assert other.name == original.name and other.requires_grad == original.requires_grad
    other = again(p)
    other += 1
    np.testing.assert_array_equal(p.numpy(), data(2))


USES = {
    "bool": bool,
    "int": int,
    "float": float,
    "in": lambda x: 1.0 in x,
    "dlpack": np.from_dlpack,
    "pickle": pickle.dumps,
    "array": np.asarray,
    "index": lambda x: [0][x],
}


@pytest.mark.parametrize("name", USES)
def test_what_needs_a_value_is_refused_in_a_trace(name):
    def f(x):
        value = x.sum() * 2
        return USES[name](value.astype("int32"))

    with pytest.raises(TraceError, match=r"at methods_test.py.*F\.where"):
        trace(f)(data(2))


def test_a_representation_shows_the_value_or_says_that_there_is_none():
    assert repr(fer.tensor([1.5, 2.0])) == "Tensor([1.5, 2. ], dtype=float32)"
    assert repr(fer.Parameter(np.zeros(1, "float32"))) == "Parameter([0.], dtype=float32)"
    shown = []

    @trace
    def f(x):
        shown.append(repr(x))
        return x

    f(data(2))
    assert shown == ["Tensor(shape=(2,), dtype=float32, traced)"]


def test_where_a_tensor_lives_is_accepted_or_refused():
    for device in (None, "cpu", "cpu0", "cpux", "cpu:1"):
        assert fer.Tensor(data(2), "float32", device, True, False, "x").name == "x"
    for make in (fer.Tensor, fer.Parameter):
        with pytest.raises(UnsupportedError, match="gpu0"):
            make(data(2), device="gpu0")
        with pytest.raises(UnsupportedError, match="nhwc"):
            make(data(2), format="nhwc")


ONE = np.array([[0.25, 0.5], [0.75, 0.125]], "float32")
TWO = np.array([[2.0, 0.5], [0.25, 1.5]], "float32")
FEW = np.array([[3, 5], [6, 1]], "int32")


def written():
    """(name, operands, further arguments) of the methods that write a function's result into the tensor."""
    row = fer.tensor(np.array([1, 0], "int32"))
    given = {
        "addbmm": ([ONE, TWO[None], ONE[None]], ()), "addmm": ([ONE, TWO, ONE], ()), "addmv": ([ONE[0], TWO, ONE[0]], ()),
        "addr": ([ONE, TWO[0], ONE[0]], ()), "baddbmm": ([ONE[None], TWO[None], ONE[None]], ()), "cumprod": ([ONE], (1,)),
        "cumsum": ([ONE], (0,)), "clamp": ([ONE], (0.2, 0.6)), "clip": ([ONE], (0.2, 0.6)), "clamp_min": ([ONE], (0.3,)),
        "clamp_max": ([ONE], (0.3,)), "acosh": ([ONE + 1], ()), "arccosh": ([ONE + 1], ()), "index_add": ([ONE], (0, row, TWO)),
        "index_copy": ([ONE], (0, row, TWO)), "index_fill": ([ONE], (0, row, 9.0)), "masked_fill": ([ONE], (ONE > 0.3, 9.0)),
        "masked_scatter": ([ONE], (ONE > 0.3, TWO)), "scatter": ([ONE], (0, row[None], TWO[:1])), "lerp": ([ONE, TWO], (0.25,)),
        "scatter_add": ([ONE], (0, row[None], TWO[:1])), "addcmul": ([ONE, TWO, ONE], ()), "addcdiv": ([ONE, TWO, ONE], ()),
    }  # fmt: skip
    binary = (
        "arctan2 atan2 copysign divide eq float_power floor_divide fmod ge greater greater_equal gt heaviside hypot ldexp le less "
        "less_equal logical_and logical_or logical_xor lt multiply ne not_equal remainder subtract true_divide xlogy"
    ).split()
    for name in _methods._WRITTEN.values():
        if name.startswith("bitwise"):
            yield name, [FEW] if name.endswith("not") else [FEW, FEW[::-1]], ()
        elif name in given:
            yield name, *given[name]
        else:
            yield name, [ONE, TWO] if name in binary else [ONE], ()


def test_functions_written_into_the_tensor():
    for name, operands, more in written():
        wanted = getattr(F, name)(*map(fer.tensor, operands), *more)
        target, *others = map(fer.tensor, operands)
        got = getattr(target, f"{name}_")(*others, *more)
        assert got is target and got.dtype == str(operands[0].dtype), name
        np.testing.assert_array_equal(got.numpy(), wanted.numpy().astype(operands[0].dtype), name)


def test_a_function_that_would_change_the_category_is_not_written():
    with pytest.raises(DtypeError, match="float32 into int32"):
        fer.tensor(FEW).exp_()


def test_what_a_tensor_says_of_itself():
    x = fer.tensor(ONE)
    assert x.ndimension() == 2 and x.nelement() == 4 and x.element_size() == x.itemsize == 4
    assert x.is_floating_point() and x.is_signed() and x.is_contiguous() and not x.is_complex()
    assert not fer.tensor(FEW).is_floating_point() and not fer.tensor(FEW).byte().is_signed()
    assert x.char().dtype == "int8" and x.mT.numpy().tolist() == ONE.T.tolist()
    for made, value in ((x.new_zeros((2, 3)), 0), (x.new_ones(2, 3), 1), (x.new_full((2, 3), 7), 7), (x.new_empty((2, 3)), 0)):
        assert made.shape == (2, 3) and made.dtype == "float32" and (made.numpy() == value).all()
    assert x.new_zeros(2, dtype="int32").dtype == "int32"
    assert np.array_equal(x.kron(x).numpy(), np.kron(ONE, ONE)) and x.narrow(dim=0, start=1, length=1).shape == (1, 2)
    p = fer.Parameter(ONE)
    assert p.detach_() is p
