"""The node cases of ONNX's own test suite: models of one operator with inputs and expected outputs."""

import collections
import functools
import warnings

import numpy as np
import onnx
from onnx import numpy_helper


@functools.cache
def all_cases():
    """{name: case}; ONNX makes them when it is asked, which takes seconds."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {case.name: case for case in load_model_tests(kind="node")}


def operator_of(case):
    """The operator that a case is about: that of its only node, or of the function that was expanded to nodes."""
    return case.model.graph.node[0].op_type if len(case.model.graph.node) == 1 else case.name


def selection(count=2):
    """The first cases of each operator that is tested by models of one node."""
    found = collections.defaultdict(list)
    for case in all_cases().values():
        if len(case.model.graph.node) == 1:
            found[operator_of(case)].append(case.name)
    return [name for names in found.values() for name in names[:count]]


def _array(value):
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def check(case, backend):
    """Runs a case; raises AssertionError where dtype or shape differ, or values beyond the case's tolerance."""
    prepared = backend.prepare(case.model)
    for inputs, outputs in case.data_sets:
        results = prepared.run(list(inputs))
        assert len(results) == len(outputs)
        for result, output in zip(results, outputs):
            expected = _array(output)
            assert result.dtype == expected.dtype
            assert result.shape == expected.shape
            if expected.dtype.kind == "V":  # bfloat16 is no type of NumPy's own
                result, expected = result.astype(np.float64), expected.astype(np.float64)
            np.testing.assert_allclose(result, expected, rtol=case.rtol, atol=case.atol)
