#include "frontend/bindings/runtime/errors.h"

namespace py = pybind11;

namespace ferrule::python {
namespace {

// Leaked on purpose: destroyed static Python objects would outlive the interpreter.
py::dict& error_classes() {
  static auto* classes = new py::dict();
  return *classes;
}

const char* class_of(FerruleStatusCode code, Action action) {
  switch (code) {
    case kFerruleUnsupported: return "UnsupportedError";
    case kFerruleIoError:
    case kFerruleInvalidArtifact:
    case kFerruleVersionMismatch: return "ArtifactError";
    default: return action == Action::kFile ? "ArtifactError" : "ExecutionError";
  }
}

}  // namespace

void set_error_classes(const py::dict& classes) { error_classes() = classes; }

void raise(const char* class_name, const std::string& message) {
  py::object type = error_classes().contains(class_name) ? py::object(error_classes()[class_name])
                                                         : py::reinterpret_borrow<py::object>(PyExc_RuntimeError);
  PyErr_SetString(type.ptr(), message.c_str());
  throw py::error_already_set();
}

void check(const Status& status, Action action) {
  if (status.ok()) return;
  if (status.code() == kFerruleOutOfMemory) {
    PyErr_SetString(PyExc_MemoryError, status.message());
    throw py::error_already_set();
  }
  raise(class_of(status.code(), action), status.message());
}

}  // namespace ferrule::python
