//===- Module.cpp - The extension module `_compiler` ----------------------===//

#include "frontend/bindings/compiler/Bindings.h"

PYBIND11_MODULE(_compiler, module) {
  using namespace ferrule::frontend::python;
  module.doc() = "Ferrule's front end: tensors, op stream, traces, compiler.";
  module.def("set_error_classes", setErrorClasses, "Classes to raise, by name: TraceError, ShapeError, ...");
  bindCalls(module);
  bindControlFlow(module);
  bindDims(module);
  bindOperations(module);
  bindSubscripts(module);
  bindTensors(module);
  bindTraces(module);
  bindCompile(module);
  bindUserCode(module);
}
