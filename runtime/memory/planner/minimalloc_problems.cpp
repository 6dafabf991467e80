#include "runtime/memory/planner/minimalloc_problems.h"

#include <cinttypes>
#include <cstdio>

namespace ferrule::memory {
namespace {

std::vector<Interval> read_problem(const std::string& path) {
  std::vector<Interval> intervals;
  std::FILE* file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return intervals;
  char line[256];
  bool header = true;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (header) {
      header = false;
      continue;
    }
    int64_t lower = 0, upper = 0;
    uint64_t size = 0;
    if (std::sscanf(line, "%*[^,],%" SCNd64 ",%" SCNd64 ",%" SCNu64, &lower, &upper, &size) != 3) {
      intervals.clear();
      break;
    }
    intervals.push_back({lower, upper - 1, size, 1});   // the files exclude `upper`
  }
  std::fclose(file);
  return intervals;
}

}  // namespace

std::vector<MinimallocProblem> read_minimalloc_problems(const std::string& directory) {
  std::vector<MinimallocProblem> problems;
  for (char name = 'A'; name <= 'K'; ++name)
    problems.push_back({std::string(1, name), read_problem(directory + "/" + name + ".1048576.csv")});
  return problems;
}

}  // namespace ferrule::memory
