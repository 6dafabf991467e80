#include "ir/graph/ControlFlow.h"
#include "ir/graph/State.h"
#include "passes/Passes.h"
#include "passes/prune/PruneControlFlow.h"

namespace mlir::ferrule {

#define GEN_PASS_DEF_PRUNEPASS
#include "passes/Passes.h.inc"

namespace {

/// An assign of the value that the variable has anyway.
bool assignsOwnValue(Operation *op) {
  auto assign = dyn_cast<AssignOp>(op);
  auto read = assign ? assign.getValue().getDefiningOp<ReadOp>() : ReadOp();
  return read && read.getVariableAttr() == assign.getVariableAttr();
}

/// Users come after their operands, so one walk backwards finds every dead op; what a branch or loop does not need any
/// more comes after it in this walk.
void pruneBlock(Block &block) {
  for (Operation &each : llvm::make_early_inc_range(llvm::reverse(block))) {
    Operation *op = &each;
    if (isOpTriviallyDead(op) || assignsOwnValue(op)) {
      op->erase();
    } else if (isControlFlow(op)) {
      op = pruneControlFlow(op);
      for (Region &region : op->getRegions())
        pruneBlock(region.front());
      pruneControlFlow(op); // Without what the dead ops read.
    }
  }
}

struct PrunePass : impl::PrunePassBase<PrunePass> {
  void runOnOperation() override {
    for (Operation &function : getOperation().getOps())
      for (Region &region : function.getRegions())
        for (Block &block : region)
          pruneBlock(block);
  }
};

} // namespace
} // namespace mlir::ferrule
