#include "ir/graph/FerruleDialect.h"
#include "ir/interfaces/FerruleOpInterface.h"
#include "passes/Passes.h"

namespace mlir::ferrule {

#define GEN_PASS_DEF_VERIFYPRIMITIVESPASS
#include "passes/Passes.h.inc"

namespace {

struct VerifyPrimitivesPass : impl::VerifyPrimitivesPassBase<VerifyPrimitivesPass> {
  void runOnOperation() override {
    getOperation().walk([&](FerruleOpInterface op) {
      if (op.getLoweringKind() != LoweringKind::Expand)
        return;
      op->emitOpError("must have been replaced by other ops before this point");
      signalPassFailure();
    });
  }
};

} // namespace
} // namespace mlir::ferrule
