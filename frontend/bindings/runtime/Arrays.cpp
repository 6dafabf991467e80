#include "frontend/bindings/runtime/Arrays.h"

#include <vector>

namespace py = pybind11;

namespace ferrule::python {
namespace {

constexpr uint8_t intCode = 0, unsignedCode = 1, floatCode = 2, bfloatCode = 4, complexCode = 5, boolCode = 6,
                  unknownCode = 255;

// NumPy's kind letter and our code; the size is in bits on our side.
struct Kind {
  char letter;
  uint8_t code;
  const char *name;
};
constexpr Kind kinds[] = {{'i', intCode, "int"},
                          {'u', unsignedCode, "uint"},
                          {'f', floatCode, "float"},
                          {'c', complexCode, "complex"},
                          {'b', boolCode, "bool"}};

} // namespace

std::string dtypeName(FerruleDataType dtype) {
  if (dtype.code == bfloatCode)
    return "bfloat" + std::to_string(dtype.bits);
  for (const Kind &kind : kinds)
    if (kind.code == dtype.code)
      return kind.code == boolCode ? kind.name : kind.name + std::to_string(dtype.bits);
  return "unknown";
}

py::dtype toNumpy(FerruleDataType dtype) {
  if (dtype.code != bfloatCode)
    return py::dtype(dtypeName(dtype));
  return py::dtype::from_args(py::module_::import("ml_dtypes").attr("bfloat16"));
}

FerruleDataType fromNumpy(const py::dtype &dtype) {
  const auto bits = static_cast<uint8_t>(dtype.itemsize() * 8);
  for (const Kind &kind : kinds)
    if (kind.letter == dtype.kind())
      return {kind.code, bits, 1};
  if (py::str(dtype.attr("name")).cast<std::string>() == "bfloat16")
    return {bfloatCode, 16, 1};
  return {unknownCode, bits, 1};
}

py::array contiguous(const py::handle &value) {
  if (!py::isinstance<py::array>(value))
    throw py::type_error("a NumPy array is needed, not " + py::str(py::type::of(value)).cast<std::string>());
  py::array array = py::reinterpret_borrow<py::array>(value);
  if (!array.dtype().attr("isnative").cast<bool>())
    array = array.attr("astype")(array.dtype().attr("newbyteorder")("=")).cast<py::array>();
  return py::array::ensure(array, py::array::c_style);
}

FerruleTensor tensorOf(const py::array &array) {
  FerruleTensor tensor{};
  tensor.struct_size = sizeof(tensor);
  tensor.data = const_cast<void *>(array.data());
  tensor.byte_size = static_cast<uint64_t>(array.size()) * static_cast<uint64_t>(array.itemsize());
  tensor.dtype = fromNumpy(array.dtype());
  tensor.rank = static_cast<uint32_t>(array.ndim());
  static_assert(sizeof(py::ssize_t) == sizeof(int64_t));
  tensor.shape = reinterpret_cast<const int64_t *>(array.shape());
  return tensor;
}

py::tuple shapeTuple(const int64_t *shape, uint32_t rank) {
  py::tuple result(rank);
  for (uint32_t axis = 0; axis < rank; ++axis)
    result[axis] = py::int_(shape[axis]);
  return result;
}

} // namespace ferrule::python
