//===- StructureKey.h - When two fragments are the same -------------------===//
#ifndef FERRULE_FRONTEND_CORE_STRUCTUREKEY_H
#define FERRULE_FRONTEND_CORE_STRUCTUREKEY_H

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <vector>

namespace ferrule::frontend {

/// The structure of a module with one function: op names, attributes, types and
/// the wiring, as the addresses that the context gives them. Valid for one
/// MLIRContext, which never frees what it has uniqued.
using StructureKey = std::vector<uintptr_t>;
StructureKey getStructureKey(mlir::ModuleOp module);

/// The same without sizes and without the values of rank-0 constants: equal for
/// fragments that a template may serve.
StructureKey getSkeletonKey(mlir::ModuleOp module);

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_STRUCTUREKEY_H
