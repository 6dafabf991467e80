#include "runtime/executor/growth.h"

#include <stdlib.h>

#include <new>
#include <utility>

#include "runtime/memory/planner/greedy.h"

namespace ferrule::runtime {
namespace {

using memory::Interval;

constexpr uint64_t kQuarterMore = 4, kNoMore = UINT64_MAX;

bool in_arena(const schema::Buffer& buffer) { return buffer.storage() == schema::Storage_arena; }

// Buffers that share their place on purpose.
bool share_place(const schema::Buffer& a, const schema::Buffer& b) {
  return in_arena(b) && a.alias_group() == b.alias_group() && a.block() == b.block() && a.index() == b.index() &&
         a.offset() == b.offset();
}

// What each buffer has, or what the call needs and one part in `divisor` more. Whether any is to have more than now.
bool capacities_for(const schema::Entry& entry, const EntryMap& map, const CallValues& call, uint64_t divisor,
                    uint64_t* out_capacities) {
  bool more = false;
  for (uint32_t i = 0; i < entry.buffers()->size(); ++i) {
    const schema::Buffer& buffer = *entry.buffers()->Get(i);
    out_capacities[i] = call.capacities != nullptr ? call.capacities[i] : buffer.planned_size();
    if (!in_arena(buffer) || !map.known_at_call(buffer.size())) continue;
    const int64_t size = call.values[buffer.size()];
    if (size < 0 || static_cast<uint64_t>(size) <= out_capacities[i]) continue;
    out_capacities[i] = static_cast<uint64_t>(size) + static_cast<uint64_t>(size) / divisor;
    more = true;
  }
  return more;
}

Interval interval_of(const schema::Buffer& buffer, const EntryMap& map, uint64_t capacity) {
  return {map.time(map.instruction(buffer.block(), buffer.begin())).begin,
          int64_t{map.time(map.instruction(buffer.block(), buffer.end())).end} - 1, capacity, kBlockAlignment};
}

void extend(Interval& interval, const Interval& by) {
  if (by.begin < interval.begin) interval.begin = by.begin;
  if (by.end > interval.end) interval.end = by.end;
  if (by.size > interval.size) interval.size = by.size;
}

}  // namespace

Status Growth::create(Session& session, uint64_t arena_byte_limit, Growth** out_growth) {
  void* memory = malloc(sizeof(Growth));
  if (memory == nullptr) return Status::error(StatusCode::kOutOfMemory, "out of memory: what lets a session grow");
  auto* growth = new (memory) Growth(session);
  const Status status = growth->initialize();
  if (!status.ok()) {
    destroy(growth);
    return status;
  }
  growth->set_limit(arena_byte_limit);
  session.grower_ = growth;
  *out_growth = growth;
  return status;
}

void Growth::destroy(Growth* growth) {
  if (growth == nullptr) return;
  growth->~Growth();
  free(growth);
}

Growth::~Growth() {
  for (Tables& tables : tables_) tables.~Tables();
}

Status Growth::initialize() {
  const uint32_t count = session_.program().metadata()->entries()->size();
  FERRULE_RETURN_IF_ERROR(tables_.allocate(system_allocator(), count, "the places of buffers"));
  for (Tables& tables : tables_) ::new (static_cast<void*>(&tables)) Tables();
  FERRULE_RETURN_IF_ERROR(placements_.allocate_zeroed(system_allocator(), count, "the places of buffers"));
  placements = placements_.data();
  grow = [](Grower* grower, uint32_t entry, const Shape* inputs, const CallValues& call, const Status& refusal,
            Placement* placement) {
    return static_cast<Growth*>(grower)->make_room(entry, inputs, call, refusal, placement);
  };
  return Status();
}

Status Growth::make_room(uint32_t number, const Shape* inputs, const CallValues& call, const Status& refusal,
                         Placement* placement) {
  const schema::Entry& entry = *session_.program().metadata()->entries()->Get(number);
  const EntryMap& map = session_.program().entry_map(number);
  Tables made;
  FERRULE_RETURN_IF_ERROR(made.offsets.allocate(system_allocator(), entry.buffers()->size(), "the places of buffers"));
  FERRULE_RETURN_IF_ERROR(made.capacities.allocate(system_allocator(), entry.buffers()->size(), "the places of buffers"));

  // What else is wrong with the call is told before anything is done for it.
  Status none;
  if (!append_open_dims(entry, call.dims, &none) || !capacities_for(entry, map, call, kNoMore, made.capacities.data()))
    return refusal;
  CallValues larger = call;
  larger.capacities = made.capacities.data();
  FERRULE_RETURN_IF_ERROR(check_call(entry, map, inputs, larger));

  capacities_for(entry, map, call, kQuarterMore, made.capacities.data());
  Status status = place(entry, map, call, &made);
  if (!status.ok()) {
    capacities_for(entry, map, call, kNoMore, made.capacities.data());
    FERRULE_RETURN_IF_ERROR(place(entry, map, call, &made));
  }
  tables_[number].offsets = std::move(made.offsets);
  tables_[number].capacities = std::move(made.capacities);
  *placement = placements_[number] = {tables_[number].offsets.data(), tables_[number].capacities.data()};
  return Status();
}

// Fills the offsets for the capacities that are there, and makes the arena as large as that takes.
Status Growth::place(const schema::Entry& entry, const EntryMap& map, const CallValues& call, Tables* tables) {
  constexpr char kWhat[] = "the plan of a larger arena";
  const uint32_t count = entry.buffers()->size();
  Array<Interval> intervals;
  Array<uint32_t> interval_numbers;  // one a buffer
  Array<uint64_t> offsets, workspace;
  FERRULE_RETURN_IF_ERROR(intervals.allocate(system_allocator(), count, kWhat));
  FERRULE_RETURN_IF_ERROR(interval_numbers.allocate(system_allocator(), count, kWhat));
  FERRULE_RETURN_IF_ERROR(offsets.allocate(system_allocator(), count, kWhat));
  FERRULE_RETURN_IF_ERROR(
      workspace.allocate(system_allocator(), memory::greedy_workspace_bytes(count) / sizeof(uint64_t), kWhat));

  uint32_t interval_count = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const schema::Buffer& buffer = *entry.buffers()->Get(i);
    if (!in_arena(buffer)) continue;
    const Interval interval = interval_of(buffer, map, tables->capacities[i]);
    uint32_t other = buffer.alias_group() == 0 ? i : 0;
    while (other < i && !share_place(buffer, *entry.buffers()->Get(other))) ++other;
    interval_numbers[i] = other < i ? interval_numbers[other] : interval_count++;
    if (other < i)
      extend(intervals[interval_numbers[i]], interval);
    else
      intervals[interval_numbers[i]] = interval;
  }
  memory::PlanSummary summary;
  if (memory::plan_greedy(intervals.data(), interval_count, workspace.data(), offsets.data(), &summary) !=
      memory::PlanStatus::kOk)
    summary.peak = UINT64_MAX;
  for (uint32_t i = 0; i < count; ++i)
    tables->offsets[i] = in_arena(*entry.buffers()->Get(i)) ? offsets[interval_numbers[i]] : 0;
  return reserve(entry, call, summary.peak);
}

Status Growth::reserve(const schema::Entry& entry, const CallValues& call, uint64_t arena_bytes) {
  RunMemory& memory = *session_.memory_;
  if (arena_bytes <= memory.arena_byte_size()) return Status();
  Status status;
  if (arena_bytes > arena_byte_limit_) {
    status = Status::error(StatusCode::kOutOfMemory, "out of memory: the arena needs %llu bytes; allowed are %llu",
                           static_cast<unsigned long long>(arena_bytes),
                           static_cast<unsigned long long>(arena_byte_limit_));
  } else {
    uint64_t alignment = kBlockAlignment;
    for (const schema::Arena* arena : *session_.program().metadata()->arenas())
      if (arena->alignment() > alignment) alignment = arena->alignment();
    status = memory.reserve(arena_bytes, alignment, 0);
  }
  status.append(", for entry '%s' with", entry.name()->c_str());
  append_open_dims(entry, call.dims, &status);
  return status;
}

}  // namespace ferrule::runtime
