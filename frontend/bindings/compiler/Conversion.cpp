//===- Conversion.cpp - Python objects to the core's types and back -------===//

#include "frontend/bindings/compiler/Conversion.h"

#include "llvm/ADT/StringSet.h"

#include <cstring>

namespace ferrule::frontend::python {

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

namespace {

/// Python objects that live as long as the process.
struct Registered {
  py::dict errorClasses;
  py::object locationProvider = py::none();
};

Registered &getRegistered() {
  static auto *registered = new Registered;
  return *registered;
}

} // namespace

void setErrorClasses(py::dict classes) { getRegistered().errorClasses = std::move(classes); }

void setLocationProvider(py::object provider) { getRegistered().locationProvider = std::move(provider); }

std::string askLocation() {
  py::object &provider = getRegistered().locationProvider;
  if (provider.is_none())
    return "an unknown line";
  return py::str(provider());
}

void raise(llvm::Error error) {
  ErrorText text = takeErrorText(std::move(error));
  const char *name = getClassName(text.kind);
  py::dict &classes = getRegistered().errorClasses;
  py::object type =
      classes.contains(name) ? py::object(classes[name]) : py::reinterpret_borrow<py::object>(PyExc_RuntimeError);
  PyErr_SetObject(type.ptr(), py::str(text.message).ptr());
  throw py::error_already_set();
}

//===----------------------------------------------------------------------===//
// Element types and arrays
//===----------------------------------------------------------------------===//

DataType toDataType(py::handle dtype) {
  std::string name =
      py::isinstance<py::str>(dtype)
          ? std::string(py::str(dtype))
          : std::string(py::str(py::dtype::from_args(py::reinterpret_borrow<py::object>(dtype)).attr("name")));
  if (std::optional<DataType> type = parseDataType(name))
    return *type;
  raise(makeError(ErrorKind::DType, "dtype `" + name +
                                        "` is not one of bool, int8 to int64, uint8 to uint64, "
                                        "float16, bfloat16, float32, float64"));
}

py::dtype toNumPyType(DataType type) {
  // NumPy has no bfloat16 of its own.
  if (type == DataType::BFloat16)
    return py::dtype::from_args(py::module_::import("ml_dtypes").attr("bfloat16"));
  return py::dtype(getName(type).str());
}

/// The array's own memory, kept alive by it.
static std::shared_ptr<HostBuffer> borrowElements(py::array array, size_t byteSize) {
  void *data = const_cast<void *>(array.data());
  std::shared_ptr<void> owner(new py::array(std::move(array)), [](void *held) {
    py::gil_scoped_acquire acquire;
    delete static_cast<py::array *>(held);
  });
  return HostBuffer::borrow(data, byteSize, std::move(owner));
}

TensorRef toTensor(const py::array &array, SourceLocation location, bool borrow) {
  DataType type = toDataType(array.dtype());
  py::array dense = py::array::ensure(array, py::array::c_style);
  if (!dense)
    throw py::error_already_set();
  llvm::SmallVector<int64_t, 4> sizes(dense.shape(), dense.shape() + dense.ndim());
  size_t byteSize = dense.size() * getByteSize(type);
  // Kernels read elements where they are aligned; a program that is being recorded will have a copy of its own.
  bool isAligned = reinterpret_cast<uintptr_t>(dense.data()) % getByteSize(type) == 0;
  if (borrow && (isAligned || getFrontend().getTrace()))
    return std::make_shared<Tensor>(type, frontend::toShape(sizes), borrowElements(std::move(dense), byteSize),
                                    std::move(location));
  std::shared_ptr<HostBuffer> buffer = HostBuffer::allocate(byteSize);
  if (!buffer)
    throw std::bad_alloc();
  std::memcpy(buffer->data(), dense.data(), byteSize);
  return std::make_shared<Tensor>(type, frontend::toShape(sizes), std::move(buffer), std::move(location));
}

py::array toArray(const Tensor &tensor) {
  auto sizes = *getStaticSizes(tensor.getShape());
  std::vector<py::ssize_t> shape(sizes.begin(), sizes.end());
  // Without a base NumPy copies.
  return py::array(toNumPyType(tensor.getType()), shape, tensor.getBuffer()->data());
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

py::object toPython(const DimExpr &dim) {
  if (std::optional<int64_t> value = dim.getConstant())
    return py::int_(*value);
  return py::cast(dim);
}

py::tuple toPython(llvm::ArrayRef<DimExpr> shape) {
  py::tuple sizes(shape.size());
  for (size_t axis = 0; axis < shape.size(); ++axis)
    sizes[axis] = toPython(shape[axis]);
  return sizes;
}

bool isDim(py::handle object) {
  return py::isinstance<DimExpr>(object) || (PyIndex_Check(object.ptr()) && !py::isinstance<py::array>(object));
}

DimExpr toDim(py::handle object) {
  if (py::isinstance<DimExpr>(object))
    return object.cast<DimExpr>();
  py::object index = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
  if (!index)
    throw py::error_already_set();
  return index.cast<int64_t>();
}

Shape toShape(py::handle sequence) {
  if (isDim(sequence))
    return Shape{toDim(sequence)};
  Shape shape;
  for (py::handle size : py::iter(sequence))
    shape.push_back(toDim(size));
  return shape;
}

//===----------------------------------------------------------------------===//
// Operands and attributes
//===----------------------------------------------------------------------===//

namespace {

/// bool before int: Python's bool is an int. NumPy's float64 scalar is a float
/// and counts as Python's; other NumPy scalars are arrays with a dtype.
std::optional<Scalar> toScalar(py::handle object) {
  if (PyBool_Check(object.ptr()))
    return Scalar(object.cast<bool>());
  if (PyLong_Check(object.ptr()))
    return Scalar(object.cast<int64_t>());
  if (PyFloat_Check(object.ptr()))
    return Scalar(object.cast<double>());
  return std::nullopt;
}

bool holdsDims(llvm::StringRef name) {
  // Names of attributes that are #ferrule.dims.
  static const llvm::StringSet<> names{"shape", "input_shape", "weight_shape", "expr", "offsets",
                                       "k",     "size",        "starts",       "stops"};
  return names.contains(name);
}

/// Attributes that are f64 also where Python code writes an int.
bool holdsFloat(llvm::StringRef name) { return name == "eps" || name == "label_smooth"; }

AttributeValue toAttributeValue(llvm::StringRef name, py::handle object) {
  if (name == "dtype")
    return toDataType(object);
  if (holdsDims(name))
    return toShape(object);
  if (std::optional<Scalar> scalar = toScalar(object)) {
    if (holdsFloat(name))
      return object.cast<double>();
    return std::visit([](auto value) { return AttributeValue(value); }, *scalar);
  }
  if (py::isinstance<py::str>(object))
    return object.cast<std::string>();
  if (py::isinstance<py::array>(object))
    return toTensor(py::reinterpret_borrow<py::array>(object));
  return object.cast<std::vector<int64_t>>();
}

} // namespace

Operand toOperand(py::handle object) {
  if (object.is_none())
    return Absent();
  // No Python class derives from it.
  static const PyTypeObject *tensorType = reinterpret_cast<PyTypeObject *>(py::type::of<Tensor>().release().ptr());
  if (Py_TYPE(object.ptr()) == tensorType)
    return object.cast<TensorRef>();
  if (py::isinstance<DimExpr>(object))
    return object.cast<DimExpr>();
  if (std::optional<Scalar> scalar = toScalar(object))
    return *scalar;
  py::array array = py::array::ensure(object);
  if (!array)
    throw py::error_already_set();
  return toTensor(array);
}

llvm::SmallVector<OpAttribute, 4> toAttributes(const py::dict &attributes) {
  llvm::SmallVector<OpAttribute, 4> result;
  for (auto [key, value] : attributes)
    if (!value.is_none()) {
      std::string name = py::str(key);
      result.push_back({name, toAttributeValue(name, value)});
    }
  return result;
}

} // namespace ferrule::frontend::python
