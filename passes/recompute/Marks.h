// What the recomputation reads and leaves in the graph.
#ifndef FERRULE_PASSES_RECOMPUTE_MARKS_H_
#define FERRULE_PASSES_RECOMPUTE_MARKS_H_

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace mlir::ferrule {

/// On a dispatch or loop: it is a second run.
constexpr llvm::StringLiteral recomputedAttributeName = "ferrule.recomputed";

/// On a loop: it runs over segments of a loop's steps, or over the steps of a segment (ScanSegments.h).
constexpr llvm::StringLiteral segmentAttributeName = "ferrule.segment";

/// On an entry: what runs again, as a part of the time that the entry takes without it, by estimate.
constexpr llvm::StringLiteral recomputedShareAttributeName = "ferrule.recomputed_share";

/// On an entry: the most that its arena may take, bytes as an i64 or a part of what it takes otherwise as an f64.
constexpr llvm::StringLiteral memoryBudgetAttributeName = "ferrule.memory_budget";

/// On a module: an entry of it needs more than the budget.
constexpr llvm::StringLiteral budgetMissedAttributeName = "ferrule.budget_missed";

/// How an op says that the user wants it to be computed again: its location has this name around the place in the user's
/// program, and goes wherever the op's location goes.
constexpr llvm::StringLiteral checkpointMark = "ferrule.checkpoint";

/// On an entry: ops of it carry the mark.
constexpr llvm::StringLiteral hasCheckpointAttributeName = "ferrule.has_checkpoint";

inline Location markCheckpoint(Location location) {
  return NameLoc::get(StringAttr::get(location.getContext(), checkpointMark), location);
}

inline bool isInCheckpoint(Location location) {
  auto named = dyn_cast<NameLoc>(location);
  return named && named.getName() == checkpointMark;
}

/// The location without the mark: that of an op which is made for one with it.
inline Location withoutCheckpoint(Location location) {
  return isInCheckpoint(location) ? cast<NameLoc>(location).getChildLoc() : location;
}

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_RECOMPUTE_MARKS_H_
