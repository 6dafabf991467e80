//===- BindControlFlow.cpp - Branches and loops in Python -----------------===//

#include "frontend/bindings/compiler/Bindings.h"

namespace ferrule::frontend::python {
namespace {

/// The context manager; what is recorded in its `with` block goes into the
/// region. It must be used up by control_flow(), or dropped.
class RegionScope {
public:
  RegionScope(std::string name, const py::list &arguments, const std::string &location)
      : name(std::move(name)), location(SourceLocation::parse(location)) {
    for (py::handle each : arguments) {
      auto pair = each.cast<py::tuple>();
      types.push_back({toDataType(pair[1]), toShape(pair[0])});
    }
  }

  std::vector<TensorRef> enter() {
    std::vector<TensorRef> handles = getFrontend().beginRegion(name, types, location);
    isOpen = true;
    return handles;
  }

  void finish(const std::vector<TensorRef> &yielded, const std::string &modulePath) {
    recording = unwrap(getFrontend().finishRegion(yielded, {location, modulePath}));
    isOpen = false;
  }

  void exit() {
    if (isOpen)
      getFrontend().dropRegion();
    isOpen = false;
  }

  /// Frees what was recorded, which may use values of what is around.
  void drop() { recording.reset(); }

  RegionRecording *get() {
    if (!recording)
      raise(makeError(ErrorKind::Value, name + " has not been recorded"));
    return recording.get();
  }

private:
  std::string name;
  SourceLocation location;
  std::vector<RegionArgument> types;
  std::unique_ptr<RegionRecording> recording;
  bool isOpen = false;
};

std::vector<TensorRef> recordControlFlow(const std::string &op, const std::vector<RegionScope *> &regions,
                                         TensorRef predicate, const std::vector<TensorRef> &inits,
                                         const std::vector<TensorRef> &xs, py::object steps, bool reverse,
                                         const std::string &location, const std::string &modulePath) {
  ControlFlowCall call;
  call.op = op;
  call.predicate = std::move(predicate);
  call.inits = inits;
  call.xs = xs;
  if (!steps.is_none())
    call.steps = toDim(steps);
  call.isReversed = reverse;
  for (RegionScope *region : regions)
    call.regions.push_back(region->get());
  call.site = {SourceLocation::parse(location), modulePath};
  llvm::Expected<std::vector<TensorRef>> results = getFrontend().controlFlow(call);
  for (RegionScope *region : regions)
    region->drop();
  return unwrap(std::move(results));
}

} // namespace

void bindControlFlow(py::module_ &module) {
  py::class_<RegionScope>(module, "Region", "Records a branch or the body of a loop.")
      .def(py::init<std::string, py::list, std::string>(), py::arg("name"), py::arg("arguments"),
           py::arg("location") = "", "`arguments`: [(shape, dtype)] of what the region gets.")
      .def("__enter__", [](RegionScope &self) { return self.enter(); }, "The handles of the arguments.")
      .def("__exit__", [](RegionScope &self, py::args) { self.exit(); })
      .def("finish", &RegionScope::finish, py::arg("yielded"), py::arg("module_path") = "",
           "Ends the region, which yields these handles.")
      .def("drop", &RegionScope::drop, "Forgets what was recorded.");
  module.def("control_flow", recordControlFlow, py::arg("op"), py::arg("regions"), py::arg("predicate") = nullptr,
             py::arg("inits") = std::vector<TensorRef>(), py::arg("xs") = std::vector<TensorRef>(),
             py::arg("steps") = py::none(), py::arg("reverse") = false, py::arg("location") = "",
             py::arg("module_path") = "", "Records `if`, `while` or `scan` and returns the handles of its results.");
}

} // namespace ferrule::frontend::python
