#include "runtime/memory/planner/greedy.h"

#include <cstring>
#include <initializer_list>

namespace ferrule::memory {
namespace {

constexpr uint64_t kSizeLimit = uint64_t{1} << 62;
constexpr uint64_t kNone = ~uint64_t{0};

// No further placement begins once this much work (see placement_work) is spent: about a twentieth of a second. It
// takes thousands of intervals, hundreds of them live together, to get there.
constexpr uint64_t kWorkLimit = 8'000'000;

template <typename T>
T least(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
T most(T a, T b) {
  return a < b ? b : a;
}

// Fills `list` with the numbers below `count` and sorts them. A heap, and one for all orders: std::sort is compiled anew for
// each, which took 10 KB of the runtime. `is_before` must order all of them where the order of equals matters.
void sort_numbers(uint32_t* list, size_t count, bool (*is_before)(const void* context, uint32_t a, uint32_t b),
                  const void* context) {
  const auto sift_down = [&](uint32_t value, size_t at, size_t end) {
    for (size_t child; (child = 2 * at + 1) < end; at = child) {
      if (child + 1 < end && is_before(context, list[child], list[child + 1])) ++child;
      if (!is_before(context, value, list[child])) break;
      list[at] = list[child];
    }
    list[at] = value;
  };
  for (size_t i = 0; i < count; ++i) list[i] = static_cast<uint32_t>(i);
  // First it becomes a heap, then the largest goes behind what is left of it.
  for (size_t step = count + count / 2; step-- > 0;) {
    if (step >= count) {
      sift_down(list[step - count], step - count, count);
    } else {
      const uint32_t last = list[step];
      list[step] = list[0];
      sift_down(last, 0, step);
    }
  }
}

uint64_t align_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) & ~(alignment - 1); }

// Nearly all of the time goes into finding, among the placed intervals, those that conflict with the next one. So
// times are replaced by small numbers that compare alike (`first` and `last`), and the placed intervals are kept by
// ascending offset in plain arrays over which that search is one vector loop.
struct Workspace {
  int64_t* times;         // 2 * count: sorted begins, then sorted ends
  uint64_t* offsets;      // by interval: the placement being made
  uint64_t* sizes;        // by interval: rounded up to the granule
  int32_t* first;         // by interval: how many begins lie before its begin
  int32_t* last;          // by interval: one less than how many begins lie at or before its end
  uint32_t* conflicts;    // by interval: how many intervals are live together with it
  uint32_t* order;        // the intervals in the order of placement
  uint32_t* placed;       // the placed intervals by ascending offset
  int32_t* placed_first;  // their `first` and `last`
  int32_t* placed_last;
  uint8_t* hits;          // for each: does it conflict? padded with zeros to whole words
};

// Whole words of 8 bytes.
size_t padded(size_t bytes) { return (bytes + 7) / 8 * 8; }

Workspace carve(void* memory, size_t count) {
  char* cursor = static_cast<char*>(memory);
  auto take = [&](size_t bytes) {
    char* block = cursor;
    cursor += bytes;
    return static_cast<void*>(block);
  };
  Workspace w;
  w.times = static_cast<int64_t*>(take(2 * count * sizeof(int64_t)));
  w.offsets = static_cast<uint64_t*>(take(count * sizeof(uint64_t)));
  w.sizes = static_cast<uint64_t*>(take(count * sizeof(uint64_t)));
  w.hits = static_cast<uint8_t*>(take(padded(count)));
  w.first = static_cast<int32_t*>(take(count * sizeof(int32_t)));
  w.last = static_cast<int32_t*>(take(count * sizeof(int32_t)));
  w.conflicts = static_cast<uint32_t*>(take(count * sizeof(uint32_t)));
  w.order = static_cast<uint32_t*>(take(count * sizeof(uint32_t)));
  w.placed = static_cast<uint32_t*>(take(count * sizeof(uint32_t)));
  w.placed_first = static_cast<int32_t*>(take(count * sizeof(int32_t)));
  w.placed_last = static_cast<int32_t*>(take(count * sizeof(int32_t)));
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
    granule = least(granule, interval.alignment);
  }
  *summary = {};
  for (size_t i = 0; i < count; ++i) {
    sizes[i] = align_up(intervals[i].size, granule);
    summary->naive_sum += sizes[i];
  }
  return PlanStatus::kOk;
}

// Fills times: all begins, then all ends, ascending.
void sort_times(const Interval* intervals, size_t count, const Workspace& w) {
  const auto begins_before = [](const void* all, uint32_t a, uint32_t b) {
    return static_cast<const Interval*>(all)[a].begin < static_cast<const Interval*>(all)[b].begin;
  };
  const auto ends_before = [](const void* all, uint32_t a, uint32_t b) {
    return static_cast<const Interval*>(all)[a].end < static_cast<const Interval*>(all)[b].end;
  };
  sort_numbers(w.order, count, begins_before, intervals);
  sort_numbers(w.placed, count, ends_before, intervals);
  for (size_t i = 0; i < count; ++i) {
    w.times[i] = intervals[w.order[i]].begin;
    w.times[count + i] = intervals[w.placed[i]].end;
  }
}

// The most bytes live at one instruction: a sweep over begins (add) and ends (subtract, after the begins of the same
// instruction because `end` is included). Of lists and times as sort_times leaves them.
uint64_t lower_bound(size_t count, const Workspace& w) {
  uint64_t live = 0, highest = 0;
  for (size_t b = 0, e = 0; b < count; ++b) {
    while (w.times[count + e] < w.times[b]) live -= w.sizes[w.placed[e++]];
    live += w.sizes[w.order[b]];
    highest = most(highest, live);
  }
  return highest;
}

// How many of `count` ascending times are below `time`, or at it as well.
size_t count_up_to(const int64_t* times, size_t count, int64_t time, bool inclusive) {
  size_t begin = 0, end = count;
  while (begin < end) {
    const size_t middle = (begin + end) / 2;
    if (times[middle] < time || (inclusive && times[middle] == time))
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

// Fills first, last and conflicts (the interval itself included: all, less those that end before it begins and those
// that begin after it ends).
void number_times(const Interval* intervals, size_t count, const Workspace& w) {
  const int64_t *begins = w.times, *ends = w.times + count;
  for (size_t i = 0; i < count; ++i) {
    w.first[i] = static_cast<int32_t>(count_up_to(begins, count, intervals[i].begin, false));
    w.last[i] = static_cast<int32_t>(count_up_to(begins, count, intervals[i].end, true)) - 1;
    w.conflicts[i] = static_cast<uint32_t>(w.last[i] + 1) -
                     static_cast<uint32_t>(count_up_to(ends, count, intervals[i].begin, false));
  }
}

// What one placement costs at most, in looks at a conflicting interval: half of all conflicts, and half of all pairs,
// of which the vector loop takes about eight in the time of one look.
uint64_t placement_work(size_t count, const Workspace& w) {
  uint64_t conflicts = 0;
  for (size_t i = 0; i < count; ++i) conflicts += w.conflicts[i];
  return conflicts / 2 + uint64_t{count} * count / 16;
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

struct Ranking {
  const Interval* intervals;
  const Workspace& w;
  GreedyOrder order;

  double key(uint32_t i) const { return order_key(intervals[i], w.sizes[i], w.conflicts[i], order); }
  static bool is_before(const void* context, uint32_t a, uint32_t b) {
    const auto& self = *static_cast<const Ranking*>(context);
    const double key_a = self.key(a), key_b = self.key(b);
    if (key_a != key_b) return key_a > key_b;
    if (self.w.sizes[a] != self.w.sizes[b]) return self.w.sizes[a] > self.w.sizes[b];
    if (self.intervals[a].begin != self.intervals[b].begin) return self.intervals[a].begin < self.intervals[b].begin;
    return a < b;
  }
};

void sort_order(const Interval* intervals, size_t count, GreedyOrder order, const Workspace& w) {
  const Ranking ranking{intervals, w, order};
  sort_numbers(w.order, count, Ranking::is_before, &ranking);
}

void find_conflicts(size_t placed_count, int32_t first, int32_t last, const Workspace& w) {
  const int32_t* __restrict firsts = w.placed_first;
  const int32_t* __restrict lasts = w.placed_last;
  uint8_t* __restrict hits = w.hits;
  for (size_t j = 0; j < placed_count; ++j)
    hits[j] = static_cast<uint8_t>((lasts[j] >= first) & (firsts[j] <= last));
  for (size_t j = placed_count; j < padded(placed_count); ++j) hits[j] = 0;
}

// The offset for interval i among the placed ones: the lowest gap that holds it, or the tightest.
uint64_t find_offset(uint32_t i, uint64_t alignment, size_t placed_count, GreedyFit fit, const Workspace& w) {
  find_conflicts(placed_count, w.first[i], w.last[i], w);
  const uint64_t size = w.sizes[i];
  uint64_t floor = 0, best = 0, tightest = kNone;
  for (size_t base = 0; base < placed_count; base += 8) {
    uint64_t word;
    std::memcpy(&word, w.hits + base, sizeof word);
    if (word == 0) continue;
    for (size_t j = base; j < least(base + 8, placed_count); ++j) {
      if (w.hits[j] == 0) continue;
      const uint32_t other = w.placed[j];
      const uint64_t bottom = w.offsets[other];
      if (bottom > floor && bottom - floor < tightest) {
        const uint64_t offset = align_up(floor, alignment);
        if (offset + size <= bottom) {
          if (fit == GreedyFit::kFirst) return offset;
          best = offset;
          tightest = bottom - floor;
        }
      }
      floor = most(floor, bottom + w.sizes[other]);
    }
  }
  return tightest != kNone ? best : align_up(floor, alignment);
}

// Behind how many of the placed intervals one at `offset` belongs.
size_t place_behind(uint64_t offset, size_t placed_count, const Workspace& w) {
  size_t begin = 0, end = placed_count;
  while (begin < end) {
    const size_t middle = (begin + end) / 2;
    if (w.offsets[w.placed[middle]] <= offset)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

template <typename T>
void insert_at(T* list, size_t count, size_t position, T value) {
  std::memmove(list + position + 1, list + position, (count - position) * sizeof(T));
  list[position] = value;
}

// Places every interval in w.order. Returns the peak, or kNone as soon as it would not be below `limit`.
uint64_t place(const Interval* intervals, size_t count, GreedyFit fit, uint64_t limit, const Workspace& w) {
  size_t placed_count = 0;
  uint64_t peak = 0;
  for (size_t k = 0; k < count; ++k) {
    const uint32_t i = w.order[k];
    w.offsets[i] = 0;
    if (w.sizes[i] == 0) continue;
    const uint64_t offset = find_offset(i, intervals[i].alignment, placed_count, fit, w);
    peak = most(peak, offset + w.sizes[i]);
    if (peak >= limit) return kNone;
    w.offsets[i] = offset;
    const size_t position = place_behind(offset, placed_count, w);
    insert_at(w.placed, placed_count, position, i);
    insert_at(w.placed_first, placed_count, position, w.first[i]);
    insert_at(w.placed_last, placed_count, position, w.last[i]);
    ++placed_count;
  }
  return peak;
}

}  // namespace

size_t greedy_workspace_bytes(size_t count) {
  return padded(count * (2 * sizeof(int64_t) + 2 * sizeof(uint64_t) + 7 * sizeof(uint32_t)) + padded(count));
}

PlanStatus plan_greedy(const Interval* intervals, size_t count, void* workspace, uint64_t* out_offsets,
                       PlanSummary* out_summary) {
  const Workspace w = carve(workspace, count);
  if (PlanStatus status = prepare(intervals, count, w.sizes, out_summary); status != PlanStatus::kOk) return status;
  if (count == 0) return PlanStatus::kOk;
  sort_times(intervals, count, w);
  out_summary->lower_bound = lower_bound(count, w);
  number_times(intervals, count, w);
  const uint64_t work = placement_work(count, w);
  uint64_t best = kNone, spent = 0;
  // Most often best first, so that later placements are cut short early.
  for (GreedyOrder order : {GreedyOrder::kSize, GreedyOrder::kConflicts, GreedyOrder::kDuration, GreedyOrder::kArea,
                            GreedyOrder::kStart}) {
    if (best == out_summary->lower_bound || spent > kWorkLimit) break;
    sort_order(intervals, count, order, w);
    for (GreedyFit fit : {GreedyFit::kBest, GreedyFit::kFirst}) {
      if (best == out_summary->lower_bound || spent > kWorkLimit) break;
      const uint64_t peak = place(intervals, count, fit, best, w);
      spent += work;
      if (peak == kNone) continue;
      best = peak;
      std::memcpy(out_offsets, w.offsets, count * sizeof(uint64_t));
    }
  }
  out_summary->peak = best;
  return PlanStatus::kOk;
}

PlanStatus plan_greedy_once(const Interval* intervals, size_t count, GreedyOrder order, GreedyFit fit, void* workspace,
                            uint64_t* out_offsets, PlanSummary* out_summary) {
  const Workspace w = carve(workspace, count);
  if (PlanStatus status = prepare(intervals, count, w.sizes, out_summary); status != PlanStatus::kOk) return status;
  if (count == 0) return PlanStatus::kOk;
  sort_times(intervals, count, w);
  out_summary->lower_bound = lower_bound(count, w);
  number_times(intervals, count, w);
  sort_order(intervals, count, order, w);
  out_summary->peak = place(intervals, count, fit, kNone, w);
  std::memcpy(out_offsets, w.offsets, count * sizeof(uint64_t));
  return PlanStatus::kOk;
}

}  // namespace ferrule::memory
