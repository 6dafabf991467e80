#include "runtime/memory/planner/planner.h"

#include <algorithm>
#include <numeric>
#include <random>

#include <catch2/catch.hpp>

#include "runtime/memory/planner/greedy.h"
#include "runtime/memory/planner/minimalloc_problems.h"
#include "runtime/memory/planner/validator.h"

namespace ferrule::memory {
namespace {

uint64_t round_up(uint64_t value, uint64_t granule) { return (value + granule - 1) / granule * granule; }

uint64_t smallest_alignment(const std::vector<Interval>& intervals) {
  uint64_t granule = intervals.empty() ? 1 : intervals[0].alignment;
  for (const Interval& interval : intervals) granule = std::min(granule, interval.alignment);
  return granule;
}

bool live_together(const Interval& a, const Interval& b) { return a.begin <= b.end && b.begin <= a.end; }

// The definition of the lower bound, instruction by instruction: the most bytes live at the begin of some interval.
uint64_t lower_bound_by_definition(const std::vector<Interval>& intervals) {
  const uint64_t granule = smallest_alignment(intervals);
  uint64_t most = 0;
  for (const Interval& at : intervals) {
    uint64_t live = 0;
    for (const Interval& other : intervals)
      if (other.begin <= at.begin && at.begin <= other.end) live += round_up(other.size, granule);
    most = std::max(most, live);
  }
  return most;
}

// The lowest peak there is. In a best placement, pushed down as far as it goes, every interval rests on one below, so
// stacking in ascending order of its offsets gives it again: trying all orders finds it.
uint64_t optimum_by_permutation(const std::vector<Interval>& intervals) {
  const uint64_t granule = smallest_alignment(intervals);
  std::vector<size_t> order(intervals.size());
  std::iota(order.begin(), order.end(), 0);
  uint64_t best = UINT64_MAX;
  do {
    std::vector<uint64_t> tops(intervals.size(), 0);
    uint64_t peak = 0;
    for (size_t k = 0; k < order.size(); ++k) {
      const Interval& interval = intervals[order[k]];
      uint64_t floor = 0;
      for (size_t below = 0; below < k; ++below)
        if (live_together(interval, intervals[order[below]])) floor = std::max(floor, tops[order[below]]);
      tops[order[k]] = round_up(floor, interval.alignment) + round_up(interval.size, granule);
      peak = std::max(peak, tops[order[k]]);
    }
    best = std::min(best, peak);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

struct Shape {
  size_t count;
  int64_t horizon;     // instructions
  int64_t longest;     // duration
  uint64_t largest;    // bytes
  int alignments;      // how many different ones: 1, 2, ... of 64, 128, ...
};

std::vector<Interval> random_problem(std::mt19937& random, const Shape& shape) {
  // Not std::uniform_int_distribution: its numbers differ between libraries.
  auto below = [&](uint64_t limit) { return (uint64_t{random()} << 32 | random()) % limit; };
  std::vector<Interval> intervals;
  for (size_t i = 0; i < shape.count; ++i) {
    Interval interval;
    interval.begin = static_cast<int64_t>(below(static_cast<uint64_t>(shape.horizon)));
    interval.end = interval.begin + static_cast<int64_t>(below(static_cast<uint64_t>(shape.longest)));
    interval.size = below(8) == 0 ? 64 : below(shape.largest);
    interval.alignment = uint64_t{64} << below(static_cast<uint64_t>(shape.alignments));
    intervals.push_back(interval);
  }
  return intervals;
}

void check_plan(const std::vector<Interval>& intervals, const Plan& result) {
  REQUIRE(result.status == PlanStatus::kOk);
  const PlanVerdict verdict = validate_plan(intervals, result.offsets, result.peak);
  INFO(describe(verdict, intervals, result.offsets));
  REQUIRE(verdict.ok());
  REQUIRE(result.lower_bound == lower_bound_by_definition(intervals));
  REQUIRE(result.peak >= result.lower_bound);
  // The peak is that of the offsets, not merely an upper bound.
  uint64_t top = 0;
  for (size_t i = 0; i < intervals.size(); ++i)
    if (intervals[i].size > 0) top = std::max(top, result.offsets[i] + intervals[i].size);
  REQUIRE(result.peak == round_up(top, smallest_alignment(intervals)));
}

TEST_CASE("no intervals, and intervals without bytes") {
  CHECK(plan({}).peak == 0);
  Plan empty = plan({{0, 5, 0, 64}, {2, 3, 0, 4096}});
  CHECK(empty.status == PlanStatus::kOk);
  CHECK(empty.peak == 0);
  CHECK(empty.proven_optimal);
}

TEST_CASE("a chain needs two buffers") {
  // Instruction t writes buffer t and reads buffer t - 1: any two neighbours are live together, no three are.
  std::vector<Interval> chain;
  for (int64_t t = 0; t < 10; ++t) chain.push_back({t, t + 1, 1000, 64});
  Plan result = plan(chain);
  check_plan(chain, result);
  CHECK(result.peak == 2 * 1024);         // 1000 rounded up to 64
  CHECK(result.naive_sum == 10 * 1024);
}

TEST_CASE("invalid and oversized problems are refused") {
  CHECK(plan({{3, 2, 64, 64}}).status == PlanStatus::kInvalidInterval);
  CHECK(plan({{0, 2, 64, 0}}).status == PlanStatus::kInvalidInterval);
  CHECK(plan({{0, 2, 64, 96}}).status == PlanStatus::kInvalidInterval);
  CHECK(plan({{0, 2, UINT64_MAX, 64}}).status == PlanStatus::kTooLarge);
  CHECK(plan({{0, 2, 64, uint64_t{1} << 63}}).status == PlanStatus::kTooLarge);
  CHECK(plan({{0, 2, uint64_t{1} << 61, 64}, {5, 6, uint64_t{1} << 61, 64}}).status == PlanStatus::kTooLarge);
}

TEST_CASE("the extremes of time do not overflow") {
  std::vector<Interval> intervals = {{INT64_MIN, INT64_MAX, 64, 64}, {INT64_MIN, -1, 128, 64}, {0, INT64_MAX, 128, 64}};
  Plan result = plan(intervals);
  check_plan(intervals, result);
  CHECK(result.peak == 192);
}

TEST_CASE("every heuristic of the portfolio makes valid plans, and the portfolio is no worse than any") {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<Interval> intervals = random_problem(random, {1 + random() % 60, 40, 12, 100000, 1 + round % 3});
    std::vector<uint64_t> workspace(greedy_workspace_bytes(intervals.size()) / 8);
    std::vector<uint64_t> offsets(intervals.size());
    PlanSummary all;
    REQUIRE(plan_greedy(intervals.data(), intervals.size(), workspace.data(), offsets.data(), &all) ==
            PlanStatus::kOk);
    for (GreedyOrder order : {GreedyOrder::kSize, GreedyOrder::kArea, GreedyOrder::kDuration, GreedyOrder::kStart,
                              GreedyOrder::kConflicts}) {
      for (GreedyFit fit : {GreedyFit::kBest, GreedyFit::kFirst}) {
        PlanSummary one;
        REQUIRE(plan_greedy_once(intervals.data(), intervals.size(), order, fit, workspace.data(), offsets.data(),
                                 &one) == PlanStatus::kOk);
        REQUIRE(validate_plan(intervals, offsets, one.peak).ok());
        REQUIRE(all.peak <= one.peak);
      }
    }
  }
}

TEST_CASE("thousands of random problems: valid, never above greedy, twice the same") {
  std::mt19937 random(2);
  for (int round = 0; round < 4000; ++round) {
    const Shape shape = {1 + random() % 50, 1 + static_cast<int64_t>(random() % 60),
                         1 + static_cast<int64_t>(random() % 20), 64 + random() % 5000, 1 + round % 4};
    std::vector<Interval> intervals = random_problem(random, shape);
    PlannerOptions options;
    options.search_steps = 200000;
    INFO("round " << round);
    Plan result = plan(intervals, options);
    check_plan(intervals, result);
    REQUIRE(result.peak <= plan(intervals, {0, 0}).peak);
    if (round % 10 == 0) REQUIRE(plan(intervals, options).offsets == result.offsets);
  }
}

TEST_CASE("on small problems the search finds the optimum and proves it") {
  std::mt19937 random(3);
  int above_lower_bound = 0;
  for (int round = 0; round < 1500; ++round) {
    std::vector<Interval> intervals = random_problem(random, {2 + random() % 6, 8, 5, 600, 1 + round % 3});
    Plan result = plan(intervals);
    check_plan(intervals, result);
    INFO("round " << round);
    REQUIRE(result.proven_optimal);
    REQUIRE(result.peak == optimum_by_permutation(intervals));
    above_lower_bound += result.peak > result.lower_bound;
  }
  CHECK(above_lower_bound > 50);   // the proofs were not all trivial
}

TEST_CASE("a target peak ends the search") {
  const std::vector<MinimallocProblem> problems = read_minimalloc_problems("runtime/memory/planner/testdata");
  PlannerOptions options;
  options.target_peak = kMinimallocCapacity * 5 / 4;
  Plan loose = plan(problems[1].intervals, options);
  CHECK(loose.peak <= options.target_peak);
  options.target_peak = kMinimallocCapacity;
  CHECK(plan(problems[1].intervals, options).steps > loose.steps);
}

TEST_CASE("MiniMalloc's problems") {
  const std::vector<MinimallocProblem> problems = read_minimalloc_problems("runtime/memory/planner/testdata");
  REQUIRE(problems.size() == 11);
  int solved = 0;
  for (const MinimallocProblem& problem : problems) {
    INFO("problem " << problem.name);
    REQUIRE(problem.intervals.size() >= 154);
    PlannerOptions options;
    options.target_peak = kMinimallocCapacity;
    options.search_steps = 15'000'000;   // about 50 ms
    Plan quick = plan(problem.intervals, options);
    check_plan(problem.intervals, quick);
    CHECK(quick.peak <= quick.lower_bound * 5 / 4);
    options.search_steps = 200'000'000;
    Plan thorough = plan(problem.intervals, options);
    check_plan(problem.intervals, thorough);
    solved += thorough.peak <= kMinimallocCapacity;
  }
  CHECK(solved >= 9);
}

}  // namespace
}  // namespace ferrule::memory
