"""`external_op`: an operation whose kernel is not Ferrule's but that of whoever runs the program."""

from . import _compiler, kernels
from ._stream import apply
from ._tensor import Tensor, as_tensor
from .autodiff import custom_op
from .dims import DimExpr, Spec
from .errors import ShapeError
from .location import user_location


def external_op(symbol, infer, kernel=None, gradient=None, tiles=None, scratch_bytes=None):
    """A function of tensors that calls a kernel which the compiled program does not contain.

    An artifact holds the call under its symbol. It runs where a function is registered for it: by ``FerruleExternalKernel`` in
    C and C++, by `fer.load(path, kernels={symbol: ...})` or `ferrule.kernels.register` in Python; elsewhere opening it fails
    and names the symbol.

    Args:
        symbol: the name under which the kernel is registered, ``"product.fft"``. Ops of one symbol are one op.
        infer: from the operands' Specs (``shape`` with ints and Dims, ``dtype``) to the result's Spec, or a tuple of Specs for
            several results.
        kernel: what computes it in this process, as `ferrule.kernels.register` takes it; None: nothing, the op can only be
            compiled into artifacts.
        gradient: ``gradient(inputs, outputs, cotangents)`` as `fer.custom_op` takes it; None: the op has no gradient.
        tiles: of a kernel in C, how many parts of the work may run on different threads: a number, or a function of the
            operands' Specs that returns an int or a DimExpr.
        scratch_bytes: of a kernel in C, memory for each thread, in the same way.

    The kernel must be a function of the values of its operands: an op that nobody reads is dropped, equal ones are merged, and
    under a memory budget one runs again. That it gives the same bits on any number of threads is its author's duty.

    ::

        def softsign(x):
            return x / (1 + np.abs(x))

        op = fer.external_op("product.softsign", lambda x: x, kernel=softsign,
                             gradient=lambda inputs, outputs, g: g[0] / (1 + F.abs(inputs[0])) ** 2)
        y = op(x)
    """
    if kernel is None:
        kernels.declare(symbol)
    else:
        registered = kernels.register(symbol, kernel)
        _compiler.register_kernel(symbol, registered.context, registered.function)

    def forward(*arguments):
        tensors = [as_tensor(each) for each in arguments]
        specs = [Spec(each.shape, each.dtype) for each in tensors]
        results = _specs(symbol, infer(*specs))
        attributes = {
            "symbol": symbol,
            "shape": [size for spec in results for size in spec.shape],
            "ranks": [len(spec.shape) for spec in results],
            "dtypes": [spec.dtype for spec in results],
            "tiles": _count(symbol, "tiles", tiles, specs),
            "scratch_bytes": _count(symbol, "scratch_bytes", scratch_bytes, specs),
        }
        values = [Tensor._wrap(handle) for handle in apply("external", [each._handle for each in tensors], attributes)]
        return values[0] if len(values) == 1 else tuple(values)

    forward.__name__ = forward.__qualname__ = symbol
    return forward if gradient is None else custom_op(forward, gradient)


def _specs(symbol, results):
    """The results' Specs as a list."""
    results = [results] if isinstance(results, Spec) else results
    if not isinstance(results, (tuple, list)) or not results or not all(isinstance(each, Spec) for each in results):
        raise ShapeError(
            f"{symbol}: infer returned {results!r} at {user_location()}; it must return the result's Spec, or a tuple of Specs"
        )
    return list(results)


def _count(symbol, name, count, specs):
    """One size as an attribute; None where it is not given."""
    if callable(count):
        count = count(*specs)
    if count is None:
        return None
    if isinstance(count, bool) or not isinstance(count, (int, DimExpr)):
        raise ShapeError(f"{symbol}: {name} is {count!r} at {user_location()}; it must be an int or a DimExpr")
    return [count]
