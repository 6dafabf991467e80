"""Kernels for 64-bit ARM, judged by their machine code: how near the FMA peak their inner loops run in llvm-mca's models
of two processors, and that no inner loop works on single numbers or moves lanes one by one."""

import functools
import struct

import pytest
from bench import inner_loops, kernel_jobs
from bench.inner_loops import FMA_PIPES, Loop

import ferrule.functional as F

SHARE_OF_PEAK = 0.9
JOBS = {kernel_jobs.name(job): job for job in kernel_jobs.load() if not kernel_jobs.is_depthwise(job)}
# A part of every group of shapes: products of many rows and of four, of operands that lie the other way round or whose rows
# follow one another; convolutions of each kernel size, at widths that fill 6 rows and at 7; three channels.
NEAR_PEAK = [
    "128x3072x768 bias relu",
    "4x768x768",
    "768x768x512 left transposed",
    "512x768x3072 two values",
    "128x128x64 right transposed",
    "3x3 64->64 at 56",
    "3x3 128->128 at 28",
    "3x3 512->512 at 7",
    "7x7 /2 3->64 at 224",
]


def branch(*instructions):
    return Loop(0, (*instructions, "b.ne 0x0 <.text>"))


def test_the_share_of_a_chain():
    # One product after the other: a sum takes 4 cycles on a Neoverse N1, which could begin 2 products in each.
    chain = branch("fmla v0.4s, v1.4s, v2.s[0]")
    assert inner_loops.share_of_peak(chain, "neoverse-n1") == pytest.approx(1 / 8, rel=0.05)


def test_the_share_of_independent_products():
    wide = branch(*(f"fmla v{i}.4s, v30.4s, v31.4s" for i in range(24)))
    assert inner_loops.share_of_peak(wide, "neoverse-v2") == pytest.approx(1, rel=0.05)


def test_what_bounds_a_loop():
    """On a Neoverse N1, which multiplies two vectors, loads two registers and begins three instructions in a cycle; its model
    takes a load of one register for two."""
    products = [f"fmla v{i}.4s, v30.4s, v31.4s" for i in range(24)]
    run = inner_loops.run_of(branch(*products), "neoverse-n1")
    assert run.bound == "products" and run.bounds["products"] == 12 and run.share_of_bound >= 0.95
    loads = [f"ldr q{i}, [x0, #{16 * i}]" for i in range(24)]
    run = inner_loops.run_of(branch(*loads), "neoverse-n1")
    assert run.bounds["loads"] == 12 and run.bounds["instructions"] == pytest.approx((2 * 24 + 1) / 3)
    assert run.bound == "instructions" and run.share_of_peak == 0
    # One after the other: bounded by none of these.
    run = inner_loops.run_of(branch(*["fmla v0.4s, v30.4s, v31.4s"] * 24), "neoverse-n1")
    assert run.share_of_bound < 0.5


def test_registers_loaded():
    loop = branch("ldp q0, q1, [x0]", "ldr q2, [x1], #16", "ldur s3, [x2, #-4]", "ld1r { v4.4s }, [x3]", "ldr x5, [x6]")
    assert loop.loads() == 4 and loop.registers_loaded() == 5
    several = ("ld1 { v0.4s, v1.4s, v2.4s, v3.4s }, [x1], #64", "ld1 { v4.4s, v5.4s }, [x0]", "ld1 { v6.s }[1], [x2]")
    loop = branch(*several)
    assert loop.loads() == 3 and loop.registers_loaded() == 7


def test_a_loop_says_what_it_holds():
    loop = branch("ldr q0, [sp, #16]", "fadd s1, s2, s3", "fmla v0.4s, v1.4s, v2.4s", "fadd v0.4s, v1.4s, v2.4s")
    assert (loop.products(), loop.scalar_arithmetic(), loop.stack_accesses()) == (1, 1, 1)


def test_innermost_loops_are_found():
    # 0: nop; 4: add; 8: b.ne 4; 12: b.ne 0; 16: ret
    words = (0xD503201F, 0x11000400, 0x54FFFFE1, 0x54FFFFA1, 0xD65F03C0)
    (loop,) = inner_loops.innermost_loops(struct.pack("<5I", *words))
    assert loop.address == 4 and len(loop.instructions) == 2


@pytest.mark.parametrize("name", NEAR_PEAK)
def test_tiles_run_near_the_peak(name):
    loop = inner_loops.hottest(inner_loops.loops_of(JOBS[name]))
    assert loop.products() >= 64 and loop.stack_accesses() == 0
    shares = {processor: inner_loops.share_of_peak(loop, processor) for processor in FMA_PIPES}
    assert all(share >= SHARE_OF_PEAK for share in shares.values()), shares


@pytest.mark.parametrize(
    ("name", "least"),
    [("1x768x768", 0.75), ("1x768x3072", 0.8)],
)
def test_what_is_far_from_the_peak_is_near_its_bound(name, least):
    """One row: more instructions a product than begin in a cycle."""
    loop = inner_loops.hottest(inner_loops.loops_of(JOBS[name]))
    runs = {processor: inner_loops.run_of(loop, processor) for processor in FMA_PIPES}
    assert all(run.share_of_bound >= least for run in runs.values()), runs


@pytest.mark.parametrize("name", ["3x3 128->128 at 28", "3x3 512->512 at 7"])
def test_tiles_at_the_border_run_as_those_inside(name):
    """A tap that misses some rows of a tile takes four channels at a time, too. One by one it ran at 0.61 of the peak on N1."""
    loops = sorted(inner_loops.loops_of(JOBS[name]), key=Loop.products)[-4:]
    for loop in loops:
        assert loop.products() >= 48 and loop.stack_accesses() == 0
        assert min(inner_loops.share_of_peak(loop, processor) for processor in FMA_PIPES) >= 0.8


EPILOGUES = {"silu": F.silu, "tanh": F.tanh, "gelu": F.gelu, "softplus": F.softplus}
PRODUCTS = {
    "product": (F.matmul, [(64, 48), (48, 96)]),
    "convolution": (lambda x, w: F.conv2d(x, w, None, 1, 1), [(1, 16, 28, 28), (96, 16, 3, 3)]),
}


@functools.cache
def loops_of_product(kind, target, follow=F.relu):
    """The innermost loops of a product with something after it."""
    function, shapes = PRODUCTS[kind]
    return inner_loops.loops_of_function(lambda x, w: follow(function(x, w)), shapes, target=target)


@pytest.mark.parametrize("target", ["x86-64-v4", "x86-64-v3", "aarch64"])
@pytest.mark.parametrize("kind", PRODUCTS)
@pytest.mark.parametrize("name", EPILOGUES)
def test_an_epilogue_leaves_the_sums_in_their_registers(name, kind, target):
    """The constants of a polynomial once took the registers of the sums (x86-64-v4): 1x1 80->480 at 14 with silu 0.25 ms
    rather than 0.17, on one core of an AMD EPYC."""
    tile = inner_loops.hottest(loops_of_product(kind, target))
    assert tile.products() >= 8 and tile.stack_accesses() == 0
    # Loops with as many products are its tiles too; the others are the epilogue's.
    loops = loops_of_product(kind, target, EPILOGUES[name])
    tiles = [loop for loop in loops if loop.products() == tile.products()]
    assert tiles and all(loop.stack_accesses() == 0 for loop in tiles)


SEVERAL_TILES = {
    "nothing": (lambda x, w: F.conv2d(x, w), [(1, 48, 56, 56), (64, 48, 1, 1)]),
    "an image": (lambda x, w, y: F.relu(F.conv2d(x, w) + y), [(1, 48, 56, 56), (64, 48, 1, 1), (1, 64, 56, 56)]),
}


@pytest.mark.parametrize("target", ["x86-64-v4", "x86-64-v3", "aarch64"])
@pytest.mark.parametrize("added", SEVERAL_TILES)
def test_tiles_of_one_height_are_one_loop(added, target):
    """Where no tap lies outside, the first tile of a row is as the others; and what is fetched while a tile sums needs no
    second loop. Each was code of its own once: 144->24 at 56 with a sum took 5.7 KB on x86-64-v4, and takes 1.6."""
    function, shapes = SEVERAL_TILES[added]
    loops = inner_loops.loops_of_function(function, shapes, target=target)
    most = inner_loops.hottest(loops).products()
    assert most >= 8 and len([loop for loop in loops if loop.products() == most]) == 1


FAMILIES = {
    "elementwise": (lambda a, b: F.relu(a * b + a), [(64, 100), (64, 100)]),
    "exponential": (F.exp, [(64, 100)]),
    "sum of rows": (lambda a: F.sum(a, axis=1), [(64, 100)]),
    "sum of columns": (lambda a: F.sum(a, axis=0), [(64, 100)]),
    "maximum of rows": (lambda a: F.max(a, axis=1), [(64, 100)]),
    "softmax": (lambda a: F.softmax(a, axis=1), [(64, 100)]),
    "layer norm": (lambda a: F.nn.layer_norm(a, (100,), False), [(64, 100)]),
    "average pooling": (lambda a: F.avg_pool2d(a, 2, 2), [(1, 20, 14, 14)]),
    "maximum pooling": (lambda a: F.max_pool2d(a, 3, 2, 1), [(1, 20, 14, 14)]),
    "attention": (
        lambda q, k, v: F.matmul(F.softmax(F.matmul(q, k, transpose_b=True) * 0.125, axis=-1), v),
        [(4, 100, 64)] * 3,
    ),
}


def scalar_loops(loops):
    """Loops that compute with single numbers and not with vectors."""
    return [loop for loop in loops if loop.scalar_arithmetic() and not loop.vector_arithmetic()]


@pytest.mark.parametrize("family", FAMILIES)
def test_no_inner_loop_works_on_single_numbers(family):
    function, shapes = FAMILIES[family]
    loops = inner_loops.loops_of_function(function, shapes)
    assert any(loop.vector_arithmetic() for loop in loops) and not scalar_loops(loops)
    # Masked loads that were not expanded would read lane by lane; a tail has one lane at most.
    assert all(loop.count(r"(ld1|st1)\s.*\}\[") <= 2 for loop in loops)


TRANSPOSED = {
    "matrix": (lambda a: F.transpose(a, (1, 0)), [(128, 96)]),
    "matrix with edges": (lambda a: F.transpose(a, (1, 0)), [(100, 51)]),
    "around a pooling": (lambda a: F.max_pool2d(a, 3, 2, 1), [(1, 64, 56, 56)]),
}


@pytest.mark.parametrize("what", TRANSPOSED)
def test_a_transposed_square_stays_in_registers(what):
    """A square of 16 x 16 takes twice the registers that there are; in one piece, 50 of 300 instructions were for the stack."""
    function, shapes = TRANSPOSED[what]
    loops = inner_loops.loops_of_function(function, shapes)
    assert any(loop.count(r"(zip|trn)[12]\s") >= 32 for loop in loops)
    assert not any(loop.stack_accesses() for loop in loops)


@pytest.mark.parametrize("name", ["depthwise 3x3 32->32 at 112", "7x7 /2 3->64 at 224"])
def test_no_inner_loop_of_a_convolution_works_on_single_numbers(name):
    job = next(job for job in kernel_jobs.load() if kernel_jobs.name(job) == name)
    assert not scalar_loops(inner_loops.loops_of(job))
