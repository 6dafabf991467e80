// ferrule._runtime: programs and sessions from Python, without the compiler.
#include "frontend/bindings/runtime/classes.h"
#include "frontend/bindings/runtime/errors.h"

PYBIND11_MODULE(_runtime, module) {
  module.doc() = "The Ferrule runtime: opens artifacts and runs them.";
  module.def("set_error_classes", &ferrule::python::set_error_classes, pybind11::arg("classes"),
             "Registers the exception classes ArtifactError, ExecutionError and UnsupportedError by name.");
  ferrule::python::bind_program(module);
  ferrule::python::bind_session(module);
}
