// Creation and registration of the passes that Passes.td describes.
#ifndef FERRULE_PASSES_PASSES_H_
#define FERRULE_PASSES_PASSES_H_

#include "ir/graph/FerruleDialect.h"
#include "ir/plan/PlanDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::ferrule {

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_PASSES_H_
