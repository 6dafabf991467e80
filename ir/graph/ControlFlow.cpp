#include "ir/graph/ControlFlow.h"

#include "ir/graph/Families.h"

using namespace mlir;
using namespace mlir::ferrule;

#define GET_OP_CLASSES
#include "ir/graph/ControlFlow.cpp.inc"

void mlir::ferrule::registerControlFlowOps(FerruleDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/graph/ControlFlow.cpp.inc"
      >();
}

//===------------------------------------------------------------------------------------------------------------===//
// All alike
//===------------------------------------------------------------------------------------------------------------===//

bool mlir::ferrule::isControlFlow(Operation *op) { return isa<IfOp, WhileOp, ScanOp>(op); }

MutableArrayRef<OpOperand> mlir::ferrule::getRegionOperands(Operation *op) {
  return op->getOpOperands().drop_front(isa<IfOp>(op) ? 1 : 0);
}

unsigned mlir::ferrule::getCarryCount(Operation *op) {
  if (auto loop = dyn_cast<WhileOp>(op))
    return loop.getInits().size();
  if (auto scan = dyn_cast<ScanOp>(op))
    return scan.getInits().size();
  return 0;
}

unsigned mlir::ferrule::getFirstCapture(Operation *op) {
  auto scan = dyn_cast<ScanOp>(op);
  return getCarryCount(op) + (scan ? scan.getXs().size() : 0);
}

OperandRange mlir::ferrule::getYielded(Region &region) { return region.front().getTerminator()->getOperands(); }

RankedTensorType mlir::ferrule::getSliceType(RankedTensorType type) {
  return makeTensorType(type.getElementType(), ArrayRef<DimExpr>(getDims(type)).drop_front());
}

RankedTensorType mlir::ferrule::getStackedType(const DimExpr &count, RankedTensorType slice) {
  Dims dims = getDims(slice);
  dims.insert(dims.begin(), count);
  return makeTensorType(slice.getElementType(), dims);
}

//===------------------------------------------------------------------------------------------------------------===//
// Verification
//===------------------------------------------------------------------------------------------------------------===//

static RankedTensorType getTensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// The types that the region's arguments must have.
static SmallVector<Type> getArgumentTypes(Operation *op) {
  SmallVector<Type> types;
  unsigned carries = getCarryCount(op), captures = getFirstCapture(op);
  for (auto [index, operand] : llvm::enumerate(getRegionOperands(op))) {
    bool isSliced = index >= carries && index < captures;
    types.push_back(isSliced ? getSliceType(getTensorType(operand.get())) : operand.get().getType());
  }
  return types;
}

static LogicalResult verifyRegion(Operation *op, Region &region, StringRef name, TypeRange yielded) {
  Block &block = region.front();
  if (!isa<YieldOp>(block.back()))
    return op->emitOpError("has a region `") << name << "` that does not end with ferrule.yield";
  if (block.getArgumentTypes() != TypeRange(getArgumentTypes(op)))
    return op->emitOpError("has a region `") << name << "` whose arguments do not have the types of the operands";
  if (getYielded(region).getTypes() != yielded)
    return op->emitOpError("has a region `") << name << "` that yields (" << getYielded(region).getTypes()
                                             << ") where (" << yielded << ") is needed";
  return success();
}

static LogicalResult verifyCarries(Operation *op, ValueRange inits, TypeRange results) {
  if (results.size() < inits.size() || results.take_front(inits.size()) != inits.getTypes())
    return op->emitOpError("has results (") << results << ") that do not begin with the types of the inits";
  return success();
}

LogicalResult CustomGradientOp::verify() {
  if (getResultTypes() != TypeRange(getValues().getTypes()))
    return emitOpError("has results (") << getResultTypes() << ") that do not have the types of the values";
  return success();
}

LogicalResult CustomGradientOp::verifyRegions() {
  SmallVector<Type> arguments(getValues().getTypes());
  llvm::append_range(arguments, getCaptures().getTypes());
  if (getBackward().front().getArgumentTypes() != TypeRange(arguments))
    return emitOpError("has a region whose arguments are not the cotangents of the values, then the captures");
  if (!isa<YieldOp>(getBackward().front().back()) || getYielded(getBackward()).getTypes() != getInputs().getTypes())
    return emitOpError("has a region that does not yield one value of the type of each input");
  return success();
}

LogicalResult IfOp::verify() {
  if (getPredicate().getType() != RankedTensorType::get({}, IntegerType::get(getContext(), 1)))
    return emitOpError("has a predicate of type ") << getPredicate().getType() << "; it must be a bool of rank 0";
  return success();
}

LogicalResult IfOp::verifyRegions() {
  if (failed(verifyRegion(*this, getThenRegion(), "then", getResultTypes())))
    return failure();
  return verifyRegion(*this, getElseRegion(), "else", getResultTypes());
}

LogicalResult WhileOp::verify() {
  if (getMaxSteps() && getMaxSteps()->getDims().size() != 1)
    return emitOpError("has ") << getMaxSteps()->getDims().size() << " values of max_steps; it is one expression";
  if (getResultTypes() != TypeRange(getInits().getTypes()))
    return emitOpError("has results (") << getResultTypes() << ") that do not have the types of the inits";
  return success();
}

LogicalResult WhileOp::verifyRegions() {
  Type flag = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (failed(verifyRegion(*this, getCondition(), "condition", flag)))
    return failure();
  return verifyRegion(*this, getBody(), "body", getResultTypes());
}

LogicalResult ScanOp::verify() {
  if (getLength().getDims().size() != 1)
    return emitOpError("has ") << getLength().getDims().size() << " lengths; it is one expression";
  for (Value x : getXs())
    if (getTensorType(x).getRank() == 0 || getDims(x).front() != getStepCount())
      return emitOpError("runs over ") << describe(x) << ", whose first size must be the length "
                                       << getStepCount().str();
  if (failed(verifyCarries(*this, getInits(), getResultTypes())))
    return failure();
  for (Value y : getOutputs().drop_front(getInits().size()))
    if (getTensorType(y).getRank() == 0 || getDims(y).front() != getStepCount())
      return emitOpError("stacks ") << describe(y) << ", whose first size must be the length "
                                    << getStepCount().str();
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  SmallVector<Type> yielded(getInits().getTypes());
  for (Value y : getOutputs().drop_front(getInits().size()))
    yielded.push_back(getSliceType(getTensorType(y)));
  return verifyRegion(*this, getBody(), "body", yielded);
}
