"""The ONNX models that `peer_models.py` made, and inputs for them."""

import json
from typing import NamedTuple

from .harness import CACHE, System

# Who runs them.
SYSTEMS = {
    "ferrule": System("Ferrule", "ferrule", "infer_ferrule"),
    "ort": System("ONNX Runtime", "peers", "infer_ort"),
    "openvino": System("OpenVINO", "peers", "infer_openvino"),
}
FOLDER = CACHE / "models"
NAMES = (
    "resnet50", "mobilenet_v2", "efficientnet_b0", "vit_b_16", "minilm_l6", "gpt2_s64", "lstm2",
    "ocr_det", "ocr_rec", "ocr_cls", "magika",
)  # fmt: skip


class Model(NamedTuple):
    """A file and its inputs, {name: {"shape", "dtype"}}."""

    name: str
    path: str
    inputs: dict

    def batch(self, size):
        """The same model with another size of the first axis of every input; for files that leave it open."""
        inputs = {name: {**each, "shape": [size, *each["shape"][1:]]} for name, each in self.inputs.items()}
        return self._replace(inputs=inputs)

    def shapes(self):
        """{name: shape} of the inputs."""
        return {name: each["shape"] for name, each in self.inputs.items()}


def load(name):
    """The Model of one of NAMES."""
    listed = json.loads((FOLDER / "list.json").read_text(encoding="utf-8"))
    return Model(name, str(FOLDER / f"{name}.onnx"), listed[name])


def make_inputs(model):
    """{name: array}: seeded normal numbers for images, small integers for bytes and tokens, a mask of ones."""
    import numpy as np

    random, arrays = np.random.default_rng(0), {}
    for name, each in model.inputs.items():
        shape, dtype = each["shape"], np.dtype(each["dtype"])
        if "mask" in name:
            arrays[name] = np.ones(shape, dtype)
        elif dtype.kind == "f":
            arrays[name] = random.standard_normal(shape).astype(dtype)
        else:
            arrays[name] = random.integers(0, 200, shape).astype(dtype)
    return arrays


def make_job(model, folder):
    """What every system is told about a model; the inputs go to files in the folder."""
    import numpy as np

    arrays = make_inputs(model)
    np.savez(folder / f"{model.name}.npz", **arrays)
    files = {name: folder / f"{model.name}.{name}.npy" for name in arrays}
    for name, array in arrays.items():
        np.save(files[name], array)
    return {
        "path": model.path,
        "shapes": model.shapes(),
        "inputs": str(folder / f"{model.name}.npz"),
        "input_files": {name: str(path) for name, path in files.items()},
        "artifact": str(folder / f"{model.name}.fer"),
    }
