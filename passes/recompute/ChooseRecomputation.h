// Which values to compute again so that the rest fits: dynamic programming over the segments between narrow places of
// the forward pass.
#ifndef FERRULE_PASSES_RECOMPUTE_CHOOSERECOMPUTATION_H_
#define FERRULE_PASSES_RECOMPUTE_CHOOSERECOMPUTATION_H_

#include "passes/recompute/RecomputeProblem.h"

#include <limits>
#include <optional>

namespace mlir::ferrule {

/// Finds cheap choices for one block. The border is the instruction at which most is live as the block was written; the
/// instructions before it are cut where little crosses, and each segment between two cuts either keeps what is read
/// behind the border, or computes again what costs less than some nanoseconds a byte, from what it keeps and what
/// crosses its beginning. Dynamic programming over cuts, with the cheapest way for each number of bytes kept so far;
/// both are estimates, so a caller looks at the sequence that comes of it (getLiveBytes) and asks again with another
/// target.
class RecomputeChooser {
public:
  RecomputeChooser(const RecomputeProblem &problem, const RecomputeGaps &gaps);

  /// The most bytes that are live in the block as it was written.
  uint64_t getOriginalPeak() const { return originalPeak; }

  /// The cheapest choice with which an estimated `target` bytes are enough; none if there is no such choice, or none
  /// that computes at most `mostNanoseconds` again, by estimate.
  std::optional<RecomputeChoice> choose(uint64_t target,
                                        double mostNanoseconds = std::numeric_limits<double>::max()) const;

  /// Only what the user wants to be computed again.
  RecomputeChoice chooseForced() const;

private:
  /// What a segment does: values whose producer costs at most so many nanoseconds a byte are computed again.
  struct Level {
    double maxDensity = 0;
    std::vector<RecomputePolicy> policies;
    /// Sums over the values of the instructions below each: bytes kept, bytes that a segment holds while it is computed
    /// again, nanoseconds.
    std::vector<uint64_t> keptBytes, heldBytes;
    std::vector<double> nanoseconds;
    /// By value: something that is read behind the border needs it.
    std::vector<uint8_t> needed;
  };
  struct State;
  struct Plan;

  void findUses();
  void findTransients(const std::vector<uint64_t> &live);
  void findCuts();
  void addLevel(double maxDensity);
  std::vector<RecomputePolicy> getForcedPolicies() const;
  bool isAlwaysAtHand(uint32_t value) const;
  static bool isOverKept(const RecomputeNode &node, const Level &level);
  bool isCandidate(uint32_t value) const;
  double getDensity(uint32_t value) const;
  uint64_t addCrossing(const Level &level, uint32_t begin, uint32_t end, uint64_t &held, double &cost) const;
  void extend(uint32_t from, const Level &level, unsigned number, Plan &plan) const;
  RecomputeChoice follow(const Plan &plan, uint32_t last) const;

  const RecomputeProblem &problem;
  const RecomputeGaps &gaps;
  uint64_t originalPeak = 0, smallBytes = 0;
  uint32_t border = 0;
  /// By value: the last use up to the border, and whether there is one behind it.
  std::vector<uint32_t> lastForward;
  std::vector<uint8_t> usedBehind;
  /// By node up to the border: bytes that are live while it runs, or while what reads its results behind the border
  /// does, besides values that were kept for that.
  std::vector<uint64_t> transients;
  /// Nodes before which the forward pass may be cut, ascending, from 0 to border + 1; and the values that cross each.
  std::vector<uint32_t> cuts;
  std::vector<std::vector<uint32_t>> crossing;
  std::vector<Level> levels;
};

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_RECOMPUTE_CHOOSERECOMPUTATION_H_
