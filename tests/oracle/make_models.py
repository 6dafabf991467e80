"""Writes models.npz: the losses of the examples' networks in torch, to compare Ferrule with.

    ~/.cache/ferrule/torch/bin/python tests/oracle/make_models.py      (that environment: `./dev bench` makes it)

For each case of model_cases.py, from the same weights and data: MODEL/SIZE/float64 and MODEL/SIZE/float32, the losses
[steps, losses a step] of torch in both precisions; the distance of the two says how far rounding alone goes. And
MODEL/SIZE/shapes, JSON: {network: {parameter: shape}}, from which initial_state makes the weights.
"""

import argparse
import json
import pathlib
import sys

import numpy as np
import torch

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[1] / "frontend" / "examples"))

from model_cases import SIZES, batches_of, class_count, initial_state
from models_torch import (
    GPT,
    Adversaries,
    Discriminator,
    Generator,
    LeNet,
    MobileNetV2,
    ResNet18,
    Tagger,
    Trainer,
    Transformer,
    as_tensors,
    classify,
    classify_each,
)


def make_trainer(model, size, dtype):
    torch.set_default_dtype(dtype)
    sgd = lambda lr, **options: lambda parameters: torch.optim.SGD(parameters, lr, momentum=0.9, **options)
    adam = lambda lr: lambda parameters: torch.optim.Adam(parameters, lr)
    if model == "lenet":
        return Trainer(LeNet(), sgd(0.05), classify)
    if model == "resnet18":
        return Trainer(ResNet18(size["width"]), sgd(size["lr"], weight_decay=5e-4), classify)
    if model == "mobilenet_v2":
        return Trainer(MobileNetV2(size["width"]), sgd(size["lr"]), classify)
    if model == "gan":
        return Adversaries(Generator(size["width"]), Discriminator(size["width"]))
    if model == "tagger":
        return Trainer(Tagger(size["width"]), adam(3e-3), classify_each)
    parts = size["width"], size["heads"], size["depth"], size["length"]
    if model == "transformer":
        return Trainer(Transformer(class_count(), *parts), adam(1e-3), classify)
    adamw = lambda parameters: torch.optim.AdamW(parameters, 1e-3, weight_decay=0.01)
    return Trainer(GPT(*parts), adamw, classify_each)


def shapes_of(net):
    return {n: tuple(t.shape) for n, t in net.state_dict().items() if not n.endswith("num_batches_tracked")}


def losses_of(trainer, model, size, dtype):
    for net in trainer.nets.values():
        state = {name: torch.from_numpy(value).to(dtype) for name, value in initial_state(shapes_of(net)).items()}
        net.load_state_dict(state, strict=False)
        net.train()
    return np.array([trainer.step(as_tensors(batch, dtype)) for batch in batches_of(model, size)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=list(SIZES), help="which to make anew (default: all)")
    parser.add_argument("--size", choices=("small", "full"), help="only this size")
    arguments = parser.parse_args()
    path = FOLDER / "models.npz"
    results = dict(np.load(path)) if path.exists() else {}
    results["versions"] = np.array([f"torch {torch.__version__}", f"numpy {np.__version__}"])
    for model in arguments.models:
        for size_name, size in SIZES[model].items():
            if arguments.size not in (None, size_name):
                continue
            for dtype in (torch.float64, torch.float32):
                trainer = make_trainer(model, size, dtype)
                shapes = {name: shapes_of(net) for name, net in trainer.nets.items()}
                results[f"{model}/{size_name}/shapes"] = np.array(json.dumps(shapes))
                losses = losses_of(trainer, model, size, dtype)
                results[f"{model}/{size_name}/{str(dtype).removeprefix('torch.')}"] = losses
                print(model, size_name, dtype, losses[0], losses[-1], flush=True)
            apart = np.abs(results[f"{model}/{size_name}/float64"] - results[f"{model}/{size_name}/float32"]).max()
            print(f"{model} {size_name}: float32 is {apart:.2e} from float64", flush=True)
            np.savez_compressed(path, **results)


if __name__ == "__main__":
    main()
