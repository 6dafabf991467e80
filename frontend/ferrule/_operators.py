"""The elementwise operators of `Tensor`: one op each, in the plain, reflected and in-place forms that Python knows.

Python numbers go to the recorder as they are; it gives them the tensor's dtype.
"""

from . import dtypes
from ._stream import apply, compare
from .errors import DtypeError
from .location import user_location

_ARITHMETIC = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "floordiv": "floor_div",
    "mod": "mod",
    "pow": "pow",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
_COMPARISON = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
_BITWISE = ("and", "or", "xor")


def define(tensor_class, as_handle):
    """Adds the operators to the class.

    Args:
        as_handle: makes an operand of `apply` from a Tensor, a number or an array.
    """

    def record(op, *operands):
        return tensor_class._wrap(apply(op, list(map(as_handle, operands)))[0])

    def power(base, exponent):
        # Squares and cubes are products, as in functional.pow.
        if type(exponent) not in (int, float) or exponent not in (2, 3):
            return record("pow", base, exponent)
        square = record("mul", base, base)
        return square if exponent == 2 else record("mul", square, base)

    def bitwise_op(name, *operands):
        """Logic for bools, bits for integers and for integers with bools; floats have neither."""
        found = [str(x.dtype if hasattr(x, "dtype") else dtypes.array_of(x).dtype) for x in operands]
        for dtype in found:
            if dtypes.category(dtype) == 2:
                raise DtypeError(f"&, |, ^ and ~ are defined for bools and integers, not {dtype}, at {user_location()}")
        return ("logical_" if set(found) == {"bool"} else "bitwise_") + name

    def plain(op):
        if op == "pow":
            return power
        return lambda self, other: record(op, self, other)

    def comparison(op):
        return lambda self, other: tensor_class._wrap(compare(op, [as_handle(self), as_handle(other)])[0])

    def reflected(op):
        return lambda self, other: record(op, other, self)

    def in_place(op):
        return lambda self, other: self._update(op, other)

    def bitwise(name):
        return lambda self, other: record(bitwise_op(name, self, other), self, other)

    for method, op in _ARITHMETIC.items():
        setattr(tensor_class, f"__{method}__", plain(op))
        setattr(tensor_class, f"__r{method}__", reflected(op))
        setattr(tensor_class, f"__i{method}__", in_place(op))
    for method, op in _COMPARISON.items():
        setattr(tensor_class, f"__{method}__", comparison(op))
    for name in _BITWISE:
        setattr(tensor_class, f"__{name}__", bitwise(name))
        setattr(tensor_class, f"__r{name}__", bitwise(name))
    tensor_class.__neg__ = lambda self: record("neg", self)
    tensor_class.__abs__ = lambda self: record("abs", self)
    tensor_class.__pos__ = lambda self: self
    tensor_class.__invert__ = lambda self: record(bitwise_op("not", self), self)
    tensor_class.__rdivmod__ = lambda self, other: (other // self, other % self)
    # Comparisons are elementwise, so that only identity can tell tensors apart in sets and dicts.
    tensor_class.__hash__ = object.__hash__
