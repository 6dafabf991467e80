// Prints how the planner does on MiniMalloc's problems and on large random ones, with greedy by size (what most
// runtimes use) beside it. Run from the root of the repository:
//   bazel run //runtime/memory/planner:planner_bench
#include <chrono>
#include <cmath>
#include <cstdio>
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

struct Timed {
  Plan plan;
  double seconds;
};

Timed timed_plan(const std::vector<Interval>& intervals, uint64_t steps, uint64_t target) {
  const auto start = std::chrono::steady_clock::now();
  Timed result = {plan(intervals, {steps, target}), 0.0};
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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

void bench_minimalloc() {
  std::printf("MiniMalloc, peak / lower bound; the search is told the capacity %llu\n",
              static_cast<unsigned long long>(kMinimallocCapacity));
  std::printf("%-8s %9s %9s %9s %9s %9s %9s %9s %s\n", "problem", "intervals", "by size", "greedy", "quick", "ms",
              "full", "s", "fits");
  double log_sum[4] = {}, total_seconds = 0.0;
  int solved = 0;
  const std::vector<MinimallocProblem> problems = read_minimalloc_problems("runtime/memory/planner/testdata");
  for (const MinimallocProblem& problem : problems) {
    if (problem.intervals.empty()) {
      std::printf("%s: not found; run from the root of the repository\n", problem.name.c_str());
      return;
    }
    const double by_size = greedy_by_size_ratio(problem.intervals);
    const Timed greedy = timed_plan(problem.intervals, 0, 0);
    const Timed quick = timed_plan(problem.intervals, kQuickSteps, kMinimallocCapacity);
    const Timed full = timed_plan(problem.intervals, kFullSteps, kMinimallocCapacity);
    const bool fits = full.plan.peak <= kMinimallocCapacity;
    std::printf("%-8s %9zu %9.4f %9.4f %9.4f %9.1f %9.4f %9.2f %s\n", problem.name.c_str(), problem.intervals.size(),
                by_size, ratio(greedy.plan), ratio(quick.plan), quick.seconds * 1e3, ratio(full.plan), full.seconds,
                fits ? "yes" : "no");
    std::fflush(stdout);
    const double ratios[] = {by_size, ratio(greedy.plan), ratio(quick.plan), ratio(full.plan)};
    for (int k = 0; k < 4; ++k) log_sum[k] += std::log(ratios[k]);
    total_seconds += full.seconds;
    solved += fits;
  }
  const double count = static_cast<double>(problems.size());
  std::printf("%-8s %9s %9.4f %9.4f %9.4f %9s %9.4f %9.2f %d of %zu\n", "all", "", std::exp(log_sum[0] / count),
              std::exp(log_sum[1] / count), std::exp(log_sum[2] / count), "", std::exp(log_sum[3] / count),
              total_seconds, solved, problems.size());
}

// `longest`: how many instructions an interval may live; the horizon is `count` instructions.
void bench_random(size_t count, uint64_t longest) {
  std::mt19937 random(1);
  std::vector<Interval> intervals;
  for (size_t i = 0; i < count; ++i) {
    const int64_t begin = static_cast<int64_t>(random() % count);
    intervals.push_back({begin, begin + static_cast<int64_t>(random() % longest), random() % (1 << 20), 64});
  }
  const Timed greedy = timed_plan(intervals, 0, 0);
  const Timed searched = timed_plan(intervals, PlannerOptions().search_steps, 0);
  std::printf("%9zu %9llu %9.4f %9.1f %9.4f %9.1f\n", count, static_cast<unsigned long long>(longest),
              ratio(greedy.plan), greedy.seconds * 1e3, ratio(searched.plan), searched.seconds * 1e3);
}

}  // namespace
}  // namespace ferrule::memory

int main() {
  ferrule::memory::bench_minimalloc();
  std::printf("\nRandom intervals, peak / lower bound\n%9s %9s %9s %9s %9s %9s\n", "intervals", "longest", "greedy",
              "ms", "search", "ms");
  for (size_t count : {size_t{1000}, size_t{5000}})
    for (uint64_t longest : {uint64_t{8}, uint64_t{64}, uint64_t{512}, uint64_t{5000}})
      ferrule::memory::bench_random(count, longest);
  return 0;
}
