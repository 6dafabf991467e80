"""Linear maps, and modules that only rearrange or combine what they are given."""

import math

import numpy as np

from .. import functional as F
from .._tensor import Parameter
from ..errors import UnsupportedError
from ..functional.axes import resolve_axis, resolve_shape
from . import init
from .module import Module
from .normalization import BatchNorm1d


class Linear(Module):
    """x @ weight.T + bias over the last axis.

    Args:
        in_features, out_features: the sizes of the last axis before and after.
        bias: whether there is one.
    """

    def __init__(self, in_features, out_features, bias=True, compute_mode="default", **kwargs):
        super().__init__(**kwargs)
        self.in_features = in_features
        self.out_features = out_features
        self.compute_mode = compute_mode
        self.weight = Parameter(np.zeros((out_features, in_features), "float32"))
        self.bias = Parameter(np.zeros((out_features,), "float32")) if bias else None
        self.reset_parameters()

    def reset_parameters(self):
        """Draws the weight with the variance 1 / in_features and sets the bias to 0."""
        init.normal_(self.weight, 0.0, (1.0 / max(self.in_features, 1)) ** 0.5)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, inp):
        return F.linear(inp, self.weight, self.bias)

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class LinearRelu(Linear):
    """`Linear`, then relu."""

    def forward(self, inp):
        return F.relu(super().forward(inp))


class LinearBn1d(Module):
    """`Linear`, then `BatchNorm1d`."""

    def __init__(
        self,
        in_features,
        out_features,
        bias=True,
        compute_mode="default",
        eps=1e-5,
        momentum=0.9,
        affine=True,
        track_running_stats=True,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.linear = Linear(in_features, out_features, bias, compute_mode)
        self.bn = BatchNorm1d(out_features, eps, momentum, affine, track_running_stats)

    def forward(self, inp):
        return self.bn(self.linear(inp))


class LinearBnRelu1d(LinearBn1d):
    """`Linear`, then `BatchNorm1d`, then relu."""

    def forward(self, inp):
        return F.relu(super().forward(inp))


class Bilinear(Module):
    """y[o] = x1 @ weight[o] @ x2 + bias[o] over the last axes.

    Args:
        in1_features, in2_features, out_features: the sizes of the last axes of both inputs and the result.
        bias: whether there is one.
    """

    def __init__(self, in1_features, in2_features, out_features, bias=True, **kwargs):
        super().__init__(**kwargs)
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = Parameter(np.zeros((out_features, in1_features, in2_features), "float32"))
        self.bias = Parameter(np.zeros((out_features,), "float32")) if bias else None
        self.reset_parameters()

    def reset_parameters(self):
        """Draws everything from the uniform distribution within 1 / sqrt(in1_features)."""
        bound = 1.0 / math.sqrt(self.in1_features)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def forward(self, inp1, inp2):
        return F.nn.bilinear(inp1, inp2, self.weight, self.bias)

    def extra_repr(self):
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class BatchMatMulActivation(Module):
    """weight @ x + bias with one weight for each sample of the batch, then relu if asked for.

    Args:
        batch: the size of the first axis.
        in_features, out_features: the sizes of the axis before the last, before and after.
        bias: whether there is one, of shape (out_features, 1).
        nonlinear_mode: ``"identity"`` or ``"relu"``.
    """

    def __init__(self, batch, in_features, out_features, bias=True, nonlinear_mode="identity", **kwargs):
        super().__init__(**kwargs)
        if nonlinear_mode.lower() not in ("identity", "relu"):
            raise UnsupportedError(f"BatchMatMulActivation: nonlinear_mode {nonlinear_mode!r}; allowed: identity, relu")
        self.batch = batch
        self.in_features = in_features
        self.out_features = out_features
        self.nonlinear_mode = nonlinear_mode.lower()
        self.weight = Parameter(np.zeros((batch, out_features, in_features), "float32"))
        self.bias = Parameter(np.zeros((out_features, 1), "float32")) if bias else None
        self.reset_parameters()

    def reset_parameters(self):
        """Draws the weight with the variance 1 / in_features and sets the bias to 0."""
        init.normal_(self.weight, 0.0, (1.0 / self.in_features) ** 0.5)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, inp):
        result = F.matmul(self.weight, inp)
        result = result if self.bias is None else result + self.bias
        return F.relu(result) if self.nonlinear_mode == "relu" else result


class Flatten(Module):
    """The axes from ``start_axis`` to ``end_axis`` merged into one; by default all but the batch."""

    def __init__(self, start_axis=1, end_axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.start_axis = start_axis
        self.end_axis = end_axis

    def forward(self, inp):
        return F.flatten(inp, self.start_axis, self.end_axis)

    def extra_repr(self):
        return f"start_axis={self.start_axis}, end_axis={self.end_axis}"


class Unflatten(Module):
    """One axis cut into several.

    Args:
        axis: the axis.
        sizes: what it becomes; one may be -1.
    """

    def __init__(self, axis, sizes, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis
        self.sizes = tuple(sizes)

    def forward(self, inp):
        axis = resolve_axis("Unflatten", self.axis, inp.ndim)
        sizes = resolve_shape("Unflatten", self.sizes, inp.shape[axis : axis + 1])
        return F.reshape(inp, (*inp.shape[:axis], *sizes, *inp.shape[axis + 1 :]))

    def extra_repr(self):
        return f"axis={self.axis}, sizes={self.sizes}"


class Identity(Module):
    """Its input; arguments of the constructor are accepted and not used."""

    def __init__(self, *args, name=None, **kwargs):
        del args, kwargs
        super().__init__(name=name)

    def forward(self, inp):
        return inp


class Concat(Module):
    """The tensors of a list, one after another along ``axis``."""

    def forward(self, inps, axis=0):
        return F.concat(inps, axis)


class QuantStub(Module):
    """Where a quantized model begins; in a model of floats its input."""

    def forward(self, inp):
        return inp


class DequantStub(Module):
    """Where a quantized model ends; in a model of floats its input."""

    def forward(self, inp):
        return inp


_FUSED = {
    "fuse_add_relu": lambda x, y: F.relu(x + y),
    "fuse_add_sigmoid": lambda x, y: F.sigmoid(x + y),
    "fuse_add_tanh": lambda x, y: F.tanh(x + y),
    "fuse_mul_add3": lambda x, y, z: x * y + z,
    "fuse_mul_add4": lambda x, y, z, w: x * y + z * w,
    "true_div": lambda x, y: F.div(x, y),
    "switch_gt0": lambda x, y: F.where(x > 0, y, 0.0),
    "h_swish": lambda x: F.hswish(x),
    "not": lambda x: F.logical_not(x),
    "and": lambda x, y: F.logical_and(x, y),
    "or": lambda x, y: F.logical_or(x, y),
    "xor": lambda x, y: F.logical_xor(x, y),
    "lt": lambda x, y: F.less(x, y),
    "leq": lambda x, y: F.less_equal(x, y),
    "eq": lambda x, y: F.equal(x, y),
    "max": lambda x, y: F.maximum(x, y),
    "min": lambda x, y: F.minimum(x, y),
}
_NAMED = (
    "relu abs acos asin ceil cos exp expm1 floor log log1p sigmoid sin tanh erf round silu gelu square sqrt add sub "
    "mul mod pow floor_div atan2 sign"
).split()


class Elemwise(Module):
    """An elementwise function by MegEngine's name, e.g. ``"add"``, ``"fuse_add_relu"``, ``"fuse_mul_add3"``."""

    def __init__(self, method, **kwargs):
        super().__init__(**kwargs)
        self.method = method.lower()
        if self.method not in _FUSED and self.method not in _NAMED:
            raise UnsupportedError(f"Elemwise: method {method!r}; allowed: {', '.join([*_NAMED, *_FUSED])}")

    def forward(self, *inps):
        function = _FUSED.get(self.method) or getattr(F, self.method)
        return function(*inps)

    def extra_repr(self):
        return f"method={self.method!r}"
