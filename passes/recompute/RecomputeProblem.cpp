#include "passes/recompute/RecomputeProblem.h"

#include <algorithm>

namespace mlir::ferrule {
namespace {

/// A value that was used so few steps ago is not dropped: its next use is served from memory.
constexpr uint32_t shortGap = 4;

bool contains(const std::vector<uint32_t> &list, uint32_t x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

class Expansion {
public:
  Expansion(const RecomputeProblem &problem, const RecomputeChoice &choice)
      : problem(problem), choice(choice), current(problem.values.size()), lastTouch(problem.values.size(), 0) {
    for (uint32_t value = 0; value < problem.values.size(); ++value) {
      current[value] = value;
      result.instances.push_back({value});
    }
  }

  RecomputeSequence run() {
    for (uint32_t node = 0; node < problem.nodes.size(); ++node) {
      if (node > choice.border)
        runAgain(collect(node));
      append(node, false);
    }
    return std::move(result);
  }

private:
  bool isDropped(uint32_t value) const {
    const RecomputeValue &described = problem.values[value];
    if (described.pinned || described.producer == noNode || !problem.getNode(problem.getRemaker(value)).clonable)
      return false;
    RecomputePolicy policy = choice.policies[value];
    if (policy == RecomputePolicy::Keep || described.producer > choice.border)
      return false;
    if (policy == RecomputePolicy::Once && current[value] != value)
      return false;
    return result.steps.size() - lastTouch[value] > shortGap;
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
    RecomputeStep step{node, isClone, {}, {}};
    auto touch = [&](uint32_t value) { lastTouch[value] = uint32_t(result.steps.size()); };
    for (uint32_t value : problem.getNode(node).reads) {
      step.reads.push_back(current[value]);
      touch(value);
    }
    for (uint32_t value : problem.getNode(node).writes) {
      uint32_t instance = value;
      if (isClone) {
        instance = uint32_t(result.instances.size());
        result.instances.push_back({value});
        if (choice.policies[value] != RecomputePolicy::Keep)
          current[value] = instance;
      }
      step.writes.push_back(instance);
      touch(value);
    }
    result.steps.push_back(std::move(step));
  }

  const RecomputeProblem &problem;
  const RecomputeChoice &choice;
  RecomputeSequence result;
  /// By value: the instance that is read next, and the step that used it last.
  std::vector<uint32_t> current, lastTouch;
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

RecomputeSequence expandChoice(const RecomputeProblem &problem, const RecomputeChoice &choice) {
  return Expansion(problem, choice).run();
}

RecomputeSequence getOriginal(const RecomputeProblem &problem) {
  RecomputeChoice choice;
  choice.policies.assign(problem.values.size(), RecomputePolicy::Keep);
  return expandChoice(problem, choice);
}

std::vector<uint64_t> getLiveBytes(const RecomputeProblem &problem, const RecomputeSequence &sequence) {
  constexpr uint64_t alignment = 64;
  size_t count = sequence.instances.size();
  std::vector<uint32_t> begin(count, noNode), end(count, 0);
  for (uint32_t time = 0; time < sequence.steps.size(); ++time) {
    for (const std::vector<uint32_t> *list : {&sequence.steps[time].reads, &sequence.steps[time].writes})
      for (uint32_t instance : *list) {
        begin[instance] = std::min(begin[instance], time);
        end[instance] = time;
      }
  }
  auto isInArena = [&](uint32_t instance) {
    const RecomputeValue &value = problem.values[sequence.instances[instance].value];
    // The copy that a second run makes of a pinned result lies in the arena.
    return value.producer != noNode && (!value.pinned || instance >= problem.values.size());
  };
  auto getBytes = [&](uint32_t instance) { return problem.values[sequence.instances[instance].value].bytes; };
  SharedStorage storage(count);
  for (uint32_t time = 0; time < sequence.steps.size(); ++time) {
    const RecomputeStep &step = sequence.steps[time];
    std::vector<uint32_t> taken, given;
    for (auto [write, read] : problem.getNode(step.node).shares) {
      uint32_t target = step.writes[write], source = step.reads[read];
      if (!isInArena(target) || !isInArena(source) || end[source] != time || contains(taken, source) ||
          contains(given, target) || std::count(step.reads.begin(), step.reads.end(), source) != 1)
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
