// The cheapest or smallest program of those that the chooser of recomputation finds for one block.
#ifndef FERRULE_PASSES_RECOMPUTE_RECOMPUTESEARCH_H_
#define FERRULE_PASSES_RECOMPUTE_RECOMPUTESEARCH_H_

#include "passes/recompute/ChooseRecomputation.h"
#include "passes/recompute/LowerPeak.h"

namespace mlir::ferrule {

class RecomputeSearch {
public:
  explicit RecomputeSearch(const RecomputeProblem &problem) : problem(problem), gaps(problem), chooser(problem, gaps) {}

  /// The most bytes that are live in the block as it was written.
  uint64_t getOriginalPeak() const { return chooser.getOriginalPeak(); }

  /// What the user wants to be computed again.
  RecomputeSequence expandForced() const { return expandChoice(problem, gaps, chooser.chooseForced()); }

  /// What makes the peak smallest within so many nanoseconds; none if it gets no smaller.
  std::optional<RecomputeCandidate> findFree(double nanoseconds) const;

  /// The cheapest with at most `limit` bytes live that is found; none if none is.
  std::optional<RecomputeCandidate> findCheapest(uint64_t limit) const;

  /// That with the fewest bytes live that is found, the same for each budget that is missed. It takes at most twice the
  /// time of the block.
  RecomputeCandidate findSmallest() const;

private:
  std::optional<RecomputeCandidate> tryTarget(uint64_t target,
                                              double mostNanoseconds = std::numeric_limits<double>::max()) const;
  std::optional<RecomputeCandidate> chooseSmallest() const;
  const std::vector<RecomputeCandidate> &getStarts() const;
  void relax(uint64_t limit, RecomputeCandidate &candidate) const;
  template <typename Rank> void relaxInOrder(uint64_t limit, Rank getRank, RecomputeCandidate &candidate) const;

  const RecomputeProblem &problem;
  RecomputeGaps gaps;
  RecomputeChooser chooser;
  /// Of getStarts, once it was asked.
  mutable std::vector<RecomputeCandidate> starts;
};

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_RECOMPUTE_RECOMPUTESEARCH_H_
