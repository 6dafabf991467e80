//===- PackPanels.cpp - Known values in their layout ----------------------===//

#include "ir/graph/PackPanels.h"

#include <cstring>

using namespace mlir;
using namespace mlir::ferrule;

/// The row-major element offset of each index over `axes`.
static std::vector<int64_t> getOffsets(ArrayRef<int64_t> axes, ArrayRef<int64_t> shape) {
  std::vector<int64_t> offsets{0};
  for (int64_t axis : axes) {
    int64_t stride = 1;
    for (int64_t size : shape.drop_front(axis + 1))
      stride *= size;
    std::vector<int64_t> longer;
    longer.reserve(offsets.size() * shape[axis]);
    for (int64_t offset : offsets)
      for (int64_t index = 0; index < shape[axis]; ++index)
        longer.push_back(offset + index * stride);
    offsets = std::move(longer);
  }
  return offsets;
}

template <size_t elementBytes>
static void pack(int64_t groups, ArrayRef<int64_t> columns, ArrayRef<int64_t> rows, const char *logical,
                 char *physical) {
  int64_t n = columns.size() / groups, k = rows.size();
  int64_t panels = (n + panelWidth - 1) / panelWidth;
  for (int64_t group = 0; group < groups; ++group)
    for (int64_t panel = 0; panel < panels; ++panel) {
      int64_t first = group * n + panel * panelWidth, width = std::min<int64_t>(panelWidth, n - panel * panelWidth);
      for (int64_t row = 0; row < k; ++row, physical += panelWidth * elementBytes)
        for (int64_t column = 0; column < width; ++column)
          std::memcpy(physical + column * elementBytes, logical + (columns[first + column] + rows[row]) * elementBytes,
                      elementBytes);
    }
}

void mlir::ferrule::packPanels(const PanelLayout &layout, ArrayRef<int64_t> shape, size_t elementBytes,
                               ArrayRef<char> logical, MutableArrayRef<char> physical) {
  std::fill(physical.begin(), physical.end(), 0);
  std::vector<int64_t> columns = getOffsets(layout.nAxes, shape), rows = getOffsets(layout.kAxes, shape);
  auto run = [&](auto packElements) {
    packElements(layout.groups, columns, rows, logical.data(), physical.data());
  };
  switch (elementBytes) {
  case 1:
    return run(pack<1>);
  case 2:
    return run(pack<2>);
  case 4:
    return run(pack<4>);
  default:
    assert(elementBytes == 8 && "an element has 1, 2, 4 or 8 bytes");
    return run(pack<8>);
  }
}
