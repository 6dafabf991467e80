//===- PackPanels.cpp - Initial values in their layout --------------------===//

#include "codegen/emit/PackPanels.h"

using namespace mlir;
using namespace mlir::ferrule;

/// The row-major element offset whose coordinates along `axes` are those of `linear`.
static int64_t spread(int64_t linear, ArrayRef<int64_t> axes, ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  int64_t offset = 0;
  for (int64_t axis : llvm::reverse(axes)) {
    offset += linear % shape[axis] * strides[axis];
    linear /= shape[axis];
  }
  return offset;
}

std::vector<uint8_t> mlir::ferrule::packPanels(const PanelLayout &layout, ArrayRef<int64_t> shape,
                                               size_t elementBytes, ArrayRef<uint8_t> logical) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  int64_t n = 1, k = 1;
  for (int64_t axis : layout.nAxes)
    n *= shape[axis];
  for (int64_t axis : layout.kAxes)
    k *= shape[axis];
  n /= layout.groups;
  int64_t panels = (n + panelWidth - 1) / panelWidth;
  std::vector<uint8_t> physical(layout.groups * panels * k * panelWidth * elementBytes, 0);
  for (int64_t group = 0; group < layout.groups; ++group)
    for (int64_t column = 0; column < n; ++column) {
      int64_t columnOffset = spread(group * n + column, layout.nAxes, shape, strides);
      for (int64_t row = 0; row < k; ++row) {
        int64_t source = columnOffset + spread(row, layout.kAxes, shape, strides);
        int64_t target =
            ((group * panels + column / panelWidth) * k + row) * panelWidth + column % panelWidth;
        std::copy_n(logical.begin() + source * elementBytes, elementBytes, physical.begin() + target * elementBytes);
      }
    }
  return physical;
}
