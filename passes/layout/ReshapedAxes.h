// Which axes a reshape merges or splits.
#ifndef FERRULE_PASSES_LAYOUT_RESHAPEDAXES_H_
#define FERRULE_PASSES_LAYOUT_RESHAPEDAXES_H_

#include "ir/graph/Shapes.h"

#include <optional>

namespace mlir::ferrule {

/// Axes [begin, end) of the operand of a reshape become the axes [resultBegin, resultEnd) of its result.
struct ReshapedAxes {
  unsigned begin, end, resultBegin, resultEnd;
};

/// Splits a reshape from sizes `from` to sizes `to` into the smallest parts, in order; none if sizes do not say how.
std::optional<SmallVector<ReshapedAxes>> splitReshape(ArrayRef<DimExpr> from, ArrayRef<DimExpr> to);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_LAYOUT_RESHAPEDAXES_H_
