// The independent judge of the memory plan: no two arena buffers that live at the same time share a byte.
//
// A buffer's live interval counts instructions of its own block; as times of the map (runtime/program/entry_map.h) the
// intervals of all blocks compare as one list.
//
// Buffers are ranked by where they begin in memory, then a sweep over time keeps the set of ranks that are alive. A
// buffer that becomes alive need only be compared with its neighbours in that set: what is already in it overlaps
// nothing but members of its own alias group. So the cost is that of sorting, and of walking through alias groups.
#include <stdlib.h>

#include "runtime/program/verify.h"

namespace ferrule::runtime {
namespace {

// Neighbours looked at, for all buffers of an entry together. Honest plans need a few a buffer; a file that asks for
// more than this (by huge alias groups) is refused, so that it cannot make opening slow.
constexpr uint64_t kMaximumComparisons = uint64_t{1} << 24;

struct Interval {
  uint32_t arena, begin, end, alias_group, block, position;  // begin and end: times, both included
  uint64_t first, last;                                      // bytes [first, last)
};

int three_way(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

// For qsort, which the C library has once, where std::sort would be compiled anew for each order.
int compare_places(const void* left, const void* right) {
  const auto &a = *static_cast<const Interval*>(left), &b = *static_cast<const Interval*>(right);
  if (a.arena != b.arena) return three_way(a.arena, b.arena);
  if (a.first != b.first) return three_way(a.first, b.first);
  return three_way(a.position, b.position);
}
int compare_begins(const void* left, const void* right) {
  return three_way((*static_cast<const Interval* const*>(left))->begin,
                   (*static_cast<const Interval* const*>(right))->begin);
}
int compare_ends(const void* left, const void* right) {
  return three_way((*static_cast<const Interval* const*>(left))->end, (*static_cast<const Interval* const*>(right))->end);
}

bool may_share(const Interval& a, const Interval& b) {
  return a.alias_group != 0 && a.alias_group == b.alias_group && a.block == b.block;
}

// A set of numbers below a limit, as bits with a summary that has one bit a word, so that gaps are crossed 4,096 at a
// time.
class NumberSet {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  Status create(const Allocator& allocator, size_t limit) {
    FERRULE_RETURN_IF_ERROR(words_.allocate_zeroed(allocator, limit / 64 + 1, "the set of live buffers"));
    return summary_.allocate_zeroed(allocator, words_.size() / 64 + 1, "the set of live buffers");
  }
  void insert(size_t number) {
    words_[number / 64] |= uint64_t{1} << number % 64;
    summary_[number / 4096] |= uint64_t{1} << number / 64 % 64;
  }
  void erase(size_t number) {
    words_[number / 64] &= ~(uint64_t{1} << number % 64);
    if (words_[number / 64] == 0) summary_[number / 4096] &= ~(uint64_t{1} << number / 64 % 64);
  }
  // The least member above `number`, or kNone.
  size_t above(size_t number) const {
    const size_t at = above_in(words_, number);
    if (at != kNone) return at;
    const size_t word = next_word(number / 64);
    return word == kNone ? kNone : word * 64 + static_cast<size_t>(__builtin_ctzll(words_[word]));
  }
  // The greatest member below `number`, or kNone.
  size_t below(size_t number) const {
    const size_t at = below_in(words_, number);
    if (at != kNone) return at;
    const size_t word = previous_word(number / 64);
    return word == kNone ? kNone : word * 64 + 63 - static_cast<size_t>(__builtin_clzll(words_[word]));
  }

 private:
  // Within the word of `number` only.
  static size_t above_in(const Array<uint64_t>& bits, size_t number) {
    const uint64_t rest = bits[number / 64] & ~((uint64_t{2} << number % 64) - 1);
    return rest == 0 ? kNone : number / 64 * 64 + static_cast<size_t>(__builtin_ctzll(rest));
  }
  static size_t below_in(const Array<uint64_t>& bits, size_t number) {
    const uint64_t rest = bits[number / 64] & ((uint64_t{1} << number % 64) - 1);
    return rest == 0 ? kNone : number / 64 * 64 + 63 - static_cast<size_t>(__builtin_clzll(rest));
  }
  size_t next_word(size_t word) const {
    const size_t at = above_in(summary_, word);
    if (at != kNone) return at;
    for (size_t i = word / 64 + 1; i < summary_.size(); ++i) {
      if (summary_[i] != 0) return i * 64 + static_cast<size_t>(__builtin_ctzll(summary_[i]));
    }
    return kNone;
  }
  size_t previous_word(size_t word) const {
    const size_t at = below_in(summary_, word);
    if (at != kNone) return at;
    for (size_t i = word / 64; i-- > 0;) {
      if (summary_[i] != 0) return i * 64 + 63 - static_cast<size_t>(__builtin_clzll(summary_[i]));
    }
    return kNone;
  }

  Array<uint64_t> words_, summary_;
};

class PlanJudge {
 public:
  PlanJudge(const schema::Entry& entry, const EntryMap& map, const VerifyContext& context)
      : entry_(entry), map_(map), context_(context) {}

  Status judge() {
    FERRULE_RETURN_IF_ERROR(collect());
    size_t dead = 0;  // how many of by_end_ were erased
    for (size_t i = 0; i < count_; ++i) {
      const size_t rank = rank_of(by_begin_[i]);
      for (; by_end_[dead]->end < by_begin_[i]->begin; ++dead) live_.erase(rank_of(by_end_[dead]));
      FERRULE_RETURN_IF_ERROR(compare_with_later(rank));
      FERRULE_RETURN_IF_ERROR(compare_with_earlier(rank));
      live_.insert(rank);
    }
    return Status();
  }

 private:
  // Ranks the arena buffers by place, and orders the ranks by birth and by death.
  Status collect() {
    const Allocator& allocator = *context_.allocator;
    const uint32_t total = entry_.buffers()->size();
    FERRULE_RETURN_IF_ERROR(intervals_.allocate(allocator, total, "the list of buffers"));
    FERRULE_RETURN_IF_ERROR(by_begin_.allocate(allocator, total, "the list of buffers"));
    FERRULE_RETURN_IF_ERROR(by_end_.allocate(allocator, total, "the list of buffers"));
    FERRULE_RETURN_IF_ERROR(live_.create(allocator, total));
    for (uint32_t i = 0; i < total; ++i) {
      const schema::Buffer& buffer = *entry_.buffers()->Get(i);
      if (buffer.storage() != schema::Storage_arena || buffer.planned_size() == 0) continue;
      intervals_[count_++] = {buffer.index(),
                              map_.time(map_.instruction(buffer.block(), buffer.begin())).begin,
                              map_.time(map_.instruction(buffer.block(), buffer.end())).end - 1,
                              buffer.alias_group(),
                              buffer.block(),
                              i,
                              buffer.offset(),
                              buffer.offset() + buffer.planned_size()};
    }
    if (count_ == 0) return Status();
    qsort(intervals_.data(), count_, sizeof(Interval), compare_places);
    for (size_t i = 0; i < count_; ++i) by_begin_[i] = by_end_[i] = &intervals_[i];
    qsort(by_begin_.data(), count_, sizeof(const Interval*), compare_begins);
    qsort(by_end_.data(), count_, sizeof(const Interval*), compare_ends);
    return Status();
  }

  // Live buffers that begin inside this one: all of them overlap it.
  Status compare_with_later(size_t rank) {
    const Interval& current = intervals_[rank];
    for (size_t at = live_.above(rank); at != NumberSet::kNone; at = live_.above(at)) {
      const Interval& other = intervals_[at];
      if (other.arena != current.arena || other.first >= current.last) break;
      if (!may_share(current, other)) return overlap(other, current);
      FERRULE_RETURN_IF_ERROR(count_comparison());
    }
    return Status();
  }

  // Live buffers that begin before this one. If one of them reaches into it, so does the nearest, or the nearest lies
  // inside it and therefore belongs to the same alias group: the walk ends with the nearest one's group.
  Status compare_with_earlier(size_t rank) {
    const Interval& current = intervals_[rank];
    const size_t nearest = live_.below(rank);
    for (size_t at = nearest; at != NumberSet::kNone; at = live_.below(at)) {
      const Interval& other = intervals_[at];
      if (other.arena != current.arena || may_share(current, other)) break;
      if (at != nearest && !may_share(other, intervals_[nearest])) break;
      if (other.last > current.first) return overlap(other, current);
      FERRULE_RETURN_IF_ERROR(count_comparison());
    }
    return Status();
  }

  size_t rank_of(const Interval* interval) const { return static_cast<size_t>(interval - intervals_.data()); }

  Status count_comparison() {
    if (++comparisons_ <= kMaximumComparisons) return Status();
    return Status::error(StatusCode::kInvalidArtifact, "%s: entry '%s': its memory plan takes too long to verify",
                         context_.name, entry_.name()->c_str());
  }

  Status overlap(const Interval& a, const Interval& b) {
    Status status =
        Status::error(StatusCode::kInvalidArtifact, "%s: entry '%s': buffers ", context_.name, entry_.name()->c_str());
    describe(a, &status);
    status.append(" and ");
    describe(b, &status);
    status.append(" share memory while both are live");
    return status;
  }
  void describe(const Interval& interval, Status* status) {
    const schema::Buffer& buffer = *entry_.buffers()->Get(interval.position);
    status->append("%u (bytes %llu to %llu, live %u to %u", interval.position,
                   static_cast<unsigned long long>(interval.first), static_cast<unsigned long long>(interval.last),
                   buffer.begin(), buffer.end());
    if (buffer.block() != 0) status->append(" of block %u", buffer.block());
    status->append(")");
  }

  const schema::Entry& entry_;
  const EntryMap& map_;
  const VerifyContext& context_;
  Array<Interval> intervals_;  // the first count_ are used, sorted by place: the index is the rank
  Array<const Interval*> by_begin_, by_end_;
  NumberSet live_;  // ranks
  size_t count_ = 0;
  uint64_t comparisons_ = 0;
};

}  // namespace

Status verify_live_intervals(const schema::Entry& entry, const EntryMap& map, const VerifyContext& context) {
  return PlanJudge(entry, map, context).judge();
}

}  // namespace ferrule::runtime
