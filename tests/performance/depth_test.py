"""What compiling costs grows with the depth of a net no faster than the net itself, and its code does not grow at all."""

import time

import pytest
from bench import frontend as bench

BLOCKS = {
    "dense": (lambda: bench.Dense(32), (8, 32)),
    "convolutional": (lambda: bench.Convolutional(16), (2, 16, 8, 8)),
    "transformer": (lambda: bench.Attention(32, 2), (2, 8, 32)),
}


def compiled(name, depth):
    make, shape = BLOCKS[name]
    return bench.compile_training(bench.Stack(make, depth), shape, bench.sgd)


@pytest.mark.parametrize("name", BLOCKS)
def test_equal_blocks_share_their_code(name):
    """One kernel for a dispatch, however often it stands in the net: the blocks at the ends of a stack differ from those
    in between, and one more of these adds no code."""
    few, many = compiled(name, 12).sizes(), compiled(name, 48).sizes()
    # Another order of a deeper net may need a kernel less.
    assert 0.9 * few["code"] <= many["code"] <= few["code"]


@pytest.mark.parametrize("name", BLOCKS)
def test_compile_time_is_linear_in_depth(name):
    """200 blocks against 20 take at most 12 times the processor time, the best of three tries."""

    def ratio():
        taken = []
        for depth in (20, 200):
            start = time.process_time()
            compiled(name, depth)
            taken.append(time.process_time() - start)
        return taken[1] / taken[0]

    ratios = []
    while not ratios or (min(ratios) > 12 and len(ratios) < 3):
        ratios.append(ratio())
    assert min(ratios) <= 12, ratios
