"""Random numbers.

A draw is a function of a seed, the number of the draw and an element's position (Philox4x32-10), so the same seed gives
the same numbers in dynamic mode, in a traced function and in ``ferrule-run``, on every CPU and number of threads. Seed
and number of draws are the state of an `RNG`: a variable that a traced function carries along and a checkpoint keeps.

The functions of this module draw from one `RNG`, which `seed` starts anew. Initialisers and samplers, which run once
and on the host, take NumPy's generator instead: `generator`, started anew by the same call.
"""

import numpy as np

from . import dtypes
from ._stream import apply
from ._tensor import Tensor, as_tensor, variable
from .errors import DtypeError, ShapeError
from .location import user_location
from .shapes import show

__all__ = [
    "RNG",
    "bernoulli",
    "beta",
    "exponential",
    "gamma",
    "manual_seed",
    "normal",
    "permutation",
    "poisson",
    "rand",
    "randint",
    "randn",
    "randperm",
    "seed",
    "shuffle",
    "uniform",
]

_generator = np.random.default_rng(0)
_rng_count = 0


def _sizes(size):
    if size is None:
        return ()
    return tuple(size) if isinstance(size, (tuple, list)) else (size,)


def _broadcast(*parameters):
    """Parameters of a distribution as float tensors of one shape."""
    tensors = [as_tensor(p) for p in parameters]
    tensors = [t if dtypes.is_float(t.dtype) else t.astype("float32") for t in tensors]
    total = tensors[0]
    for tensor in tensors[1:]:
        total = total + tensor * 0
    return [tensor + total * 0 for tensor in tensors]


class RNG:
    """A generator with a state of its own.

    Args:
        seed: an int; None takes one from the system.
        name: the name of its state in an artifact.
    """

    def __init__(self, seed=None, device=None, name=None):
        global _rng_count
        del device
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1)
        if name is None:
            _rng_count += 1
            name = f"random_state.{_rng_count}"
        self._state = variable(np.array([_word(seed), 0], np.int64), role="random_state", name=name)

    @property
    def state(self):
        """The state as an int64 tensor: the seed and the number of draws so far."""
        return Tensor._wrap(self._state._handle)

    def seed(self, seed):
        """Starts anew: the same seed gives the same numbers."""
        self._state.set_value(np.array([_word(seed), 0], np.int64))

    def _draw(self, op, operands=(), **attrs):
        state = self._state._handle
        result = apply(op, [state, *operands], attrs)[0]
        self._state._assign(apply("add", [state, _ONE_DRAW])[0])
        return Tensor._wrap(result)

    def uniform(self, low=0, high=1, size=None, dtype="float32"):
        """Numbers between ``low`` and ``high``, all equally likely; ``low`` may occur."""
        numbers = self._draw("random_uniform", shape=list(_sizes(size)), dtype=_float(dtype))
        return numbers if low == 0 and high == 1 else numbers * (high - low) + low

    def normal(self, mean=0, std=1, size=None, dtype="float32"):
        """Normally distributed numbers."""
        numbers = self._draw("random_normal", shape=list(_sizes(size)), dtype=_float(dtype))
        return numbers if mean == 0 and std == 1 else numbers * std + mean

    def gamma(self, shape, scale=1, size=None):
        """Gamma-distributed numbers: for each element of ``shape`` and ``scale``, ``size`` of them."""
        alpha, factor = _broadcast(shape, scale)
        return self._draw("random_gamma", [_repeated(alpha, size)._handle]) * factor

    def beta(self, alpha, beta, size=None):
        """Beta-distributed numbers: for each element of ``alpha`` and ``beta``, ``size`` of them."""
        first, second = _broadcast(alpha, beta)
        x = self._draw("random_gamma", [_repeated(first, size)._handle])
        y = self._draw("random_gamma", [_repeated(second, size)._handle])
        return x / (x + y)

    def poisson(self, lam, size=None):
        """Poisson-distributed numbers, as floats: for each element of the mean ``lam``, ``size`` of them."""
        return self._draw("random_poisson", [_repeated(_broadcast(lam)[0], size)._handle])

    def exponential(self, scale=1.0, size=None, dtype="float32"):
        """Exponentially distributed numbers with the mean ``scale``."""
        from .functional.elementwise import log1p

        return -log1p(-self.uniform(size=size, dtype=dtype)) * scale

    def bernoulli(self, p, size=None):
        """1.0 with the probability ``p``, else 0.0: for each element of ``p``, ``size`` of them."""
        chance = _repeated(_broadcast(p)[0], size)
        return (self.uniform(size=chance.shape, dtype=chance.dtype) < chance).astype(chance.dtype)

    def randint(self, low, high=None, size=None, dtype="int32"):
        """Integers from ``low`` to ``high - 1`` (with one argument from 0), all equally likely but for 1 in 2^32."""
        if high is None:
            low, high = 0, low
        if not low < high:
            raise ShapeError(f"randint: there is no integer from {low} to {high - 1} at {user_location()}")
        bits = self._draw("random_bits", shape=list(_sizes(size)), dtype="int64")
        return (bits % (high - low) + low).astype(dtype)

    def permutation(self, n, *, dtype="int32"):
        """The numbers 0 .. n-1 in a random order; of a tensor the parts along its first axis."""
        if isinstance(n, Tensor) and n.ndim > 0:
            return self._shuffled(n)
        count = int(n) if isinstance(n, Tensor) else n
        return self._order(count).astype(dtype)

    def shuffle(self, inp):
        """Puts the parts along the first axis of ``inp`` in a random order, in place."""
        inp[...] = self._shuffled(inp)

    def _order(self, count):
        # 64 bits a number: equal ones are not expected, and would keep their order.
        bits = self._draw("random_bits", shape=[count], dtype="int64")
        return Tensor._wrap(apply("argsort", [bits._handle], {"axis": 0})[0])

    def _shuffled(self, inp):
        from .functional.indexing import take

        if inp.ndim == 0:
            raise ShapeError(f"shuffle: a tensor of shape {show(inp.shape)} has no first axis at {user_location()}")
        return take(inp, self._order(inp.shape[0]), 0)


_ONE_DRAW = np.array([0, 1], np.int64)  # what a draw adds to the state


def _word(seed):
    """The lower 64 bits of a seed, as int64 holds them."""
    seed = int(seed) & 0xFFFFFFFFFFFFFFFF
    return seed - (1 << 64) if seed >> 63 else seed


def _float(dtype):
    name = dtypes.canonical(dtype)
    if name not in ("float32", "float64"):
        raise DtypeError(f"random numbers are float32 or float64, not {name} at {user_location()}; convert them")
    return name


def _repeated(parameter, size):
    """``parameter`` repeated along new leading axes ``size``."""
    from .functional.shape import broadcast_to

    return broadcast_to(parameter, _sizes(size) + tuple(parameter.shape))


_rng = RNG(0, name="random_state")

uniform = _rng.uniform
normal = _rng.normal
gamma = _rng.gamma
beta = _rng.beta
poisson = _rng.poisson
exponential = _rng.exponential
bernoulli = _rng.bernoulli
randint = _rng.randint
permutation = _rng.permutation
shuffle = _rng.shuffle


def seed(seed):
    """Starts the generators anew: the same seed gives the same numbers and the same initial values."""
    global _generator
    _generator = np.random.default_rng(seed)
    _rng.seed(seed)


manual_seed = seed


def generator():
    """The NumPy generator that initialisers and samplers draw from."""
    return _generator


def rand(*size, dtype="float32"):
    """PyTorch's `uniform`: numbers in [0, 1)."""
    return _rng.uniform(size=_sizes(size[0]) if len(size) == 1 else size, dtype=dtype)


def randn(*size, dtype="float32"):
    """PyTorch's `normal`: mean 0, deviation 1."""
    return _rng.normal(size=_sizes(size[0]) if len(size) == 1 else size, dtype=dtype)


def randperm(n, *, dtype="int32"):
    """PyTorch's `permutation`."""
    return _rng.permutation(n, dtype=dtype)
