"""Attention as one kernel has the bits of the ops that it stands for, and no matrix of scores in memory."""

import numpy as np
import pytest

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M

SAMPLES, HEADS, LENGTH, WIDTH = 2, 4, 50, 24


def split(x, heads=HEADS):
    samples, length, width = x.shape
    return F.transpose(F.reshape(x, (samples, length, heads, width // heads)), (0, 2, 1, 3))


def join(x):
    samples, heads, length, width = x.shape
    return F.reshape(F.transpose(x, (0, 2, 1, 3)), (samples, length, heads * width))


def plain(q, k, v):
    return join(F.scaled_dot_product_attention(split(q), split(k), split(v)))


def causal(q, k, v):
    return join(F.scaled_dot_product_attention(split(q), split(k), split(v), is_causal=True))


def bool_mask(q, k, v, mask):
    return join(F.scaled_dot_product_attention(split(q), split(k), split(v), F.greater(mask, 0.0)))


def float_mask(q, k, v, mask):
    return join(F.scaled_dot_product_attention(split(q), split(k), split(v), mask))


def one_projection(x):
    """The parts of one projection, cut after the heads are split, as the GPT of the examples does."""
    samples, length, width = x.shape
    x = F.transpose(F.reshape(x, (samples, length, 3, HEADS, width // 3 // HEADS)), (2, 0, 3, 1, 4))
    return join(F.scaled_dot_product_attention(x[0], x[1], x[2], is_causal=True))


def shared_heads(q, k, v):
    q, k, v = split(q, 4), split(k[:, :, : WIDTH // 2], 2), split(v[:, :, : WIDTH // 2], 2)
    return join(F.scaled_dot_product_attention(q, k, v, enable_gqa=True))


def by_hand(q, k, v, mask):
    """softmax of scores that are divided and then shifted by a mask, as exporters write it."""
    scores = F.matmul(split(q), F.transpose(split(k), (0, 1, 3, 2))) / 3.0 + mask
    return join(F.matmul(F.softmax(scores, axis=3), split(v)))


def filled(q, k, v, mask):
    """Scores that a bool mask replaces by a large negative number; heads and samples are one axis."""

    def flat(x):
        return F.reshape(split(x), (-1,) + (x.shape[1], WIDTH // HEADS))

    scores = F.matmul(flat(q), flat(k), transpose_b=True) * 0.3
    weights = F.softmax(F.where(F.greater(mask, 0.0), scores, -10000.0), axis=2)
    return join(F.reshape(F.matmul(weights, flat(v)), (q.shape[0], HEADS, q.shape[1], WIDTH // HEADS)))


FUNCTIONS = {
    # name: (function, how many [samples, length, width] it takes, whether a mask [length, length] follows)
    "plain": (plain, 3, False),
    "causal": (causal, 3, False),
    "bool mask": (bool_mask, 3, True),
    "float mask": (float_mask, 3, True),
    "shared heads": (shared_heads, 3, False),
    "by hand": (by_hand, 3, True),
    "filled": (filled, 3, True),
}


def inputs_of(operands, masked, length, special, dtype="float32", width=WIDTH):
    random = np.random.default_rng(length)
    arrays = [random.standard_normal((SAMPLES, length, width)).astype(dtype) for _ in range(operands)]
    if special:
        for array in arrays[1:]:
            array.reshape(-1)[random.integers(0, array.size, 3)] = [np.nan, np.inf, -np.inf]
    if masked:
        mask = random.standard_normal((length, length)).astype(dtype)
        mask[mask < -0.5] = -np.inf
        mask[length // 2] = -np.inf
        arrays.append(mask)
    return arrays


def compile_with(function, specs, disabled=(), target="host", **options):
    return fer.compile({"main": (function, specs)}, targets=(target,), disable_passes=disabled, **options)


def run(function, arrays, disabled=(), target="host", threads=1):
    program = compile_with(function, [fer.Spec(a.shape, str(a.dtype)) for a in arrays], disabled, target)
    return fer.Session(program, threads=threads).run("main", *arrays)[0]


def assert_same_bits(got, wanted):
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    bits = got.dtype.str.replace("f", "i")
    same = (got.view(bits) == wanted.view(bits)) | (np.isnan(got) & np.isnan(wanted))
    assert same.all(), f"{np.count_nonzero(~same)} of {same.size} elements differ"


@pytest.mark.parametrize("special", (False, True), ids=("finite", "special"))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_bits_are_those_of_the_parts(name, special):
    function, operands, masked = FUNCTIONS[name]
    arrays = inputs_of(operands, masked, LENGTH, special)
    wanted = run(function, arrays, disabled=("attention",), target="x86-64-v3")
    assert_same_bits(run(function, arrays, target="x86-64-v3"), wanted)
    assert_same_bits(run(function, arrays, threads=3), wanted)


def test_one_projection_in_float64():
    arrays = inputs_of(1, False, LENGTH, False, "float64", 3 * WIDTH)
    assert_same_bits(run(one_projection, arrays), run(one_projection, arrays, disabled=("attention",)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_matrix_of_scores(name):
    """1,000 x 1,000 scores of 8 heads would be 32 MB; what is left is a kernel for the mask, if there is one."""
    function, operands, masked = FUNCTIONS[name]
    arrays = inputs_of(operands, masked, 1000, False)
    program = compile_with(function, [fer.Spec(a.shape, "float32") for a in arrays])
    scores = SAMPLES * HEADS * 1000 * 1000 * 4
    assert program.memory("main")["naive"] < scores / 3
    parts = compile_with(function, [fer.Spec(a.shape, "float32") for a in arrays], ("attention",))
    assert parts.memory("main")["naive"] > scores


def test_one_kernel():
    program = compile_with(one_projection, [fer.Spec((SAMPLES, LENGTH, 3 * WIDTH), "float32")])
    # Nothing is split, joined or masked in memory: the result is all that is written.
    assert program.memory("main")["naive"] == 0


@pytest.mark.parametrize("name", ("plain", "causal", "float mask"))
def test_lengths_that_vary(name):
    function, operands, masked = FUNCTIONS[name]
    length = fer.Dim("length", min=1, max=100)
    specs = [fer.Spec((SAMPLES, length, WIDTH), "float32")] * operands
    if masked:
        specs.append(fer.Spec((length, length), "float32"))
    programs = [compile_with(function, specs, disabled) for disabled in ((), ("attention",))]
    assert programs[0].memory("main")["naive"] < programs[1].memory("main")["naive"] / 3
    sessions = [fer.Session(program, threads=2) for program in programs]
    for size in (1, 17, 48, 100):
        got, wanted = (session.run("main", *inputs_of(operands, masked, size, False))[0] for session in sessions)
        assert_same_bits(got, wanted)


@pytest.mark.parametrize("masked", (False, True), ids=("", "masked"))
def test_multi_head_attention(masked):
    layer = M.TransformerEncoderLayer(WIDTH, HEADS, 32, dropout=0.0, batch_first=True)
    layer.eval()

    def entry(x, *mask):
        return layer(x, *mask)

    arrays = inputs_of(1, False, LENGTH, False)
    if masked:
        arrays.append(np.where(np.tri(LENGTH, dtype=bool), np.float32(0), np.float32(-np.inf)))
    specs = [fer.Spec(a.shape, "float32") for a in arrays]
    programs = [
        compile_with(entry, specs[: len(arrays)], disabled, modules={"layer": layer})
        for disabled in ((), ("attention",))
    ]
    got, wanted = (fer.Session(program, threads=2).run("main", *arrays)[0] for program in programs)
    assert_same_bits(got, wanted)
    assert programs[0].memory("main")["naive"] < programs[1].memory("main")["naive"]


def test_weights_that_someone_reads_stay():
    def both(q, k, v):
        return F.attention_with_weights(split(q), split(k), split(v))[1]

    arrays = inputs_of(3, False, LENGTH, False)
    weights = run(both, arrays)
    assert weights.shape == (SAMPLES, HEADS, LENGTH, LENGTH)
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-6)
