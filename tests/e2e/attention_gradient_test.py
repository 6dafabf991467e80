"""The gradient of attention as one kernel has the bits of the ops that it stands for, and no matrix of scores in memory."""

import numpy as np
import pytest
from attention_test import (
    FUNCTIONS,
    HEADS,
    LENGTH,
    SAMPLES,
    WIDTH,
    assert_same_bits,
    compile_with,
    inputs_of,
    join,
    one_projection,
    split,
)
from control_flow_support import check_gradient

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
from ferrule.autodiff import GradManager
from ferrule.jit import trace


def gradient_of(function, operands):
    """The gradients for the operands, given that of the result: it follows them, then comes what is left."""

    def entry(*arrays):
        inputs, g, others = arrays[:operands], arrays[operands], arrays[operands + 1 :]
        return fer.grad(lambda *x: (function(*x, *others) * g).sum(), tuple(range(operands)))(*inputs)

    return entry


def arrays_of(name, length, special=False, dtype="float32"):
    """(the entry that is the gradient, its inputs)"""
    function, operands, masked = FUNCTIONS[name]
    arrays = inputs_of(operands, masked, length, special, dtype)
    cotangent = np.random.default_rng(1).standard_normal((SAMPLES, length, WIDTH)).astype(dtype)
    return gradient_of(function, operands), arrays[:operands] + [cotangent] + arrays[operands:]


def run(function, arrays, disabled=(), target="host", threads=1):
    program = compile_with(function, [fer.Spec(a.shape, str(a.dtype)) for a in arrays], disabled, target)
    return fer.Session(program, threads=threads).run("main", *arrays)


def assert_all_same(got, wanted):
    assert len(got) == len(wanted) > 0
    for one, other in zip(got, wanted):
        assert_same_bits(one, other)


@pytest.mark.parametrize("special", (False, True), ids=("finite", "special"))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_bits_are_those_of_the_parts(name, special):
    entry, arrays = arrays_of(name, LENGTH, special)
    wanted = run(entry, arrays, disabled=("attention",), target="x86-64-v3")
    assert_all_same(run(entry, arrays, target="x86-64-v3"), wanted)
    assert_all_same(run(entry, arrays, threads=3), wanted)


@pytest.mark.parametrize("name", ("plain", "causal", "shared heads"))
def test_dynamic_mode_has_the_same_bits(name):
    entry, arrays = arrays_of(name, LENGTH)
    dynamic = [tensor.numpy() for tensor in entry(*map(fer.tensor, arrays))]
    assert_all_same(run(entry, arrays), dynamic)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_matrix_of_scores(name):
    """1,000 x 1,000 scores of 8 heads would be 32 MB."""
    entry, arrays = arrays_of(name, 1000)
    specs = [fer.Spec(a.shape, "float32") for a in arrays]
    scores = SAMPLES * HEADS * 1000 * 1000 * 4
    assert compile_with(entry, specs).memory("main")["naive"] < scores / 3
    assert compile_with(entry, specs, ("attention",)).memory("main")["naive"] > scores


@pytest.mark.parametrize("name", ("plain", "causal", "float mask"))
def test_lengths_that_vary(name):
    function, operands, masked = FUNCTIONS[name]
    length = fer.Dim("length", min=1, max=100)
    specs = [fer.Spec((SAMPLES, length, WIDTH), "float32")] * (operands + 1)
    if masked:
        specs.append(fer.Spec((length, length), "float32"))
    entry = gradient_of(function, operands)
    programs = [compile_with(entry, specs, disabled) for disabled in ((), ("attention",))]
    assert programs[0].memory("main")["naive"] < programs[1].memory("main")["naive"] / 2
    sessions = [fer.Session(program, threads=2) for program in programs]
    for size in (1, 17, 48, 100):
        got, wanted = (session.run("main", *arrays_of(name, size)[1]) for session in sessions)
        assert_all_same(got, wanted)


def test_one_projection_in_float64_against_differences():
    """And, with the attention left as it is, the same bits."""
    x = np.random.default_rng(2).standard_normal((1, 19, 3 * 8))
    weights = np.random.default_rng(3).standard_normal((1, 19, 8))
    check_gradient(lambda x: (one_projection(x) * fer.tensor(weights)).sum(), x)
    entry = gradient_of(one_projection, 1)
    assert_all_same(run(entry, [x, weights]), run(entry, [x, weights], disabled=("attention",)))


def test_values_that_are_transposed_and_scores_that_are_reshaped():
    """Products whose right operand is transposed the other way: the gradients for k and v come out transposed."""

    def function(q, k, v, mask):
        q, k, v = (F.reshape(split(x), (-1, LENGTH, WIDTH // HEADS)) for x in (q, k, v))
        scores = F.reshape(F.matmul(q, F.transpose(k, (0, 2, 1))), (SAMPLES, HEADS, LENGTH, LENGTH)) / 2.5
        scores = F.where(F.greater(mask, 0.0), scores, -100.0) + mask
        weights = F.reshape(F.softmax(scores, axis=3), (-1, LENGTH, LENGTH))
        result = F.matmul(weights, F.transpose(v, (0, 2, 1)), transpose_b=True)
        return join(F.reshape(result, (SAMPLES, HEADS, LENGTH, WIDTH // HEADS)))

    arrays = inputs_of(4, False, LENGTH, False)
    arrays.append(np.random.default_rng(5).standard_normal((LENGTH, LENGTH)).astype("float32"))
    entry = gradient_of(function, 3)
    assert_all_same(run(entry, arrays), run(entry, arrays, disabled=("attention",)))
    specs = [fer.Spec(a.shape, "float32") for a in arrays]
    fused, parts = (compile_with(entry, specs, disabled).memory("main")["naive"] for disabled in ((), ("attention",)))
    assert fused < parts / 3


def test_second_gradient():
    """The gradient of the gradient reads what is in between: nothing is fused, and it is right."""

    def twice(x, g):
        first = fer.grad(lambda x: (one_projection(x) * g).sum())
        return (first(x) * F.sin(x)).sum()

    random = np.random.default_rng(4)
    x, g = random.standard_normal((1, 5, 12)), random.standard_normal((1, 5, 4))
    check_gradient(twice, x, g, tolerance=1e-5)
    entry = fer.grad(twice)
    assert_all_same(run(entry, [x, g]), run(entry, [x, g], disabled=("attention",)))


def test_weights_or_bias_gradients_that_someone_reads_stay():
    """A bias that is learnt needs the gradient of the scores."""

    def entry(q, k, v, bias):
        def loss(bias):
            scores = F.matmul(split(q), split(k), transpose_b=True) + bias
            return F.matmul(F.softmax(scores, axis=3), split(v)).sum()

        return fer.grad(loss)(bias)

    arrays = inputs_of(3, False, LENGTH, False)
    arrays.append(np.zeros((LENGTH, LENGTH), np.float32))
    assert_all_same(run(entry, arrays), run(entry, arrays, disabled=("attention",)))


def encoder_step(budget, disabled):
    """(program, session) of the training of two layers."""
    fer.random.seed(3)
    layers = M.Sequential(
        *[M.TransformerEncoderLayer(WIDTH, HEADS, 32, dropout=0.0, batch_first=True) for _ in range(2)]
    )
    gradients = GradManager().attach(layers.parameters())
    optimizer = optim.SGD(layers.parameters(), lr=0.1)

    @trace
    def train_step(x):
        with gradients:
            loss = (layers(x) ** 2).mean()
            gradients.backward(loss)
        optimizer.step().clear_grad()
        return loss

    return fer.compile(
        {"main": (train_step, [fer.Spec((SAMPLES, LENGTH, WIDTH), "float32")])},
        modules={"layers": layers},
        disable_passes=disabled,
        memory_budget=budget,
    )


@pytest.mark.parametrize("budget", (None, 0.6))
def test_training_with_a_budget(budget):
    """Three steps: the same weights, fused or not, and with parts of it computed again."""
    found = []
    for program in (encoder_step(budget, ()), encoder_step(None, ("attention",))):
        session = fer.Session(program, threads=2)
        x = inputs_of(1, False, LENGTH, False)[0]
        losses = [np.array(session.run("main", x)[0]) for _ in range(3)]
        found.append(losses + [session[name] for name in sorted(session.variables())])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
