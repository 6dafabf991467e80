//===- Conversion.cpp - Python objects to the core's types and back -------===//

#include "frontend/bindings/compiler/Conversion.h"

#include "frontend/bindings/compiler/UserCode.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSwitch.h"

#include <cstring>

namespace ferrule::frontend::python {

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

namespace {

/// Python objects that live as long as the process.
struct Registered {
  py::dict errorClasses;
};

Registered &getRegistered() {
  static auto *registered = new Registered;
  return *registered;
}

} // namespace

void setErrorClasses(py::dict classes) { getRegistered().errorClasses = std::move(classes); }

UserLine getUserLine() {
  UserLine line = findUserLine();
  if (!line.text)
    throw py::error_already_set();
  return line;
}

std::string describeUserLine() { return getUserLine().location.str(); }

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

PyObject *getPythonName(DataType type) {
  static auto *names = new llvm::SmallDenseMap<unsigned, PyObject *>;
  PyObject *&name = (*names)[static_cast<unsigned>(type)];
  if (!name)
    name = PyUnicode_InternFromString(getName(type).str().c_str());
  return name;
}

namespace {

/// As toDataType, without a look at the name for the types that NumPy numbers.
DataType getType(const py::array &array) {
  py::dtype dtype = array.dtype();
  switch (dtype.num()) {
  case py::detail::npy_api::NPY_BOOL_:
    return DataType::Bool;
  case py::detail::npy_api::NPY_INT32_:
    return DataType::Int32;
  case py::detail::npy_api::NPY_INT64_:
    return DataType::Int64;
  case py::detail::npy_api::NPY_FLOAT_:
    return DataType::Float32;
  case py::detail::npy_api::NPY_DOUBLE_:
    return DataType::Float64;
  default:
    return toDataType(dtype);
  }
}

/// The array's own memory, kept alive by it.
std::shared_ptr<HostBuffer> borrowElements(py::array array, size_t byteSize) {
  void *data = const_cast<void *>(array.data());
  std::shared_ptr<void> owner(new py::array(std::move(array)), [](void *held) {
    py::gil_scoped_acquire acquire;
    delete static_cast<py::array *>(held);
  });
  return HostBuffer::borrow(data, byteSize, std::move(owner));
}

} // namespace

TensorRef toTensor(const py::array &array, SourceLocation location, bool borrow) {
  DataType type = getType(array);
  // Elements in network order, as some image and tape formats have them; every machine of ours has the other.
  py::array native = array;
  if (array.dtype().byteorder() == '>')
    native = array.attr("astype")(array.dtype().attr("newbyteorder")("="));
  py::array dense = py::array::ensure(native, py::array::c_style);
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
    PyTuple_SET_ITEM(sizes.ptr(), axis, toPython(shape[axis]).release().ptr());
  return sizes;
}

std::optional<llvm::SmallVector<int64_t, 8>> toPlainInts(py::handle sequence) {
  if (!PyList_CheckExact(sequence.ptr()) && !PyTuple_CheckExact(sequence.ptr()))
    return std::nullopt;
  llvm::SmallVector<int64_t, 8> values;
  PyObject **items = PySequence_Fast_ITEMS(sequence.ptr());
  for (Py_ssize_t index = 0; index < PySequence_Fast_GET_SIZE(sequence.ptr()); ++index) {
    int overflow = 0;
    if (!PyLong_CheckExact(items[index]))
      return std::nullopt;
    values.push_back(PyLong_AsLongLongAndOverflow(items[index], &overflow));
    if (overflow)
      return std::nullopt;
  }
  return values;
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
  if (auto sizes = toPlainInts(sequence))
    return frontend::toShape(*sizes);
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

Scalar toIntegerScalar(py::handle object) {
  int overflow = 0;
  int64_t value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (!overflow)
    return Scalar(value);
  if (overflow > 0) {
    uint64_t large = PyLong_AsUnsignedLongLong(object.ptr());
    if (!PyErr_Occurred())
      return Scalar(large);
    PyErr_Clear();
  }
  raise(makeError(ErrorKind::DType, "the number " + std::string(py::str(object)) +
                                        " does not fit in 64 bits; write it as a float, at " + describeUserLine()));
}

/// bool before int: Python's bool is an int. NumPy's float64 scalar is a float
/// and counts as Python's; other NumPy scalars are arrays with a dtype.
std::optional<Scalar> toScalar(py::handle object) {
  if (PyBool_Check(object.ptr()))
    return Scalar(object.cast<bool>());
  if (PyLong_Check(object.ptr()))
    return toIntegerScalar(object);
  if (PyFloat_Check(object.ptr()))
    return Scalar(object.cast<double>());
  return std::nullopt;
}

enum class AttributeForm {
  Plain, ///< By the value's own type.
  Dims,  ///< #ferrule.dims.
  DType,
  DTypes, ///< An array of them.
  Float, ///< f64 also where Python code writes an int.
};

AttributeForm getForm(llvm::StringRef name) {
  return llvm::StringSwitch<AttributeForm>(name)
      .Cases({"shape", "input_shape", "weight_shape", "expr", "offsets"}, AttributeForm::Dims)
      .Cases({"k", "size", "starts", "stops", "tiles", "scratch_bytes"}, AttributeForm::Dims)
      .Case("dtype", AttributeForm::DType)
      .Case("dtypes", AttributeForm::DTypes)
      .Cases({"eps", "label_smooth"}, AttributeForm::Float)
      .Default(AttributeForm::Plain);
}

struct AttributeName {
  std::string name;
  AttributeForm form;
};

/// Names are nearly always constants of Python code, one object each.
AttributeName toAttributeName(py::handle key) {
  static auto *known = new llvm::DenseMap<PyObject *, AttributeName>;
  auto found = known->find(key.ptr());
  if (found != known->end())
    return found->second;
  AttributeName name{key.cast<std::string>(), {}};
  name.form = getForm(name.name);
  if (PyUnicode_CHECK_INTERNED(key.ptr()))
    known->try_emplace(key.inc_ref().ptr(), name);
  return name;
}

AttributeValue toAttributeValue(AttributeForm form, py::handle object) {
  if (form == AttributeForm::DType)
    return toDataType(object);
  if (form == AttributeForm::DTypes) {
    std::vector<DataType> types;
    for (py::handle type : py::iter(object))
      types.push_back(toDataType(type));
    return types;
  }
  if (form == AttributeForm::Dims)
    return toShape(object);
  if (auto integers = toPlainInts(object))
    return std::vector<int64_t>(integers->begin(), integers->end());
  if (std::optional<Scalar> scalar = toScalar(object)) {
    if (form == AttributeForm::Float)
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
    return reinterpret_cast<py::detail::instance *>(object.ptr())->get_value_and_holder().holder<TensorRef>();
  if (std::optional<Scalar> scalar = toScalar(object))
    return *scalar;
  if (py::isinstance<DimExpr>(object))
    return object.cast<DimExpr>();
  py::array array = py::array::ensure(object);
  if (!array)
    throw py::error_already_set();
  return toTensor(array);
}

void toOperands(py::handle sequence, llvm::SmallVectorImpl<Operand> &operands) {
  py::object items = py::reinterpret_steal<py::object>(PySequence_Fast(sequence.ptr(), "the inputs are no sequence"));
  if (!items)
    throw py::error_already_set();
  for (Py_ssize_t index = 0; index < PySequence_Fast_GET_SIZE(items.ptr()); ++index)
    operands.push_back(toOperand(PySequence_Fast_GET_ITEM(items.ptr(), index)));
}

void toAttributes(py::handle dict, llvm::SmallVectorImpl<OpAttribute> &attributes) {
  for (auto [key, value] : dict.cast<py::dict>()) {
    if (value.is_none())
      continue;
    AttributeName name = toAttributeName(key);
    attributes.push_back({std::move(name.name), toAttributeValue(name.form, value)});
  }
}

} // namespace ferrule::frontend::python
