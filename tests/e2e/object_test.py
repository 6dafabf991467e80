"""Programs as objects for a linker: a product without files, threads or executable memory of its own, on this machine and
under emulation, with the bits of a session."""

import pathlib
import subprocess

import numpy as np
import pytest

import ferrule as fer
import ferrule.module as M
from ferrule import errors
from ferrule.autodiff import GradManager
from ferrule.jit import trace
from ferrule.optimizer import SGD

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "runtime" / "examples" / "bare_metal"
STEPS = 20
# Of a target: what CMake builds with, the compiler and how its programs are run.
TOOLS = {
    "x86-64-v3": ([], "gcc", []),
    "aarch64": (
        [f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/runtime/cmake/aarch64-linux-gnu.cmake"],
        "aarch64-linux-gnu-gcc",
        ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
    ),
}


def run(*command, **options):
    """The text that a command prints."""
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, timeout=600, **options)
    assert done.returncode == 0, f"{command}: exit code {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout.strip()


def compiled(targets, emit):
    """train_step and predict of a small network, as runtime/examples/bare_metal/train.c has them."""
    fer.random.seed(11)
    net = M.Sequential(M.Linear(8, 16), M.ReLU(), M.Linear(16, 3))
    gradients, optimizer = GradManager().attach(net.parameters()), SGD(net.parameters(), lr=0.1, momentum=0.9)

    @trace(symbolic=True)
    def train_step(x, target):
        with gradients:
            loss = ((net(x) - target) ** 2).mean()
            gradients.backward(loss)
        optimizer.step().clear_grad()
        return loss

    predict = trace(lambda x: net(x), symbolic=True)
    x, target = fer.Spec((4, 8)), fer.Spec((4, 3))
    entries = {"train_step": (train_step, [x, target]), "predict": (predict, [x])}
    return fer.compile(entries, modules={"net": net, "optimizer": optimizer}, targets=targets, emit=emit)


@pytest.fixture(scope="module")
def expected():
    """The last loss and the prediction, by a session on this machine."""
    x = (np.arange(32, dtype=np.float32) % 7 / 8).reshape(4, 8)
    target = (np.arange(12, dtype=np.float32) % 5 / 4).reshape(4, 3)
    session = fer.Session(compiled(("x86-64-v3",), "artifact"), threads=1)
    for _ in range(STEPS):
        loss = session.run("train_step", x, target)[0]
    return [float(loss), *session.run("predict", x)[0].reshape(-1).tolist()]


@pytest.mark.parametrize("target", TOOLS)
def test_a_product_without_an_operating_system_trains(target, expected, tmp_path):
    options, compiler, emulator = TOOLS[target]
    compiled((target,), "object").save(tmp_path / "net.o")
    run("cmake", "-S", ROOT / "runtime", "-B", tmp_path / "build", "-DFERRULE_BARE_METAL=ON", "-DCMAKE_BUILD_TYPE=MinSizeRel",
        *options)  # fmt: skip
    run("cmake", "--build", tmp_path / "build", "-j2")
    run(compiler, "-O2", "-Wall", "-Wextra", f"-I{ROOT}", f"-I{tmp_path}", f"-I{EXAMPLE}", EXAMPLE / "train.c",
        EXAMPLE / "static_memory.c", tmp_path / "net.o", tmp_path / "build" / "libferrule_runtime.a", "-o",
        tmp_path / "train")  # fmt: skip
    lines = [line.split()[-1] for line in run(*emulator, tmp_path / "train").splitlines()]
    assert [float(np.float32(value)) for value in lines[:-1]] == expected
    # Kernels, metadata and weights are linked in; what a session needs besides is small.
    assert int(lines[-1]) < 64 * 1024, lines[-1]
    undefined = {line.split()[-1].split("@")[0] for line in run("nm", "-u", tmp_path / "train").splitlines()}
    assert not undefined & {"mmap", "mprotect", "open", "pthread_create"}, undefined


def test_what_an_object_holds(tmp_path):
    program = compiled(("x86-64-v3",), "object")
    program.save(tmp_path / "net.o")
    again = compiled(("x86-64-v3",), "object")
    again.save(tmp_path / "again.o")
    again.save_object(tmp_path / "third.o", name="net")
    assert (tmp_path / "third.o").read_bytes() == (tmp_path / "net.o").read_bytes()
    symbols = {line.split()[-1]: line.split()[-2] for line in run("nm", tmp_path / "net.o").splitlines() if len(line.split()) == 3}
    assert {"net_artifact", "net_artifact_size", "net_kernels", "net_kernel_count"} <= symbols.keys()
    kernels = [name for name, kind in symbols.items() if name.startswith("net.") and kind in "tT"]
    assert kernels, symbols
    undefined = [line for line in run("nm", "-u", tmp_path / "net.o").splitlines() if "_GLOBAL_OFFSET_TABLE_" not in line]
    assert not undefined
    assert "again_open(" in (tmp_path / "again.h").read_text()


def test_kernels_of_the_product_stay_with_it(tmp_path):
    op = fer.external_op("product.filter", lambda x: x)
    program = fer.compile({"f": (lambda x: op(x * 2), [fer.Spec((4,))])}, targets="aarch64", emit="object")
    program.save(tmp_path / "net.o")
    header = (tmp_path / "net.h").read_text()
    assert "product.filter" in header and "net_open" not in header


def test_refusals(tmp_path):
    with pytest.raises(errors.UnsupportedError, match="code for one target, not for aarch64, x86-64-v3"):
        compiled(("aarch64", "x86-64-v3"), "object")
    with pytest.raises(errors.UnsupportedError, match="'artifact' and 'object'"):
        compiled(("aarch64",), "elf")
    both = compiled(("x86-64-v3", "aarch64"), "artifact")
    with pytest.raises(errors.ArtifactError, match="give one of"):
        both.save_object(tmp_path / "net.o")
    with pytest.raises(errors.UnsupportedError, match="must be an identifier, not '2-d'"):
        both.save_object(tmp_path / "2-d.o", target="aarch64")
    both.save_object(tmp_path / "net.o", target="aarch64")
    assert "AArch64" in run("readelf", "-h", tmp_path / "net.o")
