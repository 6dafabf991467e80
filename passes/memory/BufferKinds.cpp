#include "passes/memory/BufferKinds.h"

#include "ir/graph/ControlFlow.h"
#include "ir/graph/Shape.h"
#include "passes/autodiff/Marks.h"
#include "passes/memory/MemoryPlan.h"
#include "passes/recompute/Marks.h"

using namespace mlir;
using namespace mlir::ferrule;

using plan::BufferKind;

/// Whether the backward computation made it.
static bool isMadeBackward(OpResult result) {
  auto dispatch = dyn_cast<DispatchOp>(result.getOwner());
  if (!dispatch)
    return isBackward(result.getOwner()->getLoc());
  Operation *op = dispatch.getYielded()[result.getResultNumber()].getDefiningOp();
  return op && isBackward(op->getLoc());
}

/// A dispatch that also holds ops of the backward computation counts as one of its kernels.
static bool runsBackward(Operation *op) {
  if (auto dispatch = dyn_cast<DispatchOp>(op))
    return llvm::any_of(dispatch.getBodyBlock(), [](Operation &inner) { return isBackward(inner.getLoc()); });
  return isBackward(op->getLoc());
}

static bool isReadBackward(Value value) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (runsBackward(user) || (isMemoryView(user) && isReadBackward(user->getResult(0))))
      return true;
    if (!isControlFlow(user))
      continue;
    MutableArrayRef<OpOperand> operands = getRegionOperands(user);
    if (&use < operands.begin() || &use >= operands.end())
      continue; // The condition of a branch.
    for (Region &region : user->getRegions())
      if (isReadBackward(region.getArgument(&use - operands.begin())))
        return true;
  }
  return false;
}

BufferKind BufferKinds::get(OpResult result) const {
  if (isMadeBackward(result))
    return BufferKind::Gradient;
  if (result.getOwner()->hasAttr(recomputedAttributeName))
    return BufferKind::Recomputed;
  if (isReadBackward(result))
    return BufferKind::Residual;
  return afterBackward.contains(result) ? BufferKind::State : BufferKind::Activation;
}

/// In program order, so operands come first. What a step of a loop hands to the next one is not followed.
void BufferKinds::findAfterBackward(Block &block) {
  for (Operation &op : block) {
    bool depends = llvm::any_of(op.getOperands(), [&](Value operand) { return afterBackward.contains(operand); });
    for (OpResult result : op.getResults())
      if (depends || (isa<DispatchOp>(op) || isControlFlow(&op) ? isMadeBackward(result) : false))
        afterBackward.insert(result);
    if (!isControlFlow(&op))
      continue;
    for (Region &region : op.getRegions()) {
      for (auto [operand, argument] : llvm::zip(getRegionOperands(&op), region.getArguments()))
        if (afterBackward.contains(operand.get()))
          afterBackward.insert(argument);
      findAfterBackward(region.front());
    }
  }
}
