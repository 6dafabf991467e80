//===- Bindings.h - The parts of the module `_compiler` -------------------===//
#ifndef FERRULE_FRONTEND_BINDINGS_COMPILER_BINDINGS_H
#define FERRULE_FRONTEND_BINDINGS_COMPILER_BINDINGS_H

#include "frontend/bindings/compiler/Conversion.h"

namespace ferrule::frontend::python {

void bindCalls(py::module_ &module);
void bindControlFlow(py::module_ &module);
void bindDims(py::module_ &module);
void bindOperations(py::module_ &module);
void bindSubscripts(py::module_ &module);
void bindTensors(py::module_ &module);
void bindTraces(py::module_ &module);
void bindCompile(py::module_ &module);
void bindUserCode(py::module_ &module);

} // namespace ferrule::frontend::python

#endif // FERRULE_FRONTEND_BINDINGS_COMPILER_BINDINGS_H
