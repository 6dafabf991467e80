"""What the tests of branches and loops share: results in every mode, and gradients by differences."""

import numpy as np
from ferrule.jit import trace

import ferrule as fer


def flat(tree):
    """The tensors of a result as arrays."""
    if isinstance(tree, (tuple, list)):
        return [array for each in tree for array in flat(each)]
    return [] if tree is None else [tree.numpy()]


def everywhere(function, *arrays):
    """The results in dynamic mode, which must have the bits of the traced function and of a session of its artifact."""
    dynamic = flat(function(*map(fer.Tensor, arrays)))
    traced = flat(trace(function)(*map(fer.Tensor, arrays)))
    specs = [fer.Spec(array.shape, str(array.dtype)) for array in arrays]
    session = fer.Session(fer.compile({"main": (trace(function), specs)}))
    compiled = session.run("main", *arrays)
    for other in (traced, compiled):
        assert len(other) == len(dynamic)
        for a, b in zip(dynamic, other):
            assert a.dtype == b.dtype and a.shape == b.shape
            assert a.tobytes() == b.tobytes()
    return dynamic


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def central_difference(f, x, step=1e-6):
    """The gradient of a function to a float, from its values, in float64."""
    gradient = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        up, down = np.array(x), np.array(x)
        up[i] += step
        down[i] -= step
        gradient[i] = (f(up) - f(down)) / (2 * step)
    return gradient


def check_gradient(f, *arrays, wrt=0, tolerance=1e-6):
    """fer.grad of f against central differences, in dynamic mode and traced, with the same bits."""
    value = lambda x: float(f(*[fer.Tensor(x if i == wrt else a) for i, a in enumerate(arrays)]).item())  # noqa: E731
    expected = central_difference(value, arrays[wrt])
    gradient = everywhere(fer.grad(f, wrt), *arrays)[0]
    np.testing.assert_allclose(gradient, expected, rtol=tolerance, atol=tolerance)
    return gradient
