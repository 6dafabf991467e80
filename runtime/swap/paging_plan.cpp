#include "runtime/swap/paging_plan.h"

#include <stdlib.h>

namespace ferrule::runtime {
namespace {

// A time at which one chunk is idle, `length` instructions long.
struct Gap {
  uint32_t chunk, after, before, length;
  bool live;
};

template <typename T>
int compare(T a, T b) {
  return a < b ? -1 : a > b;
}

// For qsort: what is chosen first.
int by_choice(const void* left, const void* right) {
  const Gap &a = *static_cast<const Gap*>(left), &b = *static_cast<const Gap*>(right);
  if (const int order = compare(a.live, b.live)) return order;
  if (const int order = compare(b.length, a.length)) return order;
  if (const int order = compare(a.after, b.after)) return order;
  return compare(a.chunk, b.chunk);
}

// For qsort: neighbours that leave and return together behind one another.
int by_time(const void* left, const void* right) {
  const Gap &a = *static_cast<const Gap*>(left), &b = *static_cast<const Gap*>(right);
  if (const int order = compare(a.after, b.after)) return order;
  if (const int order = compare(a.before, b.before)) return order;
  if (const int order = compare(a.live, b.live)) return order;
  return compare(a.chunk, b.chunk);
}

// Calls each(operand) for what the instruction reads and writes.
template <typename Each>
void each_operand(const schema::InstructionNode& node, Each each) {
  if (const schema::KernelCall* call = node.instruction_as_KernelCall()) {
    for (const schema::Operand* operand : *call->operands()) each(*operand);
  } else if (const schema::Copy* copy = node.instruction_as_Copy()) {
    each(*copy->target());
    each(*copy->source());
  } else if (const schema::If* branch = node.instruction_as_If()) {
    each(*branch->condition());
  } else if (const schema::While* loop = node.instruction_as_While()) {
    each(*loop->condition());
  } else if (const schema::BindDim* bind = node.instruction_as_BindDim()) {
    each(*bind->value());
  }
}

class Planning {
 public:
  Planning(const schema::Entry& entry, const EntryMap& map, const Array<uint64_t>& arena_offsets, uint64_t arena_bytes)
      : entry_(entry), map_(map), arena_offsets_(arena_offsets), arena_bytes_(arena_bytes) {}

  Status run(uint64_t resident_bytes, Array<PagingPlan::Idle>* out_idle, uint64_t* out_resident_bytes);

 private:
  struct Moment {
    bool used, live;
  };

  Status allocate();
  void mark_uses();
  void mark(const schema::Buffer& buffer, uint32_t first, uint32_t last, bool Moment::* what);
  template <typename Each>
  void each_gap(Each each) const;
  Status collect_gaps();
  void choose(uint64_t limit);
  template <typename Each>
  void each_moment(const Gap& gap, Each each);
  Status check(uint64_t limit, uint64_t resident_bytes) const;
  Status merge(Array<PagingPlan::Idle>* out_idle);

  Moment& moment(uint32_t chunk, uint32_t time) { return moments_[size_t{chunk} * count_ + time]; }
  const Moment& moment(uint32_t chunk, uint32_t time) const { return moments_[size_t{chunk} * count_ + time]; }
  // The first instruction that uses the chunk, or count_.
  uint32_t first_use(uint32_t chunk) const {
    uint32_t time = 0;
    while (time < count_ && !moment(chunk, time).used) ++time;
    return time;
  }

  const schema::Entry& entry_;
  const EntryMap& map_;
  const Array<uint64_t>& arena_offsets_;
  const uint64_t arena_bytes_;
  uint64_t chunk_bytes_ = 0;
  uint32_t chunk_count_ = 0, count_ = 0;  // instructions of the body: the times
  Array<uint32_t> body_time_;             // of each time of the map
  Array<Moment> moments_;                 // of a chunk, those of the body in order
  Array<uint32_t> resident_;              // chunks in memory at each time
  Array<Gap> gaps_;
  size_t chosen_ = 0;  // gaps_[0 .. chosen_) leave memory
};

Status Planning::allocate() {
  chunk_bytes_ = PagingPlan::kSmallestChunk;
  while (arena_bytes_ / chunk_bytes_ >= PagingPlan::kMaximumChunks) chunk_bytes_ *= 2;
  chunk_count_ = static_cast<uint32_t>((arena_bytes_ + chunk_bytes_ - 1) / chunk_bytes_);
  count_ = entry_.blocks()->Get(0)->instructions()->size();
  const Allocator& allocator = system_allocator();
  FERRULE_RETURN_IF_ERROR(body_time_.allocate_zeroed(allocator, map_.end_time(), "the times of an entry"));
  FERRULE_RETURN_IF_ERROR(resident_.allocate_zeroed(allocator, count_, "the chunks of an entry"));
  return moments_.allocate_zeroed(allocator, size_t{chunk_count_} * count_, "the uses of an arena");
}

void Planning::mark(const schema::Buffer& buffer, uint32_t first, uint32_t last, bool Moment::* what) {
  if (buffer.storage() != schema::Storage_arena || buffer.planned_size() == 0) return;
  const uint64_t begin = arena_offsets_[buffer.index()] + buffer.offset(), end = begin + buffer.planned_size();
  for (uint64_t chunk = begin / chunk_bytes_; chunk * chunk_bytes_ < end; ++chunk)
    for (uint32_t time = first; time <= last; ++time) moment(static_cast<uint32_t>(chunk), time).*what = true;
}

void Planning::mark_uses() {
  for (uint32_t position = 0; position < count_; ++position) {
    const TimeSpan span = map_.time(map_.instruction(0, position));
    for (uint32_t time = span.begin; time < span.end; ++time) body_time_[time] = position;
  }
  const auto time_in_body = [&](uint32_t block, uint32_t position) {
    return body_time_[map_.time(map_.instruction(block, position)).begin];
  };
  for (const schema::Buffer* buffer : *entry_.buffers()) {
    if (buffer->storage() == schema::Storage_arena)
      mark(*buffer, time_in_body(buffer->block(), buffer->begin()), time_in_body(buffer->block(), buffer->end()),
           &Moment::live);
  }
  for (uint32_t block = 0; block < entry_.blocks()->size(); ++block) {
    const auto& instructions = *entry_.blocks()->Get(block)->instructions();
    for (uint32_t position = 0; position < instructions.size(); ++position) {
      const uint32_t time = time_in_body(block, position);
      each_operand(*instructions.Get(position), [&](const schema::Operand& operand) {
        mark(*entry_.buffers()->Get(operand.buffer()), time, time, &Moment::used);
      });
    }
  }
}

template <typename Each>
void Planning::each_gap(Each each) const {
  for (uint32_t chunk = 0; chunk < chunk_count_; ++chunk) {
    const uint32_t first = first_use(chunk);
    if (first == count_) continue;
    uint32_t last = first;
    bool live = false;
    for (uint32_t time = first + 1; time < count_; ++time) {
      if (!moment(chunk, time).used) {
        live |= moment(chunk, time).live;
        continue;
      }
      if (time - last > 1) each(Gap{chunk, last, time, time - last, live});
      last = time;
      live = false;
    }
    // Nothing of a run stays in the arena, so it is idle until the next run uses it.
    const uint32_t length = count_ - last + first;
    if (length > 1) each(Gap{chunk, last, PagingPlan::kNever, length, false});
  }
}

Status Planning::collect_gaps() {
  size_t count = 0;
  each_gap([&](const Gap&) { ++count; });
  FERRULE_RETURN_IF_ERROR(gaps_.allocate(system_allocator(), count, "the gaps of an arena"));
  count = 0;
  each_gap([&](const Gap& gap) { gaps_[count++] = gap; });
  for (uint32_t chunk = 0; chunk < chunk_count_; ++chunk) {
    if (first_use(chunk) == count_) continue;
    for (uint32_t time = 0; time < count_; ++time) ++resident_[time];
  }
  return Status();
}

// Calls each(chunks in memory) for the times at which the gap's chunk is idle.
template <typename Each>
void Planning::each_moment(const Gap& gap, Each each) {
  const bool wraps = gap.before == PagingPlan::kNever;
  for (uint32_t time = gap.after + 1; time < (wraps ? count_ : gap.before); ++time) each(resident_[time]);
  if (!wraps) return;
  for (uint32_t time = 0; !moment(gap.chunk, time).used; ++time) each(resident_[time]);
}

// Brings the chosen gaps to the front.
void Planning::choose(uint64_t limit) {
  if (gaps_.size() != 0) qsort(gaps_.data(), gaps_.size(), sizeof(Gap), by_choice);
  for (const Gap& candidate : gaps_) {
    const Gap gap = candidate;
    bool helps = false;
    each_moment(gap, [&](uint32_t chunks) { helps |= chunks * chunk_bytes_ > limit; });
    if (!helps) continue;
    each_moment(gap, [](uint32_t& chunks) { --chunks; });
    gaps_[chosen_++] = gap;
  }
}

// That `limit` is kept; else names the instruction that needs most by itself.
Status Planning::check(uint64_t limit, uint64_t resident_bytes) const {
  if (resident_bytes <= limit) return Status();
  uint32_t most = 0, worst = 0;
  for (uint32_t time = 0; time < count_; ++time) {
    uint32_t used = 0;
    for (uint32_t chunk = 0; chunk < chunk_count_; ++chunk) used += moment(chunk, time).used;
    if (used > most) most = used, worst = time;
  }
  return Status::error(StatusCode::kInvalidArgument,
                       "entry '%s' cannot run with %llu bytes of its arena in memory: instruction %u of %u uses %llu "
                       "bytes at once (in chunks of %llu); that is the least",
                       entry_.name()->c_str(), static_cast<unsigned long long>(limit), worst, count_,
                       static_cast<unsigned long long>(most * chunk_bytes_),
                       static_cast<unsigned long long>(chunk_bytes_));
}

// Neighbours that leave and return together become one.
Status Planning::merge(Array<PagingPlan::Idle>* out_idle) {
  if (chosen_ != 0) qsort(gaps_.data(), chosen_, sizeof(Gap), by_time);
  const auto continues = [&](size_t i) {
    const Gap &gap = gaps_[i], &before = gaps_[i - 1];
    return gap.after == before.after && gap.before == before.before && gap.live == before.live &&
           gap.chunk == before.chunk + 1;
  };
  size_t count = 0;
  for (size_t i = 0; i < chosen_; ++i) count += i == 0 || !continues(i);
  FERRULE_RETURN_IF_ERROR(out_idle->allocate(system_allocator(), count, "the plan of what leaves memory"));
  count = 0;
  for (size_t i = 0; i < chosen_; ++i) {
    const Gap& gap = gaps_[i];
    const uint64_t begin = gap.chunk * chunk_bytes_, end = begin + chunk_bytes_;
    const uint64_t inside = end < arena_bytes_ ? end : arena_bytes_;
    if (i != 0 && continues(i))
      (*out_idle)[count - 1].end = inside;
    else
      (*out_idle)[count++] = {begin, inside, gap.after, gap.before, gap.live};
  }
  return Status();
}

Status Planning::run(uint64_t limit, Array<PagingPlan::Idle>* out_idle, uint64_t* out_resident_bytes) {
  FERRULE_RETURN_IF_ERROR(allocate());
  mark_uses();
  FERRULE_RETURN_IF_ERROR(collect_gaps());
  choose(limit);
  uint32_t most = 0;
  for (const uint32_t chunks : resident_)
    if (chunks > most) most = chunks;
  *out_resident_bytes = most * chunk_bytes_;
  FERRULE_RETURN_IF_ERROR(check(limit, *out_resident_bytes));
  return merge(out_idle);
}

}  // namespace

Status PagingPlan::build(const schema::Entry& entry, const EntryMap& map, const Array<uint64_t>& arena_offsets,
                         uint64_t arena_bytes, uint64_t resident_bytes) {
  return Planning(entry, map, arena_offsets, arena_bytes).run(resident_bytes, &idle_, &resident_bytes_);
}

}  // namespace ferrule::runtime
