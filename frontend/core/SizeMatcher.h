//===- SizeMatcher.h - What the sizes of several fragments share ----------===//
#ifndef FERRULE_FRONTEND_CORE_SIZEMATCHER_H
#define FERRULE_FRONTEND_CORE_SIZEMATCHER_H

#include "ir/dims/DimExpr.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>
#include <vector>

namespace ferrule::frontend {

/// One size as several fragments have it, one value a fragment.
using SizeValues = llvm::SmallVector<int64_t, 4>;

/// Writes a size that differs between fragments as an expression over dims.
///
/// Few fragments fit many expressions, so the simplest one counts: a constant, a
/// multiple of a dim, a dim and one more or less, a multiple of a product of two
/// dims, a fraction of a dim, any linear function of a dim, a sum or a difference
/// of two dims. A guess that a later fragment refutes costs a compilation, no
/// wrong result, because a template is used only where all its sizes hold.
class SizeMatcher {
public:
  struct Dim {
    std::string name;
    SizeValues values; ///< Positive.
    /// No input's shape tells its value.
    bool isFree = false;
  };

  /// A new dim.
  DimExpr addDim(llvm::ArrayRef<int64_t> values, bool isFree = false);

  /// A constant or a multiple of a dim so far that has `values`.
  std::optional<DimExpr> matchMultiple(llvm::ArrayRef<int64_t> values) const;

  /// An expression over the dims so far that has `values`.
  std::optional<DimExpr> match(llvm::ArrayRef<int64_t> values) const;

  /// As `match`; where nothing fits, one less than a new dim that is free, so
  /// that any position from 0 on can be one. Empty for negative values.
  std::optional<DimExpr> matchOrAdd(llvm::ArrayRef<int64_t> values);

  /// In the order in which they were added.
  llvm::ArrayRef<Dim> getDims() const { return dims; }

  /// The value of `size` in fragment `fragment`.
  std::optional<int64_t> evaluate(const DimExpr &size, unsigned fragment) const;

private:
  std::optional<DimExpr> matchOneDim(llvm::ArrayRef<int64_t> values) const;
  std::optional<DimExpr> matchTwoDims(llvm::ArrayRef<int64_t> values) const;

  std::vector<Dim> dims;
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_SIZEMATCHER_H
