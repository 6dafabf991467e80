// ferrule._runtime: programs and sessions from Python, without the compiler.
#include "frontend/bindings/runtime/Classes.h"
#include "frontend/bindings/runtime/Errors.h"

PYBIND11_MODULE(_runtime, module) {
  module.doc() = "The Ferrule runtime: opens artifacts and runs them.";
  module.def("set_error_classes", &ferrule::python::setErrorClasses, pybind11::arg("classes"),
             "Registers the exception classes ArtifactError, ExecutionError and UnsupportedError by name.");
  ferrule::python::bindProgram(module);
  ferrule::python::bindSession(module);
}
