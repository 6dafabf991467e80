"""Times of the front end and the compiler, as a table: `./dev bench frontend`.

All times but those of compiling the examples are processor time of this process, so that other work on the machine
matters little; the examples' are what a user waits for, on all processors of the machine. The tests beside this file
guard what can be counted instead.
"""

import importlib
import pathlib
import statistics
import sys
import time

import numpy as np

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
from ferrule import program_cache
from ferrule.autodiff import GradManager

from .function_calls import array, function_calls

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "frontend" / "examples"
ROWS = []


def report(what, value, unit, goal):
    ROWS.append((what, f"{value:.3g} {unit}", goal))
    print(f"{what:58} {value:10.3g} {unit:3} {goal}", flush=True)


def seconds(function):
    """Processor time of one call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def waited(function):
    """What passes during one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def median(function, count):
    return statistics.median(seconds(function) for _ in range(count))


# --- one op -------------------------------------------------------------------------------------------------------


def one_op_calls():
    """{name: a call of one op family}, on operands so small that running them costs next to nothing."""
    x, y, row, vector = (fer.tensor(array(*shape)) for shape in ((3, 4), (3, 4), (4,), (3,)))
    image, kernel, scale = (fer.tensor(array(*shape)) for shape in ((2, 4, 8, 8), (4, 4, 3, 3), (4,)))
    words, weight = fer.tensor(array(2, 5, 8)), fer.tensor(array(8))
    heads = fer.tensor(array(2, 2, 5, 8))
    places, grid = fer.tensor(np.array([0, 2, 1], np.int32)), fer.tensor(np.zeros((3, 4), np.int32))
    mask = fer.tensor(np.eye(3, 4, dtype=bool))
    return {
        "exp": lambda: F.exp(x),
        "x + y": lambda: x + y,
        "x + 1.0": lambda: x + 1.0,
        "x + row": lambda: x + row,
        "x > y": lambda: x > y,
        "where": lambda: F.where(mask, x, y),
        "astype": lambda: x.astype("float64"),
        "sum of rows": lambda: F.sum(x, axis=1),
        "max of rows": lambda: F.max(x, axis=1),
        "argmax": lambda: F.argmax(x, axis=1),
        "cumsum": lambda: F.cumsum(x, axis=1),
        "softmax": lambda: F.softmax(x, axis=1),
        "layer_norm": lambda: F.layer_norm(words, (8,), True, weight, weight),
        "batch_norm": lambda: F.batch_norm(image, weight=scale, bias=scale, training=True),
        "matmul": lambda: F.matmul(x, y, transpose_b=True),
        "linear": lambda: F.linear(x, y, vector),
        "einsum": lambda: F.einsum("bij,bkj->bik", words, words),
        "attention": lambda: F.scaled_dot_product_attention(heads, heads, heads),
        "conv2d": lambda: F.conv2d(image, kernel),
        "conv_transpose2d": lambda: F.conv_transpose2d(image, kernel),
        "max_pool2d": lambda: F.max_pool2d(image, 2, 2),
        "avg_pool2d": lambda: F.avg_pool2d(image, 2, 2),
        "pad": lambda: F.pad(x, ((1, 1), (2, 0))),
        "interpolate": lambda: F.interpolate(image, scale_factor=2),
        "reshape": lambda: F.reshape(x, (4, 3)),
        "transpose": lambda: F.transpose(x, (1, 0)),
        "broadcast_to": lambda: F.broadcast_to(row, (3, 4)),
        "x[1:, :2]": lambda: x[1:, :2],
        "x[0]": lambda: x[0],
        "x[places]": lambda: x[places],
        "flip": lambda: F.flip(x, 0),
        "roll": lambda: F.roll(x, 1, 0),
        "concat": lambda: F.concat([x, y], 0),
        "stack": lambda: F.stack([x, y], 0),
        "split": lambda: F.split(x, 2, 1),
        "embedding": lambda: F.embedding(places, x),
        "gather": lambda: F.gather(x, 1, grid),
        "scatter": lambda: F.scatter(x, 1, grid, y),
        "sort": lambda: F.sort(x),
        "topk": lambda: F.topk(x, 2),
        "uniform": lambda: fer.random.uniform(size=(3, 4)),
        "full": lambda: F.full((3, 4), 2.0),
        "cross_entropy": lambda: F.cross_entropy(x, places),
    }


def bench_one_op():
    for name, op in one_op_calls().items():
        report(f"{name}: compile and run, cold", 1e3 * seconds(lambda op=op: read(op())), "ms", "<= 50")
        report(f"{name}: run from the cache", 1e3 * median(lambda op=op: read(op()), 100), "ms", "<= 0.3")
        call, count = recording(op)
        report(f"{name}: record a call", 1e6 * call, "us", "")
        report(f"{name}: record an op ({count} a call)", 1e6 * call / count, "us", "<= 5")


def bench_functions():
    """What one call of each function of `functional` costs to record. Those over the goal are named."""
    taken = {name: recording(call, 200) for name, call in function_calls().items()}
    by_op = {name: call / count for name, (call, count) in taken.items() if count}
    report("functions: median of recording a call", 1e6 * statistics.median(call for call, _ in taken.values()), "us", "")
    report("functions: median of recording an op", 1e6 * statistics.median(by_op.values()), "us", "<= 5")
    report(f"functions: over 5 us an op, of {len(by_op)}", sum(op > 5e-6 for op in by_op.values()), "", "0")
    for name, op in sorted(by_op.items(), key=lambda item: -item[1]):
        if op > 5e-6:
            report(f"{name}: record an op ({taken[name][1]} a call)", 1e6 * op, "us", "<= 5")


def read(result):
    """Looks at a tensor, or at several."""
    for tensor in result if isinstance(result, (tuple, list)) else (result,):
        tensor.numpy()


def recording(op, count=500):
    """(seconds to record a call without running it, the mean of ``count``; how many ops that records)."""
    fer._compiler.flush()
    op()
    ops = fer._compiler.pending_count()
    fer._compiler.flush()

    def record():
        for _ in range(count):
            op()

    return min(flushed(record) for _ in range(7)) / count, ops


def flushed(record):
    taken = seconds(record)
    fer._compiler.flush()
    return taken


# --- traced calls -------------------------------------------------------------------------------------------------


def bench_traced_call():
    inputs = [fer.tensor(array(4)) for _ in range(100)]

    @fer.jit.trace
    def few(tensors):
        return tensors[0] + tensors[99]

    few(inputs)
    recorded = few._programs[next(iter(few._programs))][0]
    handles = [tensor._handle for tensor in inputs]
    call = median(lambda: [few(inputs) for _ in range(50)], 9) / 50
    run = median(lambda: [recorded.entry.run(handles) for _ in range(50)], 9) / 50
    report("a traced call with 100 inputs, over the run itself", 1e6 * (call - run), "us", "<= 50")


# --- compile time -------------------------------------------------------------------------------------------------


class Dense(M.Module):
    """x + linear(relu(linear(x)))"""

    def __init__(self, width):
        super().__init__()
        self.first, self.second = M.Linear(width, width), M.Linear(width, width)

    def forward(self, x):
        return x + self.second(F.relu(self.first(x)))


class Convolutional(M.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1, self.norm1 = M.Conv2d(channels, channels, 3, 1, 1, bias=False), M.BatchNorm2d(channels)
        self.conv2, self.norm2 = M.Conv2d(channels, channels, 3, 1, 1, bias=False), M.BatchNorm2d(channels)

    def forward(self, x):
        return F.relu(x + self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x))))))


class Attention(M.Module):
    """A transformer block with a causal mask."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = M.LayerNorm(width), M.LayerNorm(width)
        self.query, self.key, self.value = (M.Linear(width, width) for _ in range(3))
        self.out = M.Linear(width, width)
        self.up, self.down = M.Linear(width, 4 * width), M.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        size = width // self.heads

        def split(z):
            return F.transpose(F.reshape(z, (batch, length, self.heads, size)), (0, 2, 1, 3))

        y = self.norm1(x)
        scores = F.matmul(split(self.query(y)), F.transpose(split(self.key(y)), (0, 1, 3, 2))) * size**-0.5
        i = F.arange(length)
        scores = F.where(F.reshape(i, (1, length)) <= F.reshape(i, (length, 1)), scores, -1e9)
        mixed = F.matmul(F.softmax(scores, axis=-1), split(self.value(y)))
        x = x + self.out(F.reshape(F.transpose(mixed, (0, 2, 1, 3)), (batch, length, width)))
        return x + self.down(F.relu(self.up(self.norm2(x))))


class Stack(M.Module):
    def __init__(self, make, depth):
        super().__init__()
        self.blocks = [make() for _ in range(depth)]

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def compile_training(net, shape, optimizer):
    """Compiles a training step of `net` for inputs of `shape`."""
    manager = GradManager().attach(net.parameters())
    update = optimizer(net.parameters())

    def step(x):
        with manager:
            y = net(x)
            loss = F.mean(y * y)
            manager.backward(loss)
        update.step()
        update.clear_grad()
        return loss

    return fer.compile({"step": (step, [fer.Spec(shape)])}, modules={"net": net, "optimizer": update})


def sgd(parameters):
    return optim.SGD(parameters, lr=0.1, momentum=0.9)


def bench_compile():
    """The examples, each with its training step and all of its other entries, and how compile time grows with depth."""
    sys.path.insert(0, str(EXAMPLES))
    digits = importlib.import_module("digits")
    network = digits.make_net()
    report("compile: digits.py", waited(lambda: digits.compile_digits(*network, targets=("host",))), "s", "<= 5")
    for name in ("lenet", "resnet18", "mobilenet_v2", "gan", "tagger", "transformer", "gpt"):
        example = importlib.import_module(name).make()
        taken = waited(lambda example=example: fer.compile(example.entries, modules=example.modules))
        report(f"compile: {name}.py", taken, "s", "<= 5")
    blocks = {
        "dense": (lambda: Dense(32), (8, 32)),
        "convolutional": (lambda: Convolutional(16), (2, 16, 8, 8)),
        "transformer": (lambda: Attention(32, 2), (2, 8, 32)),
    }
    for name, (make, shape) in blocks.items():
        few, many = (
            seconds(lambda depth=depth: compile_training(Stack(make, depth), shape, sgd)) for depth in (20, 200)
        )
        report(f"compile: 200 {name} blocks, training", many, "s", "")
        report(f"compile: 200 {name} blocks against 20", many / few, "x", "<= 12")


def main(arguments):
    """The command `./dev bench frontend`, which has no options."""
    if arguments:
        raise SystemExit(f"bench frontend takes no arguments, not {' '.join(arguments)}")
    program_cache.configure(folder=None)
    bench_one_op()
    bench_functions()
    bench_traced_call()
    bench_compile()
    print("\n| what | measured | goal |\n|---|---|---|")
    for row in ROWS:
        print("| " + " | ".join(row) + " |")
