#include "passes/recompute/ChooseRecomputation.h"

#include <algorithm>
#include <limits>

namespace mlir::ferrule {
namespace {

/// Values below this part of the peak are kept: there are few bytes to gain.
constexpr uint64_t smallPart = 65536;
/// Thresholds between "nothing" and "everything" that are tried.
constexpr unsigned levelCount = 6;
/// Ways to reach a cut that are followed: the cheapest for each of so many ranges of bytes kept.
constexpr size_t stateCount = 128;
/// The forward pass is cut where fewest bytes cross among three neighbours on each side, or among fewer where that
/// gives fewer cuts than are wanted; of too many of these only every second, third, ... is one.
constexpr size_t wantedCuts = 8, maxCuts = 320;
constexpr uint32_t maxDistance = 3;
constexpr double infinite = std::numeric_limits<double>::infinity();

} // namespace

RecomputeChooser::RecomputeChooser(const RecomputeProblem &problem, const RecomputeGaps &gaps)
    : problem(problem), gaps(gaps) {
  std::vector<uint64_t> live = getLiveBytes(problem, getOriginal(problem));
  if (live.empty())
    return;
  auto most = std::max_element(live.begin(), live.end());
  originalPeak = *most;
  smallBytes = originalPeak / smallPart;
  border = uint32_t(most - live.begin());
  findUses();
  findTransients(live);
  findCuts();
  std::vector<std::pair<double, uint64_t>> candidates;
  uint64_t total = 0;
  for (uint32_t value = 0; value < problem.values.size(); ++value)
    if (isCandidate(value) && usedBehind[value]) {
      candidates.push_back({getDensity(value), problem.values[value].bytes});
      total += problem.values[value].bytes;
    }
  std::sort(candidates.begin(), candidates.end());
  addLevel(-1);
  uint64_t sum = 0;
  for (auto [density, bytes] : candidates) {
    sum += bytes;
    if (sum * levelCount >= total * levels.size() && density > levels.back().maxDensity)
      addLevel(density);
  }
  addLevel(infinite);
}

bool RecomputeChooser::isCandidate(uint32_t value) const {
  const RecomputeValue &described = problem.values[value];
  return !described.pinned && described.producer != noNode && described.producer <= border &&
         described.bytes > smallBytes;
}

/// Of computing it again. The results of one node share its cost.
double RecomputeChooser::getDensity(uint32_t value) const {
  const RecomputeNode &remaker = problem.getNode(problem.getRemaker(value));
  if (!remaker.clonable)
    return infinite;
  uint64_t bytes = 0;
  for (uint32_t result : remaker.writes)
    bytes += problem.values[result].bytes;
  return remaker.nanoseconds / double(std::max<uint64_t>(bytes, 1));
}

void RecomputeChooser::findUses() {
  lastForward.assign(problem.values.size(), 0);
  usedBehind.assign(problem.values.size(), 0);
  for (uint32_t node = 0; node < problem.nodes.size(); ++node)
    for (uint32_t value : problem.nodes[node].reads) {
      if (node <= border)
        lastForward[value] = node;
      else
        usedBehind[value] = 1;
    }
}

void RecomputeChooser::findTransients(const std::vector<uint64_t> &live) {
  // Bytes of values that wait for the other side of the border, by node.
  std::vector<int64_t> waiting(problem.nodes.size() + 1, 0);
  std::vector<uint32_t> lastUse(problem.values.size(), 0);
  for (uint32_t node = 0; node < problem.nodes.size(); ++node)
    for (uint32_t value : problem.nodes[node].reads)
      lastUse[value] = node;
  for (uint32_t value = 0; value < problem.values.size(); ++value)
    if (isCandidate(value) && usedBehind[value]) {
      waiting[problem.values[value].producer] += int64_t(problem.values[value].bytes);
      waiting[lastUse[value] + 1] -= int64_t(problem.values[value].bytes);
    }
  std::vector<uint64_t> besides(problem.nodes.size());
  int64_t sum = 0;
  for (uint32_t node = 0; node < problem.nodes.size(); ++node) {
    sum += waiting[node];
    besides[node] = uint64_t(std::max<int64_t>(0, int64_t(live[node]) - sum));
  }
  transients.assign(border + 1, 0);
  for (uint32_t node = 0; node < problem.nodes.size(); ++node) {
    if (node <= border)
      transients[node] = std::max(transients[node], besides[node]);
    for (uint32_t value : problem.nodes[node].reads)
      if (node > border && isCandidate(value))
        transients[problem.values[value].producer] =
            std::max(transients[problem.values[value].producer], besides[node]);
  }
}

/// The nodes before which fewest bytes cross among so many neighbours on each side; of equal neighbours the first.
static std::vector<uint32_t> findNarrow(const std::vector<int64_t> &crossingBytes, uint32_t distance) {
  std::vector<uint32_t> narrow;
  uint32_t last = uint32_t(crossingBytes.size()) - 2;
  for (uint32_t node = 1; node <= last; ++node) {
    bool isNarrow = true;
    for (uint32_t other = node > distance ? node - distance : 0; other <= std::min(last, node + distance); ++other) {
      bool isTaken = !narrow.empty() && narrow.back() == other;
      isNarrow &=
          crossingBytes[other] >= crossingBytes[node] && !(isTaken && crossingBytes[other] == crossingBytes[node]);
    }
    if (isNarrow)
      narrow.push_back(node);
  }
  return narrow;
}

void RecomputeChooser::findCuts() {
  std::vector<int64_t> crossingBytes(border + 2, 0);
  std::vector<std::vector<uint32_t>> begins(border + 2), ends(border + 2);
  for (uint32_t value = 0; value < problem.values.size(); ++value) {
    uint32_t producer = problem.values[value].producer;
    if (!isCandidate(value) || lastForward[value] <= producer)
      continue;
    crossingBytes[producer + 1] += int64_t(problem.values[value].bytes);
    crossingBytes[lastForward[value] + 1] -= int64_t(problem.values[value].bytes);
    begins[producer + 1].push_back(value);
    ends[lastForward[value] + 1].push_back(value);
  }
  for (uint32_t node = 1; node < crossingBytes.size(); ++node)
    crossingBytes[node] += crossingBytes[node - 1];
  std::vector<uint32_t> narrow = findNarrow(crossingBytes, maxDistance);
  for (uint32_t distance = maxDistance; distance > 0 && narrow.size() < wantedCuts; --distance)
    narrow = findNarrow(crossingBytes, distance - 1);
  size_t stride = narrow.size() / maxCuts + 1;
  cuts.push_back(0);
  for (size_t index = 0; index < narrow.size(); index += stride)
    cuts.push_back(narrow[index]);
  cuts.push_back(border + 1);
  std::vector<uint32_t> live;
  crossing.resize(cuts.size());
  uint32_t next = 0;
  for (uint32_t node = 0; node <= border + 1; ++node) {
    for (uint32_t value : ends[node])
      live.erase(std::find(live.begin(), live.end(), value));
    live.insert(live.end(), begins[node].begin(), begins[node].end());
    if (next < cuts.size() && cuts[next] == node)
      crossing[next++] = live;
  }
}

/// Whether the node's operands are at hand wherever its results are used.
bool RecomputeChooser::isOverKept(const RecomputeNode &node, const Level &level) {
  return node.cheap && std::none_of(node.reads.begin(), node.reads.end(),
                                    [&](uint32_t value) { return level.policies[value] == RecomputePolicy::Again; });
}

/// Whether it is made in one pass of what lies outside of the arena, or of nothing.
bool RecomputeChooser::isAlwaysAtHand(uint32_t value) const {
  const RecomputeNode &remaker = problem.getNode(problem.getRemaker(value));
  return remaker.cheap && remaker.clonable &&
         std::all_of(remaker.reads.begin(), remaker.reads.end(),
                     [&](uint32_t read) { return problem.values[read].pinned; });
}

void RecomputeChooser::addLevel(double maxDensity) {
  Level level;
  level.maxDensity = maxDensity;
  size_t count = problem.values.size();
  level.policies.assign(count, RecomputePolicy::Keep);
  level.needed = usedBehind;
  std::vector<uint64_t> kept(border + 2, 0), held(border + 2, 0);
  std::vector<double> cost(border + 2, 0);
  auto isAgain = [&](uint32_t value) {
    return isCandidate(value) && getDensity(value) <= maxDensity && problem.getNode(problem.getRemaker(value)).clonable;
  };
  for (uint32_t node = border + 1; node-- > 0;) {
    // Recipes first: they need results of the node itself.
    for (bool byRecipe : {true, false}) {
      uint32_t again = noNode;
      for (uint32_t value : problem.nodes[node].writes) {
        bool isOfRecipe = problem.values[value].recipe != noNode;
        if (isOfRecipe != byRecipe || !isCandidate(value) || !level.needed[value])
          continue;
        if (isAgain(value))
          again = problem.getRemaker(value);
        else
          kept[node + 1] += problem.values[value].bytes;
      }
      if (again == noNode)
        continue;
      // What the node makes again needs no recipe.
      cost[node + 1] = problem.getNode(again).nanoseconds;
      for (uint32_t value : problem.getNode(again).reads)
        level.needed[value] = 1;
    }
  }
  for (uint32_t node = 0; node <= border; ++node)
    for (bool byRecipe : {false, true})
      for (uint32_t value : problem.nodes[node].writes) {
        if ((problem.values[value].recipe != noNode) != byRecipe || !isAgain(value))
          continue;
        bool overKept = isOverKept(problem.getNode(problem.getRemaker(value)), level);
        level.policies[value] = overKept ? RecomputePolicy::Again : RecomputePolicy::Once;
        if (level.needed[value] && !overKept)
          held[node + 1] += problem.values[value].bytes;
      }
  for (uint32_t node = 1; node < kept.size(); ++node) {
    kept[node] += kept[node - 1];
    held[node] += held[node - 1];
    cost[node] += cost[node - 1];
  }
  level.keptBytes = std::move(kept);
  level.heldBytes = std::move(held);
  level.nanoseconds = std::move(cost);
  levels.push_back(std::move(level));
}

/// A way to reach a cut.
struct RecomputeChooser::State {
  uint64_t keptBytes = 0;
  double nanoseconds = infinite;
  uint32_t from = 0, fromState = 0;
  unsigned level = 0;
};

/// By cut: the cheapest state for each range of bytes kept, and those of them that no other one beats in both respects.
struct RecomputeChooser::Plan {
  Plan(size_t cutCount, uint64_t target, double mostNanoseconds)
      : target(target), mostNanoseconds(mostNanoseconds), rangesPerByte(1.0 / double(target / stateCount + 1)),
        cheapest(cutCount, std::vector<State>(stateCount)), settled(cutCount) {}

  /// Of a state that keeps at most the target's bytes. A product: this is the innermost of all loops.
  void offer(uint32_t cut, const State &state) {
    size_t range = size_t(double(state.keptBytes) * rangesPerByte);
    State &known = cheapest[cut][std::min(range, stateCount - 1)];
    if (state.nanoseconds < known.nanoseconds)
      known = state;
  }

  void settle(uint32_t cut) {
    for (const State &state : cheapest[cut])
      if (state.nanoseconds < (settled[cut].empty() ? infinite : settled[cut].back().nanoseconds))
        settled[cut].push_back(state);
  }

  uint64_t target;
  double mostNanoseconds, rangesPerByte;
  std::vector<std::vector<State>> cheapest, settled;
};

/// What is made in the segment and crosses its end is kept, although the level would compute it again. That what can be
/// made anywhere is not (follow) is left out: it is little.
uint64_t RecomputeChooser::addCrossing(const Level &level, uint32_t begin, uint32_t end, uint64_t &held,
                                       double &cost) const {
  uint64_t bytes = 0;
  for (uint32_t value : crossing[end]) {
    const RecomputeValue &described = problem.values[value];
    if (described.producer < cuts[begin] || level.policies[value] == RecomputePolicy::Keep)
      continue;
    bytes += described.bytes;
    if (!level.needed[value])
      continue;
    cost -= problem.getNode(problem.getRemaker(value)).nanoseconds;
    if (level.policies[value] == RecomputePolicy::Once)
      held -= described.bytes;
  }
  return bytes;
}

void RecomputeChooser::extend(uint32_t from, const Level &level, unsigned number, Plan &plan) const {
  // With more and more bytes kept, and fewer nanoseconds.
  const std::vector<State> &states = plan.settled[from];
  uint64_t least = states.front().keptBytes, transient = 0, target = plan.target;
  uint32_t last = number == 0 ? from + 1 : uint32_t(cuts.size()) - 1;
  for (uint32_t to = from + 1; to <= last; ++to) {
    for (uint32_t node = cuts[to - 1]; node < cuts[to]; ++node)
      transient = std::max(transient, transients[node]);
    uint64_t kept = level.keptBytes[cuts[to]] - level.keptBytes[cuts[from]];
    uint64_t held = level.heldBytes[cuts[to]] - level.heldBytes[cuts[from]];
    double cost = level.nanoseconds[cuts[to]] - level.nanoseconds[cuts[from]];
    if (least + kept + transient > target)
      return;
    kept += addCrossing(level, from, to, held, cost);
    uint64_t during = kept + held + transient;
    if (least + during > target)
      continue;
    for (uint32_t index = 0; index < states.size() && states[index].keptBytes + during <= target; ++index)
      if (states[index].nanoseconds + cost <= plan.mostNanoseconds)
        plan.offer(to, {states[index].keptBytes + kept, states[index].nanoseconds + cost, from, index, number});
  }
}

std::optional<RecomputeChoice> RecomputeChooser::choose(uint64_t target, double mostNanoseconds) const {
  if (levels.empty())
    return std::nullopt;
  Plan plan(cuts.size(), target, mostNanoseconds);
  plan.offer(0, {0, 0, 0, 0, 0});
  for (uint32_t cut = 0; cut < cuts.size(); ++cut) {
    plan.settle(cut);
    if (plan.settled[cut].empty() || cut + 1 == cuts.size())
      continue;
    for (unsigned number = 0; number < levels.size(); ++number)
      extend(cut, levels[number], number, plan);
  }
  if (plan.settled.back().empty())
    return std::nullopt;
  return follow(plan, uint32_t(plan.settled.back().size()) - 1);
}

std::vector<RecomputePolicy> RecomputeChooser::getForcedPolicies() const {
  std::vector<RecomputePolicy> policies(problem.values.size(), RecomputePolicy::Keep);
  for (uint32_t value = 0; value < problem.values.size(); ++value)
    if (problem.values[value].forced && !problem.values[value].pinned)
      policies[value] = RecomputePolicy::Once;
  return policies;
}

RecomputeChoice RecomputeChooser::chooseForced() const {
  return makeChoice(gaps, problem, getForcedPolicies(), border);
}

/// From the cheapest way to the last cut back to the first. What can be made anywhere need not be kept across a cut.
RecomputeChoice RecomputeChooser::follow(const Plan &plan, uint32_t last) const {
  std::vector<RecomputePolicy> policies = getForcedPolicies();
  uint32_t cut = uint32_t(cuts.size()) - 1, index = last;
  while (cut > 0) {
    const State &state = plan.settled[cut][index];
    const Level &level = levels[state.level];
    for (uint32_t node = cuts[state.from]; node < cuts[cut]; ++node)
      for (uint32_t value : problem.nodes[node].writes)
        if (!problem.values[value].forced)
          policies[value] = level.policies[value];
    if (state.level != 0)
      for (uint32_t value : crossing[cut])
        if (problem.values[value].producer >= cuts[state.from] && !problem.values[value].forced &&
            !isAlwaysAtHand(value))
          policies[value] = RecomputePolicy::Keep;
    index = state.fromState;
    cut = state.from;
  }
  return makeChoice(gaps, problem, policies, border);
}

} // namespace mlir::ferrule
