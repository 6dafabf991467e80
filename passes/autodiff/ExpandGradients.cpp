// Reverse-mode differentiation of one `ferrule.gradient` at a time. The walk over the ops between wrt and cost is all
// there is: each op's rule stands in its own entry, and branches and loops are walked in turn (ControlFlowGradients.cpp).
#include "ir/graph/Gradient.h"
#include "passes/Passes.h"
#include "passes/autodiff/GradientWalk.h"
#include "passes/autodiff/Marks.h"

namespace mlir::ferrule {

#define GEN_PASS_DEF_EXPANDGRADIENTSPASS
#include "passes/Passes.h.inc"

namespace {

LogicalResult expand(GradientOp gradient) {
  // What the user wrote has been checked; now there are gradients of gradients in between.
  SmallVector<GradientObstacle> obstacles = findFloatGradientObstacles(gradient.getCost(), gradient.getWrt());
  if (!obstacles.empty())
    return refuse(obstacles.front(), gradient.getWrt());
  prepareControlFlow(gradient.getCost(), gradient.getWrt());

  OpBuilder builder(gradient);
  Location location = markBackward(gradient.getLoc());
  GraphBuilder b(builder, location);
  // New ops go before the gradient, so the walk must remember where the recorded ops ended.
  Operation *last = gradient->getPrevNode();
  GradientWalk walk(builder, findGradientPaths(gradient.getCost(), gradient.getWrt()));
  walk.add(gradient.getCost(), gradient.getCotangent() ? gradient.getCotangent() : b.like(gradient.getCost(), 1.0),
           location);
  if (failed(walk.run(last)))
    return failure();
  for (auto [result, wrt] : llvm::zip_equal(gradient.getResults(), gradient.getWrt())) {
    Value cotangent = walk.lookup(wrt);
    result.replaceAllUsesWith(cotangent ? cotangent : b.like(wrt, 0.0));
  }
  gradient.erase();
  return success();
}

struct ExpandGradientsPass : impl::ExpandGradientsPassBase<ExpandGradientsPass> {
  void runOnOperation() override {
    // Program order is innermost first: a gradient can use only results of gradients before it.
    SmallVector<GradientOp> gradients;
    getOperation().walk([&](GradientOp op) { gradients.push_back(op); });
    for (GradientOp gradient : gradients)
      if (failed(checkDifferentiable(gradient.getCost(), gradient.getWrt())))
        return signalPassFailure();
    for (GradientOp gradient : gradients)
      if (failed(expand(gradient)))
        return signalPassFailure();
    forgetPreparation(getOperation());
  }
};

} // namespace
} // namespace mlir::ferrule
