//===- DimComparison.cpp - Comparing sizes in the user's program ----------===//

#include "frontend/core/DimComparison.h"

#include "frontend/core/Error.h"

#include "llvm/ADT/ArrayRef.h"

namespace ferrule::frontend {
namespace {

const char *spell(DimComparison comparison) {
  switch (comparison) {
  case DimComparison::Equal:
    return "==";
  case DimComparison::NotEqual:
    return "!=";
  case DimComparison::Less:
    return "<";
  case DimComparison::LessEqual:
    return "<=";
  case DimComparison::Greater:
    return ">";
  case DimComparison::GreaterEqual:
    return ">=";
  }
  return "?";
}

std::optional<bool> decide(const DimConstraints &constraints, DimComparison comparison, const DimExpr &lhs,
                           const DimExpr &rhs) {
  auto negate = [](std::optional<bool> value) -> std::optional<bool> {
    return value ? std::optional<bool>(!*value) : std::nullopt;
  };
  switch (comparison) {
  case DimComparison::Equal:
    return constraints.isEqual(lhs, rhs);
  case DimComparison::NotEqual:
    return negate(constraints.isEqual(lhs, rhs));
  case DimComparison::Less:
    return constraints.isLess(lhs, rhs);
  case DimComparison::LessEqual:
    return constraints.isLessEqual(lhs, rhs);
  case DimComparison::Greater:
    return constraints.isLess(rhs, lhs);
  case DimComparison::GreaterEqual:
    return constraints.isLessEqual(rhs, lhs);
  }
  return std::nullopt;
}

llvm::Error refuseInvalid(llvm::StringRef location) {
  return makeError(ErrorKind::Shape, "a size at " + location + " divides by zero or leaves 64-bit integers");
}

} // namespace

std::string describeDims(const DimConstraints &constraints, llvm::ArrayRef<DimExpr> expressions) {
  std::set<std::string> names;
  for (const DimExpr &expression : expressions)
    expression.collectDims(names);
  std::string text;
  for (const std::string &name : names) {
    DimRange range = constraints.getRange(name);
    if (!text.empty())
      text += ", ";
    text += std::to_string(range.min) + " <= " + name;
    if (range.max != DimRange::unbounded)
      text += " <= " + std::to_string(range.max);
    if (range.multipleOf > 1)
      text += ", " + name + " a multiple of " + std::to_string(range.multipleOf);
  }
  return text;
}

llvm::Expected<bool> compareDims(const DimConstraints &constraints, DimComparison comparison, const DimExpr &lhs,
                                 const DimExpr &rhs, llvm::StringRef location) {
  if (!lhs.isValid() || !rhs.isValid())
    return refuseInvalid(location);
  if (std::optional<bool> answer = decide(constraints, comparison, lhs, rhs))
    return *answer;
  return makeError(ErrorKind::Trace, "`" + lhs.str() + " " + spell(comparison) + " " + rhs.str() + "` at " + location +
                                         " is not decided by what is known: " + describeDims(constraints, {lhs, rhs}) +
                                         ". Repair: narrow the Dim (min, max, multiple_of) so that one answer "
                                         "holds for all its values, or keep both cases in the graph with "
                                         "F.where or F.cond");
}

llvm::Expected<int64_t> toInteger(const DimConstraints &constraints, const DimExpr &expression,
                                  llvm::StringRef location) {
  if (!expression.isValid())
    return refuseInvalid(location);
  if (std::optional<int64_t> value = expression.getConstant())
    return *value;
  DimInterval bounds = constraints.getBounds(expression);
  if (bounds.lower && bounds.upper && *bounds.lower == *bounds.upper)
    return *bounds.lower;
  return makeError(ErrorKind::Trace, "int() of `" + expression.str() + "` at " + location +
                                         ": its value is known only when the program runs (" +
                                         describeDims(constraints, {expression}) +
                                         "). Repair: use the dim itself, which works wherever an "
                                         "int does, or trace with an int in its place");
}

} // namespace ferrule::frontend
