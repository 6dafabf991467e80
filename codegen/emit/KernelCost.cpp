//===- KernelCost.cpp - What a call of a kernel computes and moves --------===//

#include "codegen/emit/KernelCost.h"

#include "ir/graph/Indexing.h"
#include "ir/graph/Layout.h"
#include "ir/graph/Shapes.h"

using namespace mlir;
using namespace mlir::ferrule;

static DimExpr getTensorBytes(Value value) { return getByteCount(cast<RankedTensorType>(value.getType())); }

/// Of operand 0 only as many elements are read as the result has; the other operands say which.
static bool isLookUp(Operation *op) { return isa<TakeOp, GatherOp, PanelTakeOp>(op); }

/// Where the result takes the place of operand 0, only as many elements are touched there as the last operand has.
static bool isUpdateOfPart(Operation *op) {
  return isa<PutOp, PutAddOp, ScatterOp, ScatterAddOp, UpdateSliceOp>(op);
}

/// The bytes of a value in a kernel's body that its users there read: of what ops only move, the part that is read on.
static DimExpr getReadBytes(Value value) {
  DimExpr whole = getTensorBytes(value), parts = 0;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (cast<FerruleOpInterface>(user).getLoweringKind() == LoweringKind::Shape)
      parts = parts + getReadBytes(user->getResult(0));
    else if (isLookUp(user) && use.getOperandNumber() == 0)
      parts = parts + getTensorBytes(user->getResult(0));
    else
      return whole;
  }
  return DimExpr::min(whole, parts);
}

static bool isSamePlace(Value a, Value b) {
  return plan::getBuffer(a) == plan::getBuffer(b) && plan::getOffset(a) == plan::getOffset(b);
}

KernelCost mlir::ferrule::getKernelCost(plan::CallOp call, DispatchOp dispatch) {
  KernelCost cost{0, 0, 0};
  for (Operation &op : dispatch.getBodyBlock())
    cost.flops = cost.flops + cast<FerruleOpInterface>(op).getFlops();

  OperandRange inputs = call.getInputs();
  Operation *first = &dispatch.getBodyBlock().front();
  bool changesPart = isUpdateOfPart(first) && isSamePlace(call.getOutputs()[0], inputs[0]);
  for (auto [index, input] : llvm::enumerate(inputs)) {
    auto isInput = [&](Value other) { return isSamePlace(other, input); };
    if (llvm::any_of(inputs.take_front(index), isInput) || (changesPart && index == 0))
      continue;
    cost.readBytes = cost.readBytes + getReadBytes(dispatch.getBodyBlock().getArgument(index));
  }
  if (changesPart) {
    cost.writtenBytes = getTensorBytes(first->getOperands().back());
    return cost;
  }
  for (Value output : call.getOutputs())
    cost.writtenBytes = cost.writtenBytes + plan::getBytes(output);
  return cost;
}
