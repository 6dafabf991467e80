"""Random functions of tensors, written once for `ferrule.functional` and for NumPy.

A graph is a list of steps (text, operands, function); ``function(f, *operands)`` records the step with ``f`` a `Functional`,
or computes it with ``f`` a `Reference`. Each step is chosen by what its operands look like in one or two trial runs with
NumPy; with two, of different length, the choice holds for every length (`RandomGraph.sized`).
"""

import numpy as np

import ferrule as fer
import ferrule.functional as F

SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33)
MOST_ELEMENTS = 5000
LARGEST_VALUE = 50.0


class Functional:
    """The operations by Ferrule."""

    constant = staticmethod(fer.Tensor)

    def __getattr__(self, name):
        return getattr(F, name)

    def layer_norm(self, x):
        return F.layer_norm(x, (x.shape[-1],))

    def pad(self, x, widths, value):
        return F.pad(x, widths, constant_value=value)

    def conv2d(self, x, weight, stride, padding, groups):
        if groups > 1:  # MegEngine's shape of a grouped kernel
            weight = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:])
        return F.conv2d(x, fer.Tensor(weight), stride=stride, padding=padding, groups=groups)


class Reference:
    """The operations by NumPy, as they are defined."""

    def __getattr__(self, name):
        return getattr(np, name)

    def constant(self, array):
        return array

    def relu(self, x):
        return np.maximum(x, 0)

    def sigmoid(self, x):
        return 1 / (1 + np.exp(-x))

    def softmax(self, x, axis):
        powers = np.exp(x - x.max(axis, keepdims=True))
        return powers / powers.sum(axis, keepdims=True)

    def concat(self, parts, axis):
        return np.concatenate(parts, axis)

    def layer_norm(self, x):
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)

    def pad(self, x, widths, value):
        return np.pad(x, widths, constant_values=value)

    def conv2d(self, x, weight, stride, padding, groups):
        x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
        kernel, wide = weight.shape[2], weight.shape[0] // groups
        parts = []
        for group, image in enumerate(np.split(x, groups, 1)):
            taps = weight[group * wide : (group + 1) * wide]
            windows = self._windows(image, kernel, stride)
            parts.append(sum(np.einsum("nchw,oc->nohw", windows[i], taps[:, :, i // kernel, i % kernel]) for i in range(kernel**2)))
        return np.concatenate(parts, 1)

    def max_pool2d(self, x, kernel, stride):
        return self._windows(x, kernel, stride).max(0)

    def avg_pool2d(self, x, kernel, stride):
        return self._windows(x, kernel, stride).mean(0)

    @staticmethod
    def _windows(x, kernel, stride):
        """[kernel * kernel, n, c, height, width]: the pixels under each tap."""
        height, width = ((size - kernel) // stride + 1 for size in x.shape[2:])
        ends = (stride * height, stride * width)
        return np.stack([x[:, :, i : i + ends[0] : stride, j : j + ends[1] : stride] for i in range(kernel) for j in range(kernel)])


FUNCTIONAL, REFERENCE = Functional(), Reference()


class Chooser:
    """Chooses a step by one trial's values ``a`` and, where the length is open, another's ``b``; None where nothing fits."""

    WEIGHTS = {
        "unary": 5, "binary": 4, "reduction": 2, "reshape": 2, "transpose": 1, "slice": 2, "concat": 2, "stack": 1, "pad": 1,
        "order": 2, "broadcast": 1, "product": 2, "gram": 1, "layer_norm": 1, "take": 1, "image": 3,
    }  # fmt: skip

    def __init__(self, rng, dtype, trials):
        self.rng, self.dtype, self.trials = rng, dtype, trials
        self.makers = [getattr(self, f"make_{name}") for name, weight in self.WEIGHTS.items() for _ in range(weight)]

    def pick(self):
        """The number of a value, a late one rather than an early one."""
        return int(max(0, len(self.trials[0]) - 1 - abs(self.rng.normal(0, 3))))

    def choose(self):
        self.p = self.pick()
        self.shape = self.trials[0][self.p].shape
        self.rank = len(self.shape)
        self.open = [size != other for size, other in zip(self.shape, self.trials[-1][self.p].shape)]
        self.axis = int(self.rng.integers(0, self.rank)) if self.rank else None
        return self.among(*self.makers)()

    def numbers(self, *shape):
        return (self.rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]) or 1)).astype(self.dtype)

    def among(self, *choices):
        return choices[int(self.rng.integers(0, len(choices)))]

    def make_unary(self):
        name, function = self.among(
            ("tanh", lambda f, x: f.tanh(x)),
            ("relu", lambda f, x: f.relu(x)),
            ("exp", lambda f, x: f.exp(-f.abs(x))),
            ("sigmoid", lambda f, x: f.sigmoid(x)),
            ("square", lambda f, x: x * x),
            ("affine", lambda f, x: x * 1.5 - 0.25),
        )
        return name, [self.p], function

    def make_binary(self):
        fitting = [
            q for q in range(len(self.trials[0])) if all(self._broadcast(trial[self.p], trial[q]) for trial in self.trials)
        ]
        name, function = self.among(
            ("add", lambda f, x, y: x + y),
            ("sub", lambda f, x, y: x - y),
            ("mul", lambda f, x, y: x * y),
            ("maximum", lambda f, x, y: f.maximum(x, y)),
            ("div", lambda f, x, y: x / (1.0 + f.abs(y))),
            ("where", lambda f, x, y: f.where(x > y, x * 0.5, y)),
        )
        return name, [self.p, fitting[-1 - int(self.rng.integers(0, min(4, len(fitting))))]], function

    @staticmethod
    def _broadcast(x, y):
        try:
            np.broadcast_shapes(x.shape, y.shape)
        except ValueError:
            return False
        return True

    def make_reduction(self):
        if not self.rank:
            return None
        name, keep = self.among("sum", "mean", "max", "min"), self.among(True, False)
        axes = self.axis
        if name in ("sum", "mean") and self.among(True, False):
            axes = tuple(sorted({self.axis, int(self.rng.integers(0, self.rank))}))
        return f"{name} {axes} {keep}", [self.p], lambda f, x: getattr(f, name)(x, axis=axes, keepdims=keep) * 0.5

    def make_reshape(self):
        if any(self.open):
            if self.rank > 2 and not any(self.open[1:]):
                return "merge", [self.p], lambda f, x: f.reshape(x, (x.shape[0], -1))
            return "flatten", [self.p], lambda f, x: f.reshape(x, (-1,))
        sizes, left = [], int(np.prod(self.shape, dtype=int))
        while left > 1 and len(sizes) < 3:
            sizes.append(self.among(*(size for size in range(2, left + 1) if left % size == 0)))
            left //= sizes[-1]
        shape = (*sizes, left) if self.among(True, False) or left > 1 else tuple(sizes)
        return f"reshape {shape}", [self.p], lambda f, x: f.reshape(x, shape)

    def make_transpose(self):
        pattern = tuple(self.rng.permutation(self.rank).tolist())
        return f"transpose {pattern}", [self.p], lambda f, x: f.transpose(x, pattern)

    def make_slice(self):
        if not self.rank:
            return None
        index = tuple(
            self.among(slice(None), slice(1, None), slice(None, -1), slice(None, None, 2), slice(None, None, -1), slice(1, -1),
                       slice(-3, None), slice(None, None, 3), slice(None, None, -2))  # fmt: skip
            for _ in self.shape
        )
        return f"slice {index}", [self.p], lambda f, x: x[index]

    def make_concat(self):
        if not self.rank:
            return None
        axis, first = self.axis, self.among(0, 1, 2)

        def fits(x, y):
            return x.ndim == y.ndim and x.shape[:axis] == y.shape[:axis] and x.shape[axis + 1 :] == y.shape[axis + 1 :]

        others = [q for q in range(len(self.trials[0])) if all(fits(trial[self.p], trial[q]) for trial in self.trials)]
        picks = [self.p, *others[-2:]]

        def function(f, *parts):
            of = (lambda x: x, lambda x: x * 0.5 + 1.0, f.tanh)
            return f.concat([of[(first + i) % 3](part) for i, part in enumerate(parts)], axis=axis)

        return f"concat {axis} {first}", picks, function

    def make_stack(self):
        axis = int(self.rng.integers(0, self.rank + 1))
        return f"stack {axis}", [self.p, self.p], lambda f, x, y: f.stack([x, y * 0.5], axis=axis)

    def make_pad(self):
        if not self.rank:
            return None
        widths = tuple((int(self.rng.integers(0, 3)), int(self.rng.integers(0, 3))) for _ in self.shape)
        value = self.among(0.0, 1.5)
        return f"pad {widths} {value}", [self.p], lambda f, x: f.pad(x, widths, value)

    def make_order(self):
        if not self.rank:
            return None
        axis, shift = self.axis, int(self.rng.integers(-4, 5))
        name, function = self.among(
            (f"flip {axis}", lambda f, x: f.flip(x, axis)),
            (f"roll {shift} {axis}", lambda f, x: f.roll(x, shift, axis)),
            (f"cumsum {axis}", lambda f, x: f.cumsum(x, axis=axis) * 0.2),
            (f"softmax {axis}", lambda f, x: f.softmax(x, axis=axis)),
        )
        return name, [self.p], function

    def make_broadcast(self):
        if any(self.open):
            return None
        shape = (self.among(2, 3, 5), *self.shape)
        return f"broadcast {shape}", [self.p], lambda f, x: f.broadcast_to(x, shape)

    def make_product(self):
        if self.rank < 2 or self.open[-1]:
            return None
        weight, bias = self.numbers(self.among(*SIZES), self.shape[-1]), self.among(0.0, 0.25)
        return f"product {weight.shape} {bias}", [self.p], lambda f, x: f.matmul(x, f.transpose(f.constant(weight), (1, 0))) + bias

    def make_gram(self):
        if self.rank < 2:
            return None
        return "gram", [self.p], lambda f, x: f.matmul(x, f.swapaxes(x, -1, -2)) * 0.1

    def make_layer_norm(self):
        if not self.rank or self.open[-1] or self.shape[-1] < 2:
            return None
        return "layer_norm", [self.p], lambda f, x: f.layer_norm(x)

    def make_take(self):
        if not self.rank or self.open[self.axis]:
            return None
        axis, index = self.axis, self.rng.integers(0, self.shape[self.axis], self.among(1, 3, 5))
        return f"take {index} {axis}", [self.p], lambda f, x: f.take(x, f.constant(index), axis=axis)

    def make_image(self):
        """A convolution or a pool."""
        if self.rank != 4 or min(self.shape[2:]) < 3 or any(self.open[1:]):
            return None
        stride, kernel = self.among(1, 2), self.among(1, 2, 3)
        name = self.among("conv2d", "conv2d", "max_pool2d", "avg_pool2d")
        if name != "conv2d":
            return f"{name} {kernel} {stride}", [self.p], lambda f, x: getattr(f, name)(x, kernel, stride)
        groups = self.among(1, self.shape[1])
        weight = self.numbers(groups * self.among(1, 3, 8), self.shape[1] // groups, kernel, kernel)
        padding = self.among(0, kernel // 2)
        return (f"conv2d {weight.shape} {stride} {padding} {groups}", [self.p],
                lambda f, x: f.conv2d(x, weight, stride, padding, groups))  # fmt: skip



class RandomGraph:
    """A function of one to three tensors.

    Args:
        seed: of its shapes, steps and inputs.
        dtype: "float32" or "float64".
        sized: whether the first axis of the inputs, and what becomes of it, has an open length of 7 or more.
    """

    def __init__(self, seed, dtype, sized=False):
        self.seed, self.dtype, self.sized = seed, dtype, sized
        rng = np.random.default_rng(seed)
        ranks = rng.integers(0, 3, rng.integers(1, 3)) if sized else rng.integers(1, 5, rng.integers(1, 4))
        self.shapes = [tuple(rng.choice(SIZES if rank < 4 else SIZES[:7], rank).tolist()) for rank in ranks]
        if rng.integers(0, 3) == 0:  # an image
            self.shapes[0] = (*rng.choice(SIZES[:3], 1 if sized else 2).tolist(), *rng.choice(SIZES[4:8], 2).tolist())
        trials = [[each.astype("float64") for each in self.arrays(length)] for length in ((7, 12) if sized else (None,))]
        self.steps = []
        count, chooser = int(rng.integers(4, 20)), Chooser(rng, dtype, trials)
        for _ in range(20 * count):
            if len(self.steps) == count:
                break
            step = chooser.choose()
            if step is not None:
                self._try(step, trials)
        used = {operand for _, operands, _ in self.steps for operand in operands}
        self.outputs = [i for i in range(len(self.shapes), len(trials[0])) if i not in used][-3:]

    def _try(self, step, trials):
        """Adds a step whose values are some, not too many, and neither large nor undefined."""
        _, operands, function = step
        with np.errstate(all="ignore"):
            results = [np.asarray(function(REFERENCE, *(trial[i] for i in operands))) for trial in trials]
        if all(0 < each.size <= MOST_ELEMENTS and each.ndim <= 6 and np.abs(each).max() <= LARGEST_VALUE for each in results):
            self.steps.append(step)
            for trial, result in zip(trials, results):
                trial.append(result)

    def arrays(self, length=None):
        """Inputs; of a sized graph for that length."""
        rng = np.random.default_rng((self.seed, length or 0))
        lead = (length,) if self.sized else ()
        return [rng.standard_normal((*lead, *shape)).astype(self.dtype) for shape in self.shapes]

    def __call__(self, f, *inputs):
        values = list(inputs)
        for _, operands, function in self.steps:
            values.append(function(f, *(values[i] for i in operands)))
        return [values[i] for i in self.outputs]

    def __str__(self):
        first = len(self.shapes)
        lines = [f"inputs {self.shapes} {self.dtype}, outputs {self.outputs}"]
        return "\n".join(lines + [f"{first + i}: {text} of {operands}" for i, (text, operands, _) in enumerate(self.steps)])
