"""Times of the front end and the compiler, as a table: `./dev bench frontend`.

All times are processor time of this process, so that other work on the machine matters little; with more threads the
compiler needs less than that. The tests beside this file guard what can be counted instead.
"""

import statistics
import time

import numpy as np

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import ferrule.optimizer as optim
from ferrule import program_cache
from ferrule.autodiff import GradManager

ROWS = []


def report(what, value, unit, goal):
    ROWS.append((what, f"{value:.3g} {unit}", goal))
    print(f"{what:58} {value:10.3g} {unit:3} {goal}", flush=True)


def seconds(function):
    """Processor time of one call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def median(function, count):
    return statistics.median(seconds(function) for _ in range(count))


def array(*shape):
    return np.random.default_rng(shape).uniform(-1, 1, shape).astype(np.float32)


# --- one op -------------------------------------------------------------------------------------------------------


def bench_one_op():
    x, y, v = fer.tensor(array(3, 4)), fer.tensor(array(3, 4)), fer.tensor(array(4))
    image, kernel = fer.tensor(array(2, 3, 8, 8)), fer.tensor(array(4, 3, 3, 3))
    ops = {
        "exp": lambda: F.exp(x),
        "x + y": lambda: x + y,
        "x + 1.0": lambda: x + 1.0,
        "x + row": lambda: x + v,
        "sum of rows": lambda: F.sum(x, axis=1),
        "softmax": lambda: F.softmax(x, axis=1),
        "matmul": lambda: F.matmul(x, y, transpose_b=True),
        "transpose": lambda: F.transpose(x, (1, 0)) + 0,
        "x[1:, :2]": lambda: x[1:, :2] + 0,
        "concat": lambda: F.concat([x, y], 0),
        "conv2d": lambda: F.conv2d(image, kernel),
        "max_pool2d": lambda: F.max_pool2d(image, 2, 2),
    }
    for name, op in ops.items():
        report(f"{name}: compile and run, cold", 1e3 * seconds(lambda op=op: op().numpy()), "ms", "<= 50")
        report(f"{name}: run from the cache", 1e3 * median(lambda op=op: op().numpy(), 100), "ms", "<= 0.3")
        report(f"{name}: record", 1e6 * recording(op), "us", "<= 5 an op")


def recording(op):
    """Seconds to record one op, without running it."""
    count = 1000

    def record():
        for _ in range(count):
            op()

    best = min(flushed(record) for _ in range(5))
    return best / count


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
    def __init__(self, inputs, outputs=None, stride=1):
        super().__init__()
        outputs = outputs or inputs
        self.conv1 = M.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = M.BatchNorm2d(outputs)
        self.conv2 = M.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = M.BatchNorm2d(outputs)
        self.short = None
        if stride != 1 or inputs != outputs:
            self.short = M.Sequential(M.Conv2d(inputs, outputs, 1, stride, bias=False), M.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
        return F.relu(y + (x if self.short is None else self.short(x)))


class ResNet18(M.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = M.Conv2d(3, 64, 3, 1, 1, bias=False), M.BatchNorm2d(64)
        plan = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2)]
        self.blocks = [Convolutional(*each) for each in [*plan, (512, 512, 1)]]
        self.head = M.Linear(512, 10)

    def forward(self, x):
        y = F.relu(self.norm(self.conv(x)))
        for block in self.blocks:
            y = block(y)
        return self.head(F.mean(y, axis=(2, 3)))


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


def adam(parameters):
    return optim.Adam(parameters, lr=1e-3)


def bench_compile():
    models = {
        "ResNet-18, 32x32, training": (ResNet18(), (8, 3, 32, 32), sgd),
        "6 transformer blocks of 128, training": (Stack(lambda: Attention(128, 4), 6), (4, 64, 128), adam),
    }
    for name, (net, shape, optimizer) in models.items():
        report(f"compile: {name}", seconds(lambda: compile_training(net, shape, optimizer)), "s", "<= 5")
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
    bench_traced_call()
    bench_compile()
    print("\n| what | measured | goal |\n|---|---|---|")
    for row in ROWS:
        print("| " + " | ".join(row) + " |")
