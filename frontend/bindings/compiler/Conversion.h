//===- Conversion.h - Python objects to the core's types and back ---------===//
#ifndef FERRULE_FRONTEND_BINDINGS_COMPILER_CONVERSION_H
#define FERRULE_FRONTEND_BINDINGS_COMPILER_CONVERSION_H

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

/// A callable that gives the user's line as "file.py:12".
void setLocationProvider(py::object provider);

/// The user's line, asked of the provider; empty without one. Slow: only for
/// messages.
std::string askLocation();

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

//===--- Values -----------------------------------------------------------===//

DataType toDataType(py::handle dtype);
py::dtype toNumPyType(DataType type);

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

/// From Tensor, DimExpr, bool, int, float, array, NumPy scalar or None.
Operand toOperand(py::handle object);

/// From a dict; entries that are None are left out.
llvm::SmallVector<OpAttribute, 4> toAttributes(const py::dict &attributes);

} // namespace ferrule::frontend::python

#endif // FERRULE_FRONTEND_BINDINGS_COMPILER_CONVERSION_H
