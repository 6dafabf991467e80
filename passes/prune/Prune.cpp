#include "ir/graph/State.h"
#include "passes/Passes.h"

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

struct PrunePass : impl::PrunePassBase<PrunePass> {
  void runOnOperation() override {
    // Users come after their operands, so one walk backwards finds every dead op.
    for (Operation &function : getOperation().getOps())
      for (Region &region : function.getRegions())
        for (Block &block : region)
          for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
            if (isOpTriviallyDead(&op) || assignsOwnValue(&op))
              op.erase();
  }
};

} // namespace
} // namespace mlir::ferrule
