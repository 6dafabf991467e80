"""Runs ONNX Runtime without graph optimisations, in its own environment: ort_outputs.py MODEL INPUTS.npz OUTPUTS.npz."""

import sys

import numpy as np
import onnxruntime


def main():
    model, inputs, outputs = sys.argv[1:]
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_outputs()]
    np.savez(outputs, **dict(zip(names, session.run(names, dict(np.load(inputs))))))


if __name__ == "__main__":
    main()
