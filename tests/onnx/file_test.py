"""Arrays of a model file: views of its bytes, equal to what the onnx package reads; damage has its message."""

import numpy as np
import onnx
import pytest
import small_models
from onnx import numpy_helper

import ferrule.onnx
from ferrule.errors import ModelError
from ferrule.onnx.file import SMALLEST_VIEW, ModelFile

DTYPES = ("float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")


def model_of(arrays):
    """The bytes of a model that stores the arrays."""
    node = small_models.node("Relu", "x", "y")
    proto = small_models.model([node], [small_models.value("x", [1])], [small_models.value("y", [1])], stored=arrays)
    return proto.SerializeToString()


def arrays_of(file):
    return {each.name: file.array(each) for each in file.proto.graph.initializer}


@pytest.mark.parametrize("source", ("bytes", "path", "mapped"))
def test_views_hold_what_the_package_reads(tmp_path, source):
    arrays = {
        f"{dtype} {count}": (np.arange(count) % 2 if dtype == "bool" else np.arange(count) % 100).astype(dtype)
        for dtype in DTYPES
        for count in (0, 1, 3, SMALLEST_VIEW, SMALLEST_VIEW + 1)
    }
    arrays["matrix"] = np.arange(6000, dtype=np.float32).reshape(60, 100)
    contents = model_of(arrays)
    path = tmp_path / "model.onnx"
    path.write_bytes(contents)
    file = ModelFile(contents if source == "bytes" else path, mapped=source == "mapped")
    found, wanted = arrays_of(file), {t.name: numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer}
    assert found.keys() == wanted.keys() == arrays.keys()
    for name, array in found.items():
        assert array.dtype == wanted[name].dtype and array.shape == wanted[name].shape
        np.testing.assert_array_equal(array, wanted[name])
    large = found["matrix"]
    assert not large.flags.owndata and not large.flags.writeable


def test_what_is_no_array_stays():
    contents = model_of({"w": np.ones(SMALLEST_VIEW, np.float32)})
    left = ModelFile(contents).proto
    whole = onnx.load_from_string(contents)
    for proto in (left, whole):
        del proto.graph.initializer[:]
    assert left == whole


def test_another_size_than_the_shape_has_is_damage():
    proto = onnx.load_from_string(model_of({"w": np.ones(SMALLEST_VIEW, np.float32)}))
    proto.graph.initializer[0].dims[0] += 1
    file = ModelFile(proto.SerializeToString())
    with pytest.raises(ModelError, match=r"the tensor 'w' is damaged: 16384 bytes for 4097 elements of float32"):
        file.array(file.proto.graph.initializer[0])


def test_a_reference_out_of_the_file_is_damage():
    """A file may carry such a reference itself."""
    proto = onnx.load_from_string(model_of({"w": np.ones(3, np.float32)}))
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, number in (("ferrule.within", 10**9), ("length", 12)):
        tensor.external_data.add(key=key, value=str(number))
    file = ModelFile(proto.SerializeToString())
    with pytest.raises(ModelError, match="the tensor 'w' is damaged: its bytes are 1000000000 to 1000000012 of"):
        file.array(file.proto.graph.initializer[0])


def test_cut_files_are_damage(tmp_path):
    contents = model_of({"w": np.ones(SMALLEST_VIEW, np.float32)})
    path = tmp_path / "cut.onnx"
    refused = 0
    for size in range(1, len(contents), 97):
        path.write_bytes(contents[:size])
        try:
            ferrule.onnx.compile(path)
        except ModelError:
            refused += 1
    assert refused >= len(range(1, len(contents), 97)) - 1
