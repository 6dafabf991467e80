#include "ir/plan/PlanOps.h"

using namespace mlir;
using namespace mlir::ferrule;
using namespace mlir::ferrule::plan;

#define GET_OP_CLASSES
#include "ir/plan/Instruction.cpp.inc"

void mlir::ferrule::plan::registerInstructionOps(FerrulePlanDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/plan/Instruction.cpp.inc"
      >();
}

/// Inputs and constants belong to others.
static LogicalResult verifyWritten(Operation *op, Value value) {
  Storage storage = getBuffer(value).getStorage();
  if (storage == Storage::Input || storage == Storage::Constant)
    return op->emitOpError("writes the buffer \"")
           << getBuffer(value).getName() << "\", which is " << (storage == Storage::Input ? "an input" : "a constant");
  return success();
}

LogicalResult CallOp::verify() {
  if (getTiles() && getTiles()->getDims().size() != 1)
    return emitOpError("has ") << getTiles()->getDims().size() << " tile counts; it is one expression";
  for (Value output : getOutputs())
    if (failed(verifyWritten(*this, output)))
      return failure();
  return success();
}

/// A buffer that a call passes has room for the kernel's operand. Sizes that are equal by a recorded equality only may
/// be written differently; they are not compared.
static LogicalResult verifyOperand(CallOp call, Value buffer, Type type) {
  std::optional<int64_t> expected = getByteCount(cast<RankedTensorType>(type)).getConstant();
  std::optional<int64_t> bytes = plan::getBytes(buffer).getConstant();
  if (expected && bytes && *expected != *bytes)
    return call.emitOpError("passes the buffer \"") << getBuffer(buffer).getName() << "\" of " << *bytes
                                                    << " bytes where " << call.getKernelAttr() << " has " << type;
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError("names the kernel ") << getKernelAttr() << ", which the module does not have";
  DispatchOp dispatch = kernel.getDispatch();
  if (getOutputs().size() != dispatch.getNumResults() || getInputs().size() != dispatch.getInputs().size())
    return emitOpError("passes ") << getOutputs().size() << " outputs and " << getInputs().size() << " inputs; "
                                  << getKernelAttr() << " has " << dispatch.getNumResults() << " and "
                                  << dispatch.getInputs().size();
  for (auto [buffer, type] : llvm::zip(getOutputs(), dispatch.getResultTypes()))
    if (failed(verifyOperand(*this, buffer, type)))
      return failure();
  for (auto [buffer, type] : llvm::zip(getInputs(), dispatch.getInputs().getTypes()))
    if (failed(verifyOperand(*this, buffer, type)))
      return failure();
  return success();
}

LogicalResult CopyOp::verify() {
  if (getSize().getDims().size() != 1)
    return emitOpError("has ") << getSize().getDims().size() << " sizes; a size in bytes is one expression";
  return verifyWritten(*this, getTarget());
}
