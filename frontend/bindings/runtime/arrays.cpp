#include "frontend/bindings/runtime/arrays.h"

#include <vector>

namespace py = pybind11;

namespace ferrule::python {
namespace {

constexpr uint8_t kInt = 0, kUnsigned = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6, kUnknown = 255;

// NumPy's kind letter and our code; the size is in bits on our side.
struct Kind {
  char letter;
  uint8_t code;
  const char* name;
};
constexpr Kind kKinds[] = {{'i', kInt, "int"},         {'u', kUnsigned, "uint"}, {'f', kFloat, "float"},
                           {'c', kComplex, "complex"}, {'b', kBool, "bool"}};

}  // namespace

std::string dtype_name(FerruleDataType dtype) {
  if (dtype.code == kBfloat) return "bfloat" + std::to_string(dtype.bits);
  for (const Kind& kind : kKinds)
    if (kind.code == dtype.code) return kind.code == kBool ? kind.name : kind.name + std::to_string(dtype.bits);
  return "unknown";
}

py::dtype to_numpy(FerruleDataType dtype) {
  if (dtype.code != kBfloat) return py::dtype(dtype_name(dtype));
  return py::dtype::from_args(py::module_::import("ml_dtypes").attr("bfloat16"));
}

FerruleDataType from_numpy(const py::dtype& dtype) {
  const auto bits = static_cast<uint8_t>(dtype.itemsize() * 8);
  for (const Kind& kind : kKinds)
    if (kind.letter == dtype.kind()) return {kind.code, bits, 1};
  if (py::str(dtype.attr("name")).cast<std::string>() == "bfloat16") return {kBfloat, 16, 1};
  return {kUnknown, bits, 1};
}

py::array contiguous(const py::handle& value) {
  if (!py::isinstance<py::array>(value)) throw py::type_error("a NumPy array is needed, not " + py::str(py::type::of(value)).cast<std::string>());
  py::array array = py::reinterpret_borrow<py::array>(value);
  if (!array.dtype().attr("isnative").cast<bool>())
    array = array.attr("astype")(array.dtype().attr("newbyteorder")("=")).cast<py::array>();
  return py::array::ensure(array, py::array::c_style);
}

FerruleTensor tensor_of(const py::array& array) {
  FerruleTensor tensor{};
  tensor.struct_size = sizeof(tensor);
  tensor.data = const_cast<void*>(array.data());
  tensor.byte_size = static_cast<uint64_t>(array.size()) * static_cast<uint64_t>(array.itemsize());
  tensor.dtype = from_numpy(array.dtype());
  tensor.rank = static_cast<uint32_t>(array.ndim());
  static_assert(sizeof(py::ssize_t) == sizeof(int64_t));
  tensor.shape = reinterpret_cast<const int64_t*>(array.shape());
  return tensor;
}

py::tuple shape_tuple(const int64_t* shape, uint32_t rank) {
  py::tuple result(rank);
  for (uint32_t axis = 0; axis < rank; ++axis) result[axis] = py::int_(shape[axis]);
  return result;
}

}  // namespace ferrule::python
