//===- BindTensors.cpp - Tensors, variables and ops in Python -------------===//

#include "frontend/bindings/compiler/Bindings.h"
#include "frontend/bindings/compiler/UserCode.h"
#include "frontend/core/Promotion.h"

namespace ferrule::frontend::python {
namespace {

/// The elements, after a flush if they pend.
py::array readArray(const TensorRef &tensor, const char *request) {
  if (!tensor->isConcrete())
    check(getFrontend().materialize(tensor, request, tensor->isTraced() ? describeUserLine() : std::string()));
  return toArray(*tensor);
}

GradientCall toGradientCall(TensorRef cost, const std::vector<TensorRef> &cotangents, const std::vector<TensorRef> &wrt,
                            const std::string &location, const std::string &modulePath,
                            const std::vector<std::string> &names) {
  if (cotangents.size() > 1)
    raise(makeError(ErrorKind::Value, "gradient takes at most one cotangent"));
  GradientCall call;
  call.cost = std::move(cost);
  call.cotangent = cotangents.empty() ? nullptr : cotangents.front();
  call.inputs.assign(wrt.begin(), wrt.end());
  call.inputNames.assign(names.begin(), names.end());
  call.site = {SourceLocation::parse(location), modulePath};
  return call;
}

std::vector<TensorRef> takeGradient(TensorRef cost, const std::vector<TensorRef> &cotangents,
                                    const std::vector<TensorRef> &wrt, const std::string &location,
                                    const std::string &modulePath, const std::vector<std::string> &names) {
  auto gradients =
      unwrap(getFrontend().gradient(toGradientCall(std::move(cost), cotangents, wrt, location, modulePath, names)));
  return {gradients.begin(), gradients.end()};
}

py::list explainGradient(TensorRef cost, const std::vector<TensorRef> &cotangents, const std::vector<TensorRef> &wrt,
                         const std::string &location, const std::string &modulePath,
                         const std::vector<std::string> &names) {
  py::list problems;
  for (const GradientProblem &problem : unwrap(getFrontend().explainGradient(
           toGradientCall(std::move(cost), cotangents, wrt, location, modulePath, names))))
    problems.append(py::make_tuple(problem.op, problem.line, problem.reason, problem.input));
  return problems;
}

//===----------------------------------------------------------------------===//
// What is asked for every op, without pybind11's way to find a function
//===----------------------------------------------------------------------===//

const Tensor &getTensor(PyObject *self) {
  return *reinterpret_cast<py::detail::instance *>(self)->get_value_and_holder().value_ptr<Tensor>();
}

PyObject *getShape(PyObject *self, void *) { return toPython(getTensor(self).getShape()).release().ptr(); }

PyObject *getTypeName(PyObject *self, void *) { return Py_NewRef(getPythonName(getTensor(self).getType())); }

PyObject *getRank(PyObject *self, void *) { return PyLong_FromSize_t(getTensor(self).getShape().size()); }

PyGetSetDef tensorProperties[] = {
    {"shape", getShape, nullptr, "The sizes: ints, and DimExprs where a size is symbolic.", nullptr},
    {"dtype", getTypeName, nullptr, "The name of the element type.", nullptr},
    {"ndim", getRank, nullptr, "The number of axes.", nullptr},
};

/// apply(op, inputs, attrs=None, location=the user's, module_path=the modules being called)
PyObject *applyOp(PyObject *, PyObject *const *arguments, Py_ssize_t count) {
  if (count < 2 || count > 5) {
    PyErr_Format(PyExc_TypeError, "apply takes 2 to 5 arguments, not %zd", count);
    return nullptr;
  }
  return callFromPython([&]() -> py::object {
    OpCall call;
    call.op = py::handle(arguments[0]).cast<std::string>();
    toOperands(arguments[1], call.operands);
    if (count > 2 && arguments[2] != Py_None)
      toAttributes(arguments[2], call.attributes);
    if (count > 3) {
      call.location = SourceLocation::parse(py::handle(arguments[3]).cast<std::string>());
    } else {
      call.location = getUserLine().location;
    }
    call.modulePath = count > 4 ? py::handle(arguments[4]).cast<std::string>() : getModulePath();
    auto handles = unwrap(getFrontend().apply(call));
    py::list results(handles.size());
    for (auto [index, handle] : llvm::enumerate(handles))
      PyList_SET_ITEM(results.ptr(), index, py::cast(std::move(handle)).release().ptr());
    return results;
  });
}

PyMethodDef applyMethod{"apply", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(applyOp)), METH_FASTCALL,
                        "apply(op, inputs, attrs=None)\n\n"
                        "Records one op and returns a list with the handles of its results.\n\n"
                        "Args:\n"
                        "    op: a name of the graph dialect, without the prefix.\n"
                        "    inputs: handles, Python numbers (they never widen a dtype), DimExprs, arrays, or None for "
                        "an absent operand.\n"
                        "    attrs: the op's attributes; None is one that is not there.\n\n"
                        "Broadcasting, dtype promotion and the check of shapes happen in the recorder; errors name the "
                        "user's line and the module being called."};

void bindTensor(py::module_ &module) {
  py::class_<Tensor, TensorRef> tensor(module, "Tensor", "Elements in memory, a pending op, or a traced value.");
  for (PyGetSetDef &property : tensorProperties)
    tensor.attr(property.name) = py::reinterpret_steal<py::object>(
        PyDescr_NewGetSet(reinterpret_cast<PyTypeObject *>(tensor.ptr()), &property));
  tensor
      .def_property_readonly("is_traced", &Tensor::isTraced)
      .def_property_readonly("is_pending", &Tensor::isPending)
      .def_property_readonly(
          "location",
          [](const Tensor &self) { return self.getLocation().isKnown() ? self.getLocation().str() : std::string(); },
          "Where it was made, as \"file.py:12\".")
      .def(
          "numpy", [](const TensorRef &self, const char *request) { return readArray(self, request); },
          py::arg("request") = "numpy()", "A copy of the elements; `request` names the caller in errors.")
      .def(
          "item", [](const TensorRef &self, const char *request) { return readArray(self, request).attr("item")(); },
          py::arg("request") = "item()");
  module.def(
      "tensor",
      [](const py::array &array, const std::string &location) {
        return toTensor(array, SourceLocation::parse(location));
      },
      py::arg("array"), py::arg("location") = "", "A tensor with a copy of the array.");
}

void bindVariable(py::module_ &module) {
  auto value = [](const VariableRef &self, const std::string &location) {
    return unwrap(getFrontend().readVariable(self, SourceLocation::parse(location)));
  };
  auto assign = [](const VariableRef &self, const TensorRef &value, const std::string &location,
                   const std::string &modulePath) {
    check(getFrontend().assignVariable(self, value, {SourceLocation::parse(location), modulePath}));
  };
  py::class_<Variable, VariableRef>(module, "Variable", "A tensor that outlives calls.")
      .def(py::init([](const py::array &array, std::string name, std::string role, bool trainable, VariableRef of,
                       bool borrow) {
             return std::make_shared<Variable>(toTensor(array, {}, borrow), std::move(name), std::move(role), trainable,
                                               std::move(of));
           }),
           py::arg("array"), py::arg("name") = "", py::arg("role") = "parameter", py::arg("trainable") = true,
           py::arg("of") = nullptr, py::arg("borrow") = false)
      .def("value", value, py::arg("location") = "")
      .def("assign", assign, py::arg("value"), py::arg("location") = "", py::arg("module_path") = "")
      .def("numpy",
           [](const VariableRef &self) {
             if (std::optional<std::string> region = getFrontend().getRegionName())
               raise(makeError(ErrorKind::Trace, "numpy() at " + describeUserLine() + " needs the value of " +
                                                     self->describe() + " while " + *region +
                                                     " is recorded: it has one only when that runs"));
             return readArray(self->getValue(), "numpy()");
           })
      .def("set_numpy", [](const VariableRef &self,
                           const py::array &array) { check(getFrontend().assignVariable(self, toTensor(array), {})); })
      .def_property_readonly("id", &Variable::getId)
      .def_property("name", &Variable::getName, &Variable::setName)
      .def_property_readonly("role", &Variable::getRole)
      .def_property("trainable", &Variable::isTrainable, &Variable::setTrainable)
      .def_property_readonly("of", &Variable::getOwner)
      .def_readwrite("aliases", &Variable::aliases)
      .def_property_readonly("shape", [](const Variable &self) { return toPython(self.getShape()); })
      .def_property_readonly("dtype", [](const Variable &self) { return getName(self.getType()).str(); });
}

} // namespace

void bindTensors(py::module_ &module) {
  bindTensor(module);
  bindVariable(module);
  module.attr("apply") = py::reinterpret_steal<py::object>(PyCFunction_New(&applyMethod, nullptr));
  module.def("gradient", takeGradient, py::arg("cost"), py::arg("cotangents"), py::arg("wrt"), py::arg("location") = "",
             py::arg("module_path") = "", py::arg("names") = std::vector<std::string>(),
             "Records a gradient; one result for each of `wrt`.");
  module.def("explain_gradient", explainGradient, py::arg("cost"), py::arg("cotangents"), py::arg("wrt"),
             py::arg("location") = "", py::arg("module_path") = "", py::arg("names") = std::vector<std::string>(),
             "What makes that gradient impossible: a list of (op, line, reason, which of `wrt`).");
  module.def(
      "mark_checkpoint",
      [](const std::vector<TensorRef> &inputs, const std::vector<TensorRef> &outputs) {
        if (llvm::Error error = getFrontend().markCheckpoint(inputs, outputs))
          raise(std::move(error));
      },
      py::arg("inputs"), py::arg("outputs"),
      "While tracing: what lies between is computed again for gradients instead of kept.");
  module.def("promote",
             [](py::object a, py::object b) { return getName(promoteTypes(toDataType(a), toDataType(b))).str(); });

  module.def("flush", [] { getFrontend().getRecorder().flush(); });
  module.def("flush_every_op", [](bool enabled) { getFrontend().getRecorder().setFlushEveryOp(enabled); });
  module.def("pending_count", [] { return getFrontend().getRecorder().getPendingCount(); });
  module.def("compile_count", [] { return getFrontend().getCache().getStatistics().compiled; });
  module.def("set_threads", [](unsigned count) { getFrontend().getCache().setThreadCount(count); });
  module.def("gradient_scope_enter", [] { getFrontend().getRecorder().enterGradientScope(); });
  module.def("gradient_scope_exit", [] { getFrontend().getRecorder().exitGradientScope(); });
}

} // namespace ferrule::frontend::python
