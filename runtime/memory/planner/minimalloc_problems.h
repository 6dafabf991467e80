// Reads MiniMalloc's benchmark problems (testdata/README.md) for the test and the benchmark.
#ifndef FERRULE_RUNTIME_MEMORY_PLANNER_MINIMALLOC_PROBLEMS_H_
#define FERRULE_RUNTIME_MEMORY_PLANNER_MINIMALLOC_PROBLEMS_H_

#include <string>
#include <vector>

#include "runtime/memory/planner/interval.h"

namespace ferrule::memory {

struct MinimallocProblem {
  std::string name;                 // "A" .. "K"
  std::vector<Interval> intervals;  // alignment 1, as the files have none
};

// The capacity, in bytes, into which each problem is known to fit.
constexpr uint64_t kMinimallocCapacity = 1048576;

// `directory` holds the files. A file that is missing or malformed gives a problem without intervals.
std::vector<MinimallocProblem> read_minimalloc_problems(const std::string& directory);

}  // namespace ferrule::memory

#endif  // FERRULE_RUNTIME_MEMORY_PLANNER_MINIMALLOC_PROBLEMS_H_
