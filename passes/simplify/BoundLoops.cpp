#include "ir/graph/ControlFlow.h"
#include "ir/graph/Elementwise.h"
#include "ir/graph/GraphBuilder.h"
#include "ir/graph/Shape.h"
#include "passes/Passes.h"

namespace mlir::ferrule {

#define GEN_PASS_DEF_BOUNDLOOPSPASS
#include "passes/Passes.h.inc"

namespace {

/// Adds a carry in front of the others that counts the steps.
void bound(WhileOp loop) {
  OpBuilder builder(loop);
  Location location = loop.getLoc();
  DimsAttr limit = *loop.getMaxSteps();
  Type number = builder.getI64Type();
  GraphBuilder b(builder, location);
  SmallVector<Value> inits{b.full(number, {}, 0)};
  llvm::append_range(inits, loop.getInits());
  auto bounded = WhileOp::create(builder, location, TypeRange(ValueRange(inits)), inits, loop.getCaptures(), DimsAttr());
  for (auto [source, region] : llvm::zip(loop->getRegions(), bounded->getRegions())) {
    region.takeBody(source);
    Value count = region.insertArgument(0u, inits.front().getType(), location);
    Operation *yield = region.front().getTerminator();
    builder.setInsertionPoint(yield);
    if (&region == &bounded.getBody()) {
      yield->insertOperands(0, b.add(count, b.like(count, 1)));
      continue;
    }
    Value isBelow = b.less(count, b.create<DimOp>(limit));
    yield->setOperand(0, b.logicalAnd(isBelow, yield->getOperand(0)));
  }
  loop->replaceAllUsesWith(bounded.getResults().drop_front());
  loop.erase();
}

struct BoundLoopsPass : impl::BoundLoopsPassBase<BoundLoopsPass> {
  void runOnOperation() override {
    SmallVector<WhileOp> loops;
    getOperation().walk([&](WhileOp loop) {
      if (loop.getMaxSteps())
        loops.push_back(loop);
    });
    llvm::for_each(loops, bound);
  }
};

} // namespace
} // namespace mlir::ferrule
