"""Cases of convolutions and pools over 1 to 3 axes of space, and of products; values by loops over windows."""

import numpy as np

NAN, INF = np.nan, np.inf


def add_cases(case):
    products(case)
    x, w = np.arange(32.0).reshape(1, 2, 4, 4), np.arange(12.0).reshape(3, 2, 1, 2) - 4
    convolutions(case, x, w, dict(strides=[2, 1], pads_begin=[0, 1], pads_end=[0, 0], dilations=[1, 1], groups=1))
    x, w = np.arange(28.0).reshape(1, 4, 7) % 5 - 2, np.arange(12.0).reshape(2, 2, 3) - 4
    convolutions(case, x, w, dict(strides=[1], pads_begin=[1], pads_end=[2], dilations=[2], groups=2))
    x, w = np.arange(96.0).reshape(2, 2, 2, 3, 4) % 7 - 3, np.arange(24.0).reshape(3, 2, 2, 1, 2) % 5 - 2
    window = dict(strides=[1, 2, 1], pads_begin=[1, 0, 0], pads_end=[0, 0, 1], dilations=[1, 1, 2], groups=1)
    convolutions(case, x, w, window)
    depthwise(case)

    x = np.array([[[[1.0, 5.0, 2.0], [5.0, 0.0, -1.0], [3.0, 4.0, 4.0]]]])
    pools(case, x, dict(kernel=[2, 2], strides=[1, 1], pads_begin=[0, 0], pads_end=[0, 1]))
    pools(case, x, dict(kernel=[2, 2], strides=[1, 1], pads_begin=[1, 0], pads_end=[1, 0], dilations=[2, 1]))
    pools(case, x, dict(output_sizes=[2, 1]))
    line = np.array([[[4.0, -1.0, 2.0, 2.0, 7.0], [0.5, 3.0, 3.0, -2.0, 1.0]]])
    pools(case, line, dict(kernel=[3], strides=[2], pads_begin=[1], pads_end=[1]))
    pools(case, line, dict(output_sizes=[7]))
    volume = (np.arange(36.0) * 7 % 13).reshape(1, 1, 3, 3, 4)
    pools(case, volume, dict(kernel=[2, 1, 2], strides=[1, 2, 2], pads_begin=[0, 0, 1], pads_end=[1, 0, 1]))
    pools(case, volume, dict(output_sizes=[2, 3, 1]))
    # NaN wins from either side; a window wholly in padding has no element.
    window = dict(kernel=[2], strides=[1], pads_begin=[0], pads_end=[0])
    case("max_pool", [np.array([[[1.0, NAN, 9.0, 2.0]]])], [np.array([[[NAN, NAN, 9.0]]])], **window)
    case("max_pool", [np.array([[[-0.0, 0.0, -INF]]])], [np.array([[[0.0, 0.0]]])], **window)


def products(case):
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4) - 5
    case("matmul", [a, b], [a @ b])
    case("matmul", [a.T, b.T], [a @ b], transpose_a=True, transpose_b=True)
    batch = np.arange(24.0).reshape(4, 3, 2) % 5 - 2
    case("matmul", [batch, batch], [batch.transpose(0, 2, 1) @ batch], transpose_a=True)
    case("matmul", [np.zeros((2, 0)), np.zeros((0, 3))], [np.zeros((2, 3))])
    rows, weights = np.arange(38.0).reshape(2, 19) % 7 - 3, np.arange(38.0).reshape(2, 19) % 5 - 2
    case("dot", [rows, weights], [(rows * weights).sum(1)])
    case("dot", [np.zeros((3, 0)), np.zeros((3, 0))], [np.zeros(3)])
    # One rounding: (1 + 2^-12)^2 - 1 as one product in a lane that holds -1 (lane 0 takes the elements 0 and 16).
    e = 1 + 2.0**-12
    first, second = np.zeros(17), np.zeros(17)
    first[[0, 16]], second[[0, 16]] = [-1.0, e], [1.0, e]
    case("dot", [first, second], [np.array(2.0**-11 + 2.0**-24)])


def taps_of(size, window, axis, output):
    """The positions that one output of one axis reads, in order; None for one in the padding."""
    if "output_sizes" in window:
        count = window["output_sizes"][axis]
        return list(range(output * size // count, -(-(output + 1) * size // count)))
    first = output * window["strides"][axis] - window["pads_begin"][axis]
    step = window.get("dilations", [1] * 3)[axis]
    positions = [first + tap * step for tap in range(window["kernel"][axis])]
    return [position if 0 <= position < size else None for position in positions]


def output_shape(shape, window):
    if "output_sizes" in window:
        return tuple(window["output_sizes"])
    dilations = window.get("dilations", [1] * len(shape))
    rooms = [
        size + begin + end - dilation * (kernel - 1) - 1
        for size, begin, end, dilation, kernel in zip(
            shape, window["pads_begin"], window["pads_end"], dilations, window["kernel"]
        )
    ]
    return tuple(room // stride + 1 for room, stride in zip(rooms, window["strides"]))


def windows(shape, window):
    """Output index, and (kernel index, input index or None) of its taps in scan order."""
    for output in np.ndindex(*output_shape(shape, window)):
        axes = [taps_of(size, window, axis, o) for axis, (size, o) in enumerate(zip(shape, output))]
        taps = []
        for kernel in np.ndindex(*map(len, axes)):
            position = tuple(taps_on_axis[k] for taps_on_axis, k in zip(axes, kernel))
            taps.append((kernel, None if None in position else position))
        yield output, taps


def convolutions(case, x, w, window):
    """The convolution and its two gradients, for a cotangent of small integers."""
    taps = list(windows(x.shape[2:], dict(window, kernel=list(w.shape[2:]))))
    groups = window["groups"]
    y = np.zeros((x.shape[0], w.shape[0], *output_shape(x.shape[2:], dict(window, kernel=list(w.shape[2:])))))
    dy = np.arange(float(y.size)).reshape(y.shape) % 9 - 4
    dx, dw = np.zeros(x.shape), np.zeros(w.shape)
    inputs, outputs = w.shape[1], w.shape[0] // groups
    for g in range(groups):
        i, o = slice(g * inputs, (g + 1) * inputs), slice(g * outputs, (g + 1) * outputs)
        for output, reads in taps:
            for kernel, position in reads:
                if position is None:
                    continue
                weight, at, to = (o, slice(None), *kernel), (slice(None), i, *position), (slice(None), o, *output)
                y[to] += x[at] @ w[weight].T
                dx[at] += dy[to] @ w[weight]
                dw[weight] += dy[to].T @ x[at]
    case("convolution", [x, w], [y], **window)
    case("convolution_input_gradient", [dy, w], [dx], input_shape=list(x.shape), **window)
    case("convolution_weight_gradient", [x, dy], [dw], weight_shape=list(w.shape), **window)


def depthwise(case):
    """As many groups as channels: 19 are a vector of 16 lanes and 3 more; images have 1 to 3 axes of space."""
    x, w = np.arange(19 * 30.0).reshape(1, 19, 5, 6) % 11 - 5, np.arange(19 * 9.0).reshape(19, 1, 3, 3) % 7 - 3
    convolutions(case, x, w, dict(strides=[1, 1], pads_begin=[1, 1], pads_end=[1, 1], dilations=[1, 1], groups=19))
    convolutions(case, x, w, dict(strides=[2, 2], pads_begin=[0, 1], pads_end=[2, 0], dilations=[1, 2], groups=19))
    x, w = np.arange(48.0).reshape(2, 3, 8) % 5 - 2, np.arange(12.0).reshape(3, 1, 4) - 4
    convolutions(case, x, w, dict(strides=[3], pads_begin=[2], pads_end=[1], dilations=[1], groups=3))
    x, w = np.arange(72.0).reshape(1, 2, 3, 3, 4) % 7 - 3, np.arange(16.0).reshape(2, 1, 2, 2, 2) % 5 - 2
    window = dict(strides=[1, 2, 1], pads_begin=[1, 0, 0], pads_end=[0, 1, 1], dilations=[1, 1, 2], groups=2)
    convolutions(case, x, w, window)
    # Two output channels an input channel are a grouped convolution like any other.
    x, w = np.arange(36.0).reshape(1, 3, 3, 4) % 5 - 2, np.arange(24.0).reshape(6, 1, 2, 2) % 7 - 3
    convolutions(case, x, w, dict(strides=[1, 1], pads_begin=[0, 0], pads_end=[0, 1], dilations=[1, 1], groups=3))


def pools(case, x, window):
    """Both pools and their gradients."""
    shape = x.shape[2:]
    largest, total = (np.zeros((*x.shape[:2], *output_shape(shape, window))) for _ in range(2))
    present, whole = np.zeros(largest.shape), np.zeros(largest.shape)
    v = np.arange(float(x.size)).reshape(x.shape) % 11 - 5
    dy = np.arange(1.0, largest.size + 1).reshape(largest.shape)
    selected, dmax, dpresent, dwhole = np.zeros(largest.shape), *(np.zeros(x.shape) for _ in range(3))
    for n, c in np.ndindex(*x.shape[:2]):
        for output, taps in windows(shape, window):
            at, inside = (n, c, *output), [(n, c, *position) for _, position in taps if position is not None]
            best = max(inside, key=lambda position: x[position])  # The first of the largest.
            largest[at], selected[at], total[at] = x[best], v[best], sum(x[position] for position in inside)
            present[at], whole[at] = len(inside), len(taps)
            dmax[best] += dy[at]
            for position in inside:
                dpresent[position] += dy[at] / present[at]
                dwhole[position] += dy[at] / whole[at]
    case("max_pool", [x], [largest], **window)
    case("max_pool_gradient", [x, dy], [dmax], **window)
    case("max_pool_select", [x, v], [selected], **window)
    for include, counts, gradient in ((True, whole, dwhole), (False, present, dpresent)):
        case("avg_pool", [x], [total / counts], 1e-6, count_include_pad=include, **window)
        shaped = dict(window, count_include_pad=include, input_shape=list(x.shape))
        case("avg_pool_gradient", [dy], [gradient], 1e-6, **shaped)
