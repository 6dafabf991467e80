"""Tests written as .mlir files beside the code."""

def mlir_tests(name, srcs):
    """One Bazel test that runs lit on all of `srcs`.

    Args:
      name: the test's name.
      srcs: .mlir files with RUN lines; they may use ferrule-opt and LLVM's FileCheck and not.
    """
    native.sh_test(
        name = name,
        srcs = ["//codegen/tools:run_lit.sh"],
        args = ["$(location //codegen/tools:ferrule-opt)"] + ["$(location %s)" % src for src in srcs],
        data = srcs + [
            "//:lit.cfg.py",
            "//codegen/tools:ferrule-opt",
        ],
        size = "small",
    )
