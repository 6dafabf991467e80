#include "runtime/memory/planner/validator.h"

#include <catch2/catch.hpp>

namespace ferrule::memory {
namespace {

PlanFault fault_of(const std::vector<Interval>& intervals, const std::vector<uint64_t>& offsets, uint64_t arena) {
  return validate_plan(intervals, offsets, arena).fault;
}

TEST_CASE("a correct plan passes") {
  // 0 and 1 share instruction 2, so they lie side by side; 2 begins after 0 has ended and takes its bytes.
  CHECK(fault_of({{0, 2, 64, 64}, {2, 5, 128, 64}, {3, 5, 64, 64}}, {0, 64, 0}, 192) == PlanFault::kNone);
  CHECK(fault_of({}, {}, 0) == PlanFault::kNone);
}

TEST_CASE("each fault is named") {
  const uint64_t top = ~uint64_t{63};
  CHECK(fault_of({{0, 1, 64, 64}}, {}, 64) == PlanFault::kWrongCount);
  CHECK(fault_of({{2, 1, 64, 64}}, {0}, 64) == PlanFault::kReversedInterval);
  CHECK(fault_of({{0, 1, 64, 48}}, {0}, 64) == PlanFault::kBadAlignment);
  CHECK(fault_of({{0, 1, 64, 0}}, {0}, 64) == PlanFault::kBadAlignment);
  CHECK(fault_of({{0, 1, 64, 64}}, {32}, 128) == PlanFault::kMisaligned);
  CHECK(fault_of({{0, 1, 128, 64}}, {top}, UINT64_MAX) == PlanFault::kOverflow);
  CHECK(fault_of({{0, 1, 64, 64}}, {64}, 127) == PlanFault::kOutOfBounds);
  CHECK(fault_of({{0, 1, 64, 64}, {1, 2, 64, 64}}, {0, 0}, 64) == PlanFault::kOverlap);
}

TEST_CASE("overlap is found from below, from above and when one holds the other") {
  CHECK(fault_of({{0, 4, 128, 64}, {1, 2, 64, 64}}, {0, 64}, 256) == PlanFault::kOverlap);
  CHECK(fault_of({{0, 4, 64, 64}, {1, 2, 128, 64}}, {64, 0}, 256) == PlanFault::kOverlap);
  CHECK(fault_of({{0, 4, 64, 64}, {1, 2, 256, 64}}, {64, 0}, 256) == PlanFault::kOverlap);
  CHECK(fault_of({{0, 4, 256, 64}, {1, 2, 64, 64}}, {0, 64}, 256) == PlanFault::kOverlap);
}

TEST_CASE("the last instruction of one and the first of the other are enough for a conflict") {
  CHECK(fault_of({{0, 3, 64, 64}, {3, 6, 64, 64}}, {0, 0}, 64) == PlanFault::kOverlap);
  CHECK(fault_of({{0, 3, 64, 64}, {4, 6, 64, 64}}, {0, 0}, 64) == PlanFault::kNone);
}

TEST_CASE("an interval without bytes conflicts with nothing") {
  CHECK(fault_of({{0, 3, 64, 64}, {0, 3, 0, 64}}, {0, 0}, 64) == PlanFault::kNone);
}

TEST_CASE("the description names both intervals") {
  std::vector<Interval> intervals = {{0, 3, 64, 64}, {3, 6, 128, 64}};
  std::vector<uint64_t> offsets = {0, 0};
  PlanVerdict verdict = validate_plan(intervals, offsets, 128);
  CHECK(describe(verdict, intervals, offsets) ==
        "interval 0 (live 0..3, 64 bytes aligned to 64, at offset 0) overlaps interval 1 (live 3..6, 128 bytes "
        "aligned to 64, at offset 0)");
}

}  // namespace
}  // namespace ferrule::memory
