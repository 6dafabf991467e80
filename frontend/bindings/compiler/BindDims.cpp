//===- BindDims.cpp - DimExpr in Python -----------------------------------===//

#include "frontend/bindings/compiler/Bindings.h"

namespace ferrule::frontend::python {
namespace {

/// Whether an operator leaves `other` to its own: what is no size, and an array that asks to be asked first, as NumPy has
/// it (a Tensor has __index__ too, but reading it would need its value).
bool isLeftToOther(py::handle other) {
  return !isDim(other) || (py::hasattr(other, "__array_ufunc__") && other.attr("__array_ufunc__").is_none());
}

/// An arithmetic method pair (`__add__`, `__radd__`) over ints and DimExprs.
template <typename Operation>
void bindArithmetic(py::class_<DimExpr> &type, const char *name, const char *reflected, Operation operation) {
  type.def(name, [operation](const DimExpr &self, py::object other) -> py::object {
    if (isLeftToOther(other))
      return py::reinterpret_borrow<py::object>(Py_NotImplemented);
    return toPython(operation(self, toDim(other)));
  });
  type.def(reflected, [operation](const DimExpr &self, py::object other) -> py::object {
    if (isLeftToOther(other))
      return py::reinterpret_borrow<py::object>(Py_NotImplemented);
    return toPython(operation(toDim(other), self));
  });
}

void bindComparison(py::class_<DimExpr> &type, const char *name, DimComparison comparison) {
  type.def(name, [comparison](const DimExpr &self, py::object other) -> py::object {
    if (isLeftToOther(other))
      return py::reinterpret_borrow<py::object>(Py_NotImplemented);
    llvm::Expected<bool> answer = compareDims(getFrontend().getConstraints(), comparison, self, toDim(other), "");
    if (answer)
      return py::bool_(*answer);
    // Only a refusal needs the user's line, which is slow to find.
    llvm::consumeError(answer.takeError());
    return py::bool_(
        unwrap(compareDims(getFrontend().getConstraints(), comparison, self, toDim(other), describeUserLine())));
  });
}

int64_t toInt(const DimExpr &dim) {
  if (std::optional<int64_t> value = dim.getConstant())
    return *value;
  return unwrap(toInteger(getFrontend().getConstraints(), dim, describeUserLine()));
}

} // namespace

void bindDims(py::module_ &module) {
  py::class_<DimExpr> type(module, "DimExpr", "A size that is known when the program runs.");
  bindArithmetic(type, "__add__", "__radd__", [](const DimExpr &a, const DimExpr &b) { return a + b; });
  bindArithmetic(type, "__sub__", "__rsub__", [](const DimExpr &a, const DimExpr &b) { return a - b; });
  bindArithmetic(type, "__mul__", "__rmul__", [](const DimExpr &a, const DimExpr &b) { return a * b; });
  bindArithmetic(type, "__floordiv__", "__rfloordiv__", DimExpr::floorDiv);
  bindArithmetic(type, "__mod__", "__rmod__", DimExpr::mod);
  type.def("__neg__", [](const DimExpr &self) { return toPython(0 - self); });
  bindComparison(type, "__eq__", DimComparison::Equal);
  bindComparison(type, "__ne__", DimComparison::NotEqual);
  bindComparison(type, "__lt__", DimComparison::Less);
  bindComparison(type, "__le__", DimComparison::LessEqual);
  bindComparison(type, "__gt__", DimComparison::Greater);
  bindComparison(type, "__ge__", DimComparison::GreaterEqual);
  type.def("__hash__", &DimExpr::hash);
  type.def("__int__", toInt).def("__index__", toInt);
  type.def("__bool__", [](const DimExpr &self) {
    return unwrap(compareDims(getFrontend().getConstraints(), DimComparison::NotEqual, self, 0, describeUserLine()));
  });
  type.def("__str__", [](const DimExpr &self) { return self.str(); });
  type.def("__repr__", [](const DimExpr &self) { return self.str(); });
  type.def_property_readonly("name", &DimExpr::getDimName, "The dim's name; None for an expression.");

  module.def("min_", [](py::object a, py::object b) { return toPython(DimExpr::min(toDim(a), toDim(b))); });
  module.def("max_", [](py::object a, py::object b) { return toPython(DimExpr::max(toDim(a), toDim(b))); });
  module.def(
      "dim",
      [](const std::string &name, int64_t min, std::optional<int64_t> max, int64_t multipleOf) {
        return unwrap(getFrontend().declareDim(name, {min, max.value_or(DimRange::unbounded), multipleOf}));
      },
      py::arg("name"), py::arg("min") = 1, py::arg("max") = py::none(), py::arg("multiple_of") = 1,
      "Declares a dim with min <= dim <= max (None: unbounded).");
}

} // namespace ferrule::frontend::python
