//===- Conversion.h - Python objects to the core's types and back ---------===//
#ifndef FERRULE_FRONTEND_BINDINGS_COMPILER_CONVERSION_H
#define FERRULE_FRONTEND_BINDINGS_COMPILER_CONVERSION_H

#include "frontend/bindings/compiler/UserCode.h"
#include "frontend/core/Error.h"
#include "frontend/core/Frontend.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace ferrule::frontend::python {

namespace py = pybind11;

/// The process's front end. Made at import and never destroyed: Python may drop
/// tensors after the module's own teardown.
Frontend &getFrontend();

//===--- Errors -----------------------------------------------------------===//

/// The classes to raise, by name ("TraceError"); RuntimeError for the rest.
void setErrorClasses(py::dict classes);

/// As findUserLine; throws the Python error where there is one.
UserLine getUserLine();

/// The user's line, for messages.
std::string describeUserLine();

/// Raises the Python class of the error's kind.
[[noreturn]] void raise(llvm::Error error);

inline void check(llvm::Error error) {
  if (error)
    raise(std::move(error));
}

template <typename T> T unwrap(llvm::Expected<T> value) {
  if (!value)
    raise(value.takeError());
  return std::move(*value);
}

/// The result of `call`, or null with the Python error that it threw: the body
/// of a function that the interpreter calls without pybind11 between.
template <typename Call> PyObject *callFromPython(Call call) {
  try {
    return call().release().ptr();
  } catch (py::error_already_set &error) {
    error.restore();
  } catch (const py::builtin_exception &error) {
    error.set_error();
  } catch (const std::bad_alloc &) {
    PyErr_NoMemory();
  } catch (const std::exception &error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

//===--- Values -----------------------------------------------------------===//

DataType toDataType(py::handle dtype);
py::dtype toNumPyType(DataType type);

/// The element type's name, a borrowed str: the same object each time.
PyObject *getPythonName(DataType type);

/// A concrete tensor with a copy of the elements. `borrow` takes the elements themselves, which nobody may write then,
/// where they can be read as they lie.
TensorRef toTensor(const py::array &array, SourceLocation location = {}, bool borrow = false);

/// A fresh array with the elements of a concrete tensor.
py::array toArray(const Tensor &tensor);

/// int for a constant, DimExpr otherwise.
py::object toPython(const DimExpr &dim);
py::tuple toPython(llvm::ArrayRef<DimExpr> shape);

/// From an int (or what has __index__) or a DimExpr.
DimExpr toDim(py::handle object);
bool isDim(py::handle object);
Shape toShape(py::handle sequence);

/// The values of a list or tuple that holds nothing but ints of 64 bits.
std::optional<llvm::SmallVector<int64_t, 8>> toPlainInts(py::handle sequence);

/// From Tensor, DimExpr, bool, int, float, array, NumPy scalar or None.
Operand toOperand(py::handle object);

/// Appends what a sequence of such holds.
void toOperands(py::handle sequence, llvm::SmallVectorImpl<Operand> &operands);

/// Appends the entries of a dict that are not None.
void toAttributes(py::handle dict, llvm::SmallVectorImpl<OpAttribute> &attributes);

} // namespace ferrule::frontend::python

#endif // FERRULE_FRONTEND_BINDINGS_COMPILER_CONVERSION_H
