//===- Promotion.cpp - Which element type an op computes in ---------------===//

#include "frontend/core/Promotion.h"

#include "llvm/ADT/StringMap.h"

#include <algorithm>

namespace ferrule::frontend {
namespace {

DataType signedOfWidth(unsigned bytes) {
  switch (bytes) {
  case 1:
    return DataType::Int8;
  case 2:
    return DataType::Int16;
  case 4:
    return DataType::Int32;
  default:
    return DataType::Int64;
  }
}

DataType defaultOf(Category category) {
  switch (category) {
  case Category::Bool:
    return DataType::Bool;
  case Category::Integer:
    return defaultInteger;
  case Category::Float:
    return defaultFloat;
  }
  return defaultFloat;
}

DataType promoteIntegers(DataType lhs, DataType rhs) {
  if (isSignedInteger(lhs) == isSignedInteger(rhs))
    return getByteSize(lhs) >= getByteSize(rhs) ? lhs : rhs;
  DataType withSign = isSignedInteger(lhs) ? lhs : rhs;
  DataType without = isSignedInteger(lhs) ? rhs : lhs;
  if (getByteSize(withSign) > getByteSize(without))
    return withSign;
  // uint64 with a signed type has no wider integer: int64, not a float, so that
  // an index never loses its low bits silently.
  return signedOfWidth(std::min(8u, 2 * getByteSize(without)));
}

} // namespace

DataType promoteTypes(DataType lhs, DataType rhs) {
  if (lhs == rhs)
    return lhs;
  Category left = getCategory(lhs), right = getCategory(rhs);
  if (left != right)
    return left > right ? lhs : rhs;
  if (left == Category::Integer)
    return promoteIntegers(lhs, rhs);
  // Different floats of one width are float16 and bfloat16.
  if (getByteSize(lhs) == getByteSize(rhs))
    return DataType::Float32;
  return getByteSize(lhs) > getByteSize(rhs) ? lhs : rhs;
}

DataType commonType(llvm::ArrayRef<OperandType> operands) {
  Category highest = Category::Bool;
  for (const OperandType &operand : operands)
    highest = std::max(highest, getCategory(operand.type));

  std::optional<DataType> strong;
  for (const OperandType &operand : operands)
    if (!operand.isWeak && getCategory(operand.type) == highest)
      strong = strong ? promoteTypes(*strong, operand.type) : operand.type;
  return strong.value_or(defaultOf(highest));
}

PromotionRule getPromotionRule(llvm::StringRef name) {
  using Rule = PromotionRule;
  // One look-up for each op that is recorded.
  static const auto *rules = new llvm::StringMap<Rule>{
      {"add", Rule::Arithmetic}, {"sub", Rule::Arithmetic}, {"mul", Rule::Arithmetic},
      {"floor_div", Rule::Arithmetic}, {"mod", Rule::Arithmetic}, {"neg", Rule::Arithmetic},
      {"abs", Rule::Arithmetic},
      {"fmod", Rule::Arithmetic}, {"left_shift", Rule::Arithmetic}, {"right_shift", Rule::Arithmetic},
      {"sign", Rule::Arithmetic}, {"relu", Rule::Arithmetic}, {"fma", Rule::Arithmetic}, {"matmul", Rule::Arithmetic},
      {"dot", Rule::Arithmetic}, {"reduce_sum", Rule::Arithmetic}, {"reduce_prod", Rule::Arithmetic},
      {"bitwise_and", Rule::Common}, {"bitwise_or", Rule::Common}, {"bitwise_xor", Rule::Common},
      {"maximum", Rule::Common}, {"minimum", Rule::Common}, {"equal", Rule::Common}, {"not_equal", Rule::Common},
      {"less", Rule::Common}, {"less_equal", Rule::Common},
      {"greater", Rule::Common}, {"greater_equal", Rule::Common}, {"concat", Rule::Common},
      {"div", Rule::Float}, {"pow", Rule::Float}, {"exp", Rule::Float}, {"log", Rule::Float}, {"log1p", Rule::Float},
      {"expm1", Rule::Float}, {"sqrt", Rule::Float},
      {"tanh", Rule::Float}, {"sigmoid", Rule::Float}, {"erf", Rule::Float}, {"erfc", Rule::Float},
      {"sin", Rule::Float}, {"cos", Rule::Float}, {"tan", Rule::Float},
      {"asin", Rule::Float}, {"acos", Rule::Float}, {"atan", Rule::Float}, {"atan2", Rule::Float},
      {"sinh", Rule::Float}, {"cosh", Rule::Float},
      {"asinh", Rule::Float}, {"acosh", Rule::Float}, {"atanh", Rule::Float}, {"exp2", Rule::Float},
      {"log2", Rule::Float}, {"log10", Rule::Float},
      {"cbrt", Rule::Float}, {"hypot", Rule::Float}, {"copysign", Rule::Float},
      {"normalize", Rule::Float}, {"moments", Rule::Float}, {"convolution", Rule::Float}, {"avg_pool", Rule::Float},
      {"softmax", Rule::Float},
      {"log_softmax", Rule::Float},
      {"logical_and", Rule::Logical}, {"logical_or", Rule::Logical}, {"logical_xor", Rule::Logical},
      {"logical_not", Rule::Logical},
      {"where", Rule::Select},
      {"cross_entropy_rows", Rule::LabelledRows}, {"cross_entropy_rows_gradient", Rule::LabelledRows},
  };
  auto found = rules->find(name);
  return found == rules->end() ? Rule::Keep : found->second;
}

} // namespace ferrule::frontend
