//===- BindTensors.cpp - Tensors, variables and ops in Python -------------===//

#include "frontend/bindings/compiler/Bindings.h"
#include "frontend/core/Promotion.h"

#include <unordered_map>

namespace ferrule::frontend::python {
namespace {

/// The elements, after a flush if they pend.
py::array readArray(const TensorRef &tensor, const char *request) {
  if (!tensor->isConcrete())
    check(getFrontend().materialize(tensor, request, tensor->isTraced() ? askLocation() : std::string()));
  return toArray(*tensor);
}

/// A named line, parsed once for each string object: `ferrule.location` hands out
/// the same one for the same line, and every op of a program has one.
SourceLocation toLocation(const py::str &text) {
  struct Known {
    py::str text; // Keeps the address taken.
    SourceLocation location;
  };
  static auto *known = new std::unordered_map<PyObject *, Known>;
  constexpr size_t maxKnown = 1 << 16;
  auto found = known->find(text.ptr());
  if (found != known->end())
    return found->second.location;
  if (known->size() == maxKnown)
    known->clear();
  SourceLocation location = SourceLocation::parse(text.cast<std::string>());
  known->try_emplace(text.ptr(), Known{text, location});
  return location;
}

py::list applyOp(const std::string &op, const py::sequence &inputs, const py::object &attributes,
                 const py::str &location, const std::string &modulePath) {
  OpCall call;
  call.op = op;
  for (py::handle input : inputs)
    call.operands.push_back(toOperand(input));
  if (!attributes.is_none())
    call.attributes = toAttributes(attributes);
  call.location = toLocation(location);
  call.modulePath = modulePath;
  py::list results;
  for (TensorRef &result : unwrap(getFrontend().apply(call)))
    results.append(py::cast(std::move(result)));
  return results;
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

void bindTensor(py::module_ &module) {
  py::class_<Tensor, TensorRef>(module, "Tensor", "Elements in memory, a pending op, or a traced value.")
      .def_property_readonly("shape", [](const Tensor &self) { return toPython(self.getShape()); })
      .def_property_readonly("dtype", [](const Tensor &self) { return getName(self.getType()).str(); })
      .def_property_readonly("ndim", [](const Tensor &self) { return self.getShape().size(); })
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
               raise(makeError(ErrorKind::Trace, "numpy() at " + askLocation() + " needs the value of " +
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
  module.def("apply", applyOp, py::arg("op"), py::arg("inputs"), py::arg("attrs") = py::none(),
             py::arg("location") = "", py::arg("module_path") = "", "Records one op and returns its results.");
  module.def("gradient", takeGradient, py::arg("cost"), py::arg("cotangents"), py::arg("wrt"), py::arg("location") = "",
             py::arg("module_path") = "", py::arg("names") = std::vector<std::string>(),
             "Records a gradient; one result for each of `wrt`.");
  module.def("explain_gradient", explainGradient, py::arg("cost"), py::arg("cotangents"), py::arg("wrt"),
             py::arg("location") = "", py::arg("module_path") = "", py::arg("names") = std::vector<std::string>(),
             "What makes that gradient impossible: a list of (op, line, reason, which of `wrt`).");
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
