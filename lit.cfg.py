"""lit: every .mlir file beside the code is a test whose RUN lines say what it runs.

    bazel test //...                                   all of them, a Bazel test a folder
    lit -v passes/autodiff                             by hand, after `bazel build //codegen/tools:ferrule-opt`
"""

import os

import lit.formats

config.name = "ferrule"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.environ.get("TEST_TMPDIR", os.path.join(config.test_source_root, "build", "lit"))

ferrule_opt = lit_config.params.get(
    "ferrule_opt", os.path.join(config.test_source_root, "bazel-bin", "codegen", "tools", "ferrule-opt"))
config.environment["PATH"] = os.pathsep.join(
    [os.path.dirname(os.path.abspath(ferrule_opt)), "/usr/lib/llvm-22/bin", os.environ.get("PATH", "/usr/bin:/bin")])
