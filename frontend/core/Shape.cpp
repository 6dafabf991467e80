//===- Shape.cpp - Shapes of ints and dim expressions ---------------------===//

#include "frontend/core/Shape.h"

#include "llvm/Support/MathExtras.h"

namespace ferrule::frontend {

std::string toString(llvm::ArrayRef<DimExpr> shape) {
  std::string text = "[";
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (axis)
      text += ", ";
    text += shape[axis].str();
  }
  return text + "]";
}

std::optional<llvm::SmallVector<int64_t, 4>> getStaticSizes(llvm::ArrayRef<DimExpr> shape) {
  llvm::SmallVector<int64_t, 4> sizes;
  for (const DimExpr &dim : shape) {
    std::optional<int64_t> value = dim.getConstant();
    if (!value)
      return std::nullopt;
    sizes.push_back(*value);
  }
  return sizes;
}

Shape toShape(llvm::ArrayRef<int64_t> sizes) { return Shape(sizes.begin(), sizes.end()); }

std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    if (llvm::MulOverflow(count, size, count))
      return std::nullopt;
  return count;
}

} // namespace ferrule::frontend
