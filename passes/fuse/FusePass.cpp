#include "passes/Passes.h"
#include "passes/fuse/Fuse.h"

#include "ir/graph/FerruleDialect.h"

namespace mlir::ferrule {
#define GEN_PASS_DEF_FUSEPASS
#include "passes/Passes.h.inc"
} // namespace mlir::ferrule

using namespace mlir;

namespace {

struct FusePass : mlir::ferrule::impl::FusePassBase<FusePass> {
  using FusePassBase::FusePassBase;
  void runOnOperation() override {
    if (failed(mlir::ferrule::prepareFusion(getOperation())))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(mlir::ferrule::fuseIntoDispatches(function, {fuse})))
        return signalPassFailure();
  }
};

} // namespace
