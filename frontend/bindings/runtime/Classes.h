// The Python classes of the module, one source file each.
#ifndef FERRULE_FRONTEND_BINDINGS_RUNTIME_CLASSES_H_
#define FERRULE_FRONTEND_BINDINGS_RUNTIME_CLASSES_H_

#include <pybind11/pybind11.h>

#include <vector>

#include "runtime/api/ferrule.hpp"

namespace ferrule::python {

// The runtime's table of `Kernel` objects, which must outlive the programs that are opened with it.
std::vector<FerruleExternalKernel> kernelTable(const pybind11::iterable &kernels);

void bindKernel(pybind11::module_ &module);
void bindProgram(pybind11::module_ &module);
void bindSession(pybind11::module_ &module);

} // namespace ferrule::python

#endif // FERRULE_FRONTEND_BINDINGS_RUNTIME_CLASSES_H_
