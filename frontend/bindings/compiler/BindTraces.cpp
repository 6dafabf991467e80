//===- BindTraces.cpp - Traces and entries in Python ----------------------===//

#include "frontend/bindings/compiler/Bindings.h"
#include "frontend/bindings/compiler/CallWatch.h"

namespace ferrule::frontend::python {
namespace {

/// The context manager; its trace begins with the `with` block.
class TraceScope {
public:
  explicit TraceScope(std::string entryName) : entryName(std::move(entryName)) {}

  void enter() { trace = unwrap(getFrontend().beginTrace(entryName)); }
  void exit() { getFrontend().endTrace(trace.get()); }

  Trace &get() {
    if (!trace)
      raise(makeError(ErrorKind::Trace, "the trace of `" + entryName + "` has not begun: use `with`"));
    return *trace;
  }

private:
  std::string entryName;
  std::shared_ptr<Trace> trace;
};

EntryRef finishTrace(TraceScope &self, const std::vector<std::pair<std::string, TensorRef>> &outputs,
                     const std::string &signature) {
  return unwrap(self.get().finish(outputs, signature));
}

std::vector<VariableRef> getEntryVariables(const Entry &entry) {
  std::vector<VariableRef> variables;
  for (const EntryVariable &use : entry.getVariables())
    variables.push_back(use.variable);
  return variables;
}

std::vector<TensorRef> runEntry(Entry &entry, const std::vector<TensorRef> &inputs, const std::string &location) {
  return unwrap(getFrontend().callEntry(entry, inputs, SourceLocation::parse(location)));
}

} // namespace

void bindTraces(py::module_ &module) {
  py::class_<Entry, EntryRef>(module, "Entry", "A finished trace.")
      .def_property_readonly("name", &Entry::getName)
      .def("text", &Entry::getText)
      .def("__str__", &Entry::getText)
      .def("variables", getEntryVariables)
      .def("set_memory_budget", &Entry::setMemoryBudget, py::arg("bytes"), py::arg("fraction"),
           "The most for the arena of `run`: so many bytes, or with 0 a part of what it takes without a budget.")
      .def("run", runEntry, py::arg("inputs"), py::arg("location") = "",
           "Runs the entry on the current values of its variables.");

  py::class_<TraceScope>(module, "Trace", "Records one entry point.")
      .def(py::init<std::string>(), py::arg("entry_name"))
      .def("__enter__",
           [](py::object self) {
             self.cast<TraceScope &>().enter();
             return self;
           })
      .def("__exit__", [](TraceScope &self, py::args) { self.exit(); })
      .def(
          "input",
          [](TraceScope &self, const std::string &name, py::object shape, py::object dtype,
             const std::string &location) {
            return unwrap(
                self.get().addInput(name, toDataType(dtype), toShape(shape), SourceLocation::parse(location)));
          },
          py::arg("name"), py::arg("shape"), py::arg("dtype") = "float32", py::arg("location") = "")
      .def("finish", finishTrace, py::arg("outputs"), py::arg("signature") = "{}")
      .def("variables", [](TraceScope &self) { return self.get().getVariables(); });

  module.def(
      "watch_calls",
      [](const py::object &onEnter, const py::object &isInternal) {
        if (!startCallWatch(onEnter.ptr(), isInternal.ptr()))
          throw py::error_already_set();
      },
      py::arg("on_enter"), py::arg("is_internal"),
      "Calls on_enter(frame) for each function that this thread enters whose code is not internal, once for each code.");
  module.def("unwatch_calls", stopCallWatch, "Ends what watch_calls began.");
  module.def("in_trace", [] { return getFrontend().getTrace() != nullptr; });
}

} // namespace ferrule::frontend::python
