#include "runtime/memory/planner/planner.h"

#include "runtime/memory/planner/greedy.h"

namespace ferrule::memory {

Plan plan(const std::vector<Interval>& intervals, const PlannerOptions& options) {
  (void)options;
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
  result.proven_optimal = result.peak == result.lower_bound;
  return result;
}

}  // namespace ferrule::memory
