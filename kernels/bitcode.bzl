"""Builds the skeletons with clang: to bitcode for the compiler, to native objects for tests and benchmarks."""

# What each target's code may use. Vectors of 512 bits must be asked for, else LLVM stays at 256.
TARGET_FLAGS = {
    "x86-64-v3": "-target x86_64-linux-gnu -march=x86-64-v3",
    "x86-64-v4": "-target x86_64-linux-gnu -march=x86-64-v4 -mprefer-vector-width=512",
    "aarch64": "-target aarch64-linux-gnu -march=armv8-a -ffixed-x18",
}

# Freestanding and without builtins: no call to memset or libm may appear. One rounding per written operation.
# Integer arithmetic wraps. The loop and SLP vectorisers stay off because the code is written in vectors already.
_FLAGS = " ".join([
    "-std=c++17 -O2 -fPIC -fvisibility=hidden -ffreestanding -fno-builtin -ffp-contract=off -fno-math-errno",
    "-fno-exceptions -fno-rtti -fno-vectorize -fno-slp-vectorize -fno-asynchronous-unwind-tables",
    "-fno-stack-protector -fwrapv -Wall -Wextra -Werror -Wno-psabi -Wno-pass-failed -iquote .",
])

_CLANG = "@llvm//:bin/clang"

def _output(name, src, extension):
    return "%s/%s%s" % (name, src.split(":")[-1].split("/")[-1].replace(".cpp", ""), extension)

def _flat(label):
    return label.replace("//kernels/", "").replace(":", "_").replace("/", "_").replace(".cpp", "")

def kernel_bitcode(name, srcs, hdrs, targets):
    """One bitcode module a target, and an object that holds its bytes between ferrule_bitcode_TARGET and ..._end.

    -flto=thin stops before the late module passes, so that questions like __builtin_constant_p stay open until the
    shapes are known; the summary it adds is dropped. FERRULE_LATE_INLINE (base/define.h) becomes always_inline here.
    """
    objects = []
    for target in targets:
        prefix = name + "_" + target
        parts = []
        for src in srcs:
            part = prefix + "/" + _flat(src) + ".bc"
            native.genrule(
                name = prefix + "_" + _flat(src),
                srcs = [src] + hdrs,
                outs = [part],
                cmd = "$(execpath %s) %s %s -flto=thin -emit-llvm -c $(execpath %s) -o $@" %
                      (_CLANG, _FLAGS, TARGET_FLAGS[target], src),
                exec_tools = [_CLANG],
            )
            parts.append(part)
        native.genrule(
            name = prefix + "_module",
            srcs = parts,
            outs = [prefix + ".bc"],
            cmd = "$(execpath @llvm//:bin/llvm-link) $(SRCS) -S -o - | " +
                  "sed -e '/^\\^[0-9]* = /d' -e '/^attributes /s/ noinline / alwaysinline /' | " +
                  "$(execpath @llvm//:bin/llvm-as) -o $@",
            exec_tools = ["@llvm//:bin/llvm-link", "@llvm//:bin/llvm-as"],
        )
        symbol = "ferrule_bitcode_" + target.replace("-", "_")
        native.genrule(
            name = prefix + "_object",
            srcs = [prefix + ".bc"],
            outs = [prefix + ".o"],
            cmd = " ".join([
                "printf '.section .rodata\\n.balign 16\\n.globl {s}\\n.globl {s}_end\\n{s}:\\n",
                ".incbin \"%s\"\\n{s}_end:\\n.section .note.GNU-stack,\"\",@progbits\\n' $(execpath {p}.bc) |",
                "$(execpath {c}) -x assembler -c - -o $@",
            ]).format(s = symbol, p = prefix, c = _CLANG),
            exec_tools = [_CLANG],
        )
        objects.append(prefix + ".o")
    native.filegroup(name = name, srcs = objects, visibility = ["//visibility:private"])

def kernel_objects(name, srcs, hdrs, target, prefix):
    """Native objects of the skeletons for one target, every symbol carrying `prefix`."""
    outs = []
    for src in srcs:
        out = name + "/" + _flat(src) + ".o"
        native.genrule(
            name = name + "_" + _flat(src),
            srcs = [src] + hdrs,
            outs = [out],
            cmd = "$(execpath %s) %s %s '-DFERRULE_SYMBOL(name)=%s##name' -c $(execpath %s) -o $@" %
                  (_CLANG, _FLAGS, TARGET_FLAGS[target], prefix, src),
            exec_tools = [_CLANG],
        )
        outs.append(out)
    native.filegroup(name = name, srcs = outs)

def kernel_static_object(name, src, hdrs, target, prefix):
    """An object of functions that call skeletons with constants, made by the steps that codegen takes.

    `src` names its functions FERRULE_STATIC_NAME(x), which become PREFIX_static_x.
    """
    module = "//kernels:bitcode_objects_%s.bc" % target
    native.genrule(
        name = name,
        srcs = [src, module] + hdrs,
        outs = [name + ".o"],
        cmd = " ".join([
            "t=$$(mktemp -d); $(execpath {clang}) {flags} {target} -flto=thin -emit-llvm",
            "'-DFERRULE_STATIC_NAME(name)={prefix}static_##name' -c $(execpath {src}) -o $$t/caller.bc &&",
            "$(execpath @llvm//:bin/llvm-link) --only-needed --internalize $$t/caller.bc $(execpath {module}) -o $$t/all.bc &&",
            "$(execpath @llvm//:bin/opt) -O2 --vectorize-loops=false --vectorize-slp=false $$t/all.bc -o $$t/optimised.bc &&",
            "$(execpath @llvm//:bin/llc) -O2 -relocation-model=pic -filetype=obj $$t/optimised.bc -o $@; s=$$?; rm -r $$t; exit $$s",
        ]).format(clang = _CLANG, flags = _FLAGS, target = TARGET_FLAGS[target], prefix = prefix, src = src, module = module),
        exec_tools = [_CLANG, "@llvm//:bin/llvm-link", "@llvm//:bin/opt", "@llvm//:bin/llc"],
    )
