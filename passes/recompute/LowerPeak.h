// Lowers the fullest moments of a choice of what to compute again, one after the other.
#ifndef FERRULE_PASSES_RECOMPUTE_LOWERPEAK_H_
#define FERRULE_PASSES_RECOMPUTE_LOWERPEAK_H_

#include "passes/recompute/RecomputeProblem.h"

#include <cstddef>

namespace mlir::ferrule {

/// A choice and what comes of it.
struct RecomputeCandidate {
  RecomputeChoice choice;
  RecomputeSequence sequence;
  /// By step.
  std::vector<uint64_t> live;
  /// The most of them.
  uint64_t bytes = 0;
};

/// What comes of a choice.
RecomputeCandidate expandCandidate(const RecomputeProblem &problem, const RecomputeGaps &gaps, RecomputeChoice choice);

/// Changes the candidate until at most `limit` bytes are live at each step, or no change helps any more. At the fullest
/// moment something is live without being used; it is dropped between the two uses around the moment. If its operands
/// would be kept in its place, these are dropped, too, and so on. Or what is computed again then is kept instead: it
/// may take less than what it is made of. The sequence that comes of each change is looked at, and those are made that
/// save most bytes above the limit for each nanosecond. It ends when it has looked at `stepsLeft` instructions, which counts down.
void lowerPeak(const RecomputeProblem &problem, const RecomputeGaps &gaps, uint64_t limit, size_t &stepsLeft,
               RecomputeCandidate &candidate);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_RECOMPUTE_LOWERPEAK_H_
