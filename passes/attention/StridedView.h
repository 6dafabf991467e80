// Where the elements of a value lie in the tensor that it is a view of: index arithmetic instead of copies.
#ifndef FERRULE_PASSES_ATTENTION_STRIDEDVIEW_H_
#define FERRULE_PASSES_ATTENTION_STRIDEDVIEW_H_

#include "ir/graph/Shapes.h"

#include <optional>

namespace mlir::ferrule {

/// A run of elements that lie `stride` elements apart; 0 repeats one element.
struct StridedAxis {
  DimExpr size, stride;
};
/// An axis of a tensor: one run, or several nested ones, outermost first. Sizes of 1 are left out.
using StridedAxes = SmallVector<StridedAxis, 2>;

struct StridedView {
  Value base; ///< Row-major in memory.
  DimExpr offset = 0;
  SmallVector<StridedAxes> axes;

  /// The value itself, row-major.
  static StridedView contiguous(Value value);
  /// The value as a view of the furthest tensor behind transposes, broadcasts, slices and reshapes.
  static StridedView get(Value value);

  void permute(ArrayRef<int64_t> pattern);
  void invertPermutation(ArrayRef<int64_t> pattern);
  /// Reads the axes as a row-major shape of the same elements; false, and nothing changes, if that is no view.
  bool reshape(ArrayRef<DimExpr> dims);
};

/// The axis as one run (of size 1 and stride 0 if it is empty); nothing if its runs do not continue one another.
std::optional<StridedAxis> joinAxis(const StridedAxes &axis);

/// Splits the runs of several axes so that all have the same sizes, and joins neighbours that continue one another in
/// all of them. False if the sizes do not fit.
bool alignAxes(MutableArrayRef<StridedAxes> axes);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_ATTENTION_STRIDEDVIEW_H_
