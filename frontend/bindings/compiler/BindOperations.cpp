//===- BindOperations.cpp - What the ops of the dialect say of themselves -===//

#include "frontend/bindings/compiler/Bindings.h"

#include "ir/interfaces/FerruleOpInterface.h"

namespace ferrule::frontend::python {
namespace {

const char *getName(mlir::ferrule::GradientKind kind) {
  switch (kind) {
  case mlir::ferrule::GradientKind::Rule:
    return "rule";
  case mlir::ferrule::GradientKind::Regions:
    return "regions";
  case mlir::ferrule::GradientKind::Zero:
    return "zero";
  case mlir::ferrule::GradientKind::NonDifferentiable:
    return "none";
  }
  return "none";
}

/// An op without operands is no valid op, but what its entry in TableGen states
/// holds for every instance.
py::dict describeOperation(mlir::RegisteredOperationName name) {
  mlir::OperationState state(mlir::UnknownLoc::get(name.getContext()), name);
  for (unsigned i = 0; i < 2; ++i)
    state.addRegion();
  mlir::Operation *op = mlir::Operation::create(state);
  auto interface = llvm::cast<mlir::ferrule::FerruleOpInterface>(op);
  py::dict description;
  description["gradient"] = getName(interface.getGradientKind());
  description["reason"] = interface.getNonDifferentiableReason().str();
  description["lowering"] = mlir::ferrule::stringify(interface.getLoweringKind()).str();
  op->destroy();
  return description;
}

py::dict describeOperations() {
  py::dict operations;
  for (mlir::RegisteredOperationName name :
       getFrontend().getContext()->getRegisteredOperationsByDialect("ferrule"))
    if (name.hasInterface<mlir::ferrule::FerruleOpInterface>())
      operations[py::str(name.stripDialect().str())] = describeOperation(name);
  return operations;
}

} // namespace

void bindOperations(py::module_ &module) {
  module.def("operations", describeOperations,
             "{name: {gradient: rule, regions, zero or none; reason, if none; lowering}} of every op of the graph dialect.");
}

} // namespace ferrule::frontend::python
