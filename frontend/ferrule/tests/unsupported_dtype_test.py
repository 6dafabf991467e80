"""Where an operation does not take an element type, the message names the operation, the type and the user's line."""

import numpy as np
import pytest

from ferrule._stream import apply

import ferrule as fer
import ferrule.functional as F
from ferrule.errors import DtypeError


@pytest.mark.parametrize("dtype", ("int32", "uint8"))
def test_the_op_matmul_of_integers(dtype):
    a = fer.Tensor(np.ones((2, 2), dtype))
    with pytest.raises(DtypeError, match=rf"matmul: a is {dtype}.*must be a float, at .*unsupported_dtype_test.py:\d+"):
        apply("matmul", [a._handle, a._handle], {})


@pytest.mark.parametrize("operation", (F.left_shift, F.right_shift, F.bitwise_and, F.bitwise_xor))
def test_bits_of_floats(operation):
    x = fer.Tensor(np.ones(3, np.float32))
    with pytest.raises(DtypeError, match=r"float32\[3\]; its dtype must be an integer, at .*unsupported_dtype_test.py:\d+"):
        operation(x, x)
