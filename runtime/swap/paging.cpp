#include "runtime/swap/paging.h"

#include <stdlib.h>

#include <new>

#include "runtime/base/clock.h"

namespace ferrule::runtime {
namespace {

// The number of the first of `count` ascending times that is not below `time`. time_of(number) is one of them.
template <typename TimeOf>
size_t lower_bound(size_t count, uint32_t time, TimeOf time_of) {
  size_t begin = 0, end = count;
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    if (time_of(middle) < time)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

}  // namespace

Status Paging::create(Session& session, SwapFile& file, uint64_t resident_bytes, Paging** out_paging) {
  void* memory = malloc(sizeof(Paging));
  if (memory == nullptr) return Status::error(StatusCode::kOutOfMemory, "out of memory: the plan of what leaves memory");
  auto* paging = new (memory) Paging(session, file);
  const Status status = paging->plan(resident_bytes);
  if (!status.ok()) {
    destroy(paging);
    return status;
  }
  session.set_watch(&paging->watch_);
  *out_paging = paging;
  return status;
}

void Paging::destroy(Paging* paging) {
  if (paging == nullptr) return;
  if (paging->session_.watch_ == &paging->watch_) paging->session_.set_watch(nullptr);
  paging->~Paging();
  free(paging);
}

Paging::~Paging() {
  for (Entry& entry : entries_) entry.~Entry();
}

Status Paging::plan(uint64_t resident_bytes) {
  if (session_.memory_->arena_byte_size() != 0 && !file_.locate(session_.memory_->arena(), &arena_position_))
    return Status::error(StatusCode::kInvalidArgument, "the session's arena does not lie in the swap file");
  watch_.context = this;
  watch_.begin = [](void* context, uint32_t entry, Status* out_status) {
    return static_cast<Paging*>(context)->begin(entry, out_status);
  };
  watch_.before = [](void* context, uint32_t block, uint32_t position, Status*) {
    if (block == 0) static_cast<Paging*>(context)->before(position);
    return true;
  };
  watch_.after = [](void* context, uint32_t block, uint32_t position, Status* out_status) {
    return block != 0 || static_cast<Paging*>(context)->after(position, out_status);
  };
  const Allocator& allocator = system_allocator();
  const auto& all = *session_.program().metadata()->entries();
  FERRULE_RETURN_IF_ERROR(entries_.allocate(allocator, all.size(), "the plans of what leaves memory"));
  for (Entry& entry : entries_) ::new (static_cast<void*>(&entry)) Entry();
  for (uint32_t number = 0; number < all.size(); ++number) {
    Entry& entry = entries_[number];
    FERRULE_RETURN_IF_ERROR(entry.plan.build(*all.Get(number), session_.program().entry_map(number),
                                             session_.arena_offsets_, session_.memory_->arena_byte_size(),
                                             resident_bytes));
    const Array<Idle>& idle = entry.plan.idle();
    uint32_t count = 0;
    for (const Idle& range : idle) count += range.live;
    FERRULE_RETURN_IF_ERROR(entry.returning.allocate(allocator, count, "the plans of what returns to memory"));
    count = 0;
    for (uint32_t i = 0; i < idle.size(); ++i) {
      if (!idle[i].live) continue;
      // Sorted as it is filled: few are away at once.
      uint32_t place = count++;
      for (; place > 0 && idle[entry.returning[place - 1]].before > idle[i].before; --place)
        entry.returning[place] = entry.returning[place - 1];
      entry.returning[place] = i;
    }
  }
  return Status();
}

uint64_t Paging::resident_bytes() const {
  uint64_t most = 0;
  for (size_t i = 0; i < entries_.size(); ++i)
    if (entries_.data()[i].plan.resident_bytes() > most) most = entries_.data()[i].plan.resident_bytes();
  return most;
}

bool Paging::begin(uint32_t entry, Status* out_status) {
  entry_ = &entries_[entry];
  // Another session may have made the arena that they share larger, which moves it.
  const bool lies_there = entry_->plan.idle().size() == 0 || file_.locate(session_.memory_->arena(), &arena_position_);
  if (!lies_there)
    *out_status = Status::error(StatusCode::kFailedPrecondition, "the session's arena left the swap file");
  return lies_there;
}

void Paging::before(uint32_t position) {
  const Array<Idle>& idle = entry_->plan.idle();
  const Array<uint32_t>& returning = entry_->returning;
  const auto time_of = [&](size_t i) { return idle[returning[i]].before; };
  size_t i = lower_bound(returning.size(), position, time_of);
  if (i == returning.size() || time_of(i) != position) return;
  const uint64_t started = monotonic_ns(nullptr);
  for (; i < returning.size() && time_of(i) == position; ++i) {
    const Idle& range = idle[returning[i]];
    file_.read_ahead(session_.memory_->arena() + range.begin, range.end - range.begin);
  }
  totals_.nanoseconds += monotonic_ns(nullptr) - started;
}

bool Paging::after(uint32_t position, Status* out_status) {
  const Array<Idle>& idle = entry_->plan.idle();
  size_t i = lower_bound(idle.size(), position, [&](size_t number) { return idle[number].after; });
  if (i == idle.size() || idle[i].after != position) return true;
  const uint64_t started = monotonic_ns(nullptr);
  for (; i < idle.size() && idle[i].after == position && out_status->ok(); ++i) {
    const Idle& range = idle[i];
    const uint64_t bytes = range.end - range.begin, place = arena_position_ + range.begin;
    if (!range.live && file_.forget(place, bytes)) {
      totals_.forgotten_bytes += bytes;
      continue;
    }
    *out_status = file_.page_out(session_.memory_->arena() + range.begin, place, bytes);
    totals_.written_bytes += bytes;
  }
  totals_.nanoseconds += monotonic_ns(nullptr) - started;
  return out_status->ok();
}

}  // namespace ferrule::runtime
