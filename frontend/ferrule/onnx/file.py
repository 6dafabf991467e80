"""Where the bytes of a model lie, and how its large arrays are read from there without a copy.

A model of hundreds of megabytes is mostly initializers. The protobuf library would copy each of them twice, so they are
taken out of the bytes before it parses these, and stand as views of the file instead. Everything else, and every message
about what is damaged, is the library's.

Wire format: https://protobuf.dev/programming-guides/encoding; field numbers: onnx.proto of the onnx package.
"""

import math
import mmap
import os

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import numpy_helper

from .. import _compiler
from ..errors import ModelError

# Arrays of fewer bytes are left to the library.
SMALLEST_VIEW = 4096

_GRAPH, _INITIALIZER = onnx.ModelProto.GRAPH_FIELD_NUMBER, onnx.GraphProto.INITIALIZER_FIELD_NUMBER
_DATA_TYPE, _RAW_DATA = onnx.TensorProto.DATA_TYPE_FIELD_NUMBER, onnx.TensorProto.RAW_DATA_FIELD_NUMBER
# The key of an entry of a tensor's external_data which says where in the file itself its bytes begin.
_WITHIN = "ferrule.within"
_EXTERNAL = onnx.TensorProto.EXTERNAL


class ModelFile:
    """A model before it is decoded.

    Args:
        source: a path, the bytes of a file, or an onnx.ModelProto.
        mapped: whether the arrays may be views of the file itself, which then must not change as long as they live.

    Attributes:
        proto: the ModelProto; its tensors' values are had from `array`.
        origin: the path, or what stands for it in messages.

    Raises:
        ModelError: the file is missing, or is no model.
    """

    def __init__(self, source, mapped=False):
        self._bytes = b""
        if isinstance(source, onnx.ModelProto):
            self.proto, self.origin = source, source.graph.name or "model"
            return
        self.origin = "model" if isinstance(source, bytes) else os.fspath(source)
        try:
            self._read(source, mapped)
        except FileNotFoundError as error:
            raise ModelError(f"{self.origin}: {error.strerror or error}") from None
        except DecodeError:
            raise ModelError(f"{self.origin}: no ONNX model, or damaged: the bytes are no ModelProto") from None
        except (OSError, ValueError) as error:
            raise ModelError(f"{self.origin}: cannot be read: {error}") from None

    def _read(self, source, mapped):
        if isinstance(source, bytes):
            self._bytes = source
        elif onnx.serialization.registry.get_format_from_file_extension(os.path.splitext(source)[1]) in (None, "protobuf"):
            with open(source, "rb") as file:
                whole = mapped and os.fstat(file.fileno()).st_size > 0
                self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if whole else file.read()
        else:
            self.proto = onnx.load(source, load_external_data=False)  # one of the text forms
            return
        self.proto = onnx.load_from_string(_without_arrays(memoryview(self._bytes)))

    def array(self, tensor):
        """The array of a TensorProto, read-only where it is a view; raises ModelError if its data do not fit its shape."""
        try:
            facts = {entry.key: entry.value for entry in tensor.external_data}
            if tensor.data_location == _EXTERNAL and _WITHIN in facts:
                return self._view(tensor, int(facts[_WITHIN]), int(facts["length"]))
            return numpy_helper.to_array(tensor, os.path.dirname(self.origin))
        except FileNotFoundError as error:
            raise ModelError(f"{self.origin}: {error.strerror or error}: {error.filename}") from None
        except (ValueError, TypeError, KeyError, OSError, onnx.checker.ValidationError) as error:
            raise ModelError(f"{self.origin}: the tensor {tensor.name!r} is damaged: {error}") from None

    def identity(self):
        """What tells the contents of a file that needs no other from different ones; else None."""
        beside = any(
            each.data_location == _EXTERNAL and all(entry.key != _WITHIN for entry in each.external_data)
            for each in self.proto.graph.initializer
        )
        return None if beside or not self._bytes else _compiler.hash_bytes(self._bytes)

    def _view(self, tensor, offset, size):
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
        count = math.prod(tensor.dims)
        if not 0 <= offset <= offset + size <= len(self._bytes):
            raise ValueError(f"its bytes are {offset} to {offset + size} of {len(self._bytes)}")
        if size != count * dtype.itemsize:
            raise ValueError(f"{size} bytes for {count} elements of {dtype.name}")
        return np.frombuffer(self._bytes, dtype, count, offset).reshape(tuple(tensor.dims))


def _without_arrays(data):
    """The bytes of the model with large initializers replaced by references into ``data``."""
    try:
        pieces = []
        for number, start, begin, end in _fields(data, 0, len(data)):
            pieces.append(_message(_GRAPH, _graph_without_arrays(data, begin, end)) if number == _GRAPH else data[start:end])
        return b"".join(pieces)
    except _DamagedError:
        return bytes(data)  # the library says so


def _graph_without_arrays(data, begin, end):
    pieces = []
    for number, start, inner, stop in _fields(data, begin, end):
        large = number == _INITIALIZER and stop - inner >= SMALLEST_VIEW
        pieces.append(_message(_INITIALIZER, _reference(data, inner, stop)) if large else data[start:stop])
    return b"".join(pieces)


def _reference(data, begin, end):
    """A TensorProto without its raw data, and with where they are."""
    pieces, raw, data_type = [], None, 0
    for number, start, inner, stop in _fields(data, begin, end):
        if number == _RAW_DATA:
            raw = inner, stop - inner
        else:
            pieces.append(data[start:stop])
        if number == _DATA_TYPE:
            data_type = _varint(data, inner, stop)[0]
    if raw is None or data_type not in _WHOLE_BYTES:
        return data[begin:end]
    entries = onnx.TensorProto(data_location=_EXTERNAL)
    for key, value in ((_WITHIN, raw[0]), ("length", raw[1])):
        entries.external_data.add(key=key, value=str(value))
    return b"".join([*pieces, entries.SerializeToString()])


# Types whose elements take whole bytes, in raw data as in NumPy's memory.
_WHOLE_BYTES = frozenset(
    getattr(onnx.TensorProto, name)
    for name in "FLOAT DOUBLE FLOAT16 BFLOAT16 INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64 BOOL".split()
)


class _DamagedError(Exception):
    """The bytes are no protobuf message."""


def _message(number, contents):
    return b"".join([_to_varint(number << 3 | 2), _to_varint(len(contents)), contents])


def _to_varint(value):
    text = bytearray()
    while value > 0x7F:
        text.append(value & 0x7F | 0x80)
        value >>= 7
    text.append(value)
    return bytes(text)


def _varint(data, at, end):
    value = shift = 0
    while True:
        if at >= end or shift > 63:
            raise _DamagedError
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _fields(data, at, end):
    """(number, start of the field, start and end of its value) of each field of a message."""
    while at < end:
        start = at
        key, at = _varint(data, at, end)
        kind = key & 7
        inner = at
        if kind == 2:
            size, inner = _varint(data, at, end)
            at = inner + size
        elif kind == 0:
            _, at = _varint(data, at, end)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise _DamagedError  # groups, which ONNX does not have
        if at > end:
            raise _DamagedError
        yield key >> 3, start, inner, at
