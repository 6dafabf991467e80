//===- BroadcastOperands.cpp - NumPy's broadcasting, made explicit --------===//

#include "frontend/core/Error.h"
#include "frontend/core/Transforms.h"
#include "ir/graph/Shapes.h"

#include "llvm/ADT/StringSet.h"

namespace ferrule::frontend {
namespace {

enum class BroadcastRule { None, Elementwise, Contraction };

BroadcastRule getBroadcastRule(llvm::StringRef name) {
  // One look-up for each op that is recorded.
  static const auto *elementwise =
      new llvm::StringSet<>{"add",        "sub",         "mul",         "div",         "floor_div",     "mod",
                            "pow",        "maximum",     "minimum",     "equal",       "not_equal",     "less",
                            "less_equal", "greater",     "logical_and", "logical_or",  "greater_equal", "logical_xor",
                            "where",      "fma",         "dot",         "fmod",        "atan2",         "hypot",
                            "copysign",   "bitwise_and", "bitwise_or",  "bitwise_xor", "left_shift",    "right_shift"};
  if (name == "matmul")
    return BroadcastRule::Contraction;
  return elementwise->contains(name) ? BroadcastRule::Elementwise : BroadcastRule::None;
}

/// The size of one axis of the result; empty if `lhs` and `rhs` cannot meet.
std::optional<DimExpr> broadcastDim(const DimExpr &lhs, const DimExpr &rhs, OpStream &stream,
                                    const SourceLocation &location) {
  if (lhs == rhs || rhs.getConstant() == 1)
    return lhs;
  if (lhs.getConstant() == 1)
    return rhs;
  std::optional<bool> equal = stream.getConstraints().isEqual(lhs, rhs);
  if (equal == false)
    return std::nullopt;
  // Not decided: the user's program says they are equal (or that one is 1,
  // which a named dim is not expected to be), and each call checks it.
  if (!equal)
    stream.recordEquality(lhs, rhs, location);
  return lhs.isConstant() ? lhs : rhs.isConstant() ? rhs : lhs;
}

/// The common case, told without looking at sizes.
bool haveOneShape(llvm::ArrayRef<PendingOperand> operands) {
  auto typeOf = [](const PendingOperand &operand) {
    return llvm::cast<mlir::RankedTensorType>(operand.value.getType());
  };
  mlir::RankedTensorType first = typeOf(operands.front());
  return llvm::all_of(operands.drop_front(), [&](const PendingOperand &operand) {
    mlir::RankedTensorType type = typeOf(operand);
    return type == first || (type.getShape() == first.getShape() && type.getEncoding() == first.getEncoding());
  });
}

llvm::Error broadcastElementwise(PendingCall &call, OpStream &stream) {
  if (haveOneShape(call.operands))
    return llvm::Error::success();
  Shape shape;
  for (const PendingOperand &operand : call.operands) {
    llvm::Expected<Shape> joined = broadcastShapes(shape, getShape(operand.value), stream, call);
    if (!joined)
      return joined.takeError();
    shape = std::move(*joined);
  }
  for (PendingOperand &operand : call.operands) {
    llvm::Expected<mlir::Value> value = createBroadcast(stream, operand.value, shape, call.site);
    if (!value)
      return value.takeError();
    operand.value = *value;
  }
  return llvm::Error::success();
}

/// Everything but the last two axes broadcasts. Vectors are left to the op's
/// type rule, which refuses them.
llvm::Error broadcastContraction(PendingCall &call, OpStream &stream) {
  if (call.operands.size() != 2)
    return llvm::Error::success();
  // Two matrices have no axes that could broadcast.
  if (llvm::all_of(call.operands, [](const PendingOperand &operand) {
        return llvm::cast<mlir::RankedTensorType>(operand.value.getType()).getRank() == 2;
      }))
    return llvm::Error::success();
  Shape lhs = getShape(call.operands[0].value);
  Shape rhs = getShape(call.operands[1].value);
  if (lhs.size() < 2 || rhs.size() < 2)
    return llvm::Error::success();
  llvm::Expected<Shape> batch = broadcastShapes(llvm::ArrayRef<DimExpr>(lhs).drop_back(2),
                                                llvm::ArrayRef<DimExpr>(rhs).drop_back(2), stream, call);
  if (!batch)
    return batch.takeError();
  for (PendingOperand &operand : call.operands) {
    Shape target = *batch;
    Shape own = getShape(operand.value);
    target.append(own.end() - 2, own.end());
    llvm::Expected<mlir::Value> value = createBroadcast(stream, operand.value, target, call.site);
    if (!value)
      return value.takeError();
    operand.value = *value;
  }
  return llvm::Error::success();
}

} // namespace

llvm::Expected<Shape> broadcastShapes(llvm::ArrayRef<DimExpr> lhs, llvm::ArrayRef<DimExpr> rhs, OpStream &stream,
                                      const PendingCall &call) {
  llvm::ArrayRef<DimExpr> longer = lhs.size() >= rhs.size() ? lhs : rhs;
  llvm::ArrayRef<DimExpr> shorter = lhs.size() >= rhs.size() ? rhs : lhs;
  Shape shape(longer);
  size_t offset = longer.size() - shorter.size();
  for (size_t axis = 0; axis < shorter.size(); ++axis) {
    std::optional<DimExpr> dim = broadcastDim(longer[offset + axis], shorter[axis], stream, call.site.location);
    if (!dim) {
      std::string given;
      for (const PendingOperand &operand : call.operands)
        if (operand.value)
          given += (given.empty() ? "" : ", ") + mlir::ferrule::describe(operand.value);
      return makeError(ErrorKind::Shape, call.call.op + ": shapes " + toString(lhs) + " and " + toString(rhs) +
                                             " do not broadcast (" + longer[offset + axis].str() + " against " +
                                             shorter[axis].str() + "); the operands are " + given +
                                             describeSite(call.site));
    }
    shape[offset + axis] = *dim;
  }
  return shape;
}

llvm::Error broadcastOperands(PendingCall &call, OpStream &stream) {
  for (const PendingOperand &operand : call.operands)
    if (!operand.value)
      return llvm::Error::success();
  switch (getBroadcastRule(call.call.op)) {
  case BroadcastRule::None:
    return llvm::Error::success();
  case BroadcastRule::Elementwise:
    return broadcastElementwise(call, stream);
  case BroadcastRule::Contraction:
    return broadcastContraction(call, stream);
  }
  return llvm::Error::success();
}

} // namespace ferrule::frontend
