#include "frontend/bindings/runtime/Errors.h"

namespace py = pybind11;

namespace ferrule::python {
namespace {

// Leaked on purpose: destroyed static Python objects would outlive the interpreter.
py::dict &errorClasses() {
  static auto *classes = new py::dict();
  return *classes;
}

const char *classOf(FerruleStatusCode code, Action action) {
  switch (code) {
  case kFerruleUnsupported:
    return "UnsupportedError";
  case kFerruleIoError:
  case kFerruleInvalidArtifact:
  case kFerruleVersionMismatch:
    return "ArtifactError";
  default:
    return action == Action::File ? "ArtifactError" : "ExecutionError";
  }
}

} // namespace

void setErrorClasses(const py::dict &classes) { errorClasses() = classes; }

void raise(const char *className, const std::string &message) {
  py::object type = errorClasses().contains(className) ? py::object(errorClasses()[className])
                                                       : py::reinterpret_borrow<py::object>(PyExc_RuntimeError);
  PyErr_SetString(type.ptr(), message.c_str());
  throw py::error_already_set();
}

void check(const Status &status, Action action) {
  if (status.ok())
    return;
  if (status.code() == kFerruleOutOfMemory) {
    PyErr_SetString(PyExc_MemoryError, status.message());
    throw py::error_already_set();
  }
  raise(classOf(status.code(), action), status.message());
}

} // namespace ferrule::python
