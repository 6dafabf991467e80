"""Cases of random numbers (ir/graph/Random.td), from the definition of the generator and of each distribution."""

import math

import numpy as np

SEED, DRAW = 42, 7
MASK = 0xFFFFFFFF


def block(number, attempt=0):
    """The four words of Philox4x32-10 for a block of the draw."""
    c = [number & MASK, number >> 32, DRAW & MASK, (DRAW >> 32) << 16 | attempt]
    k = [SEED & MASK, SEED >> 32]
    for _ in range(10):
        p, q = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(q >> 32) ^ c[1] ^ k[0], q & MASK, (p >> 32) ^ c[3] ^ k[1], p & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def words(count):
    return [block(i // 4)[i % 4] for i in range(count)]


def pairs(count):
    flat = words(2 * count)
    return [flat[2 * i] | flat[2 * i + 1] << 32 for i in range(count)]


def open_uniform(low, high):
    return (((low | high << 32) >> 12) + 0.5) / 2**52


def normal(u, v):
    radius, angle = math.sqrt(-2 * math.log(u)), 2 * math.pi * v
    return radius * math.cos(angle), radius * math.sin(angle)


def gamma(element, shape):
    d = (shape + 1 if shape < 1 else shape) - 1 / 3
    for attempt in range(1000):
        a, b = block(element, 2 * attempt), block(element, 2 * attempt + 1)
        x = normal((((a[0] | a[1] << 32) >> 11) + 1) / 2**53, ((a[2] | a[3] << 32) >> 11) / 2**53)[0]
        v = (1 + x / math.sqrt(9 * d)) ** 3
        if v > 0 and math.log(open_uniform(b[0], b[1])) < 0.5 * x * x + d - d * v + d * math.log(v):
            return d * v * (open_uniform(b[2], b[3]) ** (1 / shape) if shape < 1 else 1)
    raise AssertionError("no attempt succeeded")


def poisson(element, mean):
    if mean < 10:
        product, k = 1.0, 0
        while True:
            product *= open_uniform(*block(element, k)[:2])
            if product <= math.exp(-mean):
                return k
            k += 1
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    for attempt in range(1000):
        w = block(element, attempt)
        u, v = open_uniform(w[0], w[1]) - 0.5, open_uniform(w[2], w[3])
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + mean + 0.43)
        if us >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2):
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        left = math.log(v) + math.log(1.1239 + 1.1328 / (b - 3.4)) - math.log(a / (us * us) + b)
        if left <= k * math.log(mean) - mean - math.lgamma(k + 1):
            return k
    raise AssertionError("no attempt succeeded")


def add_cases(case):
    state, wide = np.array([SEED, DRAW]), {0: "int64"}
    signed = np.array(words(6), np.uint32).astype(np.int32)
    case("random_bits", [state], [signed.reshape(2, 3)], input_dtypes=wide, shape=[2, 3], dtype="int32")
    signed = np.array(pairs(3), np.uint64).astype(np.int64)
    case("random_bits", [state], [signed], input_dtypes=wide, output_dtypes=wide, shape=[3], dtype="int64")
    unit = np.array([(w >> 8) / 2**24 for w in words(5)])
    case("random_uniform", [state], [unit], input_dtypes=wide, shape=[5], dtype="float32")
    unit = np.array([(w >> 11) / 2**53 for w in pairs(3)])
    case("random_uniform", [state], [unit], input_dtypes=wide, output_dtypes={0: "float64"}, shape=[3], dtype="float64")
    w = words(6)
    numbers = [n for i in (0, 2, 4) for n in normal(((w[i] >> 8) + 1) / 2**24, (w[i + 1] >> 8) / 2**24)]
    case("random_normal", [state], [np.array(numbers)], 2e-6, input_dtypes=wide, shape=[6], dtype="float32")
    shapes = np.array([0.25, 0.5, 1.0, 3.5, 100.0, 0.0])
    drawn = np.array([gamma(i, s) if s else 0.0 for i, s in enumerate(shapes)])
    case("random_gamma", [state, shapes], [drawn], 1e-6, input_dtypes=wide)
    case("random_gamma", [state, np.array([-1.0, math.nan])], [np.array([math.nan, math.nan])], input_dtypes=wide)
    means = np.array([0.0, 0.5, 4.0, 9.5, 10.0, 50.0, 1000.0, 12.5])
    case("random_poisson", [state, means], [np.array([float(poisson(i, m)) for i, m in enumerate(means)])],
         input_dtypes=wide)
