// Arenas that sessions share.
#include <stdlib.h>

#include "runtime/api/handles.h"

using namespace ferrule::runtime;

FerruleStatus* ferrule_arena_create(const FerruleAllocator* allocator, FerruleArena** out_arena) {
  Allocator inner;
  Status status = read_allocator(allocator, &inner);
  if (!status.ok()) return to_c(status);
  auto* arena = static_cast<FerruleArena*>(malloc(sizeof(FerruleArena)));
  if (arena == nullptr) return to_c(Status::error(StatusCode::kOutOfMemory, "out of memory: the arena's handle"));
  status = RunMemory::create(inner, &arena->memory);
  if (!status.ok()) {
    free(arena);
    return to_c(status);
  }
  *out_arena = arena;
  return nullptr;
}

void ferrule_arena_release(FerruleArena* arena) {
  if (arena == nullptr) return;
  arena->memory->release();
  free(arena);
}

FerruleStatus* ferrule_arena_info(const FerruleArena* arena, FerruleArenaInfo* out_info) {
  FerruleArenaInfo info{};
  info.arena_bytes = arena->memory->arena_byte_size();
  info.scratch_bytes = arena->memory->scratch_byte_size();
  write_struct(info, out_info);
  return nullptr;
}
