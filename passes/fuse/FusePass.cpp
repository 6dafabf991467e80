#include "passes/Passes.h"
#include "passes/fuse/Fuse.h"

#include "ir/graph/ControlFlow.h"

namespace mlir::ferrule {
#define GEN_PASS_DEF_FUSEPASS
#include "passes/Passes.h.inc"
} // namespace mlir::ferrule

using namespace mlir;
using mlir::ferrule::isControlFlow;

namespace {

struct FusePass : mlir::ferrule::impl::FusePassBase<FusePass> {
  using FusePassBase::FusePassBase;
  void runOnOperation() override {
    if (failed(mlir::ferrule::prepareFusion(getOperation())))
      return signalPassFailure();
    if (fuse) {
      mlir::ferrule::readConcatenationsInPieces(getOperation());
      mlir::ferrule::makeGradientsInPieces(getOperation());
    }
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      // Inner ones first: what is around them copies them.
      SmallVector<Region *> regions;
      function.walk([&](Operation *op) {
        if (isControlFlow(op))
          for (Region &region : op->getRegions())
            regions.push_back(&region);
      });
      regions.push_back(&function.getBody());
      for (Region *region : regions)
        if (failed(mlir::ferrule::fuseIntoDispatches(*region, {fuse})))
          return signalPassFailure();
    }
  }
};

} // namespace
