#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ferrule {
#define GEN_PASS_DEF_SUBSTITUTEMATERIALIZEDPASS
#include "passes/Passes.h.inc"
} // namespace mlir::ferrule

using namespace mlir;

namespace {

constexpr StringLiteral attributeName = "ferrule.materialized";

struct SubstituteMaterializedPass : mlir::ferrule::impl::SubstituteMaterializedPassBase<SubstituteMaterializedPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk([&](Operation *op) {
        auto numbers = op->getAttrOfType<DenseI64ArrayAttr>(attributeName);
        if (!numbers)
          return;
        for (auto [result, number] : llvm::zip(op->getResults(), numbers.asArrayRef()))
          if (number >= 0 && number < function.getNumArguments())
            result.replaceAllUsesWith(function.getArgument(number));
        op->removeAttr(attributeName);
      });
  }
};

} // namespace
