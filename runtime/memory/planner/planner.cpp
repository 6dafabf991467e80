#include "runtime/memory/planner/planner.h"

#include <algorithm>

#include "runtime/memory/planner/conflict_model.h"
#include "runtime/memory/planner/greedy.h"
#include "runtime/memory/planner/improve.h"

namespace ferrule::memory {
namespace {

// A model with more conflicts than this (64 MiB of them), or than one for so many steps of the search, is left to the
// greedy placements: making it takes as long as the search, which could look at each interval a few times at most.
constexpr uint64_t kModelEntryLimit = 16'000'000, kStepsPerEntry = 8;

// Intervals that can be planned apart from the others, and how high their placement reaches.
struct Group {
  std::vector<uint32_t> members;
  uint64_t peak = 0;
};

uint64_t group_peak(const std::vector<Interval>& intervals, const std::vector<uint32_t>& members, uint64_t granule,
                    const std::vector<uint64_t>& offsets) {
  uint64_t peak = 0;
  for (uint32_t i : members)
    peak = std::max(peak, (offsets[i] + intervals[i].size + granule - 1) / granule * granule);
  return peak;
}

std::vector<Group> groups_by_peak(const std::vector<Interval>& intervals, uint64_t granule,
                                  const std::vector<uint64_t>& offsets) {
  std::vector<Group> groups;
  for (std::vector<uint32_t>& members : independent_groups(intervals)) {
    const uint64_t peak = group_peak(intervals, members, granule, offsets);
    groups.push_back({std::move(members), peak});
  }
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.peak > b.peak; });
  return groups;
}

// Improves the groups from the highest down. Each may use half of the steps that are left, the last one all of them,
// and none needs to get below the highest of those before it. Returns the highest peak that some group cannot go
// below.
uint64_t improve_groups(const std::vector<Interval>& intervals, uint64_t granule, const PlannerOptions& options,
                        Plan* plan) {
  uint64_t target = std::max(plan->lower_bound, options.target_peak);
  uint64_t proven = plan->lower_bound;
  const uint64_t entry_limit = std::min(kModelEntryLimit, options.search_steps / kStepsPerEntry);
  uint64_t peak = 0;
  std::vector<Group> groups = groups_by_peak(intervals, granule, plan->offsets);
  const size_t last = static_cast<size_t>(std::count_if(
      groups.begin(), groups.end(), [&](const Group& group) { return group.peak > target; }));
  for (size_t g = 0; g < groups.size(); ++g) {
    Group& group = groups[g];
    ConflictModel model;
    if (group.peak > target && plan->steps < options.search_steps &&
        build_conflict_model(intervals, group.members, granule, entry_limit, &model)) {
      std::vector<uint64_t> offsets;
      for (uint32_t i : group.members) offsets.push_back(plan->offsets[i]);
      const uint64_t left = options.search_steps - plan->steps;
      const uint64_t share = g + 1 < last ? left / 2 : left;
      const Improvement improvement = improve_placement(model, group.peak, target, share, &offsets);
      for (size_t k = 0; k < offsets.size(); ++k) plan->offsets[group.members[k]] = offsets[k];
      group.peak = improvement.peak;
      plan->steps += improvement.steps;
      proven = std::max(proven, improvement.proven_bound);
    }
    peak = std::max(peak, group.peak);
    target = std::max(target, peak);
  }
  plan->peak = peak;
  return proven;
}

}  // namespace

Plan plan(const std::vector<Interval>& intervals, const PlannerOptions& options) {
  Plan result;
  result.offsets.resize(intervals.size());
  std::vector<uint64_t> workspace(greedy_workspace_bytes(intervals.size()) / sizeof(uint64_t) + 1);
  PlanSummary summary;
  result.status =
      plan_greedy(intervals.data(), intervals.size(), workspace.data(), result.offsets.data(), &summary);
  if (result.status != PlanStatus::kOk) return result;
  result.peak = summary.peak;
  result.lower_bound = summary.lower_bound;
  result.naive_sum = summary.naive_sum;
  uint64_t proven = result.lower_bound;
  if (options.search_steps > 0 && result.peak > std::max(result.lower_bound, options.target_peak)) {
    uint64_t granule = intervals[0].alignment;
    for (const Interval& interval : intervals) granule = std::min(granule, interval.alignment);
    proven = improve_groups(intervals, granule, options, &result);
  }
  result.proven_optimal = result.peak == proven;
  return result;
}

}  // namespace ferrule::memory
