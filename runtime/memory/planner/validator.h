// Judges a memory plan without knowing how it was made: shares no code with the planner.
#ifndef FERRULE_RUNTIME_MEMORY_PLANNER_VALIDATOR_H_
#define FERRULE_RUNTIME_MEMORY_PLANNER_VALIDATOR_H_

#include <string>
#include <vector>

#include "runtime/memory/planner/interval.h"

namespace ferrule::memory {

// Every way in which a plan can be wrong.
enum class PlanFault {
  kNone,
  kWrongCount,        // not one offset for each interval
  kReversedInterval,  // the interval ends before it begins
  kBadAlignment,      // the interval's alignment is not a power of two
  kMisaligned,        // the offset is not a multiple of the alignment
  kOverflow,          // offset + size does not fit in 64 bits
  kOutOfBounds,       // offset + size is beyond the arena
  kOverlap,           // two intervals share an instruction and a byte
};

struct PlanVerdict {
  PlanFault fault = PlanFault::kNone;
  size_t first = 0;     // the interval at fault
  size_t second = 0;    // kOverlap: the other one; first < second
  bool ok() const { return fault == PlanFault::kNone; }
};

// Returns the first fault found. O(n log n): a sweep over time that keeps the live intervals ordered by offset, where
// a newcomer can only collide with its two neighbours.
PlanVerdict validate_plan(const std::vector<Interval>& intervals, const std::vector<uint64_t>& offsets,
                          uint64_t arena_bytes);

// The verdict as a sentence with the numbers of the intervals at fault; "the plan is valid" if there is none.
std::string describe(const PlanVerdict& verdict, const std::vector<Interval>& intervals,
                     const std::vector<uint64_t>& offsets);

}  // namespace ferrule::memory

#endif  // FERRULE_RUNTIME_MEMORY_PLANNER_VALIDATOR_H_
