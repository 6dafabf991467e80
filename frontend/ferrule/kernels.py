"""The kernels that this process brings for external ops: what a program calls that does not contain them."""

import ctypes

from . import _runtime, errors

_registered = {}  # symbol: _runtime.Kernel
_without = {}  # symbol: the kernel that stands in for one that there is not
_kept = []  # what addresses point into


def register(symbol, kernel):
    """Says what programs call where they hold an external op of that symbol; another kernel takes the place of an earlier one,
    in programs that are open, too.

    Args:
        symbol: the op's name, as `fer.external_op` has it.
        kernel: a function that takes the op's operands as arrays (read only, valid for the call) and returns an array for each
            result, of the op's dtype and shape; or a C function ``int32_t f(void* context, const FerruleKernelArgs* args)``,
            as ctypes has it or its address, which `runtime/api/external_tensor.h` tells about its operands. Its context is
            null, and several threads may call it at once, each for other tiles.

    What a function in Python raises goes to ``sys.unraisablehook``; the run fails with the code 1000.
    """
    implementation = _implementation(symbol, kernel)
    if symbol in _registered:
        _registered[symbol].set(implementation)
    else:
        _registered[symbol] = _runtime.Kernel(symbol, implementation)
    return _registered[symbol]


def declare(symbol):
    """Programs that call that symbol can be opened here without a kernel for it, to be saved, though not run."""
    if symbol not in _registered:
        _without[symbol] = _runtime.Kernel(symbol, _refuse)


def table(own=None):
    """The kernels with which a program is opened.

    Args:
        own: ``{symbol: kernel}`` of this program alone, before those that are registered.
    """
    own = {symbol: _runtime.Kernel(symbol, _implementation(symbol, kernel)) for symbol, kernel in (own or {}).items()}
    return tuple({**_without, **_registered, **own}.values())


def missing(symbols, own=None):
    """Those of ``symbols`` that have no kernel."""
    return sorted({symbol for symbol in symbols if symbol not in _registered and symbol not in (own or {})})


def may_lack():
    """Whether a program that was opened here may call a kernel that there is not."""
    return any(symbol not in _registered for symbol in _without)


def _implementation(symbol, kernel):
    if isinstance(kernel, ctypes._CFuncPtr):
        _kept.append(kernel)
        return ctypes.cast(kernel, ctypes.c_void_p).value
    if callable(kernel) or (isinstance(kernel, int) and not isinstance(kernel, bool) and kernel > 0):
        return kernel
    raise errors.ExecutionError(
        f"the kernel of {symbol!r} is {kernel!r}; allowed: a function of arrays, a ctypes function, or an address"
    )


def _refuse(*arrays):
    raise errors.ExecutionError("the external op has no kernel in this process")
