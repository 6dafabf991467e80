"""Inner loops of compiled kernels, and for 64-bit ARM how near llvm-mca's models of processors run them to the peak.

Nothing is executed: the loops are read out of the machine code in an artifact, so the figures are the same everywhere.
What the models leave out: caches, and branches that are guessed wrong.
"""

import pathlib
import re
import struct
import subprocess
import tempfile
from typing import NamedTuple

from . import kernel_jobs

TOOLS = pathlib.Path("/usr/lib/llvm-22/bin")
# Fused multiply-adds of vectors that a processor begins in a cycle, from Arm's software optimization guides.
FMA_PIPES = {"neoverse-n1": 2, "neoverse-v2": 4}
# Vector registers that it loads in a cycle, from the same guides.
LOAD_PIPES = {"neoverse-n1": 2, "neoverse-v2": 3}
CODE, DIRECTORY_ENTRY = 2, struct.Struct("<II32sQQ32s")
ITERATIONS = 400


class Loop(NamedTuple):
    """An innermost loop: the address of its first instruction in the image, and its instructions as text."""

    address: int
    instructions: tuple

    def count(self, pattern):
        """How many instructions match a regular expression from their start on."""
        return sum(re.match(pattern, each) is not None for each in self.instructions)

    def products(self):
        """Fused multiply-adds of vectors."""
        return self.count(r"fmla\s+v|vfn?madd\d+p[sd]\s")

    def loads(self):
        """Instructions that load vector registers, or single numbers into them."""
        return self.count(r"ldu?r\s+[qsd]\d") + self.count(r"ldn?p\s+[qsd]\d") + self.count(r"ld1r?\s")

    def registers_loaded(self):
        """The registers that these load: what passes through the load pipes."""
        several = sum(text.split("}")[0].count(",") for text in self.instructions if re.match(r"ld1\s+{", text))
        return self.loads() + self.count(r"ldn?p\s+[qsd]\d") + several

    def scalar_arithmetic(self):
        """Floating-point operations on one number."""
        return self.count(r"f(n?m(add|sub|ul)|add|sub|div|sqrt|max|min|abs|neg|rint\w|cvt\w+)\s+[sdh]\d")

    def vector_arithmetic(self):
        """Floating-point operations on vectors."""
        return self.count(r"f(ml[as]|mul|add|sub|div|sqrt|max|min|cm\w+)\s+v\d")

    def stack_accesses(self):
        """Loads and stores of spilled values."""
        return self.count(r"(ld|st)\w+\s.*\[sp|v\w+\s.*\(%r[sb]p")


def code_of(artifact, target):
    """The code image for a target.

    Args:
        artifact: bytes of a `.fer` file (docs/format.md).
        target: for example "aarch64".
    """
    count = struct.unpack_from("<I", artifact, 28)[0]
    offsets = struct.unpack_from(f"<{count}Q", artifact, 96)
    for number, offset in enumerate(offsets):
        kind, _, name, size, _, _ = DIRECTORY_ENTRY.unpack_from(artifact, 96 + 8 * count + DIRECTORY_ENTRY.size * number)
        if kind == CODE and name.rstrip(b"\0").decode() == target:
            return artifact[offset : offset + size]
    raise ValueError(f"the artifact has no code for {target}")


def disassemble(code, target="aarch64"):
    """[(address, text)] of an image; constants between the functions show as what they are not."""
    form, attributes, comment = "elf64-x86-64", [], "#"
    if target.startswith("aarch64"):
        form, attributes, comment = "elf64-littleaarch64", ["--mattr=+dotprod"], "//"
    with tempfile.TemporaryDirectory() as folder:
        raw, linked = pathlib.Path(folder, "code"), pathlib.Path(folder, "code.o")
        raw.write_bytes(code)
        subprocess.run(
            [TOOLS / "llvm-objcopy", "-I", "binary", "-O", form,
             "--rename-section", ".data=.text,alloc,load,code", raw, linked], check=True,
        )  # fmt: skip
        listing = subprocess.run(
            [TOOLS / "llvm-objdump", "-d", "-z", "--no-show-raw-insn", *attributes, linked],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
    lines = re.findall(r"^\s*([0-9a-f]+):\s+(.*)$", listing, re.MULTILINE)
    return [(int(address, 16), " ".join(text.split(comment)[0].split())) for address, text in lines]


def innermost_loops(code, target="aarch64"):
    """The loops of an image that no other lies in: what a branch backwards closes."""
    listing = disassemble(code, target)
    texts, places = [text for _, text in listing], {address: i for i, (address, _) in enumerate(listing)}
    spans = []
    for last, text in enumerate(texts):
        branch = re.match(r"(?:b(?:\.\w+)?|cbn?z|tbn?z|j\w+)\s.*?0x([0-9a-f]+) <", text)
        first = places.get(int(branch[1], 16)) if branch else None
        if first is not None and first < last and not any("<unknown>" in each or re.match("retq?$", each) for each in texts[first:last]):
            spans.append((first, last))
    inner = [a for a in spans if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in spans)]
    return [Loop(listing[first][0], tuple(texts[first : last + 1])) for first, last in inner]


def loops_of(job, target="aarch64"):
    """The innermost loops of an operation of `kernel_jobs`, compiled alone."""
    from .workers import kernels_ferrule  # needs the built package

    make = kernels_ferrule.matmul if job["kind"] == "matmul" else kernels_ferrule.convolution
    function, inputs, parameters = make(job, kernel_jobs.operands(job))
    return loops_of_function(function, [each.shape for each in inputs], parameters, target)


def loops_of_function(function, shapes, modules=None, target="aarch64"):
    """The innermost loops of all kernels of a function of float32 tensors."""
    import ferrule as fer

    program = fer.compile({"main": (function, [fer.Spec(shape) for shape in shapes])}, modules=modules, targets=(target,))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "loops.fer")
        program.save(path)
        return innermost_loops(code_of(path.read_bytes(), target), target)


def hottest(loops):
    """The loop with the most products: the tile of full height."""
    return max(loops, key=Loop.products)


class Run(NamedTuple):
    """How a processor's model runs a loop.

    Attributes:
        cycles: of one time around.
        bounds: cycles that no order of its instructions can do without: {"products": of the FMA pipes, "loads": of the load
            pipes, "instructions": to begin all of them}.
        share_of_peak: products in a cycle over what the FMA pipes can begin; 1 is the peak.
    """

    cycles: float
    bounds: dict
    share_of_peak: float

    @property
    def bound(self):
        """What bounds it: the name in `bounds` of the most cycles."""
        return max(self.bounds, key=self.bounds.get)

    @property
    def share_of_bound(self):
        """The cycles of its bound over those that it takes; 1: no order of these instructions is faster."""
        return self.bounds[self.bound] / self.cycles


def run_of(loop, processor):
    """The `Run` of a loop, by llvm-mca."""
    body = [re.sub(r"0x[0-9a-f]+ <.*>", "0", text) for text in loop.instructions]
    report = subprocess.run(
        [TOOLS / "llvm-mca", "-mtriple=aarch64-linux-gnu", f"-mcpu={processor}", f"-iterations={ITERATIONS}"],
        input="\n".join(body), check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    total = {name: int(re.search(rf"{name}:\s+(\d+)", report)[1]) for name in ("Total Cycles", "Total uOps", "Dispatch Width")}
    cycles = total["Total Cycles"] / ITERATIONS
    bounds = {
        "products": loop.products() / FMA_PIPES[processor],
        "loads": loop.registers_loaded() / LOAD_PIPES[processor],
        "instructions": total["Total uOps"] / ITERATIONS / total["Dispatch Width"],
    }
    return Run(cycles, bounds, bounds["products"] / cycles)


def share_of_peak(loop, processor):
    """Products in a cycle, by llvm-mca, over what the processor's pipes can begin; 1 is the peak."""
    return run_of(loop, processor).share_of_peak
