// How much work one tile of a kernel holds, where nothing better is known.
#ifndef FERRULE_IR_GRAPH_TILES_H_
#define FERRULE_IR_GRAPH_TILES_H_

#include "ir/dims/DimExpr.h"

#include <algorithm>

namespace mlir::ferrule {

inline constexpr int64_t elementsPerTile = 4096;

/// Rows of a tile such that it holds a few thousand elements.
inline int64_t chooseTileRows(const ::ferrule::DimExpr &columns) {
  std::optional<int64_t> count = columns.getConstant();
  return count ? std::max<int64_t>(1, elementsPerTile / std::max<int64_t>(1, *count)) : 1;
}

} // namespace mlir::ferrule

#endif // FERRULE_IR_GRAPH_TILES_H_
