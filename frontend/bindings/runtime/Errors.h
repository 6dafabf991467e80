// From a Status to a Python exception.
#ifndef FERRULE_FRONTEND_BINDINGS_RUNTIME_ERRORS_H_
#define FERRULE_FRONTEND_BINDINGS_RUNTIME_ERRORS_H_

#include <pybind11/pybind11.h>

#include <string>

#include "runtime/api/ferrule.hpp"

namespace ferrule::python {

// What the caller was doing decides between ArtifactError and ExecutionError.
enum class Action { File, Run };

// Registers the package's exception classes by name: ArtifactError, ExecutionError, UnsupportedError. Without it, and
// for names that are missing, RuntimeError is raised.
void setErrorClasses(const pybind11::dict &classes);

// Throws unless the status is ok. Files: ArtifactError; running: ExecutionError; no target for this machine:
// UnsupportedError; no memory: MemoryError.
void check(const Status &status, Action action);
[[noreturn]] void raise(const char *className, const std::string &message);

} // namespace ferrule::python

#endif // FERRULE_FRONTEND_BINDINGS_RUNTIME_ERRORS_H_
