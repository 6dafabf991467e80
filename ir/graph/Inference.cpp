#include "ir/graph/Inference.h"

#include "mlir/IR/Diagnostics.h"

namespace mlir::ferrule {

LogicalResult failInference(MaybeLocation location, StringRef op, const Twine &message) {
  return emitOptionalError(location, op + ": " + message);
}

static bool isSupported(Type type) {
  if (isa<Float64Type, Float32Type, Float16Type, BFloat16Type>(type) || type.isInteger(1))
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && !integer.isSigned() && llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth());
}

LogicalResult checkOperands(MaybeLocation location, StringRef op, ValueRange operands, unsigned least, unsigned most) {
  if (operands.size() < least || operands.size() > most) {
    std::string allowed = std::to_string(least);
    if (least != most)
      allowed += most >= 1000000 ? " or more" : " to " + std::to_string(most);
    return failInference(location, op, "got " + Twine(operands.size()) + " operands; it takes " + allowed);
  }
  for (auto [index, operand] : llvm::enumerate(operands)) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || !hasDims(type) || !isSupported(type.getElementType()))
      return failInference(location, op,
                           "operand " + Twine(index) + " is " + describe(operand) +
                               "; it must be a ranked tensor with named sizes of float16 to float64, bfloat16, int8 to "
                               "int64, uint8 to uint64 or bool");
  }
  return success();
}

Type getElementType(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

bool isFloat(Value value) { return isa<FloatType>(getElementType(value)); }

LogicalResult checkKind(MaybeLocation location, StringRef op, StringRef operandName, Value operand, ElementKind kind) {
  Type type = getElementType(operand);
  bool isBool = type.isInteger(1);
  auto fail = [&](StringRef allowed) {
    return failInference(location, op, operandName + " is " + describe(operand) + "; its dtype must be " + allowed);
  };
  switch (kind) {
  case ElementKind::Any:
    return success();
  case ElementKind::Number:
    return isBool ? fail("a float or an integer") : success();
  case ElementKind::Float:
    return isa<FloatType>(type) ? success() : fail("a float");
  case ElementKind::Integer:
    return isa<IntegerType>(type) && !isBool ? success() : fail("an integer");
  case ElementKind::Bool:
    return isBool ? success() : fail("bool");
  }
  return failure();
}

LogicalResult checkSameType(MaybeLocation location, StringRef op, StringRef nameA, Value a, StringRef nameB, Value b) {
  if (a.getType() == b.getType())
    return success();
  bool sameDtype = getElementType(a) == getElementType(b);
  return failInference(location, op,
                       nameA + " is " + describe(a) + " and " + nameB + " is " + describe(b) + "; they must have one " +
                           (sameDtype ? "shape (broadcast first)" : "dtype (cast first)"));
}

LogicalResult checkRank(MaybeLocation location, StringRef op, StringRef operandName, Value operand, int64_t rank) {
  if (cast<RankedTensorType>(operand.getType()).getRank() == rank)
    return success();
  return failInference(location, op,
                       operandName + " is " + describe(operand) + "; it must have " + Twine(rank) + " axes");
}

LogicalResult checkPresent(MaybeLocation location, StringRef op, StringRef attributeName, Attribute attribute) {
  return attribute ? success() : failInference(location, op, "the attribute '" + attributeName + "' is missing");
}

LogicalResult checkAxes(MaybeLocation location, StringRef op, StringRef attributeName, ArrayRef<int64_t> axes,
                        Value operand) {
  int64_t rank = cast<RankedTensorType>(operand.getType()).getRank();
  SmallVector<bool> seen(rank, false);
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= rank)
      return failInference(location, op,
                           attributeName + " names axis " + Twine(axis) + " of " + describe(operand) +
                               "; allowed are 0 to " + Twine(rank - 1));
    if (seen[axis])
      return failInference(location, op, attributeName + " names axis " + Twine(axis) + " twice");
    seen[axis] = true;
  }
  return success();
}

Dims removeAxes(ArrayRef<DimExpr> dims, ArrayRef<int64_t> axes, bool keepdims) {
  Dims result;
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    if (!llvm::is_contained(axes, static_cast<int64_t>(axis)))
      result.push_back(dim);
    else if (keepdims)
      result.push_back(1);
  }
  return result;
}

LogicalResult addType(MaybeLocation location, StringRef op, Type elementType, ArrayRef<DimExpr> dims,
                      InferredTypes &types) {
  for (const DimExpr &dim : dims)
    if (!dim.isValid() || dim.getConstant().value_or(0) < 0)
      return failInference(location, op, "the result would have the shape " + describe(dims));
  if (!getElementCount(dims).isValid())
    return failInference(location, op, "the result would have more than 2^63 elements: " + describe(dims));
  types.push_back(makeTensorType(elementType, dims));
  return success();
}

LogicalResult inferUnary(MaybeLocation location, StringRef op, Value x, ElementKind kind, InferredTypes &types) {
  if (failed(checkKind(location, op, "x", x, kind)))
    return failure();
  types.push_back(x.getType());
  return success();
}

LogicalResult inferBinary(MaybeLocation location, StringRef op, Value x, Value y, ElementKind kind,
                          InferredTypes &types) {
  if (failed(checkSameType(location, op, "x", x, "y", y)))
    return failure();
  return inferUnary(location, op, x, kind, types);
}

LogicalResult inferComparison(MaybeLocation location, StringRef op, Value x, Value y, ElementKind kind,
                              InferredTypes &types) {
  if (failed(inferBinary(location, op, x, y, kind, types)))
    return failure();
  types.back() = makeTensorType(IntegerType::get(x.getContext(), 1), getDims(x));
  return success();
}

} // namespace mlir::ferrule
