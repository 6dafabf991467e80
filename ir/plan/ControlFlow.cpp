#include "ir/plan/PlanOps.h"

using namespace mlir;
using namespace mlir::ferrule;
using namespace mlir::ferrule::plan;

#define GET_OP_CLASSES
#include "ir/plan/ControlFlow.cpp.inc"

void mlir::ferrule::plan::registerControlFlowOps(FerrulePlanDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/plan/ControlFlow.cpp.inc"
      >();
}

LogicalResult LoopOp::verify() {
  if (getCount().getDims().size() != 1)
    return emitOpError("has ") << getCount().getDims().size() << " counts; it is one expression";
  std::string_view name(getDim().data(), getDim().size());
  if (!DimExpr::dim(name).isValid())
    return emitOpError("has the dim '") << getDim() << "', which is no dim name";
  return success();
}

LogicalResult BindDimOp::verify() {
  if (getLimit().getDims().size() != 1)
    return emitOpError("has ") << getLimit().getDims().size() << " limits; it is one expression";
  return success();
}

SmallVector<Operation *> mlir::ferrule::plan::getInstructions(Block &block) {
  SmallVector<Operation *> instructions;
  for (Operation &op : block)
    if (!isa<BufferOp, ViewOp>(op))
      instructions.push_back(&op);
  return instructions;
}

bool mlir::ferrule::plan::isControlFlow(Operation *op) { return isa<plan::IfOp, plan::WhileOp, LoopOp>(op); }

Operation *mlir::ferrule::plan::getInstructionIn(Block *block, Operation *op) {
  while (op && op->getBlock() != block)
    op = op->getParentOp();
  return op;
}
