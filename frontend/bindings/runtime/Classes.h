// The Python classes of the module, one source file each.
#ifndef FERRULE_FRONTEND_BINDINGS_RUNTIME_CLASSES_H_
#define FERRULE_FRONTEND_BINDINGS_RUNTIME_CLASSES_H_

#include <pybind11/pybind11.h>

#include "runtime/api/ferrule.hpp"

namespace ferrule::python {

void bindProgram(pybind11::module_ &module);
void bindSession(pybind11::module_ &module);

} // namespace ferrule::python

#endif // FERRULE_FRONTEND_BINDINGS_RUNTIME_CLASSES_H_
