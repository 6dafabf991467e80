// Prints how the planner does on MiniMalloc's problems and on large random ones, with greedy by size (what most
// runtimes use) beside it. Run from the root of the repository:
//   bazel run //runtime/memory/planner:planner_bench
// With --json one JSON object, {"minimalloc": [...], "random": [...]}; `./dev bench plan` reads it.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <random>
#include <vector>

#include "runtime/memory/planner/greedy.h"
#include "runtime/memory/planner/minimalloc_problems.h"
#include "runtime/memory/planner/planner.h"
#include "runtime/memory/planner/validator.h"

namespace ferrule::memory {
namespace {

constexpr uint64_t kQuickSteps = 15'000'000;
constexpr uint64_t kFullSteps = 3'000'000'000;
constexpr uint64_t kCompilerSteps = 20'000'000;   // what the compiler allows (passes/memory)

struct Timed {
  Plan plan;
  double seconds;  // of the processor: one thread, whatever else the machine does
};

Timed timed_plan(const std::vector<Interval>& intervals, uint64_t steps, uint64_t target) {
  const std::clock_t start = std::clock();
  Timed result = {plan(intervals, {steps, target}), 0.0};
  result.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  if (!validate_plan(intervals, result.plan.offsets, result.plan.peak).ok()) std::printf("INVALID PLAN\n");
  return result;
}

double ratio(const Plan& plan) { return static_cast<double>(plan.peak) / static_cast<double>(plan.lower_bound); }

double greedy_by_size_ratio(const std::vector<Interval>& intervals) {
  std::vector<uint64_t> workspace(greedy_workspace_bytes(intervals.size()) / 8);
  std::vector<uint64_t> offsets(intervals.size());
  PlanSummary summary;
  plan_greedy_once(intervals.data(), intervals.size(), GreedyOrder::kSize, GreedyFit::kBest, workspace.data(),
                   offsets.data(), &summary);
  return static_cast<double>(summary.peak) / static_cast<double>(summary.lower_bound);
}

// One of MiniMalloc's problems: ratios of the peak to the lower bound.
struct Row {
  const MinimallocProblem& problem;
  double by_size;  // greedy by size, best fit
  Timed greedy, quick, full;
  bool fits() const { return full.plan.peak <= kMinimallocCapacity; }
};

Row measure(const MinimallocProblem& problem) {
  return {problem, greedy_by_size_ratio(problem.intervals), timed_plan(problem.intervals, 0, 0),
          timed_plan(problem.intervals, kQuickSteps, kMinimallocCapacity),
          timed_plan(problem.intervals, kFullSteps, kMinimallocCapacity)};
}

void print_json(const Row& row, bool is_first) {
  std::printf("%s{\"problem\": \"%s\", \"intervals\": %zu, \"lower_bound\": %llu, \"by_size\": %.6f, \"greedy\": %.6f, "
              "\"quick\": %.6f, \"quick_seconds\": %.6f, \"full\": %.6f, \"full_seconds\": %.6f, \"fits\": %s}",
              is_first ? "" : ",\n", row.problem.name.c_str(), row.problem.intervals.size(),
              static_cast<unsigned long long>(row.full.plan.lower_bound), row.by_size, ratio(row.greedy.plan),
              ratio(row.quick.plan), row.quick.seconds, ratio(row.full.plan), row.full.seconds,
              row.fits() ? "true" : "false");
}

void print_text(const Row& row) {
  std::printf("%-8s %9zu %9.4f %9.4f %9.4f %9.1f %9.4f %9.2f %s\n", row.problem.name.c_str(),
              row.problem.intervals.size(), row.by_size, ratio(row.greedy.plan), ratio(row.quick.plan),
              row.quick.seconds * 1e3, ratio(row.full.plan), row.full.seconds, row.fits() ? "yes" : "no");
  std::fflush(stdout);
}

// False where a problem's file is missing.
bool bench_minimalloc(bool json) {
  const std::vector<MinimallocProblem> problems = read_minimalloc_problems("runtime/memory/planner/testdata");
  for (const MinimallocProblem& problem : problems) {
    if (!problem.intervals.empty()) continue;
    std::fprintf(stderr, "%s: not found; run from the root of the repository\n", problem.name.c_str());
    return false;
  }
  if (json) {
    std::printf("\"minimalloc\": [");
    for (const MinimallocProblem& problem : problems) print_json(measure(problem), &problem == &problems.front());
    std::printf("]");
    return true;
  }
  std::printf("MiniMalloc, peak / lower bound; the search is told the capacity %llu\n",
              static_cast<unsigned long long>(kMinimallocCapacity));
  std::printf("%-8s %9s %9s %9s %9s %9s %9s %9s %s\n", "problem", "intervals", "by size", "greedy", "quick", "ms",
              "full", "s", "fits");
  double log_sum[4] = {}, total_seconds = 0.0;
  int solved = 0;
  for (const MinimallocProblem& problem : problems) {
    const Row row = measure(problem);
    print_text(row);
    const double ratios[] = {row.by_size, ratio(row.greedy.plan), ratio(row.quick.plan), ratio(row.full.plan)};
    for (int k = 0; k < 4; ++k) log_sum[k] += std::log(ratios[k]);
    total_seconds += row.full.seconds;
    solved += row.fits();
  }
  const double count = static_cast<double>(problems.size());
  std::printf("%-8s %9s %9.4f %9.4f %9.4f %9s %9.4f %9.2f %d of %zu\n", "all", "", std::exp(log_sum[0] / count),
              std::exp(log_sum[1] / count), std::exp(log_sum[2] / count), "", std::exp(log_sum[3] / count),
              total_seconds, solved, problems.size());
  return true;
}

// `longest`: how many instructions an interval may live; the horizon is `count` instructions.
struct RandomRow {
  size_t count;
  uint64_t longest;
  Timed greedy, compiler;
};

RandomRow bench_random(size_t count, uint64_t longest) {
  std::mt19937 random(1);
  std::vector<Interval> intervals;
  for (size_t i = 0; i < count; ++i) {
    const int64_t begin = static_cast<int64_t>(random() % count);
    intervals.push_back({begin, begin + static_cast<int64_t>(random() % longest), random() % (1 << 20), 64});
  }
  return {count, longest, timed_plan(intervals, 0, 0), timed_plan(intervals, kCompilerSteps, 0)};
}

void bench_random(bool json) {
  std::printf(json ? ", \"random\": [" : "\nRandom intervals, peak / lower bound; steps as the compiler allows\n"
                                           "intervals   longest    greedy        ms  compiler        ms\n");
  bool is_first = true;
  for (size_t count : {size_t{1000}, size_t{5000}}) {
    for (uint64_t longest : {uint64_t{8}, uint64_t{64}, uint64_t{512}, uint64_t{5000}}) {
      const RandomRow row = bench_random(count, longest);
      const char* const text = "%9zu %9llu %9.4f %9.1f %9.4f %9.1f\n";
      const char* const object = "{\"intervals\": %zu, \"longest\": %llu, \"greedy\": %.6f, "
                                 "\"greedy_milliseconds\": %.3f, \"compiler\": %.6f, \"compiler_milliseconds\": %.3f}";
      if (json && !is_first) std::printf(",\n");
      std::printf(json ? object : text, row.count, static_cast<unsigned long long>(row.longest),
                  ratio(row.greedy.plan), row.greedy.seconds * 1e3, ratio(row.compiler.plan),
                  row.compiler.seconds * 1e3);
      is_first = false;
    }
  }
  if (json) std::printf("]");
}

}  // namespace
}  // namespace ferrule::memory

int main(int argc, char** argv) {
  const bool json = argc == 2 && std::strcmp(argv[1], "--json") == 0;
  if (argc > 1 && !json) {
    std::fprintf(stderr, "usage: planner_bench [--json]\n");
    return 2;
  }
  if (json) std::printf("{");
  if (!ferrule::memory::bench_minimalloc(json)) return 1;
  ferrule::memory::bench_random(json);
  if (json) std::printf("}\n");
  return 0;
}
