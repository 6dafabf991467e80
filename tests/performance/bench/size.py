"""Bytes to ship: the runtime, the artifacts, and what they add to the weights; the peers' libraries and files."""

import pathlib
import tempfile

from . import artifacts, models, tables
from . import options as command_line
from .harness import CACHE, ROOT, WorkerError, show
from .machine import OtherLoad

PEERS = {"ONNX Runtime": "onnxruntime", "OpenVINO": "openvino"}


def main(arguments):
    """The command `./dev bench size`."""
    parser = command_line.parser(__doc__, rounds=None, seconds=None, models=models.NAMES)
    options = command_line.parse(parser, "size", arguments)
    others, facts = OtherLoad(), []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.model:
            show(f"{name} is compiled")
            facts.append(measure(models.load(name), pathlib.Path(folder)))
    show("")
    share = others.share()
    caption = tables.caption(
        "Bytes; artifacts with code for this machine's CPU level.", {}, options.command, (0.0, 0.0)
    )
    lines = [caption, "", *runtime_table(), "", *model_table(facts)]
    lines += ["", *(f"- Fails: {each['model']}: {each['failure']}." for each in facts if "failure" in each)]
    command_line.publish_lines(options, "size", lines, facts, {}, share)


def measure(model, folder):
    """The sizes of one artifact, a dict."""
    artifact = folder / f"{model.name}.fer"
    found = {"model": model.name, "onnx": pathlib.Path(model.path).stat().st_size}
    try:
        compiled = artifacts.compile_model({"path": model.path, "shapes": model.shapes(), "artifact": str(artifact)})
    except WorkerError as error:
        return {**found, "failure": str(error)}
    artifact.unlink()
    sizes = compiled["sizes"]
    return {**found, "artifact": sizes["file"], "weights": sizes["weights"], "code": sizes["code"]}


def runtime_table():
    """What runs a model: `ferrule-run` and the Python extension, and the shared libraries of the peers' packages."""
    files = {
        "`ferrule-run`, stripped": ROOT / "build/bin/ferrule-run.stripped",
        "`_runtime.so`": ROOT / "build/python/ferrule/_runtime.so",
    }
    lines = [[f"Ferrule: {title}", _count(path.stat().st_size)] for title, path in files.items()]
    for title, package in PEERS.items():
        for folder in (CACHE / "peers" / "ort" / "lib").glob(f"python*/site-packages/{package}"):
            total = sum(
                path.stat().st_size for path in folder.rglob("*") if ".so" in path.name and not path.is_symlink()
            )
            lines.append([f"{title}: shared libraries of its Python package", _count(total)])
    return tables.markdown(["runtime", "bytes"], lines)


def model_table(facts):
    """Files of each model."""
    lines = []
    for each in facts:
        cells = [each.get(name) for name in ("onnx", "artifact", "weights", "code")]
        cells.append(each["artifact"] - each["weights"] if "artifact" in each else None)
        lines.append([each["model"], *map(_count, cells)])
    return tables.markdown(["model", "ONNX file", "artifact", "of it weights", "of it code", "all but weights"], lines)


def _count(value):
    return "-" if value is None else f"{value:,}"
