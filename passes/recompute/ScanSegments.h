// Sublinear memory for loops: a scan and the scan of its gradient, cut into segments of steps.
#ifndef FERRULE_PASSES_RECOMPUTE_SCANSEGMENTS_H_
#define FERRULE_PASSES_RECOMPUTE_SCANSEGMENTS_H_

#include "ir/dims/DimConstraints.h"
#include "ir/graph/ControlFlow.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace mlir::ferrule {

/// A scan, and a later one of the same block that is the only reader of some of its stacked results and reads them step
/// for step: what the gradient needs of each step.
struct SegmentableScan {
  ScanOp forward, backward;
  /// Numbers of the forward scan's results that only the backward scan reads.
  SmallVector<unsigned> residuals;
  /// Of a segment.
  int64_t segmentSteps = 0;
  /// Slices of the forward scan that its segments make themselves, of fewer bytes: by number among its `xs`. They are
  /// rows of products (RowBlocks.h) that nothing but the two scans reads.
  SmallVector<unsigned> madeInputs;
  /// What cutting saves, by estimate: the residuals of all steps less those of one segment and the carries kept.
  uint64_t savedBytes = 0;
};

/// The scan of `entry`, at any depth, that saves most bytes, at least `leastBytes`; none if none saves so many. With
/// `onlyMarked` only those in a checkpoint count (Marks.h).
///
/// The number of steps must be a constant, and no op of the forward scan's body may count a dim. The length of the
/// segments is that with which fewest bytes are live, near the square root of the number of steps (Chen et al. 2016,
/// arXiv 1604.06174); any other costs as much time.
std::optional<SegmentableScan> findSegmentableScan(func::FuncOp entry, const ::ferrule::DimConstraints &constraints,
                                                   uint64_t leastBytes, bool onlyMarked);

/// What SegmentableScan::madeInputs may be: those of which what they are made of takes at most half their bytes.
SmallVector<unsigned> findMadeInputs(const SegmentableScan &scan, const ::ferrule::DimConstraints &constraints);

/// Makes scans over segments of both, whose steps are scans over the steps of one segment. The forward one keeps the
/// carries with which each segment begins. A step of the backward one runs the forward scan of its segment again, for
/// the residuals, and then the backward scan of the segment, which goes on with the sums that the one before it ended
/// with. So each step computes what it did, in the same order, and no bit changes. Steps behind the last whole segment
/// are scans of their own, which keep what they make; what both scans stack is copied then, since it is one buffer, and
/// what they read is two slices of one. With `madeInputs` the rows of a segment are computed in its step, forward and
/// again backward, so that they never lie in memory for all steps at once. Second runs carry the attribute
/// `ferrule.recomputed`.
void cutIntoSegments(const SegmentableScan &scan);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_RECOMPUTE_SCANSEGMENTS_H_
