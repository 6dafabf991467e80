"""The elementwise operators of `Tensor`: one op each, in the plain, reflected and in-place forms that Python knows.

Python numbers go to the recorder as they are; it gives them the tensor's dtype.
"""

from . import dtypes
from ._stream import apply
from .errors import DtypeError

_ARITHMETIC = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "div",
    "floordiv": "floor_div",
    "mod": "mod",
    "pow": "pow",
}
_COMPARISON = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
_LOGIC = {"and": "logical_and", "or": "logical_or", "xor": "logical_xor"}


def define(tensor_class, as_handle):
    """Adds the operators to the class.

    Args:
        as_handle: makes an operand of `apply` from a Tensor, a number or an array.
    """

    def record(op, *operands):
        return tensor_class._wrap(apply(op, [as_handle(operand) for operand in operands])[0])

    def power(base, exponent):
        # A square is one multiplication, exact to one rounding.
        square = type(exponent) in (int, float) and exponent == 2
        return record("mul", base, base) if square else record("pow", base, exponent)

    def refuse_others(*operands):
        for operand in operands:
            dtype = operand.dtype if hasattr(operand, "dtype") else dtypes.array_of(operand).dtype
            if str(dtype) != "bool":
                raise DtypeError(f"&, |, ^ and ~ are defined for bool tensors, not {dtype}")

    def plain(op):
        if op == "pow":
            return power
        return lambda self, other: record(op, self, other)

    def reflected(op):
        return lambda self, other: record(op, other, self)

    def in_place(op):
        return lambda self, other: self._update(op, other)

    def logic(op):
        def operator(self, other):
            refuse_others(self, other)
            return record(op, self, other)

        return operator

    def invert(self):
        refuse_others(self)
        return record("logical_not", self)

    for method, op in _ARITHMETIC.items():
        setattr(tensor_class, f"__{method}__", plain(op))
        setattr(tensor_class, f"__r{method}__", reflected(op))
        setattr(tensor_class, f"__i{method}__", in_place(op))
    for method, op in _COMPARISON.items():
        setattr(tensor_class, f"__{method}__", plain(op))
    for method, op in _LOGIC.items():
        setattr(tensor_class, f"__{method}__", logic(op))
        setattr(tensor_class, f"__r{method}__", logic(op))
    tensor_class.__neg__ = lambda self: record("neg", self)
    tensor_class.__abs__ = lambda self: record("abs", self)
    tensor_class.__pos__ = lambda self: self
    tensor_class.__invert__ = invert
    # Comparisons are elementwise, so that only identity can tell tensors apart in sets and dicts.
    tensor_class.__hash__ = object.__hash__
