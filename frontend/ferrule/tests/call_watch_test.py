"""Which functions a recording knows to have run: those of the user, wherever they are called from."""

import functools
import sys

import ferrule as fer
import ferrule.functional as F
import ferrule.module as M
import numpy as np
import pytest
from ferrule.jit import trace

factor = 2.0


def scaled(x, *_):
    return x * factor


def numbers():
    yield factor


class Table:
    def __getitem__(self, key):
        return key * factor


def by_hook(x):
    module = M.Identity()
    module.register_forward_hook(lambda _, __, y: scaled(y))
    return module(x)


PLACES = {
    "directly": scaled,
    "by a function of the standard library": lambda x: functools.reduce(scaled, (0,), x),
    "by a built-in": lambda x: next(iter(map(scaled, (x,)))),
    "by a hook": by_hook,
    "by a branch": lambda x: F.cond(x.sum() > 0, scaled, scaled, x),
    "by a partial function": lambda x: functools.partial(scaled)(x),
    "by a generator": lambda x: x * sum(numbers()),
    "by a subscript": lambda x: x * sum(Table()[1.0] for _ in range(100)) / 100.0,
}


@pytest.mark.parametrize("place", PLACES)
def test_a_function_is_known_wherever_it_is_called(monkeypatch, place):
    call = PLACES[place]

    @trace
    def f(x):
        return call(x)

    x = fer.tensor(np.ones(3, np.float32))
    for value in (2.0, 2.0, 5.0):
        monkeypatch.setitem(globals(), "factor", value)
        np.testing.assert_allclose(f(x).numpy(), np.full(3, value, np.float32), rtol=1e-6)
    assert f.capture_count == 2


def test_a_profile_function_goes_on_while_recording():
    seen = []

    def profile(frame, event, argument):
        if event == "call":
            seen.append(frame.f_code.co_name)

    @trace
    def f(x):
        return scaled(F.relu(x))

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        f(fer.tensor(np.ones(3, np.float32)))
        after = sys.getprofile()
    finally:
        sys.setprofile(before)
    assert after is profile
    assert {"f", "scaled", "relu", "as_handle"} <= set(seen)


def echoes():
    """What is thrown into it, once."""
    try:
        yield None
    except KeyError as error:
        yield error


def test_a_generator_that_began_before_is_thrown_into_while_recording():
    """Its function is seen first with an error set, which is no answer to what it is."""
    thrown, closed = echoes(), echoes()
    next(thrown), next(closed)

    @trace
    def f(x):
        closed.close()
        assert isinstance(thrown.throw(KeyError("label")), KeyError)
        return scaled(x)

    np.testing.assert_array_equal(f(fer.tensor(np.ones(3, np.float32))).numpy(), np.full(3, factor, np.float32))


def test_profiling_ends_with_the_recording_that_fails():
    @trace
    def f(x):
        raise KeyError(scaled.__name__)

    with pytest.raises(KeyError, match="scaled"):
        f(fer.tensor(np.ones(3, np.float32)))
    assert sys.getprofile() is None
