#include "passes/autodiff/GradientWalk.h"

#include "ir/graph/ControlFlow.h"
#include "passes/autodiff/Marks.h"
#include "passes/recompute/Marks.h"

namespace mlir::ferrule {

void GradientWalk::add(Value value, Value cotangent, Location location) {
  GraphBuilder b(builder, location);
  Value total = cotangents.lookup(value);
  cotangents[value] = total ? b.add(total, cotangent) : cotangent;
}

LogicalResult GradientWalk::run(Operation *last) {
  for (Operation *op = last; op; op = op->getPrevNode())
    if (paths.needed.contains(op) && failed(visit(op)))
      return failure();
  return success();
}

LogicalResult GradientWalk::visit(Operation *op) {
  SmallVector<Value> incoming;
  for (Value result : op->getResults())
    incoming.push_back(cotangents.lookup(result));
  auto operandIsActive = [&](Value operand) { return isActive(operand); };
  if (llvm::none_of(incoming, [](Value value) { return bool(value); }) ||
      llvm::none_of(op->getOperands(), operandIsActive))
    return success();

  Location location = markBackward(withoutCheckpoint(op->getLoc()));
  GraphBuilder b(builder, location);
  SmallVector<Value> outgoing(op->getNumOperands());
  auto rule = cast<FerruleOpInterface>(op);
  if (rule.getGradientKind() == GradientKind::Regions) {
    if (failed(buildControlFlowGradient(op, b, incoming, operandIsActive, outgoing)))
      return failure();
  } else if (rule.getGradientKind() != GradientKind::Rule) {
    return success();
  } else if (failed(rule.buildGradient(b, incoming, outgoing))) {
    return failure();
  }
  // Reverse order of use, also between the operands of one op.
  for (unsigned i = outgoing.size(); i-- > 0;)
    if (outgoing[i] && isActive(op->getOperand(i)))
      add(op->getOperand(i), outgoing[i], location);
  return success();
}

} // namespace mlir::ferrule
