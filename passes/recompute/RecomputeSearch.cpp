#include "passes/recompute/RecomputeSearch.h"

#include <algorithm>
#include <utility>

namespace mlir::ferrule {
namespace {

/// Targets tried for one limit on the estimated bytes; each halves what is open.
constexpr unsigned bisectionSteps = 10;
/// Targets tried for the smallest peak.
constexpr uint64_t smallestSteps = 16;
/// Instructions looked at while values are taken back in one order, and the most trials.
constexpr size_t relaxSteps = 200000, relaxTries = 256;
/// What a sequence takes may be so many times less than the chooser estimates.
constexpr double estimateError = 4;
/// Without a budget only what makes the peak smaller by more than one part in so many counts.
constexpr uint64_t smallGain = 64;
/// Instructions looked at while the fullest moments are lowered for one limit, and for the smallest peak.
constexpr size_t lowerSteps = 2'000'000, lowerSmallestSteps = 4'000'000;
/// That is tried for blocks of so many nodes, and for larger ones if nothing else fits.
constexpr size_t mostLoweredNodes = 4096;
/// The smallest peak is looked for by lowering it by one part in so many, again and again, and within so many times the
/// time of the block.
constexpr uint64_t loweredParts[] = {8, 32};
constexpr double mostAddedTime = 1;
/// What takes so many times longer is not worth taking values back.
constexpr double hopeless = 1.5;

} // namespace

std::optional<RecomputeCandidate> RecomputeSearch::tryTarget(uint64_t target, double mostNanoseconds) const {
  std::optional<RecomputeChoice> choice = chooser.choose(target, mostNanoseconds);
  if (!choice)
    return std::nullopt;
  return expandCandidate(problem, gaps, std::move(*choice));
}

std::optional<RecomputeCandidate> RecomputeSearch::findFree(double nanoseconds) const {
  uint64_t most = getOriginalPeak(), low = 0, high = most;
  std::optional<RecomputeCandidate> smallest;
  for (unsigned step = 0; step < bisectionSteps; ++step) {
    uint64_t target = low + (high - low) / 2;
    std::optional<RecomputeCandidate> candidate = tryTarget(target, estimateError * nanoseconds);
    bool isFree = candidate && candidate->sequence.nanoseconds <= nanoseconds;
    if (isFree && (!smallest || candidate->bytes < smallest->bytes))
      smallest = std::move(candidate);
    (isFree ? high : low) = target;
  }
  if (smallest && smallest->bytes > most - most / smallGain)
    return std::nullopt;
  return smallest;
}

/// Keeps what needs not be computed again for the limit after all: the chooser's levels are few. The dearest first,
/// or those first that cost most a byte, whichever saves more time.
void RecomputeSearch::relax(uint64_t limit, RecomputeCandidate &candidate) const {
  auto getCost = [&](uint32_t value) { return problem.getNode(problem.getRemaker(value)).nanoseconds; };
  auto getCostPerByte = [&](uint32_t value) {
    return getCost(value) / double(std::max<uint64_t>(problem.values[value].bytes, 1));
  };
  RecomputeCandidate other = candidate;
  relaxInOrder(limit, getCost, candidate);
  relaxInOrder(limit, getCostPerByte, other);
  if (other.sequence.nanoseconds < candidate.sequence.nanoseconds)
    candidate = std::move(other);
}

/// Tries the values with the highest ranks first: to keep them, else at least not to drop them again behind their first
/// gap, else the same for each gap alone.
template <typename Rank>
void RecomputeSearch::relaxInOrder(uint64_t limit, Rank getRank, RecomputeCandidate &candidate) const {
  std::vector<uint32_t> dropped;
  for (const RecomputeStep &step : candidate.sequence.steps)
    if (step.isClone)
      for (uint32_t value : problem.getNode(step.node).writes)
        if (!problem.values[value].forced)
          dropped.push_back(value);
  std::sort(dropped.begin(), dropped.end(),
            [&](uint32_t a, uint32_t b) { return std::pair(-getRank(a), a) < std::pair(-getRank(b), b); });
  dropped.erase(std::unique(dropped.begin(), dropped.end()), dropped.end());
  size_t tries = std::min(relaxTries, relaxSteps / candidate.sequence.steps.size());
  // From the first of the gaps that drops the value on.
  auto tryPolicy = [&](uint32_t begin, uint32_t end, RecomputePolicy policy) {
    const std::vector<RecomputePolicy> &gapPolicies = candidate.choice.gaps;
    while (begin < end && gapPolicies[begin] == RecomputePolicy::Keep)
      ++begin;
    if (std::all_of(gapPolicies.begin() + begin, gapPolicies.begin() + end,
                    [&](RecomputePolicy each) { return each <= policy; }) ||
        tries == 0)
      return;
    --tries;
    RecomputeChoice choice = candidate.choice;
    std::fill(choice.gaps.begin() + begin, choice.gaps.begin() + end, policy);
    RecomputeCandidate other = expandCandidate(problem, gaps, std::move(choice));
    if (other.bytes <= limit && other.sequence.nanoseconds < candidate.sequence.nanoseconds)
      candidate = std::move(other);
  };
  for (uint32_t value : dropped) {
    uint32_t begin = gaps.getFirst(value), end = gaps.getFirst(value + 1);
    tryPolicy(begin, end, RecomputePolicy::Keep);
    tryPolicy(begin, end, RecomputePolicy::Once);
  }
  for (uint32_t value : dropped)
    for (uint32_t gap = gaps.getFirst(value); gap < gaps.getFirst(value + 1); ++gap) {
      tryPolicy(gap, gap + 1, RecomputePolicy::Keep);
      tryPolicy(gap, gap + 1, RecomputePolicy::Once);
    }
}

std::optional<RecomputeCandidate> RecomputeSearch::findCheapest(uint64_t limit) const {
  std::optional<RecomputeCandidate> cheapest;
  uint64_t low = 0, high = getOriginalPeak();
  for (unsigned step = 0; step < bisectionSteps; ++step) {
    uint64_t target = low + (high - low) / 2;
    std::optional<RecomputeCandidate> candidate = tryTarget(target);
    bool isEnough = candidate && candidate->bytes <= limit;
    if (isEnough && (!cheapest || candidate->sequence.nanoseconds < cheapest->sequence.nanoseconds))
      cheapest = candidate;
    // Without a choice the target is too small even to be missed.
    (isEnough || !candidate ? low : high) = target;
  }
  if (cheapest)
    relax(limit, *cheapest);
  if (cheapest && problem.nodes.size() > mostLoweredNodes)
    return cheapest;
  size_t stepsLeft = lowerSteps;
  for (RecomputeCandidate start : getStarts()) {
    lowerPeak(problem, gaps, limit, stepsLeft, start);
    if (start.bytes > limit || (cheapest && start.sequence.nanoseconds > hopeless * cheapest->sequence.nanoseconds))
      continue;
    relax(limit, start);
    if (!cheapest || start.sequence.nanoseconds < cheapest->sequence.nanoseconds)
      cheapest = std::move(start);
  }
  return cheapest;
}

/// What the fullest moments are lowered of: the block as it was written, and the chooser's smallest sequence.
const std::vector<RecomputeCandidate> &RecomputeSearch::getStarts() const {
  if (!starts.empty())
    return starts;
  RecomputeChoice forced = chooser.chooseForced();
  std::optional<RecomputeCandidate> smallest = chooseSmallest();
  for (uint32_t shortGap : {0, 4}) {
    forced.shortGap = shortGap;
    starts.push_back(expandCandidate(problem, gaps, forced));
    if (!smallest)
      continue;
    smallest->choice.shortGap = shortGap;
    starts.push_back(expandCandidate(problem, gaps, smallest->choice));
  }
  return starts;
}

RecomputeCandidate RecomputeSearch::findSmallest() const {
  RecomputeCandidate smallest = getStarts().front();
  size_t stepsLeft = lowerSmallestSteps;
  double most = mostAddedTime * problem.getNanoseconds();
  auto offer = [&](const RecomputeCandidate &trial) {
    bool isSmaller = trial.bytes < smallest.bytes && trial.sequence.nanoseconds <= most;
    if (isSmaller)
      smallest = trial;
    return isSmaller;
  };
  for (const RecomputeCandidate &start : getStarts())
    offer(start);
  for (const RecomputeCandidate &start : getStarts())
    for (uint64_t part : loweredParts) {
      RecomputeCandidate trial = start;
      do {
        lowerPeak(problem, gaps, smallest.bytes - smallest.bytes / part, stepsLeft, trial);
      } while (offer(trial));
    }
  relax(smallest.bytes, smallest);
  return smallest;
}

/// The sequence with the fewest bytes live, of those for targets from the least that leads anywhere on.
std::optional<RecomputeCandidate> RecomputeSearch::chooseSmallest() const {
  uint64_t low = 0, high = getOriginalPeak();
  for (unsigned step = 0; step < bisectionSteps; ++step) {
    uint64_t target = low + (high - low) / 2;
    (chooser.choose(target) ? high : low) = target;
  }
  std::optional<RecomputeCandidate> smallest;
  for (uint64_t step = 0; step < smallestSteps; ++step) {
    uint64_t target = high + (getOriginalPeak() - high) / smallestSteps * step / 2;
    std::optional<RecomputeCandidate> candidate = tryTarget(target);
    if (candidate && (!smallest || candidate->bytes < smallest->bytes))
      smallest = candidate;
  }
  return smallest;
}

} // namespace mlir::ferrule
