// Placement by a portfolio of greedy heuristics. This is the part of the planner that the runtime core carries (a
// session plans an unbounded dim at first use): it allocates nothing and needs no C++ library.
//
// Up to ten placements are made (five orders, each with best fit and first fit) and the lowest wins; a placement that
// reaches the lower bound ends it at once, and so does a limit on the work (counted, not timed) on the largest
// problems. Greedy placement wastes memory on dense problems: on the MiniMalloc set the best of the ten is about 1.3
// times the lower bound. On the graphs of ordinary networks it mostly meets it.
#ifndef FERRULE_RUNTIME_MEMORY_PLANNER_GREEDY_H_
#define FERRULE_RUNTIME_MEMORY_PLANNER_GREEDY_H_

#include "runtime/memory/planner/interval.h"

namespace ferrule::memory {

// The order in which intervals are placed; ties go to the larger, then the earlier, then the lower index.
enum class GreedyOrder { kSize, kArea, kDuration, kStart, kConflicts };
enum class GreedyFit { kBest, kFirst };

// Bytes of scratch that plan_greedy needs for `count` intervals; a multiple of 8.
size_t greedy_workspace_bytes(size_t count);

// Fills out_offsets[0 .. count) with the best placement found and *out_summary with its numbers. `workspace` holds
// greedy_workspace_bytes(count) bytes, aligned to 8; its contents do not matter. Time O(count^2): about 2 ms for a
// thousand intervals, 15 to 100 ms for five thousand. On a status other than kOk the outputs are unspecified.
PlanStatus plan_greedy(const Interval* intervals, size_t count, void* workspace, uint64_t* out_offsets,
                       PlanSummary* out_summary);

// One placement of the portfolio, for comparison; same contract.
PlanStatus plan_greedy_once(const Interval* intervals, size_t count, GreedyOrder order, GreedyFit fit, void* workspace,
                            uint64_t* out_offsets, PlanSummary* out_summary);

}  // namespace ferrule::memory

#endif  // FERRULE_RUNTIME_MEMORY_PLANNER_GREEDY_H_
