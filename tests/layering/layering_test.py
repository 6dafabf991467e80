"""Which folder may reach which: the runtime half never reaches the compiler half, MLIR, LLVM or Python."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What each folder's sources may include of the project's own folders (docs/architecture.md).
ALLOWED = {
    "kernels": {"kernels"},
    "serialize": {"serialize"},
    "runtime": {"runtime", "serialize", "kernels"},
    "ir": {"ir"},
    "passes": {"passes", "ir", "kernels", "runtime"},
    "codegen": {"codegen", "passes", "ir", "kernels", "serialize"},
}
# Of another folder only these parts.
NARROW = {
    ("runtime", "kernels"): ("kernels/base/",),
    ("runtime", "serialize"): ("serialize/schema/", "serialize/dump/"),
    ("passes", "runtime"): ("runtime/memory/planner/",),
    ("codegen", "serialize"): ("serialize/writer/", "serialize/schema/"),
}
FOREIGN = ("mlir/", "llvm/", "lld/", "pybind11/", "Python.h")
RUNTIME_HALF = ("kernels", "serialize", "runtime")
SYSTEM_LIBRARIES = {"ld-linux-x86-64.so.2", "libc.so.6", "libm.so.6", "libpthread.so.0", "libstdc++.so.6", "libgcc_s.so.1"}


def includes(folder):
    """(file, included path) of every quoted include, and of every foreign one in angle brackets."""
    for path in sorted((ROOT / folder).rglob("*")):
        is_test = path.stem.endswith("_test") or path.stem.startswith("test_") or {"testing", "fuzz", "sanitize"} & set(path.parts)
        if path.suffix in (".h", ".hpp", ".cpp", ".inc") and not is_test:
            for included in re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', path.read_text(encoding="utf-8"), re.MULTILINE):
                yield path.relative_to(ROOT), included


@pytest.mark.parametrize("folder", ALLOWED)
def test_includes(folder):
    wrong = []
    for path, included in includes(folder):
        top = included.split("/", 1)[0]
        if top in ALLOWED or top == "frontend":
            narrow = NARROW.get((folder, top))
            if top not in ALLOWED[folder] or (narrow and not included.startswith(narrow)):
                wrong.append(f"{path} includes {included}")
        if folder in RUNTIME_HALF and included.startswith(FOREIGN):
            wrong.append(f"{path} includes {included}")
    assert not wrong, "\n".join(wrong)


COMPILER_HALF = "^(@llvm|@python|//(ir|passes|codegen|frontend/core|frontend/bindings/compiler))"
PRODUCT_TARGETS = 'kind("cc_(library|binary)", //runtime/...) except attr("testonly", 1, //runtime/...)'


def dependencies(targets, pattern):
    """The labels on which `targets` (a query expression) depend and that match `pattern`, in Bazel's own words."""
    query = f'filter("{pattern}", deps({targets}))'
    done = subprocess.run(["bazel", "query", query], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_no_target_of_the_runtime_depends_on_the_compiler():
    """Bazel's own answer: also what a dependency brings along."""
    assert dependencies(PRODUCT_TARGETS, COMPILER_HALF) == []
    assert "//serialize/schema:schema" in dependencies(PRODUCT_TARGETS, "^//serialize")
    # The question bites: the runtime's tests build their kernels with clang.
    assert "@llvm//:bin/clang" in dependencies("//runtime/testing:all", COMPILER_HALF)


def test_the_python_runtime_module_reaches_python_and_nothing_of_the_compiler():
    module = "//frontend/bindings/runtime:_runtime.so"
    assert dependencies(module, COMPILER_HALF.replace("|@python", "")) == []


@pytest.mark.parametrize("binary", ("build/bin/ferrule-run", "build/python/ferrule/_runtime.so"))
def test_linked_libraries(binary):
    listing = subprocess.run(["readelf", "--dynamic", "--wide", ROOT / binary], capture_output=True, text=True, check=True).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(.+)\]", listing))
    assert needed <= SYSTEM_LIBRARIES, needed - SYSTEM_LIBRARIES


def test_running_an_artifact_from_python_loads_no_compiler(digits_artifact):
    code = f"""if True:
        import numpy as np, ferrule as fer
        fer.Session(fer.load({str(digits_artifact)!r})).run("predict", np.zeros((1, 1, 8, 8), np.float32))
        maps = open("/proc/self/maps").read()
        print([name for name in ("libLLVM", "libMLIR", "_compiler") if name in maps])
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
