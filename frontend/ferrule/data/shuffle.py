"""The order of a shuffled epoch: the one rule that Python's loaders and ``ferrule-run train`` share.

Sample i has the key x0 | x1 << 32, where x0 .. x3 are Philox4x32-10 of the counter (i, epoch) and the key (seed), each
a 64-bit number as two words, low word first. The order is the samples sorted by (key, i). Epochs count from 0.
"""

import numpy as np

_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_WORD = np.uint64(32)
_ROUNDS = 10


def philox(counter, key):
    """Philox4x32-10.

    Args:
        counter: four arrays of 32-bit words, as uint64.
        key: two ints of 32 bits.

    Returns:
        four arrays of 32-bit words, as uint64
    """
    x0, x1, x2, x3 = counter
    k0, k1 = key
    for _ in range(_ROUNDS):
        p0, p1 = x0 * _MULTIPLIERS[0], x2 * _MULTIPLIERS[1]
        x0, x1, x2, x3 = (p1 >> _WORD) ^ x1 ^ np.uint64(k0), p1 & _LOW, (p0 >> _WORD) ^ x3 ^ np.uint64(k1), p0 & _LOW
        k0, k1 = (k0 + _KEY_STEPS[0]) & 0xFFFFFFFF, (k1 + _KEY_STEPS[1]) & 0xFFFFFFFF
    return x0, x1, x2, x3


def epoch_order(count, seed, epoch):
    """The order of ``count`` samples in an epoch, as an int64 array."""
    samples = np.arange(count, dtype=np.uint64)
    high = np.full(count, epoch >> 32, np.uint64)
    counter = samples & _LOW, samples >> _WORD, np.full(count, epoch & 0xFFFFFFFF, np.uint64), high
    x0, x1, _, _ = philox(counter, (seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF))
    return np.argsort(x0 | (x1 << _WORD), kind="stable").astype(np.int64)
