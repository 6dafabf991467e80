"""``ferrule compile MODEL.onnx -o FILE.fer``: a model of another system to an artifact."""

import argparse
import json
import time

LEVELS = "x86-64-v3, x86-64-v4, aarch64, aarch64-dotprod"

_EPILOG = """\
Sizes that the model leaves open are Dims. A size is a number, or MIN:MAX, or MIN:MAX:MULTIPLE.

Examples:
  ferrule compile resnet50.onnx -o resnet50.fer
  ferrule compile detector.onnx -o detector.fer --shape image=1,3,640,640
  ferrule compile encoder.onnx -o encoder.fer --dim batch=1:32 --dim tokens=8:512:8
  ferrule compile resnet50.onnx -o resnet50.fer --memory-budget 6000000
  ferrule compile sensor.onnx -o sensor.o --emit object --target aarch64
  ferrule compile encoder.onnx -o encoder.fer --plan-at tokens=512 --target x86-64-v3 --target x86-64-v4"""


def add_arguments(commands):
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "compile",
        help="compile an ONNX model to an artifact",
        description="Compiles an ONNX model (opset 7 and later) to an artifact with the entry `main`.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", help="the model (.onnx)")
    parser.add_argument("-o", "--output", required=True, help="the artifact (.fer), or the object (.o)")
    parser.add_argument(
        "--shape", action="append", default=[], metavar="INPUT=SIZE,...", type=_shape, help="the shape of an input"
    )
    parser.add_argument(
        "--dim", action="append", default=[], metavar="NAME=SIZE", type=_dim, help="a dim that the model names"
    )
    size_help = "the size of a dim without a maximum that memory is planned for"
    parser.add_argument("--plan-at", action="append", default=[], metavar="DIM=SIZE", type=_plan, help=size_help)
    emit_help = "what to write: an artifact (default), or an object for a linker and its C header beside it, for one target"
    parser.add_argument("--emit", choices=("artifact", "object"), default="artifact", help=emit_help)
    parser.add_argument("--target", action="append", help=f"a CPU level: host (default), {LEVELS}")
    budget_help = "the most for the arena: bytes, or a part of what it takes otherwise, as 0.5"
    parser.add_argument("--memory-budget", metavar="BYTES|PART", type=_budget, help=budget_help)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def _named(text):
    name, equals, rest = text.partition("=")
    if not (name and equals and rest):
        raise argparse.ArgumentTypeError(f"{text!r}: NAME=... is needed")
    return name, rest


def _number(text):
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no size: a number is needed")
    return int(text)


def _size(name, text):
    """A number, or (name of the dim, min, max, multiple)."""
    parts = [_number(part) for part in text.split(":")]
    if len(parts) == 1:
        return parts[0]
    if len(parts) > 3:
        raise argparse.ArgumentTypeError(f"{text!r}: a size is a number, MIN:MAX or MIN:MAX:MULTIPLE")
    return (name, *parts)


def _shape(text):
    name, sizes = _named(text)
    return name, tuple(_size(f"{name}_{axis}", size) for axis, size in enumerate(sizes.split(",")))


def _dim(text):
    name, size = _named(text)
    return name, _size(name, size)


def _plan(text):
    name, size = _named(text)
    return name, _number(size)


def _budget(text):
    """Bytes as an int, a part as a float."""
    if text.isdecimal() and int(text) > 0:
        return int(text)
    try:
        part = float(text)
    except ValueError:
        part = 0.0
    if not 0 < part <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no budget: bytes, or a part above 0 and at most 1, are needed")
    return part


def _resolved(size):
    """A size with a Dim in place of its bounds."""
    from ..dims import Dim

    if isinstance(size, int):
        return size
    name, least, most, *multiple = size
    identifier = "".join(c if c.isascii() and c.isalnum() else "_" for c in name)
    identifier = identifier if identifier[0].isalpha() else f"dim_{identifier}"
    return Dim(identifier, min=least, max=most, multiple_of=multiple[0] if multiple else 1)


def run(options):
    """Compiles and saves; returns the exit code."""
    from .. import onnx

    shapes = {name: tuple(_resolved(size) for size in sizes) for name, sizes in options.shape}
    shapes.update((name, _resolved(size)) for name, size in options.dim)
    begin = time.perf_counter()
    program = onnx.compile(
        options.model,
        shapes=shapes,
        targets=options.target or ["host"],
        plan_at=dict(options.plan_at),
        memory_budget=options.memory_budget,
    )
    program.emit = options.emit
    program.save(options.output)
    seconds = time.perf_counter() - begin
    facts = {
        "output": options.output,
        "seconds": round(seconds, 3),
        "sizes": program.sizes(),
        "memory": program.memory("main"),
        **{kind: program.signature("main")[kind] for kind in ("inputs", "outputs", "dims")},
    }
    print(json.dumps(facts, indent=2) if options.json else _text(facts))
    return 0


def _text(facts):
    sizes = facts["sizes"]
    lines = [
        f"{facts['output']}: {sizes['file']:,} bytes (weights {sizes['weights']:,}, code {sizes['code']:,}), "
        f"memory {facts['memory']['peak']:,}, in {facts['seconds']:.1f} s"
    ]
    for kind in ("inputs", "outputs"):
        lines += [f"  {kind[:-1]:6} {t['name']}: {t['dtype']}{t['shape_text']}" for t in facts[kind]]
    return "\n".join(lines)
