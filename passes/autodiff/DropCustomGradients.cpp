#include "passes/Passes.h"

#include "ir/graph/ControlFlow.h"

namespace mlir::ferrule {
#define GEN_PASS_DEF_DROPCUSTOMGRADIENTSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::ferrule

using namespace mlir;
using namespace mlir::ferrule;

namespace {

struct DropCustomGradientsPass : mlir::ferrule::impl::DropCustomGradientsPassBase<DropCustomGradientsPass> {
  void runOnOperation() override {
    getOperation().walk([](CustomGradientOp op) {
      op->replaceAllUsesWith(op.getValues());
      op.erase();
    });
  }
};

} // namespace
