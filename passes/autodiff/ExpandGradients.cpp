// Reverse-mode differentiation of one `ferrule.gradient` at a time. The walk over the ops between wrt and cost is all
// there is: each op's rule stands in its own entry.
#include "ir/graph/Gradient.h"
#include "ir/graph/GraphBuilder.h"
#include "ir/graph/Inference.h"
#include "passes/Passes.h"
#include "passes/autodiff/Differentiability.h"

#include "llvm/ADT/DenseMap.h"

namespace mlir::ferrule {

#define GEN_PASS_DEF_EXPANDGRADIENTSPASS
#include "passes/Passes.h.inc"

namespace {

class GradientExpander {
public:
  explicit GradientExpander(GradientOp gradient) : gradient(gradient), builder(gradient) {}

  LogicalResult expand() {
    // What the user wrote has been checked; now there are gradients of gradients in between.
    SmallVector<GradientObstacle> obstacles = findFloatGradientObstacles(gradient.getCost(), gradient.getWrt());
    if (!obstacles.empty())
      return refuse(obstacles.front(), gradient.getWrt());
    paths = findGradientPaths(gradient.getCost(), gradient.getWrt());
    GraphBuilder b(builder, gradient.getLoc());
    // New ops go before the gradient, so the walk must remember where the recorded ops ended.
    Operation *op = gradient->getPrevNode();
    cotangents[gradient.getCost()] =
        gradient.getCotangent() ? gradient.getCotangent() : b.like(gradient.getCost(), 1.0);
    for (; op; op = op->getPrevNode())
      if (paths.needed.contains(op) && failed(expandOp(op)))
        return failure();

    for (auto [result, wrt] : llvm::zip_equal(gradient.getResults(), gradient.getWrt())) {
      Value cotangent = cotangents.lookup(wrt);
      result.replaceAllUsesWith(cotangent ? cotangent : b.like(wrt, 0.0));
    }
    gradient.erase();
    return success();
  }

private:
  LogicalResult expandOp(Operation *op) {
    SmallVector<Value> incoming;
    for (Value result : op->getResults())
      incoming.push_back(cotangents.lookup(result));
    auto isActive = [&](Value operand) { return paths.active.contains(operand); };
    if (llvm::none_of(incoming, [](Value value) { return bool(value); }) || llvm::none_of(op->getOperands(), isActive))
      return success();
    auto rule = cast<FerruleOpInterface>(op);
    if (rule.getGradientKind() != GradientKind::Rule)
      return success();

    GraphBuilder b(builder, op->getLoc());
    SmallVector<Value> outgoing(op->getNumOperands());
    if (failed(rule.buildGradient(b, incoming, outgoing)))
      return failure();
    // Reverse order of use, also between the operands of one op: this fixes the bits of the sum.
    for (unsigned i = outgoing.size(); i-- > 0;) {
      Value operand = op->getOperand(i);
      if (!outgoing[i] || !isActive(operand))
        continue;
      Value &total = cotangents[operand];
      total = total ? b.add(total, outgoing[i]) : outgoing[i];
    }
    return success();
  }

  GradientOp gradient;
  OpBuilder builder;
  GradientPaths paths;
  llvm::DenseMap<Value, Value> cotangents;
};

struct ExpandGradientsPass : impl::ExpandGradientsPassBase<ExpandGradientsPass> {
  void runOnOperation() override {
    // Program order is innermost first: a gradient can use only results of gradients before it.
    SmallVector<GradientOp> gradients;
    getOperation().walk([&](GradientOp op) { gradients.push_back(op); });
    for (GradientOp gradient : gradients)
      if (failed(checkDifferentiable(gradient.getCost(), gradient.getWrt())))
        return signalPassFailure();
    for (GradientOp gradient : gradients)
      if (failed(GradientExpander(gradient).expand()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace mlir::ferrule
