//===- SizeMatcher.cpp - What the sizes of several fragments share --------===//

#include "frontend/core/SizeMatcher.h"

#include "llvm/ADT/STLExtras.h"

namespace ferrule::frontend {
namespace {

using Values = llvm::ArrayRef<int64_t>;

constexpr int64_t maxSize = int64_t(1) << 31;

bool isConstant(Values values) { return llvm::all_equal(values); }

/// k >= 1 where values = k * dim.
std::optional<int64_t> getFactor(Values values, Values dim) {
  int64_t factor = values[0] / dim[0];
  if (factor < 1)
    return std::nullopt;
  bool fits = llvm::all_of(llvm::zip_equal(values, dim), [&](auto pair) {
    auto [value, size] = pair;
    return value == factor * size;
  });
  return fits ? std::optional<int64_t>(factor) : std::nullopt;
}

/// (a, b) where values = a * dim + b, for a dim that differs.
std::optional<std::pair<int64_t, int64_t>> getLine(Values values, Values dim) {
  unsigned other = 1;
  while (other + 1 < dim.size() && dim[other] == dim[0])
    ++other;
  int64_t run = dim[other] - dim[0], rise = values[other] - values[0];
  if (run == 0 || rise % run != 0)
    return std::nullopt;
  int64_t slope = rise / run, offset = values[0] - slope * dim[0];
  bool fits = llvm::all_of(llvm::zip_equal(values, dim), [&](auto pair) {
    auto [value, size] = pair;
    return value == slope * size + offset;
  });
  return fits ? std::optional(std::pair(slope, offset)) : std::nullopt;
}

/// dim // k, or the same rounded up.
std::optional<DimExpr> getFraction(Values values, Values dim, const DimExpr &expression) {
  constexpr int64_t maxDivisor = 8;
  for (int64_t divisor = 2; divisor <= maxDivisor; ++divisor)
    for (int64_t added : {int64_t(0), divisor - 1}) {
      bool fits = llvm::all_of(llvm::zip_equal(values, dim), [&](auto pair) {
        auto [value, size] = pair;
        return value == (size + added) / divisor;
      });
      if (fits)
        return DimExpr::floorDiv(expression + added, divisor);
    }
  return std::nullopt;
}

SizeValues combine(Values left, Values right, llvm::function_ref<int64_t(int64_t, int64_t)> operation) {
  SizeValues result;
  for (auto [a, b] : llvm::zip_equal(left, right))
    result.push_back(operation(a, b));
  return result;
}

} // namespace

DimExpr SizeMatcher::addDim(Values values, bool isFree) {
  dims.push_back({"d" + std::to_string(dims.size()), SizeValues(values), isFree});
  return DimExpr::dim(dims.back().name);
}

std::optional<DimExpr> SizeMatcher::matchMultiple(Values values) const {
  if (isConstant(values))
    return DimExpr(values.front());
  for (const Dim &dim : dims)
    if (std::optional<int64_t> factor = getFactor(values, dim.values))
      return DimExpr::dim(dim.name) * *factor;
  return std::nullopt;
}

std::optional<DimExpr> SizeMatcher::matchOneDim(Values values) const {
  if (std::optional<DimExpr> size = matchMultiple(values))
    return size;
  for (const Dim &dim : dims)
    if (auto line = getLine(values, dim.values); line && line->first == 1 && std::abs(line->second) == 1)
      return DimExpr::dim(dim.name) + line->second;
  return std::nullopt;
}

std::optional<DimExpr> SizeMatcher::matchTwoDims(Values values) const {
  for (const Dim &left : dims)
    for (const Dim &right : dims) {
      DimExpr a = DimExpr::dim(left.name), b = DimExpr::dim(right.name);
      if (Values(combine(left.values, right.values, std::plus<>())) == values)
        return a + b;
      if (Values(combine(left.values, right.values, std::minus<>())) == values)
        return a - b;
    }
  return std::nullopt;
}

std::optional<DimExpr> SizeMatcher::match(Values values) const {
  if (isConstant(values))
    return DimExpr(values.front());
  // No size, but a mark such as "to the end"; the arithmetic below stays in 64 bits.
  if (llvm::any_of(values, [](int64_t value) { return std::abs(value) > maxSize; }))
    return std::nullopt;
  if (std::optional<DimExpr> size = matchOneDim(values))
    return size;
  for (const Dim &left : dims)
    for (const Dim &right : dims)
      if (auto factor = getFactor(values, combine(left.values, right.values, std::multiplies<>())))
        return DimExpr::dim(left.name) * DimExpr::dim(right.name) * *factor;
  for (const Dim &dim : dims)
    if (std::optional<DimExpr> fraction = getFraction(values, dim.values, DimExpr::dim(dim.name)))
      return fraction;
  for (const Dim &dim : dims)
    if (auto line = getLine(values, dim.values))
      return DimExpr::dim(dim.name) * line->first + line->second;
  return matchTwoDims(values);
}

std::optional<DimExpr> SizeMatcher::matchOrAdd(Values values) {
  if (std::optional<DimExpr> size = match(values))
    return size;
  SizeValues oneMore;
  for (int64_t value : values) {
    if (value < 0 || value >= maxSize)
      return std::nullopt;
    oneMore.push_back(value + 1);
  }
  return addDim(oneMore, /*isFree=*/true) - 1;
}

std::optional<int64_t> SizeMatcher::evaluate(const DimExpr &size, unsigned fragment) const {
  return size.evaluate([&](const std::string &name) -> std::optional<int64_t> {
    auto dim = llvm::find_if(dims, [&](const Dim &candidate) { return candidate.name == name; });
    if (dim == dims.end())
      return std::nullopt;
    return dim->values[fragment];
  });
}

} // namespace ferrule::frontend
