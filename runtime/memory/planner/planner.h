// The memory planner: gives every interval an offset in one arena so that no two that are live together share bytes,
// and keeps the arena small. Two stages, the second only while the peak is above the target:
//   1. the greedy portfolio (greedy.h);
//   2. branch and bound at smaller and smaller capacities (improve.h, canonical_search.h), apart for each group of
//      intervals that has nothing to do with the others; this can also prove that a peak is the best possible.
// The result depends on the intervals and the options only. Effort is counted in steps, never in time, so that every
// machine makes the same plan.
#ifndef FERRULE_RUNTIME_MEMORY_PLANNER_PLANNER_H_
#define FERRULE_RUNTIME_MEMORY_PLANNER_PLANNER_H_

#include <vector>

#include "runtime/memory/planner/interval.h"

namespace ferrule::memory {

struct PlannerOptions {
  // Work allowed to stage 2. A step is one look at one interval, two to four nanoseconds: the default is about half a
  // second, and it is spent only where the greedy placements miss the target. 0: greedy only.
  uint64_t search_steps = 200'000'000;
  // Stop as soon as the peak is at or below this many bytes (an arena that exists anyway, a budget). 0: the lower
  // bound is the only target.
  uint64_t target_peak = 0;
};

struct Plan {
  PlanStatus status = PlanStatus::kOk;
  std::vector<uint64_t> offsets;   // bytes, by interval; valid if status is kOk
  uint64_t peak = 0;               // bytes, as in PlanSummary
  uint64_t lower_bound = 0;
  uint64_t naive_sum = 0;
  uint64_t steps = 0;              // spent by stage 2
  bool proven_optimal = false;     // no placement has a lower peak
};

Plan plan(const std::vector<Interval>& intervals, const PlannerOptions& options = {});

}  // namespace ferrule::memory

#endif  // FERRULE_RUNTIME_MEMORY_PLANNER_PLANNER_H_
