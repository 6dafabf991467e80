"""The examples' networks with the weights that torch began with (make_models.py)."""

import json
import pathlib

import gan
import gpt
import lenet
import mobilenet_v2
import numpy as np
import resnet18
import tagger
import transformer
from model_cases import class_count, initial_state

CURVES = np.load(pathlib.Path(__file__).resolve().parent / "models.npz")


def make(model, size):
    """The Example with torch's first weights."""
    width, batch = size.get("width"), size["batch"]
    if model == "lenet":
        example = lenet.make(max_batch=batch)
    elif model == "resnet18":
        example = resnet18.make(resnet18.ResNet18(width), batch, size["lr"])
    elif model == "mobilenet_v2":
        example = mobilenet_v2.make(mobilenet_v2.MobileNetV2(width), batch, size["lr"])
    elif model == "gan":
        example = gan.make(gan.Generator(width), gan.Discriminator(width), max_batch=batch)
    elif model == "tagger":
        example = tagger.make(tagger.Tagger(width), max_batch=batch, longest=size["longest"])
    elif model == "transformer":
        parts = size["width"], size["heads"], size["depth"], size["length"]
        example = transformer.make(transformer.Classifier(class_count(), *parts), batch, size["length"])
    else:
        parts = size["width"], size["heads"], size["depth"], size["length"]
        example = gpt.make(gpt.GPT(*parts), batch, size["length"])
    return example


def load_first_weights(example, model, size_name):
    shapes = json.loads(str(CURVES[f"{model}/{size_name}/shapes"]))
    for name, net in example.modules.items():
        net.load_state_dict(initial_state(shapes[name]))
