// The independent judge of the memory plan: no two arena buffers that live at the same time share a byte.
#include <algorithm>

#include "runtime/program/verify.h"

namespace ferrule::runtime {
namespace {

// Honest programs need (buffers x buffers live at once) comparisons; a file that asks for more than this is refused, so
// that it cannot make opening slow. 2^27 comparisons take about a tenth of a second.
constexpr uint64_t kMaximumComparisons = uint64_t{1} << 27;

struct Interval {
  uint32_t arena, begin, end, alias_group, position;
  uint64_t first, last;  // bytes [first, last)
};

bool starts_before(const Interval& a, const Interval& b) {
  if (a.arena != b.arena) return a.arena < b.arena;
  if (a.begin != b.begin) return a.begin < b.begin;
  return a.position < b.position;
}

bool share_bytes(const Interval& a, const Interval& b) { return a.first < b.last && b.first < a.last; }

bool may_share(const Interval& a, const Interval& b) { return a.alias_group != 0 && a.alias_group == b.alias_group; }

}  // namespace

// Sweeps the buffers of each arena by the instruction where they begin and compares each with those still alive.
Status verify_live_intervals(const schema::Program&, const schema::Entry& entry, const VerifyContext& context) {
  Array<Interval> intervals;
  FERRULE_RETURN_IF_ERROR(intervals.allocate(*context.allocator, entry.buffers()->size(), "the list of buffers"));
  size_t count = 0;
  for (uint32_t i = 0; i < entry.buffers()->size(); ++i) {
    const schema::Buffer& buffer = *entry.buffers()->Get(i);
    if (buffer.storage() != schema::Storage_arena || buffer.planned_size() == 0) continue;
    intervals[count++] = {buffer.index(), buffer.begin(),  buffer.end(), buffer.alias_group(),
                          i,              buffer.offset(), buffer.offset() + buffer.planned_size()};
  }
  std::sort(intervals.data(), intervals.data() + count, starts_before);

  // intervals[0 .. live) are those alive: the sorted prefix is consumed, so it can hold them in any order.
  size_t live = 0;
  uint64_t comparisons = 0;
  for (size_t next = 0; next < count; ++next) {
    const Interval current = intervals[next];
    size_t kept = 0;
    comparisons += live;
    if (comparisons > kMaximumComparisons) {
      return Status::error(StatusCode::kInvalidArtifact, "%s: entry '%s': its memory plan is too large to verify",
                           context.name, entry.name()->c_str());
    }
    for (size_t i = 0; i < live; ++i) {
      const Interval other = intervals[i];
      if (other.arena != current.arena || other.end < current.begin) continue;  // dead from here on
      if (share_bytes(other, current) && !may_share(other, current)) {
        return Status::error(StatusCode::kInvalidArtifact,
                             "%s: entry '%s': buffers %u (bytes %llu to %llu, live %u to %u) and %u (bytes %llu to %llu, "
                             "live %u to %u) share memory while both are live",
                             context.name, entry.name()->c_str(), other.position,
                             static_cast<unsigned long long>(other.first), static_cast<unsigned long long>(other.last),
                             other.begin, other.end, current.position,
                             static_cast<unsigned long long>(current.first),
                             static_cast<unsigned long long>(current.last), current.begin, current.end);
      }
      intervals[kept++] = other;
    }
    intervals[kept++] = current;
    live = kept;
  }
  return Status();
}

}  // namespace ferrule::runtime
