//===- TileChoice.cpp - What a kernel may choose freely -----------------===//

#include "codegen/common/TileChoice.h"

#include "ir/graph/PackPanels.h"
#include "kernels/skeletons.h"

using namespace mlir;
using namespace mlir::ferrule;

/// In registers 14x32 and 8x48 with AVX-512; for one or two rows 2x64; 6x16 with AVX2, and 8x16 with NEON. The last is
/// for rows that are copied first, once for its panels.
static constexpr ProductTile productTiles[] = {{42, 2}, {48, 3}, {2, 4},  {14, 2}, {24, 3},
                                               {84, 2}, {96, 3}, {168, 2}, {42, 16}};
enum : unsigned { twoPanels = 0, threePanels = 1, fewRows = 2, copiedRows = 8 };

ArrayRef<ProductTile> mlir::ferrule::getProductTiles() { return productTiles; }

/// What a row takes in strips of so many panels. What is left over takes strips of one panel, each of which waits for its
/// sums as long as a strip of two computes.
static int64_t getRowCost(int64_t panels, int64_t width) { return panels / width * width + panels % width * 2; }

unsigned mlir::ferrule::chooseProductTile(const ProductShape &shape) {
  const auto &[m, n, k, rowBytes, columnBytes, isTransposed] = shape;
  if (m && *m <= 2 && n && *n >= 4 * panelWidth) {
    int64_t panels = (*n + panelWidth - 1) / panelWidth;
    // Three panels read 3 % slower than four.
    return getRowCost(panels, 3) * 33 < getRowCost(panels, 4) * 32 ? threePanels : fewRows;
  }
  // Fewer panels do not pay for the copy.
  const ProductTile &copied = productTiles[copiedRows];
  if (n && *n >= copied.panels * panelWidth && k && columnBytes &&
      ::ferrule::kernels::matmul_copies_rows(isTransposed, *columnBytes, *k, copied.panels))
    return copiedRows;
  // Rows that lie a multiple of 4 KiB apart share a set of an 8-way cache: no more than 8 of them fit.
  bool rowsCollide = rowBytes && *rowBytes != 0 && *rowBytes % 4096 == 0;
  return n && (*n % 48 == 0 || (rowsCollide && *n > 48)) ? threePanels : twoPanels;
}
