"""A product in C for 64-bit ARM, built by CMake with the cross toolchain and run under qemu-user."""

import os
import pathlib
import subprocess

import numpy as np
import pytest

import ferrule as fer
from ferrule.jit import trace

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLCHAIN = ROOT / "runtime" / "cmake" / "aarch64-linux-gnu.cmake"
EXPECTED = "1 4 7 10"  # 2 x + w for x = 0, 1, 2, 3 and w = 1, 2, 3, 4


def run(*command, **options):
    """The text that a command prints."""
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, timeout=600, **options)
    assert done.returncode == 0, f"{command}: exit code {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout.strip()


def emulate(program, *arguments, page_bytes=4096):
    """Runs a program with pages of that size: what mmap and mprotect take."""
    return run("qemu-aarch64", "-p", page_bytes, "-L", "/usr/aarch64-linux-gnu", program, *arguments)


@pytest.fixture(scope="module")
def artifact(tmp_path_factory):
    """predict(x) = 2 x + w with code for both ARM levels."""
    w = fer.Parameter(np.array([1, 2, 3, 4], "float32"))

    @trace(symbolic=True)
    def predict(x):
        return x * 2 + w

    path = tmp_path_factory.mktemp("product") / "predict.fer"
    specs = [fer.Spec((1, 4))]
    fer.compile({"predict": (predict, specs)}, modules={"w": w}, targets=("aarch64", "aarch64-dotprod")).save(path)
    return path


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder in which CMake installed the runtime for ARM."""
    work = tmp_path_factory.mktemp("cmake")
    prefix = work / "installed"
    run("cmake", "-S", ROOT / "runtime", "-B", work / "build", f"-DCMAKE_TOOLCHAIN_FILE={TOOLCHAIN}",
        f"-DCMAKE_INSTALL_PREFIX={prefix}", "-DCMAKE_INSTALL_LIBDIR=lib", "-DCMAKE_BUILD_TYPE=MinSizeRel")  # fmt: skip
    run("cmake", "--build", work / "build", "-j2")
    run("cmake", "--install", work / "build")
    return prefix


def test_a_product_finds_the_package_and_predicts(installed, artifact, tmp_path):
    example = ROOT / "runtime" / "examples" / "cmake"
    run("cmake", "-S", example, "-B", tmp_path, f"-DCMAKE_TOOLCHAIN_FILE={TOOLCHAIN}", f"-DCMAKE_PREFIX_PATH={installed}")
    run("cmake", "--build", tmp_path)
    for program in ("predict_c", "predict_cpp"):
        assert "AArch64" in run("readelf", "-h", tmp_path / program)
        assert emulate(tmp_path / program, artifact) == EXPECTED


@pytest.fixture(scope="module")
def open_bytes(installed, tmp_path_factory):
    """The program open_bytes: it opens an artifact in memory, at an address of the caller's choice."""
    program = tmp_path_factory.mktemp("open_bytes") / "open_bytes"
    flags = run("pkg-config", "--cflags", "--libs", "ferrule",
                env={**os.environ, "PKG_CONFIG_PATH": str(installed / "lib" / "pkgconfig")}).split()  # fmt: skip
    source = ROOT / "tests" / "e2e" / "open_bytes.c"
    run("aarch64-linux-gnu-gcc", "-std=c99", "-D_POSIX_C_SOURCE=200112L", source, *flags, "-o", program)
    return program


@pytest.mark.parametrize("page_bytes", (4096, 65536))
@pytest.mark.parametrize("shift", (0, 1, 7, 64, 4095))
def test_an_artifact_lies_at_any_address(open_bytes, artifact, shift, page_bytes):
    assert emulate(open_bytes, artifact, shift, page_bytes=page_bytes) == EXPECTED


def test_the_library_of_an_android_app(artifact, tmp_path):
    """The example is built as an NDK would: one shared library that shows the app's functions and needs libc alone."""
    toolchain = ROOT / "tests" / "e2e" / "android_like.cmake"
    run("cmake", "-S", ROOT / "runtime" / "examples" / "android", "-B", tmp_path, f"-DCMAKE_TOOLCHAIN_FILE={toolchain}",
        "-DANDROID_ABI=arm64-v8a", "-DANDROID_PLATFORM=android-26", "-DCMAKE_BUILD_TYPE=MinSizeRel")  # fmt: skip
    run("cmake", "--build", tmp_path, "-j2")
    library = tmp_path / "libnet.so"
    exported = [line.split()[-1] for line in run("aarch64-linux-gnu-nm", "-D", "--defined-only", library).splitlines()]
    assert exported == ["net_close", "net_open", "net_predict"]
    dynamic = run("readelf", "-d", library)
    needed = {line.split("[")[1].rstrip("]") for line in dynamic.splitlines() if "NEEDED" in line}
    assert needed == {"libc.so.6", "ld-linux-aarch64.so.1"} or needed == {"libc.so.6"}, dynamic
    assert "0x4000" in run("readelf", "-lW", library)
    program = tmp_path / "load_net"
    run("aarch64-linux-gnu-gcc", "-Wall", "-Wextra", f"-I{ROOT}", ROOT / "tests" / "e2e" / "load_net.c", "-o", program, "-ldl")
    for page_bytes in (4096, 16384):
        assert emulate(program, library, artifact, page_bytes=page_bytes) == EXPECTED
