//===- SharedArena.cpp - Memory for the programs of dynamic mode ----------===//

#include "frontend/core/SharedArena.h"

#include "frontend/core/CompiledProgram.h"
#include "frontend/core/RuntimeError.h"

#include "runtime/api/ferrule.h"

#include <unistd.h>

namespace ferrule::frontend {

SharedArena::~SharedArena() { ferrule_arena_release(arena); }

llvm::Expected<FerruleArena *> SharedArena::get() {
  if (!arena)
    if (llvm::Error error = toError(ferrule_arena_create(/*allocator=*/nullptr, &arena)))
      return error;
  return arena;
}

uint64_t SharedArena::getByteSize() const {
  if (!arena)
    return 0;
  FerruleArenaInfo info{};
  info.struct_size = sizeof(info);
  ferrule_arena_info(arena, &info);
  return info.arena_bytes;
}

void SharedArena::clear() {
  // Each session keeps the memory alive.
  for (CompiledProgram *program : programs)
    program->closeSession();
  ferrule_arena_release(arena);
  arena = nullptr;
}

// A child that was forked while another thread ran a program has no such thread.
bool SharedArena::isInUse() const { return user != std::thread::id() && userProcess == getpid(); }

bool SharedArena::isInUseHere() const { return isInUse() && user == std::this_thread::get_id(); }

SharedArena::Use::Use(SharedArena &arena) : arena(arena) {
  arena.user = std::this_thread::get_id();
  arena.userProcess = getpid();
}

SharedArena::Use::~Use() { arena.user = std::thread::id(); }

} // namespace ferrule::frontend
