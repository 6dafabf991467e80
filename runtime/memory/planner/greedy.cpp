#include "runtime/memory/planner/greedy.h"

#include <algorithm>
#include <cstring>

namespace ferrule::memory {
namespace {

constexpr uint64_t kSizeLimit = uint64_t{1} << 62;
constexpr uint64_t kNoPeak = ~uint64_t{0};

uint64_t align_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) & ~(alignment - 1); }

// An interval already placed. The list of these is kept by ascending offset; begin and end stand next to each other
// because nearly all of the time goes into comparing them.
struct Placed {
  int64_t begin;
  int64_t end;
  uint64_t offset;
  uint64_t top;
};

struct Workspace {
  Placed* placed;
  int64_t* times;        // 2 * count: sorted begins, then sorted ends
  uint64_t* offsets;     // the placement being made
  uint64_t* sizes;       // rounded up to the granule
  uint32_t* order;
  uint32_t* conflicts;
};

Workspace carve(void* memory, size_t count) {
  char* cursor = static_cast<char*>(memory);
  auto take = [&](size_t bytes) {
    char* block = cursor;
    cursor += bytes;
    return static_cast<void*>(block);
  };
  Workspace w;
  w.placed = static_cast<Placed*>(take(count * sizeof(Placed)));
  w.times = static_cast<int64_t*>(take(2 * count * sizeof(int64_t)));
  w.offsets = static_cast<uint64_t*>(take(count * sizeof(uint64_t)));
  w.sizes = static_cast<uint64_t*>(take(count * sizeof(uint64_t)));
  w.order = static_cast<uint32_t*>(take(count * sizeof(uint32_t)));
  w.conflicts = static_cast<uint32_t*>(take(count * sizeof(uint32_t)));
  return w;
}

// Checks the intervals and fills `sizes` and the naive sum. Each offset that a placement can give is a sum of sizes,
// each rounded up to some alignment, so below the limit no later addition overflows.
PlanStatus prepare(const Interval* intervals, size_t count, uint64_t* sizes, PlanSummary* summary) {
  if (count > INT32_MAX) return PlanStatus::kTooLarge;
  uint64_t granule = count > 0 ? intervals[0].alignment : 1;
  uint64_t total = 0;
  for (size_t i = 0; i < count; ++i) {
    const Interval& interval = intervals[i];
    if (interval.end < interval.begin) return PlanStatus::kInvalidInterval;
    if (interval.alignment == 0 || (interval.alignment & (interval.alignment - 1)) != 0)
      return PlanStatus::kInvalidInterval;
    if (interval.size > kSizeLimit || interval.alignment > kSizeLimit) return PlanStatus::kTooLarge;
    total += interval.size + interval.alignment;
    if (total > kSizeLimit) return PlanStatus::kTooLarge;
    granule = std::min(granule, interval.alignment);
  }
  *summary = {};
  for (size_t i = 0; i < count; ++i) {
    sizes[i] = align_up(intervals[i].size, granule);
    summary->naive_sum += sizes[i];
  }
  return PlanStatus::kOk;
}

// The most bytes live at one instruction: a sweep over begins (add) and ends (subtract, after the begins of the same
// instruction because `end` is included).
uint64_t lower_bound(const Interval* intervals, size_t count, const Workspace& w) {
  uint32_t* by_begin = w.order;
  uint32_t* by_end = w.conflicts;
  for (size_t i = 0; i < count; ++i) by_begin[i] = by_end[i] = static_cast<uint32_t>(i);
  std::sort(by_begin, by_begin + count,
            [&](uint32_t a, uint32_t b) { return intervals[a].begin < intervals[b].begin; });
  std::sort(by_end, by_end + count, [&](uint32_t a, uint32_t b) { return intervals[a].end < intervals[b].end; });
  uint64_t live = 0, most = 0;
  for (size_t b = 0, e = 0; b < count; ++b) {
    while (intervals[by_end[e]].end < intervals[by_begin[b]].begin) live -= w.sizes[by_end[e++]];
    live += w.sizes[by_begin[b]];
    most = std::max(most, live);
  }
  return most;
}

// conflicts[i] = how many intervals are live together with i (itself included): all, less those that end before it
// begins and those that begin after it ends.
void count_conflicts(const Interval* intervals, size_t count, const Workspace& w) {
  int64_t* begins = w.times;
  int64_t* ends = w.times + count;
  for (size_t i = 0; i < count; ++i) {
    begins[i] = intervals[i].begin;
    ends[i] = intervals[i].end;
  }
  std::sort(begins, begins + count);
  std::sort(ends, ends + count);
  for (size_t i = 0; i < count; ++i) {
    size_t before = static_cast<size_t>(std::lower_bound(ends, ends + count, intervals[i].begin) - ends);
    size_t not_after = static_cast<size_t>(std::upper_bound(begins, begins + count, intervals[i].end) - begins);
    w.conflicts[i] = static_cast<uint32_t>(not_after - before);
  }
}

double duration(const Interval& interval) {
  return static_cast<double>(interval.end) - static_cast<double>(interval.begin) + 1.0;
}

// Larger keys are placed first.
double order_key(const Interval& interval, uint64_t size, uint32_t conflicts, GreedyOrder order) {
  switch (order) {
    case GreedyOrder::kSize: return static_cast<double>(size);
    case GreedyOrder::kArea: return static_cast<double>(size) * duration(interval);
    case GreedyOrder::kDuration: return duration(interval);
    case GreedyOrder::kStart: return -static_cast<double>(interval.begin);
    case GreedyOrder::kConflicts: return static_cast<double>(conflicts);
  }
  return 0.0;
}

void sort_order(const Interval* intervals, size_t count, GreedyOrder order, const Workspace& w) {
  for (size_t i = 0; i < count; ++i) w.order[i] = static_cast<uint32_t>(i);
  std::sort(w.order, w.order + count, [&](uint32_t a, uint32_t b) {
    double key_a = order_key(intervals[a], w.sizes[a], w.conflicts[a], order);
    double key_b = order_key(intervals[b], w.sizes[b], w.conflicts[b], order);
    if (key_a != key_b) return key_a > key_b;
    if (w.sizes[a] != w.sizes[b]) return w.sizes[a] > w.sizes[b];
    if (intervals[a].begin != intervals[b].begin) return intervals[a].begin < intervals[b].begin;
    return a < b;
  });
}

// The offset for `interval` among `placed`: the lowest gap that holds it, or the tightest.
uint64_t find_offset(const Placed* placed, size_t placed_count, const Interval& interval, uint64_t size,
                     GreedyFit fit) {
  uint64_t floor = 0, best = 0, tightest = kNoPeak;
  for (size_t j = 0; j < placed_count; ++j) {
    // `&`, not `&&`: one branch, which predicts better than two.
    if ((placed[j].end < interval.begin) | (placed[j].begin > interval.end)) continue;
    if (placed[j].offset > floor) {
      uint64_t offset = align_up(floor, interval.alignment);
      uint64_t gap = placed[j].offset - floor;
      if (offset + size <= placed[j].offset && gap < tightest) {
        if (fit == GreedyFit::kFirst) return offset;
        best = offset;
        tightest = gap;
      }
    }
    floor = std::max(floor, placed[j].top);
  }
  return tightest != kNoPeak ? best : align_up(floor, interval.alignment);
}

// Places every interval in w.order. Returns the peak, or kNoPeak as soon as it would not be below `limit`.
uint64_t place(const Interval* intervals, size_t count, GreedyFit fit, uint64_t limit, const Workspace& w) {
  size_t placed_count = 0;
  uint64_t peak = 0;
  for (size_t k = 0; k < count; ++k) {
    const uint32_t i = w.order[k];
    const uint64_t size = w.sizes[i];
    w.offsets[i] = 0;
    if (size == 0) continue;
    const uint64_t offset = find_offset(w.placed, placed_count, intervals[i], size, fit);
    peak = std::max(peak, offset + size);
    if (peak >= limit) return kNoPeak;
    w.offsets[i] = offset;
    Placed* position = std::upper_bound(w.placed, w.placed + placed_count, offset,
                                        [](uint64_t value, const Placed& p) { return value < p.offset; });
    std::memmove(position + 1, position, static_cast<size_t>(w.placed + placed_count - position) * sizeof(Placed));
    *position = {intervals[i].begin, intervals[i].end, offset, offset + size};
    ++placed_count;
  }
  return peak;
}

}  // namespace

size_t greedy_workspace_bytes(size_t count) {
  return count * (sizeof(Placed) + 2 * sizeof(int64_t) + 2 * sizeof(uint64_t) + 2 * sizeof(uint32_t));
}

PlanStatus plan_greedy(const Interval* intervals, size_t count, void* workspace, uint64_t* out_offsets,
                       PlanSummary* out_summary) {
  const Workspace w = carve(workspace, count);
  if (PlanStatus status = prepare(intervals, count, w.sizes, out_summary); status != PlanStatus::kOk) return status;
  if (count == 0) return PlanStatus::kOk;
  out_summary->lower_bound = lower_bound(intervals, count, w);
  count_conflicts(intervals, count, w);
  uint64_t best = kNoPeak;
  // Most often best first, so that later placements are cut short early.
  for (GreedyOrder order : {GreedyOrder::kSize, GreedyOrder::kConflicts, GreedyOrder::kDuration, GreedyOrder::kArea,
                            GreedyOrder::kStart}) {
    sort_order(intervals, count, order, w);
    for (GreedyFit fit : {GreedyFit::kBest, GreedyFit::kFirst}) {
      const uint64_t peak = place(intervals, count, fit, best, w);
      if (peak == kNoPeak) continue;
      best = peak;
      std::memcpy(out_offsets, w.offsets, count * sizeof(uint64_t));
      if (best == out_summary->lower_bound) break;
    }
    if (best == out_summary->lower_bound) break;
  }
  out_summary->peak = best;
  return PlanStatus::kOk;
}

PlanStatus plan_greedy_once(const Interval* intervals, size_t count, GreedyOrder order, GreedyFit fit, void* workspace,
                            uint64_t* out_offsets, PlanSummary* out_summary) {
  const Workspace w = carve(workspace, count);
  if (PlanStatus status = prepare(intervals, count, w.sizes, out_summary); status != PlanStatus::kOk) return status;
  if (count == 0) return PlanStatus::kOk;
  out_summary->lower_bound = lower_bound(intervals, count, w);
  count_conflicts(intervals, count, w);
  sort_order(intervals, count, order, w);
  out_summary->peak = place(intervals, count, fit, kNoPeak, w);
  std::memcpy(out_offsets, w.offsets, count * sizeof(uint64_t));
  return PlanStatus::kOk;
}

}  // namespace ferrule::memory
