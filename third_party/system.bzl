"""Repositories made of what Debian's packages and the Python environment install."""

def _system_repository_impl(ctx):
    root = ctx.path(ctx.attr.path)
    for entry in root.readdir():
        ctx.symlink(entry, entry.basename)
    ctx.symlink(ctx.attr.build_file, "BUILD.bazel")

system_repository = repository_rule(
    implementation = _system_repository_impl,
    attrs = {"path": attr.string(mandatory = True), "build_file": attr.label(mandatory = True)},
    local = True,
)

def _python_repository_impl(ctx):
    venv = ctx.os.environ.get("FERRULE_VENV", ctx.os.environ.get("HOME", "") + "/.cache/ferrule/venv")
    python = venv + "/bin/python"
    query = "import pybind11, sysconfig; print(pybind11.get_include()); print(sysconfig.get_path('include'))"
    result = ctx.execute([python, "-c", query])
    if result.return_code != 0:
        fail("no Python environment with pybind11 at %s: run ./dev build once (%s)" % (venv, result.stderr))
    pybind11_include, python_include = result.stdout.strip().split("\n")
    ctx.symlink(pybind11_include, "pybind11_include")
    ctx.symlink(python_include, "python_include")
    ctx.symlink(ctx.attr.build_file, "BUILD.bazel")

python_repository = repository_rule(
    implementation = _python_repository_impl,
    attrs = {"build_file": attr.label(mandatory = True)},
    environ = ["FERRULE_VENV", "HOME"],
    local = True,
)
