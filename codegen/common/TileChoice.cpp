//===- TileChoice.cpp - What a kernel may choose freely -----------------===//

#include "codegen/common/TileChoice.h"

#include "ir/graph/PackPanels.h"
#include "kernels/skeletons.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::ferrule;

/// In registers 14x32 and 8x48 with AVX-512; for one or two rows 2x64; 6x16 with AVX2, and 8x16 with NEON. The last two
/// are for rows that are copied first, once for all panels of a tile.
static constexpr ProductTile productTiles[] = {{42, 2}, {48, 3}, {2, 4},   {14, 2},  {24, 3},
                                               {84, 2}, {96, 3}, {168, 2}, {42, 16}, {48, 15}};
enum : unsigned {
  twoPanels = 0,
  threePanels = 1,
  fewRows = 2,
  lowTwoPanels = 3,
  lowThreePanels = 4,
  manyTwoPanels = 8,
  manyThreePanels = 9
};

ArrayRef<ProductTile> mlir::ferrule::getProductTiles() { return productTiles; }

/// Half cycles that a step of k takes in a register tile, on a processor that begins two multiply-adds and two loads a
/// cycle and has the result of one after four.
static int64_t getStepCost(int64_t rows, int64_t panels) {
  return std::max({rows * panels, rows + panels, int64_t(8)});
}

/// A step of k in all register tiles of a strip that is `panels` wide and `rows` high; none is taller than `height`.
/// The skeleton halves what is left over where one tile would need more code (with_height in
/// kernels/base/contraction.h).
static int64_t getStripCost(int64_t rows, int64_t panels, int64_t height) {
  int64_t cost = rows / height * getStepCost(height, panels), rest = rows % height;
  if (rest == 9 || rest == 11 || rest == 13)
    return cost + getStepCost((rest + 1) / 2, panels) + getStepCost(rest / 2, panels);
  return rest == 0 ? cost : cost + getStepCost(rest, panels);
}

/// A step of k in the whole product. Panels that no strip of `width` takes are strips of their own.
static int64_t getProductCost(int64_t rows, int64_t panels, int64_t width, int64_t height) {
  return panels / width * getStripCost(rows, width, height) + panels % width * getStripCost(rows, 1, height);
}

/// Whether strips of three panels are as fast as those of two. They read fewer rows at a time, which the first-level
/// cache holds more often, so a hundredth more work is no loss.
static bool preferThreePanels(std::optional<int64_t> m, int64_t panels) {
  int64_t rows = m.value_or(8 * 14);
  return getProductCost(rows, panels, 3, 8) * 100 <= getProductCost(rows, panels, 2, 14) * 101;
}

/// With one row or two the panels are read once and the memory they come from sets the pace; it does so for three at a
/// time as for four. A panel alone waits for its sums as long as two take to read.
static unsigned chooseForFewRows(int64_t panels) {
  auto rowCost = [&](int64_t width) { return panels / width * width + panels % width * 2; };
  return rowCost(3) * 32 <= rowCost(4) * 33 ? threePanels : fewRows;
}

unsigned mlir::ferrule::chooseProductTile(const ProductShape &shape) {
  const auto &[m, n, k, rowBytes, columnBytes, isTransposed] = shape;
  if (!n)
    return twoPanels;
  int64_t panels = (*n + panelWidth - 1) / panelWidth;
  if (m && *m <= 2 && panels >= 4)
    return chooseForFewRows(panels);
  // Fewer panels do not pay for the copy of the rows; more k's would take panels of megabytes for each thread.
  if (m && *m >= 64 && panels >= 15 && k && *k >= 256 && *k <= 2048 && isTransposed && columnBytes &&
      ::ferrule::kernels::matmul_copies_rows(1, *columnBytes, *k, 15))
    return preferThreePanels(m, panels) ? manyThreePanels : manyTwoPanels;
  // Rows that lie a multiple of 4 KiB apart share a set of an 8-way cache: no more than 8 of them fit.
  bool rowsCollide = rowBytes && *rowBytes != 0 && *rowBytes % 4096 == 0 && panels > 3;
  bool three = rowsCollide || preferThreePanels(m, panels);
  // Threads share out tiles: where there are few, lower ones are shared more evenly. All they cost is that panels are
  // read more often, and those of so small a matrix come from near by.
  constexpr int64_t few = 32;
  const ProductTile &tile = productTiles[three ? threePanels : twoPanels];
  auto ceilDiv = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  if (m && ceilDiv(*m, tile.rows) * ceilDiv(panels, tile.panels) < few)
    return three ? lowThreePanels : lowTwoPanels;
  return three ? threePanels : twoPanels;
}
