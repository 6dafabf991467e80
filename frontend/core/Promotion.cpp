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

namespace {

/// One look-up for each op that is recorded; ops that are not in it keep their
/// operands as they are.
llvm::StringMap<PromotionRule> makePromotionRules() {
  llvm::StringMap<PromotionRule> rules;
  auto add = [&](PromotionRule rule, std::initializer_list<llvm::StringRef> names) {
    for (llvm::StringRef name : names)
      rules[name] = rule;
  };
  add(PromotionRule::Arithmetic, {"add", "sub", "mul", "floor_div", "mod", "neg", "abs", "fmod", "left_shift",
                                  "right_shift", "sign", "relu", "fma", "matmul", "dot", "reduce_sum", "reduce_prod"});
  add(PromotionRule::Common, {"bitwise_and", "bitwise_or", "bitwise_xor", "maximum", "minimum", "equal", "not_equal",
                              "less", "less_equal", "greater", "greater_equal", "concat"});
  add(PromotionRule::Float,
      {"div",   "pow",      "exp",       "log",     "log1p",       "expm1",    "sqrt",    "tanh",       "sigmoid",
       "erf",   "erfc",     "sin",       "cos",     "tan",         "asin",     "acos",    "atan",       "atan2",
       "sinh",  "cosh",     "asinh",     "acosh",   "atanh",       "exp2",     "log2",    "log10",      "cbrt",
       "hypot", "copysign", "normalize", "moments", "convolution", "avg_pool", "softmax", "log_softmax"});
  add(PromotionRule::Logical, {"logical_and", "logical_or", "logical_xor", "logical_not"});
  add(PromotionRule::Select, {"where"});
  add(PromotionRule::LabelledRows, {"cross_entropy_rows", "cross_entropy_rows_gradient"});
  return rules;
}

} // namespace

PromotionRule getPromotionRule(llvm::StringRef name) {
  static const auto *rules = new llvm::StringMap<PromotionRule>(makePromotionRules());
  auto found = rules->find(name);
  return found == rules->end() ? PromotionRule::Keep : found->second;
}

} // namespace ferrule::frontend
