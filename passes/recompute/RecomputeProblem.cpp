#include "passes/recompute/RecomputeProblem.h"

#include <algorithm>

namespace mlir::ferrule {
namespace {

bool contains(const std::vector<uint32_t> &list, uint32_t x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

class Expansion {
public:
  Expansion(const RecomputeProblem &problem, const RecomputeGaps &gaps, const RecomputeChoice &choice)
      : problem(problem), gaps(gaps), choice(choice), gap(problem.values.size()), current(problem.values.size()),
        lastTouch(problem.values.size(), 0) {
    for (uint32_t value = 0; value < problem.values.size(); ++value) {
      gap[value] = gaps.getFirst(value);
      current[value] = value;
      result.instances.push_back({value});
    }
  }

  RecomputeSequence run() {
    for (uint32_t node = 0; node < problem.nodes.size(); ++node) {
      if (readsDropped(node))
        runAgain(collect(node));
      append(node, false);
      for (uint32_t value : problem.nodes[node].reads)
        if (gaps.getEnd(gap[value]) == node)
          ++gap[value];
    }
    return std::move(result);
  }

private:
  bool isDropped(uint32_t value) const {
    RecomputePolicy policy = choice.gaps[gap[value]];
    if (policy == RecomputePolicy::Keep || (policy == RecomputePolicy::Once && current[value] != value))
      return false;
    if (!problem.canMakeAgain(value))
      return false;
    return result.steps.size() - lastTouch[value] > choice.shortGap;
  }

  bool readsDropped(uint32_t node) const {
    const std::vector<uint32_t> &reads = problem.nodes[node].reads;
    return std::any_of(reads.begin(), reads.end(), [&](uint32_t value) { return isDropped(value); });
  }

  /// The nodes to run again before `node`, in the order in which they run.
  std::vector<uint32_t> collect(uint32_t node) {
    std::vector<uint32_t> found, work{node};
    while (!work.empty()) {
      uint32_t reader = work.back();
      work.pop_back();
      for (uint32_t value : problem.getNode(reader).reads) {
        uint32_t remaker = problem.getRemaker(value);
        if (!isDropped(value) || contains(found, remaker))
          continue;
        found.push_back(remaker);
        work.push_back(remaker);
      }
    }
    // What an instruction makes again needs no recipe.
    found.erase(std::remove_if(
                    found.begin(), found.end(),
                    [&](uint32_t each) { return problem.isRecipe(each) && contains(found, problem.getPlace(each)); }),
                found.end());
    std::sort(found.begin(), found.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(problem.getPlace(a), a) < std::pair(problem.getPlace(b), b);
    });
    return found;
  }

  void runAgain(const std::vector<uint32_t> &nodes) {
    for (uint32_t node : nodes) {
      append(node, true);
      result.nanoseconds += problem.getNode(node).nanoseconds;
    }
  }

  void append(uint32_t node, bool isClone) {
    RecomputeStep step{node, isClone, uint32_t(result.numbers.size()), 0, 0};
    auto touch = [&](uint32_t value) { lastTouch[value] = uint32_t(result.steps.size()); };
    for (uint32_t value : problem.getNode(node).reads) {
      result.numbers.push_back(current[value]);
      touch(value);
    }
    step.writes = uint32_t(result.numbers.size());
    for (uint32_t value : problem.getNode(node).writes) {
      uint32_t instance = value;
      if (isClone) {
        instance = uint32_t(result.instances.size());
        result.instances.push_back({value});
        if (choice.gaps[gap[value]] != RecomputePolicy::Keep)
          current[value] = instance;
      }
      result.numbers.push_back(instance);
      touch(value);
    }
    step.end = uint32_t(result.numbers.size());
    result.steps.push_back(step);
  }

  const RecomputeProblem &problem;
  const RecomputeGaps &gaps;
  const RecomputeChoice &choice;
  RecomputeSequence result;
  /// By value: the gap, the instance that is read next, and the step that used it last.
  std::vector<uint32_t> gap, current, lastTouch;
};

/// Instances that share bytes, as sets.
class SharedStorage {
public:
  explicit SharedStorage(size_t count) : parents(count) {
    for (uint32_t i = 0; i < count; ++i)
      parents[i] = i;
  }
  uint32_t find(uint32_t instance) {
    while (parents[instance] != instance)
      instance = parents[instance] = parents[parents[instance]];
    return instance;
  }
  void join(uint32_t from, uint32_t to) { parents[find(from)] = find(to); }

private:
  std::vector<uint32_t> parents;
};

} // namespace

RecomputeGaps::RecomputeGaps(const RecomputeProblem &problem) {
  std::vector<std::vector<uint32_t>> uses(problem.values.size());
  for (uint32_t node = 0; node < problem.nodes.size(); ++node)
    for (uint32_t value : problem.nodes[node].reads)
      if (uses[value].empty() || uses[value].back() != node)
        uses[value].push_back(node);
  first.push_back(0);
  for (const std::vector<uint32_t> &each : uses) {
    ends.insert(ends.end(), each.begin(), each.end());
    ends.push_back(noNode);
    values.resize(ends.size(), uint32_t(first.size()) - 1);
    first.push_back(uint32_t(ends.size()));
  }
}

RecomputeChoice makeChoice(const RecomputeGaps &gaps, const RecomputeProblem &problem,
                           const std::vector<RecomputePolicy> &policies, uint32_t border) {
  RecomputeChoice choice;
  choice.gaps.assign(gaps.getCount(), RecomputePolicy::Keep);
  for (uint32_t value = 0; value < problem.values.size(); ++value) {
    if (problem.values[value].producer > border)
      continue;
    for (uint32_t gap = gaps.getFirst(value); gap < gaps.getFirst(value + 1); ++gap)
      if (gaps.getEnd(gap) > border)
        choice.gaps[gap] = policies[value];
  }
  return choice;
}

RecomputeSequence expandChoice(const RecomputeProblem &problem, const RecomputeGaps &gaps,
                               const RecomputeChoice &choice) {
  return Expansion(problem, gaps, choice).run();
}

RecomputeSequence getOriginal(const RecomputeProblem &problem) {
  RecomputeGaps gaps(problem);
  RecomputeChoice choice;
  choice.gaps.assign(gaps.getCount(), RecomputePolicy::Keep);
  return expandChoice(problem, gaps, choice);
}

RecomputeLifetimes::RecomputeLifetimes(const RecomputeSequence &sequence)
    : begin(sequence.instances.size(), noNode), end(sequence.instances.size(), 0) {
  for (uint32_t time = 0; time < sequence.steps.size(); ++time)
    for (uint32_t instance : sequence.getTouched(sequence.steps[time])) {
      begin[instance] = std::min(begin[instance], time);
      end[instance] = time;
    }
}

std::vector<uint64_t> getLiveBytes(const RecomputeProblem &problem, const RecomputeSequence &sequence) {
  constexpr uint64_t alignment = 64;
  size_t count = sequence.instances.size();
  auto [begin, end] = RecomputeLifetimes(sequence);
  auto isInArena = [&](uint32_t instance) {
    const RecomputeValue &value = problem.values[sequence.instances[instance].value];
    // The copy that a second run makes of a pinned result lies in the arena.
    return value.producer != noNode && (!value.pinned || instance >= problem.values.size());
  };
  auto getBytes = [&](uint32_t instance) { return problem.values[sequence.instances[instance].value].bytes; };
  SharedStorage storage(count);
  std::vector<uint32_t> taken, given;
  for (uint32_t time = 0; time < sequence.steps.size(); ++time) {
    const RecomputeStep &step = sequence.steps[time];
    RecomputeNumbers reads = sequence.getReads(step), writes = sequence.getWrites(step);
    taken.clear();
    given.clear();
    for (auto [write, read] : problem.getNode(step.node).shares) {
      uint32_t target = writes[write], source = reads[read];
      if (!isInArena(target) || !isInArena(source) || end[source] != time || contains(taken, source) ||
          contains(given, target) || std::count(reads.begin(), reads.end(), source) != 1)
        continue;
      storage.join(target, source);
      taken.push_back(source);
      given.push_back(target);
    }
  }
  std::vector<uint32_t> groupBegin(count, noNode), groupEnd(count, 0);
  for (uint32_t instance = 0; instance < count; ++instance) {
    if (begin[instance] == noNode || !isInArena(instance))
      continue;
    uint32_t group = storage.find(instance);
    groupBegin[group] = std::min(groupBegin[group], begin[instance]);
    groupEnd[group] = std::max(groupEnd[group], end[instance]);
  }
  std::vector<int64_t> changes(sequence.steps.size() + 1, 0);
  for (uint32_t group = 0; group < count; ++group) {
    if (groupBegin[group] == noNode)
      continue;
    int64_t bytes = int64_t((getBytes(group) + alignment - 1) / alignment * alignment);
    changes[groupBegin[group]] += bytes;
    changes[groupEnd[group] + 1] -= bytes;
  }
  std::vector<uint64_t> live(sequence.steps.size());
  int64_t sum = 0;
  for (size_t time = 0; time < live.size(); ++time) {
    sum += changes[time];
    live[time] = uint64_t(sum) + problem.getNode(sequence.steps[time].node).workspaceBytes;
  }
  return live;
}

} // namespace mlir::ferrule
