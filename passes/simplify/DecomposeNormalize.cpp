#include "ir/graph/FerruleDialect.h"
#include "ir/graph/GraphBuilder.h"
#include "ir/graph/Normalize.h"
#include "passes/Passes.h"

namespace mlir::ferrule {

#define GEN_PASS_DEF_DECOMPOSENORMALIZEPASS
#include "passes/Passes.h.inc"

namespace {

void decompose(NormalizeOp op) {
  OpBuilder builder(op);
  GraphBuilder b(builder, op.getLoc());
  Value x = op.getX();
  auto moments = b.create<MomentsOp>(x, op.getAxesAttr(), op.getEpsAttr());
  Value mean = b.expandReduced(moments.getMean(), x, op.getAxes());
  Value rstd = b.expandReduced(moments.getRstd(), x, op.getAxes());
  Value y = b.mul(b.sub(x, mean), rstd);
  auto expandParameter = [&](Value parameter) { return b.expandAxes(parameter, x, op.getParamAxes()); };
  if (op.getWeight() && op.getBias())
    y = b.fma(y, expandParameter(op.getWeight()), expandParameter(op.getBias()));
  else if (op.getWeight()) // not an fma with 0, which would turn -0 into +0
    y = b.mul(y, expandParameter(op.getWeight()));
  else if (op.getBias())
    y = b.add(y, expandParameter(op.getBias()));
  op.replaceAllUsesWith(ValueRange{y, moments.getMean(), moments.getVariance(), moments.getRstd()});
  op.erase();
}

struct DecomposeNormalizePass : impl::DecomposeNormalizePassBase<DecomposeNormalizePass> {
  void runOnOperation() override {
    SmallVector<NormalizeOp> ops;
    getOperation().walk([&](NormalizeOp op) { ops.push_back(op); });
    llvm::for_each(ops, decompose);
  }
};

} // namespace
} // namespace mlir::ferrule
