// A buffer as the memory planner sees it: when it is live, and how many bytes it needs.
#ifndef FERRULE_RUNTIME_MEMORY_PLANNER_INTERVAL_H_
#define FERRULE_RUNTIME_MEMORY_PLANNER_INTERVAL_H_

#include <cstddef>
#include <cstdint>

namespace ferrule::memory {

// Live from instruction `begin` to instruction `end`, both included (the schema's Buffer.begin and Buffer.end), so
// two intervals conflict when neither ends before the other begins. Buffers that share storage on purpose (aliases,
// in-place results) are merged into one interval by the caller.
struct Interval {
  int64_t begin = 0;
  int64_t end = 0;            // >= begin
  uint64_t size = 0;          // bytes; 0 takes no room and conflicts with nothing
  uint64_t alignment = 64;    // bytes; a power of two. The arena itself starts at a multiple of every alignment.
};

enum class PlanStatus {
  kOk,
  kInvalidInterval,   // end < begin, or an alignment that is not a power of two
  kTooLarge,          // more than 2^31 - 1 intervals, or sizes and alignments that add up to more than 2^62 bytes
};

// The three numbers that every plan is quoted with, in bytes. Sizes are first rounded up to the smallest alignment of
// the problem: no two buffers can share such a granule, so the rounding belongs to the buffers, not to the planner.
//   lower_bound <= peak <= naive_sum (the last if all alignments are equal)
struct PlanSummary {
  uint64_t peak = 0;          // what the arena needs
  uint64_t lower_bound = 0;   // the most that is live at one instruction; no placement can need less
  uint64_t naive_sum = 0;     // what it would need without sharing
};

}  // namespace ferrule::memory

#endif  // FERRULE_RUNTIME_MEMORY_PLANNER_INTERVAL_H_
