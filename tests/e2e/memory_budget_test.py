"""`memory_budget` and `checkpoint`: what is computed again changes no bit, and what cannot be had is refused.

The examples' networks, dropout, batch norm and loops are trained with budgets of 100, 75, 50, 35 and 25 % of what they take
without one. A budget that a network cannot meet must be refused with the smallest that it can, and that one must be met.
"""

import functools
import re

import numpy as np
import pytest
from example_models import load_first_weights, make
from example_training import compile_example
from ferrule.autodiff import GradManager
from ferrule.errors import BudgetError, GradientError, UnsupportedError
from ferrule.jit import trace
from model_cases import SIZES, batches_of

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim

PARTS = (1.0, 0.75, 0.5, 0.35, 0.25)


def smallest_of(error):
    """The bytes that the message of a BudgetError names as the smallest that was found."""
    return int(re.search(r"the smallest arena that was found takes (\d+)", str(error)).group(1))


def run(program, batches):
    """[losses of each step] and {name: value} of all variables afterwards."""
    session = fer.Session(program, threads=1)
    losses = [[np.array(each) for each in session.run("train_step", *batch)] for batch in batches]
    return losses, {name: session[name] for name in session.variables()}


def assert_same(found, wanted):
    for losses, others in zip(found[0], wanted[0]):
        for loss, other in zip(losses, others):
            np.testing.assert_array_equal(loss, other)
    assert found[1].keys() == wanted[1].keys()
    for name in wanted[1]:
        np.testing.assert_array_equal(found[1][name], wanted[1][name], err_msg=name)


def assert_budgets_keep_bits(compile_with, batches, parts=PARTS):
    """Returns those of the parts of the arena that were met."""
    program = compile_with(None)
    arena = program.memory("train_step")["arena"]
    wanted, met = run(program, batches), []
    for part in parts:
        try:
            program = compile_with(part)
        except BudgetError as error:
            smallest = smallest_of(error)
            assert part * arena < smallest <= arena
            if smallest < arena:
                program = compile_with(smallest)
                assert program.memory("train_step")["arena"] <= smallest
                assert_same(run(program, batches), wanted)
            continue
        assert program.memory("train_step")["arena"] <= part * arena
        assert_same(run(program, batches), wanted)
        met.append(part)
    return met


@pytest.mark.parametrize(
    ("model", "parts"),
    [pytest.param(model, (0.5,), id=f"{model}-half") for model in SIZES]
    + [pytest.param(model, PARTS, id=f"{model}-all", marks=pytest.mark.long) for model in SIZES],
)
def test_examples_keep_their_bits(model, parts):
    size = SIZES[model]["small"]
    example = make(model, size)
    load_first_weights(example, model, "small")

    def compile_with(budget):
        return compile_example(example, memory_budget=budget)

    assert_budgets_keep_bits(compile_with, batches_of(model, size)[:3], parts)


class Block(M.Module):
    """What a residual network is made of, with dropout."""

    def __init__(self, width):
        super().__init__()
        self.conv, self.norm, self.drop = M.Conv2d(width, width, 3, 1, 1, bias=False), M.BatchNorm2d(width), M.Dropout(0.2)

    def forward(self, x):
        return x + self.drop(F.relu(self.norm(self.conv(x))))


class Residual(M.Module):
    """[N, 3, H, W] images -> [N, 10] logits."""

    def __init__(self, depth, width=16):
        super().__init__()
        self.stem, self.head = M.Conv2d(3, width, 3, 1, 1), M.Linear(width, 10)
        self.blocks = M.Sequential(*[Block(width) for _ in range(depth)])

    def forward(self, image):
        return self.head(F.mean(self.blocks(self.stem(image)), (2, 3)))


def make_step(net, **options):
    gradients = GradManager().attach(net.parameters())
    optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    @trace(symbolic=True, **options)
    def train_step(x, label):
        with gradients:
            loss = F.nn.cross_entropy(net(x), label)
            gradients.backward(loss)
        optimizer.step().clear_grad()
        return loss

    return train_step


class FeedForward(M.Module):
    """[N, 256] -> [N, 10]: the blocks of a transformer without its attention."""

    def __init__(self, depth):
        super().__init__()
        self.norms = [M.LayerNorm(256) for _ in range(depth)]
        self.widen, self.narrow = ([M.Linear(*size) for _ in range(depth)] for size in ((256, 1024), (1024, 256)))
        self.head = M.Linear(256, 10)

    def forward(self, x):
        for norm, widen, narrow in zip(self.norms, self.widen, self.narrow):
            x = x + narrow(F.nn.gelu(widen(norm(x))))
        return self.head(x)


class UNet(M.Module):
    """[N, 3, size, size] images -> [N, 10] logits; what each level makes on the way down is read again on the way up."""

    def __init__(self, widths):
        super().__init__()
        self.down = M.Sequential(*[self.make_two(i, o) for i, o in zip((3, *widths), widths)])
        self.grow = M.Sequential(*[M.ConvTranspose2d(o, i, 2, 2) for i, o in zip(widths, widths[1:])])
        self.up = M.Sequential(*[self.make_two(2 * i, i) for i in widths[:-1]])
        self.head = M.Conv2d(widths[0], 10, 1)

    @staticmethod
    def make_two(inputs, outputs):
        return M.Sequential(M.Conv2d(inputs, outputs, 3, padding=1), M.ReLU(), M.Conv2d(outputs, outputs, 3, padding=1), M.ReLU())

    def forward(self, x):
        skips = []
        for number, down in enumerate(self.down):
            x = down(x if number == 0 else F.max_pool2d(x, 2, 2))
            skips.append(x)
        for grow, up, skip in reversed(list(zip(self.grow, self.up, skips))):
            x = up(F.concat([skip, grow(x)], axis=1))
        return F.mean(self.head(x), (2, 3))


class Bottlenecks(M.Module):
    """[N, 3, size, size] images -> [N, 10] logits: three stages of blocks, each of half the height and width."""

    def __init__(self, width, depth):
        super().__init__()
        self.stem, self.head = M.Conv2d(3, 4 * width, 3, padding=1, bias=False), M.Linear(16 * width, 10)
        stages = [(2**stage * width, 2**stage * 4 * width) for stage in range(3)]
        self.stages = M.Sequential(*[
            M.Sequential(*[
                M.Sequential(M.Conv2d(wide, narrow, 1, bias=False), M.BatchNorm2d(narrow), M.ReLU(),
                             M.Conv2d(narrow, narrow, 3, padding=1, bias=False), M.BatchNorm2d(narrow), M.ReLU(),
                             M.Conv2d(narrow, wide, 1, bias=False), M.BatchNorm2d(wide))
                for _ in range(depth)])
            for narrow, wide in stages])  # fmt: skip
        self.widen = M.Sequential(*[M.Conv2d(a, b, 1, 2, bias=False) for (_, a), (_, b) in zip(stages, stages[1:])])

    def forward(self, image):
        x = self.stem(image)
        for number, stage in enumerate(self.stages):
            x = x if number == 0 else self.widen[number - 1](x)
            for block in stage:
                x = F.relu(block(x) + x)
        return self.head(F.mean(x, (2, 3)))


@pytest.mark.parametrize(
    ("make", "size", "parts"),
    [(lambda: UNet((8, 16, 32)), 32, (0.5, 0.45)), (lambda: Bottlenecks(8, 3), 32, (0.35, 0.28))],
    ids=("unet", "bottlenecks"),
)
def test_networks_whose_layers_differ_in_size(make, size, parts):
    """The values of the first levels are most of the memory, and each is dropped between just those uses that are far apart."""
    net = make()
    step = make_step(net)
    random = np.random.default_rng(0)
    images = random.standard_normal((2, 4, 3, size, size)).astype("float32")
    batches = [(image, np.arange(4, dtype="int32")) for image in images]

    def compile_with(budget):
        specs = [fer.Spec(images.shape[1:]), fer.Spec((4,), "int32")]
        return fer.compile({"train_step": (step, specs)}, modules={"net": net}, memory_budget=budget)

    assert assert_budgets_keep_bits(compile_with, batches, parts) == list(parts)


def image_batches(count=3):
    random = np.random.default_rng(0)
    return [
        (random.standard_normal((4, 3, 16, 16), "float32"), random.integers(0, 10, 4).astype("int32"))
        for _ in range(count)
    ]


def image_specs(batch=4):
    return [fer.Spec((batch, 3, 16, 16)), fer.Spec((batch,), "int32")]


def test_dropout_and_batch_norm_keep_their_bits():
    """Dropout draws the same numbers again, and the running statistics move once a step."""
    fer.random.seed(3)
    net = Residual(24)
    step = make_step(net)

    def compile_with(budget):
        return fer.compile({"train_step": (step, image_specs())}, modules={"net": net}, memory_budget=budget)

    assert assert_budgets_keep_bits(compile_with, image_batches())[:3] == [1.0, 0.75, 0.5]


def test_activations_are_made_of_the_products_that_are_kept():
    """A layer keeps three wide values, [256, 1024] each: the product, a factor of its gelu, and the gelu, which the gradient of
    the next weight reads. The last two come of the product without another one, which takes less than the 13 % that half the
    arena costs where they are kept or dropped together with it.
    """
    net = FeedForward(6)
    batches = [(np.random.default_rng(seed).standard_normal((256, 256), "float32"), np.arange(256, dtype="int32") % 10)
               for seed in range(2)]  # fmt: skip

    def compile_with(budget):
        gradients = GradManager().attach(net.parameters())
        optimizer = optim.AdamW(net.parameters(), lr=0.01)

        def train_step(x, label):
            with gradients:
                loss = F.nn.cross_entropy(net(x), label)
                gradients.backward(loss)
            optimizer.step().clear_grad()
            return loss

        specs = [fer.Spec((256, 256)), fer.Spec((256,), "int32")]
        return fer.compile({"train_step": (train_step, specs)}, modules={"net": net, "optimizer": optimizer}, memory_budget=budget)

    free, half = compile_with(None), compile_with(0.5)
    assert half.memory("train_step")["arena"] <= 0.5 * free.memory("train_step")["arena"]
    assert half.report["recomputed.train_step"] < 0.12
    assert_same(run(half, batches), run(free, batches))


@pytest.mark.parametrize("disabled", ("simplify", "fold", "prune", "attention", "fuse", "schedule", "memory"))
def test_bits_do_not_depend_on_optional_passes(disabled):
    fer.random.seed(3)
    net = Residual(8)
    step = make_step(net)
    entries = {"train_step": (step, image_specs())}
    wanted = run(fer.compile(entries, modules={"net": net}), image_batches(2))
    program = fer.compile(entries, modules={"net": net}, memory_budget=0.87, disable_passes=(disabled,))
    assert_same(run(program, image_batches(2)), wanted)


def test_any_batch_within_the_plan():
    """With a Dim the budget is that of the largest batch, and smaller ones run in it."""
    net = Residual(12)
    step = make_step(net)
    specs = image_specs(fer.Dim("batch", min=1, max=4))
    free = fer.compile({"train_step": (step, specs)}, modules={"net": net})
    tight = fer.compile({"train_step": (step, specs)}, modules={"net": net}, memory_budget=0.6)
    assert tight.memory("train_step")["arena"] <= 0.6 * free.memory("train_step")["arena"]
    batches = [(image[:n], label[:n]) for n, (image, label) in zip((4, 1, 3), image_batches())]
    assert_same(run(tight, batches), run(free, batches))


class Recurrent(M.Module):
    """[steps, N, 8] sequences -> [N, 10] logits, through a scan."""

    def __init__(self):
        super().__init__()
        self.inner, self.head = M.LSTM(8, 16), M.Linear(16, 10)

    def forward(self, x):
        return self.head(self.inner(x)[0][-1])


def test_loops_keep_their_bits():
    net = Recurrent()
    step = make_step(net)
    random = np.random.default_rng(1)
    batches = [(random.standard_normal((64, 4, 8), "float32"), np.arange(4, dtype="int32")) for _ in range(3)]
    specs = [fer.Spec((64, 4, 8)), fer.Spec((4,), "int32")]

    def compile_with(budget):
        return fer.compile({"train_step": (step, specs)}, modules={"net": net}, memory_budget=budget)

    assert 1.0 in assert_budgets_keep_bits(compile_with, batches)


def test_a_budget_that_cannot_be_met_names_what_holds_it():
    net = Residual(6)
    step = make_step(net)
    with pytest.raises(BudgetError) as refused:
        fer.compile({"train_step": (step, image_specs())}, modules={"net": net}, memory_budget=1000)
    text = str(refused.value)
    assert "entry train_step: memory_budget is 1000 bytes" in text
    # [4, 16, 16, 16] float32 is 65,536 bytes; the lines are those of the network above.
    assert re.search(r"65536 bytes: \w+ at .*memory_budget_test\.py:\d+", text)
    assert smallest_of(refused.value) > 65536


@pytest.mark.parametrize("budget", (0, -5, 0.0, 1.5, float("nan"), True, "1 GiB"))
def test_what_is_no_budget_is_refused(budget):
    entries = {"f": (lambda x: x * 2.0, [fer.Spec((3,))])}
    with pytest.raises(UnsupportedError, match="memory_budget=.*allowed: an int, the bytes"):
        fer.compile(entries, memory_budget=budget)
    with pytest.raises(UnsupportedError, match="trace: memory_budget="):
        trace(lambda x: x, memory_budget=budget)


def test_a_traced_function_keeps_its_budget():
    """The same losses with a budget, and an error at the call where there is none so small."""
    losses = {}
    for budget in (None, 0.75):
        fer.random.seed(3)
        net = Residual(8)
        fer.random.seed(5)
        step = make_step(net, memory_budget=budget)
        losses[budget] = [step(fer.Tensor(image), fer.Tensor(label)).numpy() for image, label in image_batches()]
    np.testing.assert_array_equal(losses[0.75], losses[None])
    step = make_step(Residual(8), memory_budget=1000)
    with pytest.raises(BudgetError, match="memory_budget is 1000 bytes"):
        image, label = image_batches(1)[0]
        step(fer.Tensor(image), fer.Tensor(label)).numpy()


class Checkpointed(Residual):
    """The same, with every four blocks computed again in the backward pass."""

    @staticmethod
    def run_four(blocks, x):
        return functools.reduce(lambda y, block: block(y), blocks, x)

    def forward(self, image):
        x = self.stem(image)
        blocks = list(self.blocks)
        for begin in range(0, len(blocks), 4):
            x = fer.checkpoint(self.run_four, blocks[begin : begin + 4], x)
        return self.head(F.mean(x, (2, 3)))


def test_checkpoints_save_memory_and_keep_bits():
    results = []
    for kind in (Residual, Checkpointed):
        fer.random.seed(3)
        net = kind(16)
        fer.random.seed(5)
        program = fer.compile({"train_step": (make_step(net), image_specs())}, modules={"net": net})
        results.append((program.memory("train_step")["arena"], run(program, image_batches())))
    assert results[1][0] < 0.8 * results[0][0]
    assert_same(results[1][1], results[0][1])


def test_a_checkpoint_in_every_mode():
    """A wrapped module and a function of nested arguments: dynamic mode, traced, and without anything to wrap."""
    linear = M.Linear(4, 4)

    def twice(pair, scale):
        return {"sum": F.tanh(pair[0] * scale) + linear(pair[1])}

    x = np.random.default_rng(0).standard_normal((3, 4), "float32")
    wrapped = fer.checkpoint(linear)

    def loss(x):
        return fer.checkpoint(twice, (x, x), scale=2.0)["sum"].sum() + F.exp(wrapped(x)).sum()

    def plain(x):
        return twice((x, x), scale=2.0)["sum"].sum() + F.exp(linear(x)).sum()

    wanted = fer.grad(plain)(fer.Tensor(x)).numpy()
    np.testing.assert_array_equal(fer.grad(loss)(fer.Tensor(x)).numpy(), wanted)
    np.testing.assert_array_equal(trace(lambda x: fer.grad(loss)(x))(fer.Tensor(x)).numpy(), wanted)
    with pytest.raises(GradientError, match="checkpoint of twice at .*memory_budget_test.py.*no argument is a tensor"):
        fer.checkpoint(twice, (1.0, 2.0), 3.0)
