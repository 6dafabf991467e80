// Lowers a placement by searching at smaller and smaller capacities.
#ifndef FERRULE_RUNTIME_MEMORY_PLANNER_IMPROVE_H_
#define FERRULE_RUNTIME_MEMORY_PLANNER_IMPROVE_H_

#include <vector>

#include "runtime/memory/planner/conflict_model.h"

namespace ferrule::memory {

struct Improvement {
  uint64_t peak = 0;           // bytes, of the offsets that are left in *offsets
  uint64_t proven_bound = 0;   // bytes; no placement of this model has a lower peak
  uint64_t steps = 0;          // spent, as in PlannerOptions
};

// `offsets`, by interval of the model, holds a valid placement of height `peak`, and a better one afterwards if one
// was found. Stops at a peak of `target` bytes or the proven bound, whichever is higher, or after about `step_limit`
// steps.
Improvement improve_placement(const ConflictModel& model, uint64_t peak, uint64_t target, uint64_t step_limit,
                              std::vector<uint64_t>* offsets);

}  // namespace ferrule::memory

#endif  // FERRULE_RUNTIME_MEMORY_PLANNER_IMPROVE_H_
