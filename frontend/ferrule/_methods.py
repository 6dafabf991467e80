"""Methods of `Tensor` that are functions of `functional`, under NumPy's, MegEngine's and PyTorch's names.

Where the names mean different things MegEngine's meaning counts (``size``, ``transpose``), then NumPy's (``repeat``).
PyTorch's keywords ``dim`` and ``keepdim`` are understood as ``axis`` and ``keepdims``.
"""

from . import dtypes
from .errors import UnsupportedError
from .location import user_location
from .shapes import is_static

# method: the function of `functional`
_FUNCTIONS = {
    name: name
    for name in (
        *("abs", "ceil", "cos", "cosh", "erf", "exp", "expm1", "floor", "isinf", "isnan", "log", "log1p", "neg"),
        *("relu", "round", "sigmoid", "sign", "sin", "sinh", "softmax", "sqrt", "square", "tan", "tanh"),
        *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "erfc", "exp2", "hypot", "log10", "log2"),
        *("bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "copysign", "eq", "fmod", "ge", "gt", "le", "lt", "ne"),
        *("equal", "greater", "greater_equal", "less", "less_equal", "not_equal"),
        *("isfinite", "logical_and", "logical_not", "logical_or", "logical_xor", "reciprocal", "remainder", "rsqrt", "trunc"),
        *("add", "div", "maximum", "minimum", "mod", "mul", "pow", "sub", "where"),
        *("all", "amax", "amin", "any", "count_nonzero", "nanmean", "nansum", "ptp"),
        *("argmax", "argmin", "logsumexp", "max", "mean", "min", "norm", "prod", "std", "sum", "var"),
        *("clip", "copy", "dot", "expand_dims", "flatten", "matmul", "repeat", "roll", "split", "squeeze"),
        *("swapaxes", "tile", "argsort", "chunk", "cummax", "cummin", "cumprod", "cumsum", "diagonal", "flip", "gather"),
        *("index_add", "index_copy", "index_select", "moveaxis", "rot90", "scatter", "scatter_add", "sort"),
        *("take", "topk", "tril", "triu", "unbind", "unflatten"),
        *("addbmm", "addcdiv", "addcmul", "addmm", "addmv", "addr", "allclose", "aminmax", "append", "argwhere", "average"),
        *("arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "baddbmm", "bilinear", "bincount", "bmm"),
        *("bitwise_left_shift", "bitwise_right_shift", "clamp_max", "clamp_min", "corrcoef", "cov", "cross", "deg2rad"),
        *("diag", "diag_embed", "diagflat", "diagonal_scatter", "diff", "digitize", "dist", "dsplit", "expand_as", "fix"),
        *("fliplr", "flipud", "float_power", "floor_divide", "fmax", "fmin", "frac", "gelu", "hardshrink", "heaviside", "histc"),
        *("hsplit", "index_fill", "inner", "isclose", "isin", "isneginf", "isposinf", "kron", "kthvalue", "ldexp", "lerp"),
        *("logaddexp", "logaddexp2", "logcumsumexp", "logit", "logsigmoid", "masked_scatter", "masked_select", "matrix_power"),
        *("median", "movedim", "msort", "mv", "nan_to_num", "nanmax", "nanmedian", "nanmin", "nanprod", "nanquantile"),
        *("nanstd", "nanvar", "narrow", "nonzero", "outer", "positive", "prelu", "quantile", "rad2deg", "repeat_interleave"),
        *("reshape_as", "searchsorted", "select", "select_scatter", "sgn", "signbit", "silu", "sinc", "slice_scatter"),
        *("swapdims", "take_along_dim", "tensor_split", "trace", "true_divide", "unique", "unique_consecutive", "vdot"),
        *("view_as", "vsplit", "xlogy"),
    )
}
_FUNCTIONS |= {
    "absolute": "abs",
    "clamp": "clamp",
    "clone": "copy",
    "divide": "div",
    "log_softmax": "logsoftmax",
    "mm": "matmul",
    "multiply": "mul",
    "negative": "neg",
    "subtract": "sub",
    "unsqueeze": "expand_dims",
    "__ceil__": "ceil",
    "__floor__": "floor",
    "__trunc__": "trunc",
}
_CONVERSIONS = {
    "bfloat16": "bfloat16",
    "bool": "bool",
    "byte": "uint8",
    "char": "int8",
    "double": "float64",
    "float": "float32",
    "half": "float16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
}
# The result of these has the tensor's shape: NAME_ writes it into the tensor.
_WRITTEN = {
    f"{name}_": name
    for name in (
        *("abs", "absolute", "acos", "acosh", "addbmm", "addcdiv", "addcmul", "addmm", "addmv", "addr", "arccos", "arccosh"),
        *("arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "asin", "asinh", "atan", "atan2", "atanh", "baddbmm"),
        *("bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil"),
        *("clamp", "clamp_max", "clamp_min", "clip", "copysign", "cos", "cosh", "cumprod", "cumsum", "deg2rad", "divide"),
        *("eq", "erf", "erfc", "exp", "exp2", "expm1", "fix", "float_power", "floor", "floor_divide", "fmod", "frac", "ge"),
        *("greater", "greater_equal", "gt", "heaviside", "hypot", "index_add", "index_copy", "index_fill", "ldexp", "le"),
        *("lerp", "less", "less_equal", "log", "log10", "log1p", "log2", "logical_and", "logical_not", "logical_or"),
        *("logical_xor", "logit", "lt", "masked_fill", "masked_scatter", "multiply", "nan_to_num", "ne", "neg", "negative"),
        *("not_equal", "rad2deg", "reciprocal", "relu", "remainder", "round", "rsqrt", "scatter", "scatter_add", "sgn"),
        *("sigmoid", "sign", "sin", "sinc", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "tril", "triu"),
        *("true_divide", "trunc", "xlogy"),
    )
}
_IN_PLACE = {"add_": "add", "sub_": "sub", "mul_": "mul", "div_": "div", "pow_": "pow"}


def _late(name):
    """``functional.name``, which needs the class Tensor and so is looked up at the first call."""
    function = None

    def call(*args, **kwargs):
        nonlocal function
        if function is None:
            from . import functional

            function = getattr(functional, name)
        return function(*args, **kwargs)

    return call


_reshape, _transpose, _broadcast_to, _where = map(_late, ("reshape", "transpose", "broadcast_to", "where"))


def _own(kwargs):
    """PyTorch's keywords as ours."""
    for theirs, ours in (("dim", "axis"), ("keepdim", "keepdims")):
        if theirs in kwargs:
            kwargs[ours] = kwargs.pop(theirs)
    return kwargs


def _function(method, name):
    function = _late(name)

    def call(self, *args, **kwargs):
        return function(self, *args, **(_own(kwargs) if kwargs else kwargs))

    call.__name__ = method
    call.__doc__ = f"``functional.{name}`` of this tensor."
    return call


def _conversion(method, dtype):
    def call(self):
        return self.astype(dtype)

    call.__name__ = method
    call.__doc__ = f"The value converted to {dtype}."
    return call


def _in_place(method, op):
    def call(self, other):
        return self._update(op, other)

    call.__name__ = method
    call.__doc__ = f"The result of {op} written into this tensor."
    return call


def _written(method, name):
    function = _late(name)

    def call(self, *args, **kwargs):
        self.set_value(_converted(function(self, *args, **_own(kwargs)), self.dtype))
        return self

    call.__name__ = method
    call.__doc__ = f"The result of ``functional.{name}`` written into this tensor, which is returned."
    return call


def _converted(result, dtype):
    """Answers and bits take the tensor's type, as in PyTorch; what would lose its meaning is refused by `set_value`."""
    return result.astype(dtype) if result.dtype == "bool" else result


def _augmented(operator):
    """The in-place form of an operator that has no op of its own: the result is written into the tensor."""

    def call(self, other):
        self.set_value(getattr(self, f"__{operator}__")(other))
        return self

    call.__name__ = f"__i{operator}__"
    return call


def _sizes(shape):
    return tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape


def reshape(self, *shape):
    """The elements in a new shape (a view); one size may be -1."""
    return _reshape(self, _sizes(shape))


def transpose(self, *pattern):
    """The axes in another order (a view); without arguments reversed."""
    return _transpose(self, _sizes(pattern) or tuple(range(self.ndim - 1, -1, -1)))


def broadcast_to(self, *shape):
    """The value repeated along axes of size 1 by NumPy's rule (a view that cannot be written)."""
    return _broadcast_to(self, _sizes(shape))


def expand(self, *shape):
    """`broadcast_to`, where -1 keeps the size of an axis."""
    shape = _sizes(shape)
    own = (None,) * (len(shape) - self.ndim) + self.shape
    if any(is_static(size) and size == -1 and kept is None for size, kept in zip(shape, own)):
        raise UnsupportedError(f"expand to {tuple(shape)} at {user_location()}: -1 stands for no axis of the tensor")
    return self.broadcast_to([kept if is_static(size) and size == -1 else size for size, kept in zip(shape, own)])


def ravel(self):
    """The elements in row-major order as a vector (a view)."""
    return self.reshape(-1)


def numel(self):
    """The number of elements."""
    return self.size


def dim(self):
    """The number of axes."""
    return self.ndim


def same(self, *_, **__):
    """This tensor: values live on the CPU, in row-major order."""
    return self


def fill(self, value):
    """Sets every element to ``value``; returns the tensor."""
    self[...] = value
    return self


def zero(self):
    """Sets every element to zero; returns the tensor."""
    self.reset_zero()
    return self


def copy_from(self, source):
    """Sets the elements to those of ``source``, broadcast and converted; returns the tensor."""
    self[...] = source.astype(self.dtype) if hasattr(source, "astype") else source
    return self


def masked_fill(self, mask, value):
    """A copy with ``value`` where ``mask`` is true."""
    return _where(mask, value, self).astype(self.dtype)


def type_as(self, other):
    """The value converted to the dtype of another tensor."""
    return self.astype(other.dtype)


def contains(self, value):
    """Whether an element equals ``value``."""
    self._refuse_traced("a test with `in`")
    return bool((self == value).numpy().any())


def divmod_of(self, other):
    """``(self // other, self % other)``."""
    return self // other, self % other


def rounded(self, digits=None):
    """The nearest integers, to even at ties; ``round(t)``."""
    if digits:
        raise UnsupportedError(f"round with digits={digits!r} at {user_location()}: a Tensor is rounded to integers")
    return self.round()


def element_size(self):
    """The bytes of an element."""
    return dtypes.to_numpy(self.dtype).itemsize


def is_floating_point(self):
    """Whether the element type is a floating-point one."""
    return dtypes.is_float(self.dtype)


def is_signed(self):
    """Whether the element type has negative numbers."""
    return not self.dtype.startswith("uint") and self.dtype != "bool"


def yes(self, *_, **__):
    """True: elements lie in row-major order."""
    return True


def no(self):
    """False: every tensor is dense, real and lives on the CPU."""
    return False


def detach_in_place(self):
    """The tensor, from now on with a value through which no gradient flows."""
    self.set_value(self.detach())
    return self


def _like(name):
    """``new_NAME``: a tensor of the given shape, in this one's element type unless another is given."""
    function = _late(name)

    def call(self, size, *more, dtype=None, device=None, requires_grad=False):
        del device, requires_grad
        arguments, size = ((more, size) if name == "full" else ((), (size, *more) if more else size))
        return function(size, *arguments, dtype=self.dtype if dtype is None else dtype)

    call.__name__ = f"new_{name}"
    call.__doc__ = f"``functional.{name}`` of a shape, in this tensor's element type unless another is given."
    return call


def nbytes(self):
    """The bytes of the elements."""
    return self.size * dtypes.to_numpy(self.dtype).itemsize


def define(tensor_class):
    """Adds the methods to the class."""
    for table, make in (
        (_FUNCTIONS, _function),
        (_CONVERSIONS, _conversion),
        (_WRITTEN, _written),
        (_IN_PLACE, _in_place),
    ):
        for method, name in table.items():
            setattr(tensor_class, method, make(method, name))
    for method, function in {
        "reshape": reshape,
        "view": reshape,
        "transpose": transpose,
        "permute": transpose,
        "t": transpose,
        "broadcast_to": broadcast_to,
        "expand": expand,
        "ravel": ravel,
        "numel": numel,
        "dim": dim,
        "contiguous": same,
        "cpu": same,
        "fill": fill,
        "fill_": fill,
        "zero_": zero,
        "copy_": copy_from,
        "masked_fill": masked_fill,
        "type_as": type_as,
        "__contains__": contains,
        "__divmod__": divmod_of,
        "__round__": rounded,
        "ndimension": dim,
        "nelement": numel,
        "element_size": element_size,
        "is_floating_point": is_floating_point,
        "is_signed": is_signed,
        "is_complex": no,
        "is_conj": no,
        "is_neg": no,
        "is_contiguous": yes,
        "detach_": detach_in_place,
        **{f"new_{name}": _like(name) for name in ("empty", "full", "ones", "zeros")},
    }.items():
        setattr(tensor_class, method, function)
    for operator in ("and", "lshift", "matmul", "or", "pow", "rshift", "xor"):
        if hasattr(tensor_class, f"__{operator}__"):
            setattr(tensor_class, f"__i{operator}__", _augmented(operator))
    tensor_class.T = property(transpose, doc="The axes reversed (a view).")
    tensor_class.mT = property(lambda self: self.swapaxes(-1, -2), doc="The last two axes exchanged (a view).")
    tensor_class.itemsize = property(element_size, doc=element_size.__doc__)
    tensor_class.nbytes = property(nbytes, doc=nbytes.__doc__)
