#include "passes/Passes.h"
#include "passes/layout/Layout.h"

#include "ir/graph/FerruleDialect.h"

namespace mlir::ferrule {
#define GEN_PASS_DEF_LAYOUTPASS
#include "passes/Passes.h.inc"
} // namespace mlir::ferrule

using namespace mlir;

namespace {

struct LayoutPass : mlir::ferrule::impl::LayoutPassBase<LayoutPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    mlir::ferrule::chooseVariableLayouts(module);
    mlir::ferrule::packConstantWeights(module);
    mlir::ferrule::sinkUnpacksIntoRegions(module);
    if (failed(mlir::ferrule::makeContractionsPhysical(module)))
      return signalPassFailure();
    mlir::ferrule::hoistInvariants(module);
    if (failed(mlir::ferrule::propagateLayouts(module)))
      signalPassFailure();
  }
};

} // namespace
