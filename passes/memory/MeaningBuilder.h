// What a plan means in the graph that it was made from, for the check of the plan (VerifyPlan.h).
#ifndef FERRULE_PASSES_MEMORY_MEANINGBUILDER_H_
#define FERRULE_PASSES_MEMORY_MEANINGBUILDER_H_

#include "passes/memory/MemoryPlan.h"
#include "passes/memory/VerifyPlan.h"

namespace mlir::ferrule {

/// The ops that were made of an EntryPlan.
struct PlannedOps {
  /// By number of the buffer.
  SmallVector<Value> buffers;
  DenseMap<const PlannedInstruction *, Operation *> instructions;
};

PlanMeaning buildMeaning(func::FuncOp function, const EntryPlan &plan, const PlannedOps &ops);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_MEMORY_MEANINGBUILDER_H_
