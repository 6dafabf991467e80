#include "runtime/memory/planner/validator.h"

#include <algorithm>
#include <map>

namespace ferrule::memory {
namespace {

PlanFault check_interval(const Interval& interval, uint64_t offset, uint64_t arena_bytes) {
  if (interval.end < interval.begin) return PlanFault::kReversedInterval;
  if (interval.alignment == 0 || (interval.alignment & (interval.alignment - 1)) != 0) return PlanFault::kBadAlignment;
  if (offset % interval.alignment != 0) return PlanFault::kMisaligned;
  if (offset > UINT64_MAX - interval.size) return PlanFault::kOverflow;
  if (offset + interval.size > arena_bytes) return PlanFault::kOutOfBounds;
  return PlanFault::kNone;
}

// At one instruction the arrivals come first: an interval that ends there is still live.
struct Event {
  int64_t time;
  bool leaves;
  size_t interval;
};

bool operator<(const Event& a, const Event& b) {
  if (a.time != b.time) return a.time < b.time;
  if (a.leaves != b.leaves) return !a.leaves;
  return a.interval < b.interval;
}

std::string describe_interval(size_t index, const Interval& interval, uint64_t offset) {
  return "interval " + std::to_string(index) + " (live " + std::to_string(interval.begin) + ".." +
         std::to_string(interval.end) + ", " + std::to_string(interval.size) + " bytes aligned to " +
         std::to_string(interval.alignment) + ", at offset " + std::to_string(offset) + ")";
}

}  // namespace

PlanVerdict validate_plan(const std::vector<Interval>& intervals, const std::vector<uint64_t>& offsets,
                          uint64_t arena_bytes) {
  if (intervals.size() != offsets.size()) return {PlanFault::kWrongCount, 0, 0};
  std::vector<Event> events;
  events.reserve(2 * intervals.size());
  for (size_t i = 0; i < intervals.size(); ++i) {
    PlanFault fault = check_interval(intervals[i], offsets[i], arena_bytes);
    if (fault != PlanFault::kNone) return {fault, i, 0};
    if (intervals[i].size == 0) continue;
    events.push_back({intervals[i].begin, false, i});
    events.push_back({intervals[i].end, true, i});
  }
  std::sort(events.begin(), events.end());

  std::map<uint64_t, size_t> live;   // offset -> interval; no two overlap, so offsets differ
  for (const Event& event : events) {
    const size_t i = event.interval;
    if (event.leaves) {
      live.erase(offsets[i]);
      continue;
    }
    auto above = live.lower_bound(offsets[i]);
    if (above != live.end() && above->first < offsets[i] + intervals[i].size)
      return {PlanFault::kOverlap, std::min(i, above->second), std::max(i, above->second)};
    if (above != live.begin()) {
      auto below = std::prev(above);
      if (below->first + intervals[below->second].size > offsets[i])
        return {PlanFault::kOverlap, std::min(i, below->second), std::max(i, below->second)};
    }
    live.emplace(offsets[i], i);
  }
  return {};
}

std::string describe(const PlanVerdict& verdict, const std::vector<Interval>& intervals,
                     const std::vector<uint64_t>& offsets) {
  if (verdict.ok()) return "the plan is valid";
  if (verdict.fault == PlanFault::kWrongCount)
    return std::to_string(offsets.size()) + " offsets for " + std::to_string(intervals.size()) + " intervals";
  const std::string first = describe_interval(verdict.first, intervals[verdict.first], offsets[verdict.first]);
  switch (verdict.fault) {
    case PlanFault::kReversedInterval: return first + " ends before it begins";
    case PlanFault::kBadAlignment: return first + ": the alignment is not a power of two";
    case PlanFault::kMisaligned: return first + ": the offset is not a multiple of the alignment";
    case PlanFault::kOverflow: return first + ": offset + size does not fit in 64 bits";
    case PlanFault::kOutOfBounds: return first + " reaches beyond the arena";
    default: break;
  }
  return first + " overlaps " +
         describe_interval(verdict.second, intervals[verdict.second], offsets[verdict.second]);
}

}  // namespace ferrule::memory
