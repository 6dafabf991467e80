"""What the artifact of MobileNetV2 adds to its weights: plan, names, lines and the code of one CPU level (docs/size.md)."""

import numpy as np
import pytest
from small_models import model, node, value

import ferrule.onnx

OVERHEAD_BYTES = 122_880
# expansion, channels, repeats, stride of the first: M. Sandler and others, "MobileNetV2: Inverted Residuals and Linear
# Bottlenecks" (2018), table 2.
STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


class Graph:
    """The network as exporters write it: norms folded into the convolutions, ReLU6 a Clip."""

    def __init__(self):
        self.nodes, self.stored, self.last = [], {"zero": np.float32(0), "six": np.float32(6)}, "image"
        self.random = np.random.default_rng(0)

    def add(self, operator, *inputs, **attributes):
        name = f"{operator.lower()}.{len(self.nodes)}"
        self.nodes.append(node(operator, " ".join(inputs), name, **attributes))
        self.last = name

    def convolution(self, channels, out_channels, kernel, stride=1, groups=1, activation=True):
        name, shape = f"conv{len(self.nodes)}", (out_channels, channels // groups, kernel, kernel)
        self.stored[f"{name}.weight"] = self.random.standard_normal(shape, dtype=np.float32)
        self.stored[f"{name}.bias"] = self.random.standard_normal(out_channels, dtype=np.float32)
        self.add(
            "Conv", self.last, f"{name}.weight", f"{name}.bias", kernel_shape=[kernel] * 2, strides=[stride] * 2,
            pads=[kernel // 2] * 4, group=groups,
        )  # fmt: skip
        if activation:
            self.add("Clip", self.last, "zero", "six")

    def inverted_residual(self, channels, out_channels, stride, expansion):
        source, wide = self.last, channels * expansion
        if expansion != 1:
            self.convolution(channels, wide, 1)
        self.convolution(wide, wide, 3, stride, groups=wide)
        self.convolution(wide, out_channels, 1, activation=False)
        if stride == 1 and channels == out_channels:
            self.add("Add", source, self.last)


def mobilenet_v2():
    """For one image of 224 x 224 and 1,000 classes."""
    graph, channels = Graph(), 32
    graph.convolution(3, channels, 3, 2)
    for expansion, out_channels, repeats, stride in STAGES:
        for i in range(repeats):
            graph.inverted_residual(channels, out_channels, stride if i == 0 else 1, expansion)
            channels = out_channels
    graph.convolution(channels, 1280, 1)
    graph.add("GlobalAveragePool", graph.last)
    graph.add("Flatten", graph.last)
    graph.stored["classes.weight"] = graph.random.standard_normal((1280, 1000), dtype=np.float32)
    graph.stored["classes.bias"] = graph.random.standard_normal(1000, dtype=np.float32)
    graph.add("Gemm", graph.last, "classes.weight", "classes.bias")
    return model(graph.nodes, [value("image", (1, 3, 224, 224))], [value(graph.last, (1, 1000))], graph.stored)


@pytest.mark.parametrize("target", ("x86-64-v3", "x86-64-v4", "aarch64", "aarch64-dotprod"))
def test_what_mobilenet_v2_adds_to_its_weights(target):
    sizes = ferrule.onnx.compile(mobilenet_v2(), targets=(target,)).sizes()
    assert sizes["weights"] > 13_900_000
    assert sizes["file"] - sizes["weights"] <= OVERHEAD_BYTES, sizes
