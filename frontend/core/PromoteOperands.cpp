//===- PromoteOperands.cpp - Casts, and types for scalars -----------------===//

#include "frontend/core/Error.h"
#include "frontend/core/Promotion.h"
#include "frontend/core/Transforms.h"

namespace ferrule::frontend {
namespace {

DataType weakType(const Scalar &scalar) {
  if (std::holds_alternative<bool>(scalar))
    return DataType::Bool;
  return std::holds_alternative<double>(scalar) ? defaultFloat : defaultInteger;
}

OperandType typeOf(const PendingOperand &operand) {
  if (operand.scalar)
    return {weakType(*operand.scalar), /*isWeak=*/true};
  return {operand.isWeak ? defaultInteger : getType(operand.value), operand.isWeak};
}

/// The common type of the present operands among `operands`.
std::optional<DataType> commonTypeOf(llvm::ArrayRef<PendingOperand> operands) {
  llvm::SmallVector<OperandType, 4> types;
  for (const PendingOperand &operand : operands)
    if (!operand.isAbsent())
      types.push_back(typeOf(operand));
  if (types.empty())
    return std::nullopt;
  return commonType(types);
}

/// Casts one operand, or gives a scalar its constant.
llvm::Error convert(PendingOperand &operand, DataType type, OpStream &stream, const CallSite &site) {
  if (operand.isAbsent())
    return llvm::Error::success();
  if (operand.scalar) {
    llvm::Expected<mlir::DenseElementsAttr> elements = toElements(*operand.scalar, type, stream.getContext());
    if (!elements) {
      ErrorText text = takeErrorText(elements.takeError());
      return makeError(text.kind, text.message + describeSite(site));
    }
    llvm::Expected<mlir::Value> constant = createConstant(stream, *elements, site);
    if (!constant)
      return constant.takeError();
    operand.value = *constant;
    operand.scalar.reset();
    return llvm::Error::success();
  }
  llvm::Expected<mlir::Value> cast = createCast(stream, operand.value, type, site);
  if (!cast)
    return cast.takeError();
  operand.value = *cast;
  return llvm::Error::success();
}

llvm::Error convertAll(llvm::MutableArrayRef<PendingOperand> operands, DataType type, OpStream &stream,
                       const CallSite &site) {
  for (PendingOperand &operand : operands)
    if (llvm::Error error = convert(operand, type, stream, site))
      return error;
  return llvm::Error::success();
}

/// Ops without a rule: tensors stay, a scalar takes its default type.
llvm::Error convertScalars(PendingCall &call, OpStream &stream) {
  for (PendingOperand &operand : call.operands)
    if (operand.scalar || operand.isWeak)
      if (llvm::Error error = convert(operand, typeOf(operand).type, stream, call.site))
        return error;
  return llvm::Error::success();
}

DataType toFloat(DataType type) { return isFloat(type) ? type : defaultFloat; }

} // namespace

llvm::Error promoteOperands(PendingCall &call, OpStream &stream) {
  llvm::MutableArrayRef<PendingOperand> operands = call.operands;
  PromotionRule rule = getPromotionRule(call.call.op);
  std::optional<DataType> common = commonTypeOf(operands);
  if (!common)
    return llvm::Error::success();

  switch (rule) {
  case PromotionRule::Keep:
    return convertScalars(call, stream);
  case PromotionRule::Common:
    return convertAll(operands, *common, stream, call.site);
  case PromotionRule::Arithmetic:
    return convertAll(operands, *common == DataType::Bool ? defaultInteger : *common, stream, call.site);
  case PromotionRule::Float:
    return convertAll(operands, toFloat(*common), stream, call.site);
  case PromotionRule::Logical:
    return convertAll(operands, DataType::Bool, stream, call.site);
  case PromotionRule::Select: {
    if (llvm::Error error = convert(operands.front(), DataType::Bool, stream, call.site))
      return error;
    llvm::MutableArrayRef<PendingOperand> choices = operands.drop_front();
    std::optional<DataType> type = commonTypeOf(choices);
    return type ? convertAll(choices, *type, stream, call.site) : llvm::Error::success();
  }
  case PromotionRule::LabelledRows: {
    DataType type = toFloat(typeOf(operands.front()).type);
    for (auto [index, operand] : llvm::enumerate(operands))
      if (llvm::Error error = convert(operand, index == 1 ? DataType::Int32 : type, stream, call.site))
        return error;
    return llvm::Error::success();
  }
  }
  return llvm::Error::success();
}

} // namespace ferrule::frontend
