//===- ResolveOperands.cpp - Tensors and dims become values ---------------===//

#include "frontend/core/Error.h"
#include "frontend/core/Transforms.h"

namespace ferrule::frontend {
namespace {

/// A dim as an operand: a constant is a plain scalar, anything else a rank-0
/// int64 value that is computed when the program runs.
llvm::Expected<PendingOperand> expandDim(const DimExpr &dim, OpStream &stream, const CallSite &site) {
  PendingOperand operand;
  if (std::optional<int64_t> value = dim.getConstant()) {
    operand.scalar = *value;
    return operand;
  }
  if (!dim.isValid())
    return makeError(ErrorKind::Shape, "a size divides by zero or leaves 64-bit integers" + describeSite(site));
  mlir::MLIRContext *context = stream.getContext();
  auto name = mlir::StringAttr::get(context, "expr");
  llvm::Expected<mlir::Operation *> op =
      createOp(stream, "dim", {}, mlir::NamedAttribute(name, toDimsAttribute(dim, context)), site);
  if (!op)
    return op.takeError();
  operand.value = (*op)->getResult(0);
  operand.isWeak = true;
  return operand;
}

llvm::Expected<PendingOperand> resolve(const Operand &operand, OpStream &stream, const CallSite &site) {
  if (std::holds_alternative<Absent>(operand))
    return PendingOperand();
  if (auto *dim = std::get_if<DimExpr>(&operand))
    return expandDim(*dim, stream, site);
  PendingOperand resolved;
  if (auto *scalar = std::get_if<Scalar>(&operand)) {
    resolved.scalar = *scalar;
    return resolved;
  }
  llvm::Expected<mlir::Value> value = stream.getValue(std::get<TensorRef>(operand), site);
  if (!value)
    return value.takeError();
  resolved.value = *value;
  return resolved;
}

} // namespace

llvm::Error resolveOperands(PendingCall &call, OpStream &stream) {
  for (const Operand &operand : call.call.operands) {
    llvm::Expected<PendingOperand> resolved = resolve(operand, stream, call.site);
    if (!resolved)
      return resolved.takeError();
    call.operands.push_back(*resolved);
  }
  return llvm::Error::success();
}

} // namespace ferrule::frontend
