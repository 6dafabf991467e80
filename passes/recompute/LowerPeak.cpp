#include "passes/recompute/LowerPeak.h"

#include <algorithm>

namespace mlir::ferrule {
namespace {

/// Values below this part of the peak are left alone: there are few bytes to gain.
constexpr uint64_t smallPart = 4096;
/// Of what is live without being used so many values are tried at a moment: those that promise most.
constexpr size_t mostTried = 24;
/// If a value's operands are kept in its place they are dropped, too, then what is kept in theirs, and so on.
constexpr unsigned mostDepth = 8;

/// The bytes above the limit, summed over the steps.
double getExcess(const std::vector<uint64_t> &live, uint64_t limit) {
  double sum = 0;
  for (uint64_t bytes : live)
    sum += bytes > limit ? double(bytes - limit) : 0;
  return sum;
}

/// A step of a sequence, and what could be changed to have less live at it.
struct Moment {
  uint32_t node = 0;
  bool isClone = false;
  /// The node of the block that the step is or, as a second run, stands before.
  uint32_t anchor = 0;
  /// The gaps of what is live without being used, ascending.
  std::vector<uint32_t> idle;
};

/// One policy for some gaps, and what it saves.
struct Change {
  std::vector<uint32_t> gaps;
  RecomputePolicy policy = RecomputePolicy::Again;
  /// Bytes above the limit for each nanosecond.
  double rate = 0;
};

class PeakLowering {
public:
  PeakLowering(const RecomputeProblem &problem, const RecomputeGaps &gaps, uint64_t limit, size_t &stepsLeft,
               RecomputeCandidate &candidate)
      : problem(problem), gaps(gaps), limit(limit), stepsLeft(stepsLeft), candidate(candidate),
        excess(getExcess(candidate.live, limit)) {}

  void run() {
    while (excess > 0 && stepsLeft > 0 && lowerFullest()) {
    }
  }

private:
  /// Finds changes that help at the fullest moment, and makes them, those with the best rate first. False if none
  /// helps.
  bool lowerFullest() {
    auto fullest = std::max_element(candidate.live.begin(), candidate.live.end());
    uint32_t time = uint32_t(fullest - candidate.live.begin());
    Moment moment = describe(candidate.sequence, time);
    std::vector<Change> changes;
    for (uint32_t gap : choosePromising(moment.idle))
      dropWithOperands(moment, gap, changes);
    for (uint32_t gap : getMade(time, moment.anchor))
      tryToKeep(gap, changes);
    if (changes.empty())
      return false;
    std::stable_sort(changes.begin(), changes.end(), [](const Change &a, const Change &b) { return a.rate > b.rate; });
    uint64_t wanted = *fullest;
    for (const Change &change : changes) {
      // Enough has been done for this moment; another one is fuller now.
      if (candidate.bytes < wanted && change.rate < changes.front().rate / 2)
        break;
      RecomputeCandidate trial = expand(apply(change));
      double left = getExcess(trial.live, limit);
      if (left < excess) {
        candidate = std::move(trial);
        excess = left;
      }
      if (excess == 0)
        break;
    }
    return true;
  }

  Moment describe(const RecomputeSequence &sequence, uint32_t time) const {
    const RecomputeStep &step = sequence.steps[time];
    Moment moment{step.node, step.isClone, getAnchor(sequence, time), {}};
    auto [begin, end] = RecomputeLifetimes(sequence);
    for (uint32_t instance = 0; instance < begin.size(); ++instance) {
      if (begin[instance] >= time || end[instance] <= time || !canDrop(sequence.instances[instance].value))
        continue;
      RecomputeNumbers reads = sequence.getReads(step);
      if (std::find(reads.begin(), reads.end(), instance) == reads.end())
        moment.idle.push_back(
            findGap(sequence.instances[instance].value, step.isClone ? moment.anchor : moment.anchor + 1));
    }
    std::sort(moment.idle.begin(), moment.idle.end());
    return moment;
  }

  static uint32_t getAnchor(const RecomputeSequence &sequence, uint32_t time) {
    while (sequence.steps[time].isClone)
      ++time;
    return sequence.steps[time].node;
  }

  /// The gap of a value that ends with the first use at `node` or behind it.
  uint32_t findGap(uint32_t value, uint32_t node) const {
    uint32_t gap = gaps.getFirst(value);
    while (gaps.getEnd(gap) < node)
      ++gap;
    return gap;
  }

  bool canDrop(uint32_t value) const {
    return problem.canMakeAgain(value) && problem.values[value].bytes > candidate.bytes / smallPart;
  }

  /// Those with the most bytes for each nanosecond of making the value again.
  std::vector<uint32_t> choosePromising(const std::vector<uint32_t> &idle) const {
    std::vector<std::pair<double, uint32_t>> ranked;
    for (uint32_t gap : idle) {
      uint32_t value = gaps.getValue(gap);
      double nanoseconds = problem.getNode(problem.getRemaker(value)).nanoseconds;
      if (candidate.choice.gaps[gap] != RecomputePolicy::Again)
        ranked.push_back({nanoseconds / double(problem.values[value].bytes), gap});
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<uint32_t> chosen;
    for (size_t index = 0; index < std::min(ranked.size(), mostTried); ++index)
      chosen.push_back(ranked[index].second);
    return chosen;
  }

  /// The gaps of what is computed again for the same node as the step or is made by it.
  std::vector<uint32_t> getMade(uint32_t time, uint32_t anchor) const {
    const std::vector<RecomputeStep> &steps = candidate.sequence.steps;
    while (steps[time].isClone)
      ++time;
    std::vector<uint32_t> made;
    while (time-- > 0 && steps[time].isClone)
      for (uint32_t value : problem.getNode(steps[time].node).writes)
        if (uint32_t gap = findGap(value, anchor);
            candidate.choice.gaps[gap] != RecomputePolicy::Keep && !problem.values[value].forced)
          made.push_back(gap);
    return made;
  }

  void tryToKeep(uint32_t gap, std::vector<Change> &changes) {
    Change change{{gap}, RecomputePolicy::Keep};
    RecomputeCandidate trial = expand(apply(change));
    offer(std::move(change), trial, changes);
  }

  /// Drops the value in the gap, and what is kept instead, until that helps.
  void dropWithOperands(const Moment &moment, uint32_t gap, std::vector<Change> &changes) {
    Change change{{gap}, RecomputePolicy::Again};
    for (unsigned depth = 0; depth < mostDepth; ++depth) {
      RecomputeCandidate trial = expand(apply(change));
      if (offer(change, trial, changes))
        return;
      std::vector<uint32_t> instead = findKeptInstead(moment, trial);
      if (instead.empty())
        return;
      change.gaps.insert(change.gaps.end(), instead.begin(), instead.end());
    }
  }

  /// What is live at the moment in the trial and was not.
  std::vector<uint32_t> findKeptInstead(const Moment &moment, const RecomputeCandidate &trial) const {
    const std::vector<RecomputeStep> &steps = trial.sequence.steps;
    uint32_t time = 0;
    while (steps[time].isClone || steps[time].node != moment.anchor)
      ++time;
    while (steps[time].node != moment.node || steps[time].isClone != moment.isClone) {
      if (time == 0 || !steps[time - 1].isClone)
        return {};
      --time;
    }
    std::vector<uint32_t> found = describe(trial.sequence, time).idle, more;
    std::set_difference(found.begin(), found.end(), moment.idle.begin(), moment.idle.end(), std::back_inserter(more));
    more.erase(std::remove_if(more.begin(), more.end(),
                              [&](uint32_t gap) { return trial.choice.gaps[gap] == RecomputePolicy::Again; }),
               more.end());
    return more;
  }

  bool offer(Change change, const RecomputeCandidate &trial, std::vector<Change> &changes) const {
    double left = getExcess(trial.live, limit);
    if (left >= excess)
      return false;
    double cost = trial.sequence.nanoseconds - candidate.sequence.nanoseconds;
    change.rate = (excess - left) / std::max(cost, 1.0);
    changes.push_back(std::move(change));
    return true;
  }

  RecomputeChoice apply(const Change &change) const {
    RecomputeChoice choice = candidate.choice;
    for (uint32_t gap : change.gaps)
      choice.gaps[gap] = change.policy;
    return choice;
  }

  RecomputeCandidate expand(RecomputeChoice choice) {
    RecomputeCandidate expanded = expandCandidate(problem, gaps, std::move(choice));
    stepsLeft -= std::min(stepsLeft, expanded.sequence.steps.size());
    return expanded;
  }

  const RecomputeProblem &problem;
  const RecomputeGaps &gaps;
  uint64_t limit;
  size_t &stepsLeft;
  RecomputeCandidate &candidate;
  double excess;
};

} // namespace

RecomputeCandidate expandCandidate(const RecomputeProblem &problem, const RecomputeGaps &gaps, RecomputeChoice choice) {
  RecomputeCandidate candidate;
  candidate.choice = std::move(choice);
  candidate.sequence = expandChoice(problem, gaps, candidate.choice);
  candidate.live = getLiveBytes(problem, candidate.sequence);
  // A block without instructions has no step at which anything is live.
  for (uint64_t bytes : candidate.live)
    candidate.bytes = std::max(candidate.bytes, bytes);
  return candidate;
}

void lowerPeak(const RecomputeProblem &problem, const RecomputeGaps &gaps, uint64_t limit, size_t &stepsLeft,
               RecomputeCandidate &candidate) {
  PeakLowering(problem, gaps, limit, stepsLeft, candidate).run();
}

} // namespace mlir::ferrule
